"""The example about word order: its sentences, its model, its manners, its claim."""

import importlib
import importlib.util
import runpy
import signal
import sys
from pathlib import Path

import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf

from keras_sinpe import check_padding

EXAMPLES = Path(__file__).parents[2] / "examples"

# Outputs of order 1: a few float32 roundings of 6e-8; measured 1.8e-7.
SHUFFLE_TOLERANCE = 1e-6
# Logits of a model trained for an epoch stay within [-4, 4]: 84 roundings of float32.
TOLERANCE = 4e-5

# TensorFlow says that the pipeline of the data stays traced, as it may.
pytestmark = pytest.mark.filterwarnings("ignore:Even though the `tf.config")


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        yield importlib.import_module("word_order")


@pytest.fixture
def untraced():
    """Compiling takes longer than the few steps that a test needs."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def test_every_form_says_who_does_what_to_whom(page):
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


def test_unseen_sentences_hold_known_words_about_unknown_pairs(page):
    seen, unseen = page.split_pairs(seed=3)
    assert len(seen) + len(unseen) == 66 * 2 * 20
    known = page.vocabulary(seen)
    assert all(word in known for words, _ in unseen for word in words)
    nouns = {*page.NOUNS, *page.NOUNS.values()}

    def pairs(sentences):
        return {frozenset(words) & nouns for words, _ in sentences}

    assert not pairs(seen) & pairs(unseen)


def test_every_sentence_has_a_twin_of_the_same_words_and_the_other_answer(page):
    _, unseen = page.split_pairs(seed=0)
    answers = {}
    for words, doer in unseen:
        answers.setdefault(tuple(sorted(words)), []).append(doer)
    for doers in answers.values():
        assert len(set(doers)) == 2
        assert doers.count(doers[0]) * 2 == len(doers)


def test_padding_never_changes_the_answer(page):
    keras.utils.set_random_seed(1)
    assert check_padding(page.build_model(40, encoded=True), padding_id=0).passed


@pytest.mark.parametrize("seed", [0, 1])
def test_shuffling_tokens_shuffles_outputs_only_without_the_encoding(page, seed):
    without, _ = page.shuffling_changes(encoded=False, seed=seed)
    with_encoding, size = page.shuffling_changes(encoded=True, seed=seed)
    assert without <= SHUFFLE_TOLERANCE
    assert with_encoding > 0.1 * size


def test_a_short_run_shows_saves_and_exports(page, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(page, "train", eager(page.train))
    monkeypatch.setattr(page, "BATCH_SIZE", 1000)
    page.main(["--epochs", "1", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    for words in (
        "Training with the encoding on 2000 sentences",
        "chance, one of the two       │ 50.0%",
        "the man is bitten by the dog │",
        "狗把人咬了",
        "equal to Keras in 12 runs",
    ):
        assert words in printed
    model = keras.saving.load_model(tmp_path / "word_order_with_encoding.keras")
    ids = np.array([[3, 7, 1, 0, 0, 0], [5, 9, 2, 4, 6, 8]], "int32")
    session = onnxruntime.InferenceSession(tmp_path / "word_order.onnx")
    (answer,) = session.run(["doer"], {"ids": ids})
    assert np.abs(answer - np.asarray(model(ids))).max() <= TOLERANCE


def eager(function):
    def run(*arguments, **options):
        tf.config.run_functions_eagerly(True)
        try:
            return function(*arguments, **options)
        finally:
            tf.config.run_functions_eagerly(False)

    return run


@pytest.mark.usefixtures("untraced")
def test_an_interruption_keeps_the_last_epoch(page, tmp_path, monkeypatch):
    class Interrupted(page.KeepLast):
        def on_train_batch_begin(self, batch, logs=None):
            if self.epochs == 2:
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(page, "KeepLast", Interrupted)
    saved, model = tmp_path / "kept.keras", page.build_model(5, encoded=True)
    with pytest.raises(SystemExit) as stop:
        page.train(model, np.ones((4, 3), "int32"), np.zeros(4, "int32"), 5, saved)
    assert str(stop.value) == f"\nInterrupted: {saved} holds epoch 2."
    assert keras.saving.load_model(saved).optimizer.iterations == 2


def test_an_output_folder_that_cannot_be_written_to_is_refused_first(page, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stop:
        page.main(["--output", str(tmp_path / "file")])
    assert str(stop.value) == (
        "`--output` must be a folder that can be written to: [Errno 17] File exists: "
        f"'{tmp_path}/file'"
    )


def test_a_missing_extra_is_named_before_any_training(page, tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        page, "find_spec", lambda name: None if name == "onnx" else found(name)
    )
    with pytest.raises(SystemExit) as stop:
        page.main(["--output", str(tmp_path)])
    assert str(stop.value) == (
        "This example needs `pip install 'keras_sinpe[tensorflow,onnx]'`: there is no "
        "onnx."
    )


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_sinpe", None)
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(EXAMPLES / "word_order.py"))
    assert str(stop.value) == (
        "This example needs `pip install 'keras_sinpe[tensorflow]'`: import of "
        "keras_sinpe halted; None in sys.modules"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoded", "least", "most"),
    # Each sentence has a twin of the same words with the other answer.
    [(True, 0.99, 1.0), (False, 0.0, 0.5)],
)
def test_the_full_run_reaches_what_the_page_says(page, tmp_path, encoded, least, most):
    seen, unseen = page.split_pairs(seed=0)
    ids_of = page.vocabulary(seen)
    keras.utils.set_random_seed(0)
    model = page.build_model(len(ids_of), encoded=encoded)
    seen_ids, seen_doers = page.as_arrays(seen, ids_of)
    page.train(model, seen_ids, seen_doers, page.EPOCHS, tmp_path / "full.keras")
    _, accuracy = model.evaluate(*page.as_arrays(unseen, ids_of), verbose=0)
    assert least <= accuracy <= most
