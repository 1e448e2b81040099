"""The example that reverses words: its data, its model, its manners, its claim."""

import keras
import numpy as np
import pytest
import reverse as page

from keras_sinpe import check_padding

# Sums of the same float32 numbers in another order: a few roundings of 6e-8 times the
# logits' size of a few units; measured 1e-6.
SHUFFLE_TOLERANCE = 1e-5


def spelled(ids):
    return "".join(f" {page.ALPHABET}"[i] for i in ids)


def test_every_target_is_its_word_backwards():
    ids, targets, weights = page.random_words(np.random.default_rng(5), 400)
    lengths = set()
    for row in range(400):
        word, stop, padding = spelled(ids[row]).partition(".")
        lengths.add(len(word))
        assert stop == "."
        assert padding.strip() == ""
        assert spelled(targets[row]).rstrip() == word[::-1]
        assert weights[row].sum() == len(word)
    assert lengths == set(range(2, 21))


def test_padding_never_changes_the_answer():
    keras.utils.set_random_seed(1)
    assert check_padding(page.build_model(encoded=True), padding_id=0).passed


@pytest.mark.parametrize(("encoded", "follows"), [(False, True), (True, False)])
def test_answers_follow_shuffled_letters_only_without_the_encoding(encoded, follows):
    keras.utils.set_random_seed(2)
    model = page.build_model(encoded=encoded)
    ids = np.array([[9, 3, 1, 7, 20], [2, 2, 8, 11, 5]], "int32")
    order = [3, 0, 4, 2, 1]
    in_order, shuffled = np.asarray(model(ids)), np.asarray(model(ids[:, order]))
    distance = np.abs(shuffled - in_order[:, order]).max()
    assert (distance <= SHUFFLE_TOLERANCE) == follows


@pytest.mark.usefixtures("untraced")
def test_a_short_run_trains_both_and_saves_both(tmp_path, capsys, monkeypatch):
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
def test_the_full_run_reaches_what_the_page_says(tmp_path, encoded, least, most):
    model = page.train(
        tmp_path / "full.keras", encoded=encoded, steps=page.STEPS, seed=0
    )
    assert least <= page.held_out_accuracy(model, seed=0) <= most
