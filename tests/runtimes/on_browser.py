"""onnxruntime-web on a page in headless Chromium."""

import pytest
from fed_artifacts import FLOAT32_TOLERANCE, MODELS, RUNTIMES

RUNNER = ("node", RUNTIMES / "run_browser.mjs")


@pytest.mark.parametrize("model", MODELS)
def test_the_browser_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= FLOAT32_TOLERANCE
