"""Who bites whom? What only the order of the words tells, in Chinese and English.

`the dog bites the man` and `the man bites the dog` hold the same words, and so do
`狗把人咬了` and `人把狗咬了`. A small Transformer says which of the two does it, in
sentences about pairs that it has never seen together. Without the positional encoding
that is a guess: 50 %.

First the reason, on a real `MultiHeadAttention`: shuffling its tokens shuffles its
outputs and changes nothing else. With the encoding added it does.

    python examples/word_order.py
    python examples/word_order.py --epochs 5 --output my_models
"""

import itertools
import sys
from pathlib import Path

import command_line  # beside this file, as is `training`

try:
    import keras
    import numpy as np
    import training
    from keras import layers, ops
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import SinusoidalPositionalEncoding, export_onnx
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[tensorflow]'`: {error}")

NOUNS = {
    "dog": "狗",
    "man": "人",
    "cat": "猫",
    "wolf": "狼",
    "snake": "蛇",
    "horse": "马",
    "fox": "狐狸",
    "child": "孩子",
    "mouse": "老鼠",
    "goose": "鹅",
    "monkey": "猴子",
    "teacher": "老师",
}
VERBS = [
    ("bites", "bitten", "咬"),
    ("chases", "chased", "追"),
    ("kicks", "kicked", "踢"),
    ("hits", "hit", "打"),
]
# The plain order, and those that turn it round.
ENGLISH = ["the {doer} {verb} the {other}", "the {other} is {participle} by the {doer}"]
CHINESE = [
    "{doer} {verb} {other}",
    "{doer} 把 {other} {verb} 了",
    "{other} 被 {doer} {verb} 了",
]
WIDTH, HEADS = 32, 4
EPOCHS, BATCH_SIZE = 12, 32

Sentence = tuple[list[str], int]  # the words, and the number of the noun that does it


def sentences_about(doer: str, other: str) -> list[Sentence]:
    """Every sentence in which `doer` does something to `other`."""
    english = {"doer": doer, "other": other}
    chinese = {"doer": NOUNS[doer], "other": NOUNS[other]}
    texts = []
    for verb, participle, chinese_verb in VERBS:
        words = {**english, "verb": verb, "participle": participle}
        texts += [form.format(**words) for form in ENGLISH]
        texts += [form.format(**chinese, verb=chinese_verb) for form in CHINESE]
    return [(text.split(), list(NOUNS).index(doer)) for text in texts]


def split_pairs(seed: int) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to learn, and sentences about pairs that are never seen together."""
    pairs = list(itertools.combinations(NOUNS, 2))
    np.random.default_rng(seed).shuffle(pairs)
    held_out = len(pairs) // 4
    about = [sentences_about(*pair) + sentences_about(*pair[::-1]) for pair in pairs]
    join = itertools.chain.from_iterable
    return list(join(about[held_out:])), list(join(about[:held_out]))


def vocabulary(sentences: list[Sentence]) -> dict[str, int]:
    """Ids from 1; 0 is padding."""
    words = sorted({word for words, _ in sentences for word in words})
    return {word: number for number, word in enumerate(words, start=1)}


def as_arrays(
    sentences: list[Sentence], ids_of: dict[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    longest = max(len(words) for words, _ in sentences)
    ids = np.zeros((len(sentences), longest), "int32")
    for row, (words, _) in zip(ids, sentences, strict=True):
        row[: len(words)] = [ids_of[word] for word in words]
    return ids, np.array([doer for _, doer in sentences])


def build_model(words: int, *, encoded: bool) -> keras.Model:
    """Word ids `(batch, length)` to logits of the noun that does it."""
    ids = keras.Input((None,), dtype="int32", name="ids")
    # Made from the ids once: Keras's attention deletes the mask that its inputs carry.
    mask = ops.not_equal(ids, 0)
    x = layers.Embedding(words + 1, WIDTH)(ids)
    if encoded:
        x = SinusoidalPositionalEncoding(input_scale="sqrt_dim")(x)
    attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    heard = attention(x, x, attention_mask=mask[:, None, :])
    x = layers.LayerNormalization()(x + heard)
    hidden = layers.Dense(4 * WIDTH, activation="relu")(x)
    x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(hidden))
    pooled = layers.GlobalAveragePooling1D()(x, mask=mask)
    return keras.Model(ids, layers.Dense(len(NOUNS), name="doer")(pooled))


def train(
    model: keras.Model, ids: np.ndarray, doers: np.ndarray, epochs: int, filepath: Path
) -> None:
    """Train, show the progress, and keep the last epoch in `filepath`."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
    options = {"batch_size": BATCH_SIZE, "epochs": epochs}
    training.fit(model, ids, doers, filepath=filepath, **options)


