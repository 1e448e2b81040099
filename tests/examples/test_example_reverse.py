"""The example that reverses words: its data, its model, its manners, its claim."""

import importlib
import runpy
import signal
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_sinpe import check_padding

EXAMPLES = Path(__file__).parents[2] / "examples"

# Sums of the same float32 numbers in another order: a few roundings of 6e-8 times the
# logits' size of a few units; measured 1e-6.
SHUFFLE_TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield importlib.import_module("reverse")


@pytest.fixture
def untraced():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def eagerly(test):
    """Compiling takes longer than the few steps that a test needs."""
    # TensorFlow says that the pipeline of the data stays traced, as it may.
    ignore = pytest.mark.filterwarnings("ignore:Even though the `tf.config")
    return ignore(pytest.mark.usefixtures("untraced")(test))


def spelled(page, ids):
    return "".join(f" {page.ALPHABET}"[i] for i in ids)


def test_every_target_is_its_word_backwards(page):
    ids, targets, weights = page.random_words(np.random.default_rng(5), 400)
    lengths = set()
    for row in range(400):
        word, stop, padding = spelled(page, ids[row]).partition(".")
        lengths.add(len(word))
        assert stop == "."
        assert padding.strip() == ""
        assert spelled(page, targets[row]).rstrip() == word[::-1]
        assert weights[row].sum() == len(word)
    assert lengths == set(range(2, 21))


def test_padding_never_changes_the_answer(page):
    keras.utils.set_random_seed(1)
    assert check_padding(page.build_model(encoded=True), padding_id=0).passed


@pytest.mark.parametrize(("encoded", "follows"), [(False, True), (True, False)])
def test_answers_follow_shuffled_letters_only_without_the_encoding(
    page, encoded, follows
):
    keras.utils.set_random_seed(2)
    model = page.build_model(encoded=encoded)
    ids = np.array([[9, 3, 1, 7, 20], [2, 2, 8, 11, 5]], "int32")
    order = [3, 0, 4, 2, 1]
    in_order, shuffled = np.asarray(model(ids)), np.asarray(model(ids[:, order]))
    distance = np.abs(shuffled - in_order[:, order]).max()
    assert (distance <= SHUFFLE_TOLERANCE) == follows


@eagerly
def test_a_short_run_trains_both_and_saves_both(page, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(page, "HELD_OUT_WORDS", 30)
    page.main(["--steps", "3", "--seed", "4", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    for choice in ("with", "without"):
        saved = tmp_path / f"reverse_{choice}_encoding.keras"
        assert f"Training {choice} the encoding, 3 steps" in printed
        assert f"saved as {saved}" in printed
        word = "ORDER"
        assert len(page.reverse(keras.saving.load_model(saved), word)) == len(word)
    assert {path.suffix for path in tmp_path.iterdir()} == {".keras"}


@eagerly
def test_an_interruption_keeps_the_last_epoch(page, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "EPOCH_STEPS", 1)
    monkeypatch.setattr(page, "KeepLast", interrupted_after(page.KeepLast, epochs=2))
    saved = tmp_path / "kept.keras"
    with pytest.raises(SystemExit) as stop:
        page.train(saved, encoded=True, steps=5, seed=0)
    assert str(stop.value) == f"\nInterrupted: {saved} holds epoch 2."
    assert keras.saving.load_model(saved).optimizer.iterations == 2


@eagerly
def test_an_interruption_before_the_first_epoch_says_that_nothing_is_kept(
    page, tmp_path, monkeypatch
):
    monkeypatch.setattr(page, "KeepLast", interrupted_after(page.KeepLast, epochs=0))
    with pytest.raises(SystemExit) as stop:
        page.train(tmp_path / "none.keras", encoded=True, steps=5, seed=0)
    assert str(stop.value) == "\nInterrupted: nothing was saved."
    assert not list(tmp_path.iterdir())


def interrupted_after(callback, *, epochs):
    """The callback, and Ctrl-C at the first batch of the epoch that follows."""

    class Interrupted(callback):
        def on_train_batch_begin(self, batch, logs=None):
            if self.epochs == epochs:
                signal.raise_signal(signal.SIGINT)

    return Interrupted


def test_an_output_folder_that_cannot_be_written_to_is_refused_first(page, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stop:
        page.main(["--output", str(tmp_path / "file" / "folder")])
    assert str(stop.value) == (
        "`--output` must be a folder that can be written to: [Errno 20] Not a "
        f"directory: '{tmp_path}/file/folder'"
    )


@pytest.mark.parametrize("steps", ["0", "-3", "many"])
def test_steps_that_are_no_positive_number_are_refused(page, steps, capsys):
    with pytest.raises(SystemExit) as stop:
        page.main([f"--steps={steps}"])
    assert stop.value.code == 2
    assert "argument --steps: " in capsys.readouterr().err


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_sinpe", None)
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(EXAMPLES / "reverse.py"))
    assert str(stop.value) == (
        "This example needs `pip install 'keras_sinpe[tensorflow]'`: import of "
        "keras_sinpe halted; None in sys.modules"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoded", "least", "most"),
    [
        (True, 0.99, 1.0),
        # Told the letters but not their order, the best guess is right for every word
        # of 2 letters, a third of those of 3 or 4, a fifteenth of those of 5 or 6 ...:
        # 9.6 % of lengths 2 to 20, and a little more where letters repeat.
        (False, 0.0, 0.12),
    ],
)
def test_the_full_run_reaches_what_the_page_says(page, tmp_path, encoded, least, most):
    model = page.train(
        tmp_path / "full.keras", encoded=encoded, steps=page.STEPS, seed=0
    )
    assert least <= page.held_out_accuracy(model, seed=0) <= most
