"""OpenVINO, from the ONNX file and from the SavedModel, in both precisions."""

import pytest
from fed_artifacts import FLOAT32_TOLERANCE, MODELS, RUNTIMES, python_of

DEFAULT_PRECISION = (python_of("openvino"), RUNTIMES / "run_openvino.py")
FLOAT32 = (*DEFAULT_PRECISION, "--precision", "f32")
ARTIFACTS = ("model.onnx", "saved_model")


@pytest.mark.parametrize("name", ARTIFACTS)
@pytest.mark.parametrize("model", MODELS)
def test_openvino_computes_what_keras_computes(model, name, measure):
    assert measure(FLOAT32, model, name) <= FLOAT32_TOLERANCE
