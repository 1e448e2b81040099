"""onnxruntime-node."""

import pytest
from fed_artifacts import MODELS, RUNTIMES
from shipping_page import run_snippet, snippets

RUNNER = ("node", RUNTIMES / "run_node.mjs")


@pytest.mark.parametrize("model", MODELS)
def test_node_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.onnx") <= MODELS[model]


def test_the_snippet_of_the_page_prints_what_keras_prints(shipped):
    folder, printed = shipped
    (folder / "node_modules").symlink_to(RUNTIMES / "node_modules")
    [(language, code)] = snippets("Node")
    assert run_snippet(language, code, folder) == printed
