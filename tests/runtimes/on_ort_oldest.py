"""The oldest ONNX Runtime with a wheel for this Python, and the newest beside it."""

import sys

import pytest
from fed_artifacts import MODELS, RUNTIMES, python_of
from shipping_page import run_snippet, snippets

PYTHONS = {"oldest": python_of("ort-oldest"), "newest": sys.executable}


@pytest.mark.parametrize("version", PYTHONS)
@pytest.mark.parametrize("model", MODELS)
def test_onnx_runtime_computes_what_keras_computes(model, version, measure):
    runner = (PYTHONS[version], RUNTIMES / "run_onnx.py")
    assert measure(runner, model, "model.onnx") <= MODELS[model]


def test_the_snippet_of_the_page_prints_what_keras_prints(shipped):
    folder, printed = shipped
    [(language, code)] = snippets("ONNX Runtime")
    assert run_snippet(language, code, folder, PYTHONS["oldest"]) == printed
