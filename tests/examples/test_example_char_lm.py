"""The character model: its cache, its step model, its twin without Keras, its claim."""

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import char_lm as page
import char_lm_model as network
import keras
import numpy as np
import pytest
from untraced import untraced

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHOUT_KERAS = EXAMPLES / "char_lm_without_keras.py"

# The same sums over caches of another length: some ten float32 roundings of logits
# of size 1; measured 1e-6.
CACHE_TOLERANCE = 1e-5
# The page prints 2.17 on held-out pages. Equal chances give 7, and the frequencies of
# single characters 4.7.
MOST_BITS = 2.3


@pytest.fixture(scope="module")
def models():
    keras.utils.set_random_seed(7)
    return network.build_models()


def run_step(step, ids, start_index, caches):
    starts = np.full(len(ids), start_index, "int32")
    outputs = step({"ids": ids, "start_index": starts, **caches})
    grown = {name: np.asarray(outputs[f"next_{name}"]) for name in caches}
    return outputs["logits"], grown


def empty_caches(batch):
    empty = np.zeros(
        (batch, 0, network.HEADS, network.WIDTH // network.HEADS), "float32"
    )
    blocks = range(network.BLOCKS)
    return {f"{part}_{block}": empty for block in blocks for part in ("keys", "values")}


@pytest.mark.parametrize("chunks", [[1] * 9, [9], [4, 1, 1, 3], [0, 8, 1]])
def test_step_by_step_equals_the_whole_text_at_once(models, chunks):
    training, step = models
    ids = np.random.default_rng(8).integers(1, network.ASCII, (2, 9)).astype("int32")
    caches, logits, done = empty_caches(2), [], 0
    for count in chunks:
        part, caches = run_step(step, ids[:, done : done + count], done, caches)
        logits.append(np.asarray(part))
        done += count
    whole = np.asarray(training(ids))
    assert np.abs(np.concatenate(logits, axis=1) - whole).max() <= CACHE_TOLERANCE


def test_no_character_sees_those_after_it(models):
    training, _ = models
    ids = np.random.default_rng(9).integers(1, network.ASCII, (2, 7)).astype("int32")
    changed = ids.copy()
    changed[:, 4:] += -1
    before, after = np.asarray(training(ids)), np.asarray(training(changed))
    assert np.abs(after - before)[:, :4].max() <= CACHE_TOLERANCE
    assert np.abs(after - before)[:, 4:].max() > 100 * CACHE_TOLERANCE


def test_held_out_pages_are_not_in_the_text():
    text, held_out = page.read_text()
    assert len(text) > 8 * len(held_out) > 0
    assert max(text.max(), held_out.max()) < network.ASCII
    assert bytes(held_out[:2000]) not in bytes(text)


def test_targets_are_the_characters_that_follow():
    text = np.arange(1000) % 101
    ids, targets = next(page.endless_batches(text, seed=2))
    assert ids.shape == targets.shape == (page.BATCH_SIZE, page.CONTEXT)
    assert np.array_equal((ids + 1) % 101, targets)


def test_bits_per_character_of_equal_chances_are_seven():
    uniform = keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(network.ASCII, network.ASCII, "zeros"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    uniform.compile(loss=loss, run_eagerly=True)
    text = np.arange(3 * page.CONTEXT, dtype="uint8") % 100
    assert page.bits_per_character(uniform, text) == pytest.approx(7, abs=1e-5)


@pytest.fixture(scope="module")
def short_run(tmp_path_factory):
    """The page at two steps and a few characters: its folder and what it prints."""
    folder, printed = tmp_path_factory.mktemp("artifacts"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setenv("COLUMNS", "200")
        patch.setattr(page, "ROUNDS", 1)
        patch.setattr(page, "train", untraced()(page.train))
        patch.setattr(page, "read_text", first_characters(page.read_text))
        page.main(["--steps", "2", "--count", "6", "--output", str(folder)])
    return folder, printed.getvalue()


def first_characters(read_text):
    return lambda: tuple(text[:2000] for text in read_text())


def test_both_processes_write_the_same_text(short_run):
    _, printed = short_run
    assert "│ equal texts                        │ yes" in printed
    assert printed.count(f"\n{page.PROMPT}") == 1


def test_the_step_model_loads_and_continues_like_the_file(short_run):
    folder, _ = short_run
    step = keras.saving.load_model(folder / "char_lm_step.keras")
    step.compile(run_eagerly=True)
    run = run_without_keras(
        folder / "char_lm_step.onnx", page.PROMPT, "--count", "5", "--seed", "3"
    )
    assert run.stdout == page.keras_text(step, count=5, seed=3) + "\n"


def run_without_keras(*arguments):
    command = [sys.executable, str(WITHOUT_KERAS), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("prompt", ["", "Größe"])
def test_the_process_without_keras_refuses_what_it_has_no_ids_for(prompt):
    run = run_without_keras("model.onnx", prompt)
    assert run.returncode == 2
    assert f"TEXT must be ASCII and not empty. Received: {prompt!r}" in run.stderr


def test_the_process_without_keras_says_that_a_file_does_not_load(tmp_path):
    run = run_without_keras(tmp_path / "nothing.onnx", "text")
    assert run.returncode == 1
    assert run.stderr.startswith(f"{str(tmp_path / 'nothing.onnx')!r} does not load: ")


@pytest.mark.slow
def test_the_full_run_reaches_what_the_page_says(tmp_path):
    text, held_out = page.read_text()
    keras.utils.set_random_seed(0)
    training, step = page.build_models()
    page.train(training, text, page.STEPS, 0, tmp_path / "full.keras")
    assert page.bits_per_character(training, held_out) <= MOST_BITS
    page.export(step, tmp_path / "step.onnx")
    written = page.race(step, tmp_path / "step.onnx", page.COUNT, seed=0)
    assert len(written["texts"]) == 1
    assert written["onnxruntime"] >= 1.2 * written["keras"]
