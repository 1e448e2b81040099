"""Where ONNX Runtime spends the time of a call: operators of ours and of stored tables.

python -m benchmarks.ort_profile
python -m benchmarks.ort_profile --length 1024
"""

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.cases import Case
from benchmarks.peers import OURS, PEERS
from benchmarks.runtimes import onnx_bytes

COMPARED = (OURS, "stored table", "one addition")
RUNS = 100


def operator_times(name: str, case: Case) -> dict[tuple[str, ...], float]:
    """Microseconds of each operator: median over calls, by node, type and output."""
    import onnxruntime

    rows = np.zeros((case.batch, case.length, case.width), "float32")
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(
            onnx_bytes(PEERS[name], case, case.length), options
        )
        for _ in range(RUNS):
            session.run(None, {session.get_inputs()[0].name: rows})
        events = json.loads(Path(session.end_profiling()).read_text())
    times: dict[tuple[str, ...], list[float]] = {}
    for event in events:
        arguments = event["args"]
        # The time of an `If` is that of the operators inside, which have their own.
        if event["name"].endswith("_kernel_time") and arguments["op_name"] != "If":
            [[(_, shape)]] = [x.items() for x in arguments["output_type_shape"]]
            key = (event["name"], arguments["op_name"], str(shape))
            times.setdefault(key, []).append(event["dur"])
    return {key: median(durations) for key, durations in times.items()}


def show(name: str, times: dict[tuple[str, ...], float], console: Console) -> None:
    """The operators that take 5 % or more, and the sum of the others."""
    total = sum(times.values())
    table = Table("operator", "output", "microseconds", title=f"{name}: {total:.0f}")
    small = 0.0
    for (_, operator, shape), duration in times.items():
        if duration < total / 20:
            small += duration
        else:
            table.add_row(operator, shape, f"{duration:.0f}")
    table.add_row("all others", "", f"{small:.0f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--length", type=int, default=4096)
    options = parser.parse_args()
    case = Case("ort", 1, options.length)
    for name in COMPARED:
        show(name, operator_times(name, case), Console())


if __name__ == "__main__":
    main()
