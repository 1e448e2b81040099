"""Learn to write a word backwards, with and without a positional encoding.

A Transformer encoder of two layers reads `SINUSOID.` and answers `DIOSUNIS`: at every
place the letter that stands there in the reversed word. To attention alone a word is a
bag of letters, so without the encoding only words of two letters are sure: the answer
is the other letter. With it, almost every word of 2 to 20 random letters comes out
right. Nothing is claimed for longer words: the network has not seen any.

    python examples/reverse.py                         # with the encoding, then without
    python examples/reverse.py --encoding with --output my_models
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import keras
    import numpy as np
    from keras import layers, ops

    from keras_sinpe import SinusoidalPositionalEncoding
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ."  # ids 1 to 27; 0 is padding
END = len(ALPHABET)
SHORTEST, LONGEST = 2, 20
WIDTH, HEADS, BLOCKS = 64, 2, 2
BATCH_SIZE, EPOCH_STEPS, STEPS = 64, 100, 800
HELD_OUT_WORDS = 2000

Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


def build_model(*, encoded: bool) -> keras.Model:
    """Letters `(batch, length)` to logits of the reversed word, place by place."""
    ids = keras.Input((None,), dtype="int32", name="ids")
    # Made from the ids once: Keras's attention deletes the mask that its inputs carry.
    attention_mask = ops.not_equal(ids, 0)[:, None, :]
    x = layers.Embedding(len(ALPHABET) + 1, WIDTH)(ids)
    if encoded:
        x = SinusoidalPositionalEncoding(input_scale="sqrt_dim")(x)
    for _ in range(BLOCKS):
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        heard = attention(x, x, attention_mask=attention_mask)
        x = layers.LayerNormalization()(x + heard)
        hidden = layers.Dense(2 * WIDTH, activation="relu")(x)
        x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(hidden))
    return keras.Model(ids, layers.Dense(len(ALPHABET) + 1, name="letters")(x))


def random_words(rng: np.random.Generator, count: int) -> Batch:
    """Words ended by a full stop, the same reversed, and a weight of 1 per letter."""
    lengths = rng.integers(SHORTEST, LONGEST + 1, (count, 1))
    places = np.arange(LONGEST + 1)
    letters = rng.integers(1, END, (count, LONGEST + 1))
    inside = places < lengths
    mirrored = np.maximum(lengths - 1 - places, 0)
    reversed_letters = np.take_along_axis(letters, mirrored, axis=1)
    ids = np.where(inside, letters, np.where(places == lengths, END, 0))
    targets = np.where(inside, reversed_letters, 0)
    return ids.astype("int32"), targets.astype("int32"), inside.astype("float32")


def endless_batches(seed: int) -> Iterator[Batch]:
    rng = np.random.default_rng(seed)
    while True:
        yield random_words(rng, BATCH_SIZE)


class KeepLast(keras.callbacks.Callback):
    """Keeps the last epoch in a file that no interruption can leave half written."""

    def __init__(self, filepath: Path) -> None:
        super().__init__()
        self.filepath = filepath
        self.epochs = 0

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        """Saves beside the file, then renames."""
        partial = self.filepath.with_name(f"partial_{self.filepath.name}")
        self.model.save(partial)
        os.replace(partial, self.filepath)
        self.epochs = epoch + 1


def train(filepath: Path, *, encoded: bool, steps: int, seed: int) -> keras.Model:
    """Train a model, show the progress, and keep the last epoch in `filepath`."""
    keras.utils.set_random_seed(seed)
    model = build_model(encoded=encoded)
    warmup = max(1, steps // 20)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0, max(1, steps - warmup), warmup_target=2e-3, warmup_steps=warmup
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate, beta_2=0.98, global_clipnorm=1.0), loss)
    epoch_steps = min(steps, EPOCH_STEPS)
    keep_last = KeepLast(filepath)
    try:
        model.fit(
            endless_batches(seed),
            steps_per_epoch=epoch_steps,
            epochs=steps // epoch_steps,
            shuffle=False,  # the generator has seen to it
            verbose=1 if sys.stdout.isatty() else 2,
            callbacks=[keep_last],
        )
    except KeyboardInterrupt:
        kept = f"{filepath} holds epoch {keep_last.epochs}"
        sys.exit(f"\nInterrupted: {kept if keep_last.epochs else 'nothing was saved'}.")
    return model


def held_out_accuracy(model: keras.Model, seed: int) -> float:
    """Share of unseen random words that come out wholly right."""
    # Training draws from the seed itself, never from this pair.
    ids, targets, weights = random_words(
        np.random.default_rng([seed, 1]), HELD_OUT_WORDS
    )
    answers = model.predict(ids, batch_size=500, verbose=0).argmax(axis=-1)
    return float(np.all((answers == targets) | (weights == 0), axis=1).mean())


def reverse(model: keras.Model, word: str) -> str:
    """Ask the model for a word of letters, backwards."""
    ids = np.array([[ALPHABET.index(letter) + 1 for letter in f"{word}."]], "int32")
    answer = ops.convert_to_numpy(model(ids)).argmax(axis=-1)[0, :-1]
    return "".join(f" {ALPHABET}"[i] for i in answer)


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, or one sentence before any time is spent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / ".writable").touch()
        (path / ".writable").unlink()
    except OSError as error:
        sys.exit(f"`--output` must be a folder that can be written to: {error}")
    return path


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=positive, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("artifacts"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_training_arguments(parser)
    parser.add_argument(
        "--encoding", choices=["with", "without", "both"], default="both"
    )
    options = parser.parse_args(arguments)
    folder = writable_folder(options.output)
    for choice in ("with", "without"):
        if options.encoding not in (choice, "both"):
            continue
        print(f"\nTraining {choice} the encoding, {options.steps} steps")
        filepath = folder / f"reverse_{choice}_encoding.keras"
        model = train(
            filepath, encoded=choice == "with", steps=options.steps, seed=options.seed
        )
        accuracy = held_out_accuracy(model, options.seed)
        print(f"{accuracy:.1%} of {HELD_OUT_WORDS} held-out words wholly right")
        print(f"SINUSOID -> {reverse(model, 'SINUSOID')}; saved as {filepath}")


if __name__ == "__main__":
    main()
