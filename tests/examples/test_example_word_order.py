"""The example about word order: its sentences, its model, its manners, its claim."""

import keras
import numpy as np
import onnxruntime
import pytest
import word_order as page
from untraced import untraced

from keras_sinpe import check_padding

# Outputs of order 1: a few float32 roundings of 6e-8; measured 1.8e-7.
SHUFFLE_TOLERANCE = 1e-6
# Logits of a model trained for an epoch stay within [-4, 4]: 84 roundings of float32.
TOLERANCE = 4e-5


def test_every_form_says_who_does_what_to_whom():
    texts = [" ".join(words) for words, _ in page.sentences_about("dog", "man")]
    assert texts[:5] == [
        "the dog bites the man",
        "the man is bitten by the dog",
        "狗 咬 人",
        "狗 把 人 咬 了",
        "人 被 狗 咬 了",
    ]
    assert len(set(texts)) == 20
    doers = {list(page.NOUNS)[doer] for _, doer in page.sentences_about("dog", "man")}
    assert doers == {"dog"}


def test_unseen_sentences_hold_known_words_about_unknown_pairs():
    seen, unseen = page.split_pairs(seed=3)
    assert len(seen) + len(unseen) == 66 * 2 * 20
    known = page.vocabulary(seen)
    assert all(word in known for words, _ in unseen for word in words)
    nouns = {*page.NOUNS, *page.NOUNS.values()}

    def pairs(sentences):
        return {frozenset(words) & nouns for words, _ in sentences}

    assert not pairs(seen) & pairs(unseen)


def test_every_sentence_has_a_twin_of_the_same_words_and_the_other_answer():
    _, unseen = page.split_pairs(seed=0)
    answers = {}
    for words, doer in unseen:
        answers.setdefault(tuple(sorted(words)), []).append(doer)
    for doers in answers.values():
        assert len(set(doers)) == 2
        assert doers.count(doers[0]) * 2 == len(doers)


def test_padding_never_changes_the_answer():
    keras.utils.set_random_seed(1)
    assert check_padding(page.build_model(40, encoded=True), padding_id=0).passed


@pytest.mark.parametrize("seed", [0, 1])
def test_shuffling_tokens_shuffles_outputs_only_without_the_encoding(seed):
    without, _ = page.shuffling_changes(encoded=False, seed=seed)
    with_encoding, size = page.shuffling_changes(encoded=True, seed=seed)
    assert without <= SHUFFLE_TOLERANCE
    assert with_encoding > 0.1 * size


def test_a_short_run_shows_saves_and_exports(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(page, "train", untraced()(page.train))
    monkeypatch.setattr(page, "BATCH_SIZE", 1000)
    page.main(["--epochs", "1", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    for words in (
        "Training with the encoding on 2000 sentences",
        "chance, one of the two       │ 50.0%",
        "the man is bitten by the dog │",
        "狗把人咬了",
        "equal to Keras in 6 cases",
    ):
        assert words in printed
    model = keras.saving.load_model(tmp_path / "word_order_with_encoding.keras")
    ids = np.array([[3, 7, 1, 0, 0, 0], [5, 9, 2, 4, 6, 8]], "int32")
    session = onnxruntime.InferenceSession(tmp_path / "word_order.onnx")
    (answer,) = session.run(["doer"], {"ids": ids})
    assert np.abs(answer - np.asarray(model(ids))).max() <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoded", "least", "most"),
    # Each sentence has a twin of the same words with the other answer.
    [(True, 0.99, 1.0), (False, 0.0, 0.5)],
)
def test_the_full_run_reaches_what_the_page_says(tmp_path, encoded, least, most):
    seen, unseen = page.split_pairs(seed=0)
    ids_of = page.vocabulary(seen)
    keras.utils.set_random_seed(0)
    model = page.build_model(len(ids_of), encoded=encoded)
    seen_ids, seen_doers = page.as_arrays(seen, ids_of)
    page.train(model, seen_ids, seen_doers, page.EPOCHS, tmp_path / "full.keras")
    _, accuracy = model.evaluate(*page.as_arrays(unseen, ids_of), verbose=0)
    assert least <= accuracy <= most
