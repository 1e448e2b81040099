"""Learn to write a word backwards, with and without a positional encoding.

A Transformer encoder of two layers reads `SINUSOID.` and answers `DIOSUNIS`: at every
place the letter that stands there in the reversed word. To attention alone a word is a
bag of letters, so without the encoding only words of two letters are sure: the answer
is the other letter. With it, almost every word of 2 to 20 random letters comes out
right. Nothing is claimed for longer words: the network has not seen any.

    python examples/reverse.py                         # with the encoding, then without
    python examples/reverse.py --encoding with --output my_models
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import command_line  # beside this file, as is `training`

try:
    import keras
    import numpy as np
    import training
    from keras import layers, ops

    from keras_sinpe import SinusoidalPositionalEncoding
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ."  # ids 1 to 27; 0 is padding
END = len(ALPHABET)
SHORTEST, LONGEST = 2, 20
WIDTH, HEADS, BLOCKS = 64, 2, 2
BATCH_SIZE, STEPS = 64, 800
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


def train(filepath: Path, *, encoded: bool, steps: int, seed: int) -> keras.Model:
    """Train a model, show the progress, and keep the last epoch in `filepath`."""
    keras.utils.set_random_seed(seed)
    model, batches = build_model(encoded=encoded), endless_batches(seed)
    training.compile_for(model, steps, peak_rate=2e-3)
    training.fit(model, filepath=filepath, **training.in_epochs(batches, steps))
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


def main(arguments: list[str] | None = None) -> None:
    parser = command_line.parser_of(__doc__, steps=STEPS)
    parser.add_argument(
        "--encoding", choices=["with", "without", "both"], default="both"
    )
    options = parser.parse_args(arguments)
    folder = command_line.writable_folder(options.output)
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
