"""TensorFlow's own `saved_model_cli run`, which reads and writes arrays by name."""

import sys
from pathlib import Path

import numpy as np
import pytest
from fed_artifacts import (
    MODELS,
    artifact,
    errors,
    feeds,
    read,
    run,
)
from shipping_page import run_snippet, snippets

CLI = Path(sys.executable).with_name("saved_model_cli")
# Each run imports TensorFlow anew, so there is one a model, each of another size.
SIZE_OF_MODEL = {
    "encoder_classifier": "3x4096",
    "encoder_classifier_without_encoding": "3x1",
    "causal_language_model": "1x4096",
    "encoder_decoder": "3x1024",
    "recurrent": "3x128",
    "subclassed": "1x7",
    "nested": "1x1",
    "encoding_only": "3x4096",
    "integer_positions": "3x1024",
    "real_positions": "1x4096",
}


@pytest.mark.parametrize("model", MODELS)
def test_the_command_computes_what_keras_computes(model, note, tmp_path):
    [path] = feeds(model, [SIZE_OF_MODEL[model]])
    run(*command(artifact(model, "saved_model"), path, tmp_path))
    received = {found.stem: np.load(found) for found in tmp_path.glob("*.npy")}
    expected = read(artifact(model, "expected") / path.name)
    error = max(np.abs(found).max() for found in errors(expected, received))
    assert note("saved_model_cli", "saved_model", model, error) <= MODELS[model]


def command(saved_model, feeds_file, outputs):
    inputs = ";".join(f"{name}={feeds_file}[{name}]" for name in read(feeds_file))
    return (
        *(CLI, "run", "--dir", saved_model, "--tag_set", "serve"),
        *("--signature_def", "serving_default", "--inputs", inputs),
        *("--outdir", outputs, "--overwrite"),
    )


def test_show_lists_the_names_of_inputs_and_outputs():
    saved_model = artifact("encoder_decoder", "saved_model")
    options = ("--tag_set", "serve", "--signature_def", "serving_default")
    shown = run(CLI, "show", "--dir", saved_model, *options)
    for name in ("source", "target"):
        assert f"inputs['{name}'] tensor_info" in shown
    for name in ("logits", "memory"):
        assert f"outputs['{name}'] tensor_info" in shown


def test_the_snippet_of_the_page_prints_what_keras_prints(shipped):
    folder, printed = shipped
    [(language, code)] = snippets("saved_model_cli")
    assert run_snippet(language, code, folder).endswith(printed)