def shuffling_changes(*, encoded: bool, seed: int) -> tuple[float, float]:
    """Largest change of a token's output when the tokens are shuffled, and its size."""
    keras.utils.set_random_seed(seed)
    rng = np.random.default_rng(seed)
    tokens = rng.standard_normal((1, 7, WIDTH)).astype("float32")
    order = rng.permutation(7)
    attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    place = SinusoidalPositionalEncoding() if encoded else layers.Identity()

    def outputs(x: np.ndarray) -> np.ndarray:
        placed = place(x)
        return ops.convert_to_numpy(attention(placed, placed))

    in_order, shuffled = outputs(tokens), outputs(tokens[:, order])
    change = np.abs(shuffled - in_order[:, order]).max()
    return float(change), float(np.abs(in_order).max())


def show_shuffling(seed: int) -> None:
    table = Table(
        "attention over 7 tokens",
        "outputs up to",
        "change by shuffling",
    )
    for encoded in (False, True):
        change, size = shuffling_changes(encoded=encoded, seed=seed)
        choice = "with the encoding" if encoded else "without the encoding"
        table.add_row(choice, f"{size:.2f}", f"{change:.1e}")
    Console().print(table)


def show_answers(model: keras.Model, ids_of: dict[str, int]) -> None:
    asked = [*sentences_about("dog", "man")[:5], *sentences_about("man", "dog")[:5]]
    ids, _ = as_arrays(asked, ids_of)
    answers = model.predict(ids, verbose=0).argmax(axis=-1)
    table = Table("sentence", "who does it?")
    for (words, _), answer in zip(asked, answers, strict=True):
        english = list(NOUNS)[answer]
        is_english = words[0].isascii()
        text = (" " if is_english else "").join(words)
        table.add_row(text, english if is_english else NOUNS[english])
    Console().print(table)


def export(model: keras.Model, filepath: Path) -> None:
    report = export_onnx(model, filepath)
    worst = max(one.error for one in report.comparisons)
    cases = len(report.comparisons)
    print(f"Saved as {filepath}: equal to Keras in {cases} cases, error {worst:.1e}")


def main(arguments: list[str] | None = None) -> None:
    parser = command_line.parser_of(__doc__)
    parser.add_argument("--epochs", type=command_line.positive, default=EPOCHS)
    options = parser.parse_args(arguments)
    command_line.require("tensorflow", "onnx", "tf2onnx", "onnxruntime")
    folder = command_line.writable_folder(options.output)
    show_shuffling(options.seed)

    seen, unseen = split_pairs(options.seed)
    ids_of = vocabulary(seen)
    accuracies = Table("sentences about unseen pairs", "right")
    for encoded in (False, True):
        choice = "with" if encoded else "without"
        print(f"\nTraining {choice} the encoding on {len(seen)} sentences")
        keras.utils.set_random_seed(options.seed)
        model = build_model(len(ids_of), encoded=encoded)
        filepath = folder / f"word_order_{choice}_encoding.keras"
        train(model, *as_arrays(seen, ids_of), options.epochs, filepath)
        _, accuracy = model.evaluate(*as_arrays(unseen, ids_of), verbose=0)
        accuracies.add_row(f"{choice} the encoding", f"{accuracy:.1%}")
    accuracies.add_row("chance, one of the two", f"{0.5:.1%}")
    Console().print(accuracies)
    show_answers(model, ids_of)
    export(model, folder / "word_order.onnx")


if __name__ == "__main__":
    main()
