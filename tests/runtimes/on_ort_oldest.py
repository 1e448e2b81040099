"""The oldest ONNX Runtime with a wheel for this Python, in its own environment."""

import pytest
from fed_artifacts import FLOAT32_TOLERANCE, MODELS, RUNTIMES, python_of
from shipping_page import run_snippet, snippets

RUNNER = (python_of("ort-oldest"), RUNTIMES / "run_onnx.py")


@pytest.mark.parametrize("model", MODELS)
def test_the_oldest_onnx_runtime_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= FLOAT32_TOLERANCE


def test_the_snippet_of_the_page_prints_what_keras_prints(shipped):
    folder, printed = shipped
    [(language, code)] = snippets("ONNX Runtime")
    assert run_snippet(language, code, folder, RUNNER[0]) == printed
