import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from export_models import dense

from keras_sinpe.exporting import export_onnx
from keras_sinpe.parity import check_parity
from keras_sinpe.parity.isolation import WORKER, IsolatedRunner, WorkerError

FEATURES = np.ones((2, 3, 4), "float32")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("isolation") / "model.onnx"
    export_onnx(dense(), path, lengths=(2,))
    return path


def test_another_process_runs_the_artifact_as_often_as_wanted(path):
    with IsolatedRunner(path) as runner:
        assert list(runner.inputs) == ["features"]
        assert runner.outputs["head"].shape == ("batch", "features_length", 3)
        assert runner.metadata["format"] == "onnx"
        first = runner.run({"features": FEATURES})["head"]
        second = runner.run({"features": FEATURES})["head"]
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, dense()(FEATURES), rtol=0, atol=1e-6)


def test_the_other_process_has_neither_keras_nor_this_package():
    script = (
        "import runpy, sys\n"
        f"sys.argv = [{str(WORKER)!r}, 'no such artifact', 'serving_default']\n"
        f"runpy.run_path({str(WORKER)!r}, run_name='__main__')\n"
        "assert sys.modules['keras'] is None\n"
        "assert not [m for m in sys.modules if m.startswith('keras_sinpe')]\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"which does not exist" in done.stdout


def test_what_the_other_process_refuses_is_an_error_here(path):
    with IsolatedRunner(path) as runner:
        with pytest.raises(WorkerError) as raised:
            runner.run({"features": FEATURES.astype("float64")})
        assert str(raised.value) == (
            "FeedError: Input `features` must be float32 of shape (batch, "
            "features_length, 4). Received: float64 of shape (2, 3, 4)"
        )
        # One refusal does not end it.
        assert runner.run({"features": FEATURES})["head"].shape == (2, 3, 3)


def test_a_process_that_dies_is_an_error_here(path):
    with IsolatedRunner(path) as runner:
        os.kill(runner._process.pid, signal.SIGKILL)
        runner._process.wait()
        with pytest.raises((WorkerError, BrokenPipeError)):
            runner.run({"features": FEATURES})


def test_what_is_no_artifact_is_refused_as_in_this_process(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_text("no model")
    with pytest.raises(ValueError, match="`filepath` must be a SavedModel directory"):
        check_parity(dense(), file, isolated=True)
    with pytest.raises(FileNotFoundError):
        check_parity(dense(), tmp_path / "missing", isolated=True)
