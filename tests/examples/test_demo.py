"""The demo goes the whole way, and owns up where it falls short."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import demo
import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
from untraced import untraced

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHOUT_KERAS = EXAMPLES / "reverse_without_keras.py"

# Logits of a model trained for seconds stay within [-4, 4]: 84 roundings of float32.
TOLERANCE = 4e-5


@pytest.fixture(scope="module")
def short_run(tmp_path_factory):
    """The demo at a few steps and short lengths: its folder, output and last word."""
    folder, printed = tmp_path_factory.mktemp("artifacts"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setenv("COLUMNS", "300")  # so that no path is folded
        patch.setattr(demo, "LENGTHS", (1, 2, 65))
        patch.setattr(demo.reverse, "HELD_OUT_WORDS", 30)
        for name in ("train", "held_out_accuracy"):
            patch.setattr(demo.reverse, name, untraced()(getattr(demo.reverse, name)))
        with pytest.raises(SystemExit) as stop:
            demo.main(["--steps", "2", "--output", str(folder)])
    return folder, printed.getvalue(), stop.value.code


def test_the_table_has_every_figure(short_run):
    folder, printed, _ = short_run
    cells = [re.split(r"\s*│\s*", line)[1:-1] for line in printed.splitlines()]
    table = {row[0]: row[1] for row in cells if row}
    assert table["SavedModel in 3 cases"].startswith("error ")
    assert table["ONNX file in 3 cases"].startswith("error ")
    assert table["lengths of those"] == "1, 2, 65"
    for row in ("words reversed", "without the encoding"):
        assert re.fullmatch(r"\d+\.\d%", table[row])
    error = float(table["encoding against float64"].removeprefix("error "))
    assert 0 < error <= 5e-7
    assert f"All of it lies in {folder}" in printed
    assert re.fullmatch(r"SINUSOID -> .{8}", table["onnxruntime alone, no Keras"])


def test_a_model_that_learned_too_little_is_a_failure(short_run):
    _, _, stop = short_run
    assert re.fullmatch(r"2 steps are too few: \d+\.\d% of words reversed\.", stop)


def test_both_artifacts_compute_what_the_saved_model_computes(short_run):
    folder, _, _ = short_run
    model = keras.saving.load_model(folder / "reverse_with_encoding.keras")
    ids, _, _ = demo.reverse.random_words(np.random.default_rng(6), 5)
    wanted = np.asarray(model(ids))
    served = tf.saved_model.load(folder / "reverse_saved_model")
    session = onnxruntime.InferenceSession(folder / "reverse.onnx")
    assert np.abs(served.serve(ids).numpy() - wanted).max() <= TOLERANCE
    (answer,) = session.run(["letters"], {"ids": ids})
    assert np.abs(answer - wanted).max() <= TOLERANCE


def run_without_keras(*arguments):
    command = [sys.executable, str(WITHOUT_KERAS), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_process_without_keras_answers_like_keras(short_run):
    folder, _, _ = short_run
    model = keras.saving.load_model(folder / "reverse_with_encoding.keras")
    run = run_without_keras(folder / "reverse.onnx", "Order", "IT")
    wanted = [
        f"{word} -> {demo.reverse.reverse(model, word)}" for word in ("ORDER", "IT")
    ]
    assert (run.stdout.splitlines(), run.stderr) == (wanted, "")


@pytest.mark.parametrize("word", ["TWO WORDS", "a.b", "", "Größe"])
def test_the_process_without_keras_refuses_what_is_no_word(short_run, word):
    run = run_without_keras(short_run[0] / "reverse.onnx", word)
    assert run.returncode == 2
    assert f"argument WORD: {word!r} is not a word of the letters A to Z" in run.stderr


def test_the_process_without_keras_says_that_a_file_does_not_load(tmp_path):
    run = run_without_keras(tmp_path / "nothing.onnx", "WORD")
    assert run.returncode == 1
    assert run.stderr.startswith(f"{str(tmp_path / 'nothing.onnx')!r} does not load: ")
