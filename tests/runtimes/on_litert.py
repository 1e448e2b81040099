"""LiteRT, its inputs resized for every size."""

import pytest
from fed_artifacts import MODELS, RUNTIMES, SIZES, python_of
from shipping_page import run_snippet, snippets

RUNNER = (python_of("litert"), RUNTIMES / "run_litert.py")


@pytest.mark.parametrize("model", [name for name in MODELS if name != "recurrent"])
def test_litert_computes_what_keras_computes(model, measure):
    assert measure(RUNNER, model, "model.tflite") <= MODELS[model]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_recurrent_model_takes_every_length_with_a_file_for_each_batch(
    batch, measure
):
    sizes = [size for size in SIZES if size.startswith(f"{batch}x")]
    name = f"model_batch_{batch}.tflite"
    assert measure(RUNNER, "recurrent", name, sizes) <= MODELS["recurrent"]


def test_the_snippets_of_the_page_print_what_keras_prints(shipped):
    folder, printed = shipped
    conversion, use = snippets("LiteRT")
    run_snippet(*conversion, folder)
    assert run_snippet(*use, folder, RUNNER[0]) == printed
