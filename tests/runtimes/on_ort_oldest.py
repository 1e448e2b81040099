"""The oldest ONNX Runtime with a wheel for this Python, in its own environment."""

import pytest
from fed_artifacts import FLOAT32_TOLERANCE, MODELS, RUNTIMES, python_of

RUNNER = (python_of("ort-oldest"), RUNTIMES / "run_onnx.py")


@pytest.mark.parametrize("model", MODELS)
def test_the_oldest_onnx_runtime_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= FLOAT32_TOLERANCE
