"""The example that trains in two processes: its claim in small, and its manners."""

import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import keras
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 6

# Sums of float32 in another order, through six steps of Adam: measured 4e-6. Workers
# that learn from one and the same half of each batch are 5e-3 off.
WEIGHT_TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERAS_BACKEND", "tensorflow")  # the page sets it for good
        yield importlib.import_module("distributed")


@pytest.fixture
def fake_worker(page, tmp_path):
    """Starts any Python line as a worker, and leaves none behind."""
    workers = []

    def start(line):
        name = f"worker_{len(workers)}"
        log = tmp_path / f"{name}.log"
        with log.open("w") as words:
            process = subprocess.Popen(
                [sys.executable, "-c", line], stdin=subprocess.PIPE, stderr=words
            )
        workers.append(page.Worker(name, process, tmp_path / f"{name}.sha256", log))
        return workers[-1]

    yield start
    for worker in workers:
        worker.process.kill()
        worker.process.wait()
        worker.process.stdin.close()


@pytest.mark.slow
@pytest.mark.usefixtures("page")  # it knows the layer that the files are loaded with
def test_two_processes_learn_what_one_learns(tmp_path):
    script = [sys.executable, EXAMPLES / "distributed.py"]
    done = subprocess.run(
        [*script, "--steps", str(STEPS), "--output", tmp_path],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    digests = [(tmp_path / f"worker_{i}_of_2.sha256").read_text() for i in (0, 1)]
    assert digests[0] == digests[1]
    assert done.stdout.count(digests[0][:16]) == 3  # twice here, and by the chief
    assert "held-out words" in done.stdout
    assert (tmp_path / "reverse_by_2.onnx").exists()

    by_two, by_one = (
        keras.saving.load_model(tmp_path / f"reverse_by_{count}.keras").get_weights()
        for count in (2, 1)
    )
    for together, alone in zip(by_two, by_one, strict=True):
        np.testing.assert_allclose(together, alone, rtol=0, atol=WEIGHT_TOLERANCE)


def test_a_worker_ends_when_nothing_holds_its_standard_input(tmp_path):
    worker = [sys.executable, EXAMPLES / "distributed_worker.py", "0", "2"]
    done = subprocess.run(
        [*worker, "127.0.0.1:0", tmp_path / "model.keras", "--end-with-standard-input"],
        stdin=subprocess.DEVNULL,
        check=False,
        stderr=subprocess.PIPE,
        timeout=120,
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_a_worker_that_dies_takes_the_others_with_it(page, fake_worker):
    dying = fake_worker(
        "import sys; print('no memory', 'I0000 all is well', sep=chr(10), "
        "file=sys.stderr); sys.exit(1)"
    )
    waiting = fake_worker("import time; time.sleep(600)")
    with pytest.raises(SystemExit) as end:
        page.wait_for([waiting, dying])
    assert end.value.code == (
        "worker_0 ended with code 1, and all others were stopped. Its last words, from "
        f"{dying.log}: no memory"
    )
    assert waiting.process.wait() == -signal.SIGKILL


def test_an_interruption_leaves_no_worker_running(
    page, fake_worker, tmp_path, monkeypatch
):
    worker = fake_worker("import time; time.sleep(600)")
    monkeypatch.setattr(page, "start", lambda *arguments: worker)
    interruption = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    interruption.start()
    options = page.parsed(["--output", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        page.train(1, 0, options)
    assert end.value.code == (
        "\nInterrupted: nothing was saved. No worker is left running."
    )
    assert worker.process.wait() == -signal.SIGKILL


def test_unequal_weights_are_refused(page, fake_worker):
    workers = [fake_worker("pass"), fake_worker("pass")]
    for worker, digest in zip(workers, ("a" * 64, "b" * 64), strict=True):
        worker.digest.write_text(digest)
    with pytest.raises(SystemExit) as end:
        page.assert_equal_weights(workers)
    assert end.value.code == (
        "The workers' weights are to be equal, bit for bit, and are not."
    )


def test_unequal_accuracy_is_refused(page):
    page.assert_equal_accuracy(0.99, 0.98)
    with pytest.raises(SystemExit) as end:
        page.assert_equal_accuracy(0.99, 0.96)
    assert end.value.code == "The two are to be within 2% and are not."


def test_a_taken_port_is_refused_before_any_work(page, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as end:
            page.main(["--port", str(port), "--output", str(tmp_path)])
    assert end.value.code.startswith(
        f"`--port` must be free on 127.0.0.1. Received: port={port} "
    )
    assert list(tmp_path.iterdir()) == []
