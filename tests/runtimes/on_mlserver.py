"""MLServer with the runtime of `examples/serving`, over HTTP on the loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from fed_artifacts import (
    MODELS,
    ROOT,
    RUNTIMES,
    SIZES,
    artifact,
    python_of,
)
from shipping_page import run_snippet, snippets

SERVING = ROOT / "examples" / "serving"
RUNNER = (sys.executable, RUNTIMES / "run_v2.py")
START_SECONDS = 180  # MLServer imports for 3 s on an idle machine
# Every number travels as text: 3 x 4096 x 512 of them would be 120 MB each way.
VECTOR_SIZES = ("1x1", "3x1", "1x7", "3x7", "3x128")
TAKE_VECTORS = ("encoding_only", "integer_positions", "real_positions")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server that has loaded every model."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(SERVING / "settings.json", folder)
    for model in MODELS:
        write_settings(folder / model, model)
    with serving(folder, folder / "log") as address:
        yield address


@contextmanager
def serving(folder, log_file):
    """Start MLServer on a folder that has our settings; offers its address."""
    address = use_free_ports(folder / "settings.json")
    with open(log_file, "w") as log:
        process = subprocess.Popen(
            [python_of("mlserver").with_name("mlserver"), "start", folder],
            env=os.environ | {"PYTHONPATH": str(SERVING)},
            stdout=log,
            stderr=log,
        )
    try:
        wait_until_ready(address, process, log_file)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=60)


def use_free_ports(settings_file):
    """Other servers of this machine may have the example's ports."""
    settings = json.loads(settings_file.read_text())
    assert settings["host"] == "127.0.0.1"
    for name in ("http_port", "grpc_port", "metrics_port"):
        settings[name] = free_port()
    settings_file.write_text(json.dumps(settings))
    return f"http://127.0.0.1:{settings['http_port']}"


def write_settings(folder, model):
    """The example's settings, for one of our models."""
    settings = json.loads((SERVING / "model-settings.json").read_text())
    settings["name"] = model
    settings["parameters"]["uri"] = str(artifact(model, "model.onnx"))
    folder.mkdir()
    (folder / "model-settings.json").write_text(json.dumps(settings))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(address, process, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urlopen(f"{address}/v2/health/ready")
            return
        except (URLError, ConnectionError):
            time.sleep(0.5)
    pytest.fail(f"MLServer did not start:\n{log.read_text()[-4000:]}")


@pytest.mark.parametrize("model", MODELS)
def test_mlserver_computes_what_keras_computes(server, model, measure):
    sizes = VECTOR_SIZES if model in TAKE_VECTORS else SIZES
    url = f"{server}/v2/models/{model}"
    error = measure(RUNNER, model, "model.onnx", sizes, target=url)
    assert error <= MODELS[model]


def test_the_server_describes_inputs_and_outputs_by_name(server):
    with urlopen(f"{server}/v2/models/encoder_decoder") as answer:
        described = json.load(answer)
    ports = {port["name"]: port for port in described["inputs"] + described["outputs"]}
    assert set(ports) == {"source", "target", "logits", "memory"}
    assert (ports["source"]["datatype"], ports["source"]["shape"]) == (
        "INT32",
        [-1, -1],
    )
    assert (ports["memory"]["datatype"], ports["memory"]["shape"]) == (
        "FP32",
        [-1, -1, 16],
    )


def test_a_request_can_ask_for_one_output(server):
    ids = {"shape": [1, 2], "datatype": "INT32", "data": [3, 4]}
    inputs = [{"name": name, **ids} for name in ("source", "target")]
    answer = post(server, {"inputs": inputs, "outputs": [{"name": "memory"}]})
    assert [output["name"] for output in answer["outputs"]] == ["memory"]


def test_a_missing_input_is_the_clients_error_and_is_named(server):
    ids = {"name": "source", "shape": [1, 2], "datatype": "INT32", "data": [3, 4]}
    with pytest.raises(HTTPError) as raised:
        post(server, {"inputs": [ids]})
    with raised.value as answer:
        assert answer.code == 400
        assert "target" in json.load(answer)["error"]


def post(server, body):
    url = f"{server}/v2/models/encoder_decoder/infer"
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(url, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


def test_the_snippets_of_the_page_print_what_keras_prints(shipped):
    folder, printed = shipped
    (_, serve), (_, client) = snippets("MLServer")
    copy, start = serve.strip().rsplit("\n", 1)
    run_snippet("sh", copy, folder)
    assert start == "mlserver start serving"
    with serving(folder / "serving", folder / "log") as address:
        assert (
            run_snippet(
                "python", client.replace("http://127.0.0.1:8080", address), folder
            )
            == printed
        )
