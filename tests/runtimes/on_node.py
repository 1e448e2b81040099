"""onnxruntime-node."""

import pytest
from fed_artifacts import FLOAT32_TOLERANCE, MODELS, RUNTIMES

RUNNER = ("node", RUNTIMES / "run_node.mjs")


@pytest.mark.parametrize("model", MODELS)
def test_node_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= FLOAT32_TOLERANCE
