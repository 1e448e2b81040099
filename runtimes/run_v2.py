"""Feed a model on a server that speaks the V2 (open inference) protocol over HTTP.

python run_v2.py http://127.0.0.1:8080/v2/models/model OUTPUTS FEEDS.npz...
"""

import json
from urllib.request import Request, urlopen

import numpy as np
from feeding import feed, parser_for

DATATYPES = {"INT32": "int32", "INT64": "int64", "FP32": "float32", "BOOL": "bool"}


def main() -> None:
    arguments = parser_for(__doc__).parse_args()
    url = arguments.artifact
    feed(lambda feeds: infer(url, feeds), arguments.feeds, arguments.outputs)
    server = ask(url.split("/models/")[0])
    print(f"{server['name']} {server['version']}")


def infer(url: str, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    body = {"inputs": [to_v2(name, array) for name, array in feeds.items()]}
    return {out["name"]: from_v2(out) for out in ask(f"{url}/infer", body)["outputs"]}


def to_v2(name: str, array: np.ndarray) -> dict[str, object]:
    [datatype] = [v2 for v2, dtype in DATATYPES.items() if dtype == array.dtype]
    return {
        "name": name,
        "shape": array.shape,
        "datatype": datatype,
        "data": array.ravel().tolist(),
    }


def from_v2(tensor: dict[str, object]) -> np.ndarray:
    array = np.array(tensor["data"], dtype=DATATYPES[tensor["datatype"]])
    return array.reshape(tensor["shape"])


def ask(url: str, body: object = None) -> dict[str, object]:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
