"""What an encoding is worth beyond the length it was trained at.

A causal Transformer names, at every place, the letter that stood three places before.
It is trained on 32 letters and read on up to 128, with the sinusoidal encoding, with a
learned table of positions and with none. Attention is causal, so place `p` of a long
sequence is what place `p` of a sequence that ends there would be.

Within the training length the table and the sinusoidal encoding are equally good. The
table ends with its rows: one of 32 rows refuses a 33rd letter, and rows that training
never reached are noise. The sinusoidal encoding is defined everywhere, which is not the
same as being right everywhere; the run prints how far it was.

    pip install 'keras_sinpe[tensorflow,onnx,plot]'
    python examples/extrapolation.py                    # under two minutes
    python examples/extrapolation.py --seeds 1 --steps 50
"""

import sys
from collections.abc import Callable

try:
    import keras
    import numpy as np
    import several_seeds  # the page beside this one
    from keras import layers, ops
    from matplotlib.figure import Figure
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import SinusoidalPositionalEncoding, check_parity, export_onnx
except ImportError as error:
    sys.exit(
        f"This example needs `pip install 'keras_sinpe[tensorflow,onnx,plot]'`: {error}"
    )

TRAINING_LENGTH = 32
LONGEST = 4 * TRAINING_LENGTH
OFFSET, LETTERS = 3, 16
WIDTH, HEADS = 32, 4
STEPS = 400
HELD_OUT = 256  # sequences
# Rows of the table start as large as the sines and cosines are, letters smaller.
AS_ENCODING = keras.initializers.RandomNormal(stddev=0.7)
SMALLER = keras.initializers.RandomNormal(stddev=0.2)

Curves = dict[str, np.ndarray]  # accuracies, (seeds, places from OFFSET on)


def sinusoidal(x: keras.KerasTensor, ids: keras.KerasTensor) -> keras.KerasTensor:
    return SinusoidalPositionalEncoding(name="encoding")(x)


def table_of(rows: int) -> Callable[..., keras.KerasTensor]:
    def add_table(x: keras.KerasTensor, ids: keras.KerasTensor) -> keras.KerasTensor:
        places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
        return x + layers.Embedding(rows, WIDTH, AS_ENCODING, name="table")(places)

    return add_table


def nothing(x: keras.KerasTensor, ids: keras.KerasTensor) -> keras.KerasTensor:
    return x


# The table gets rows for every place that is read; training reaches the first 32.
ENCODINGS = {"sinusoidal": sinusoidal, "table": table_of(LONGEST), "none": nothing}


def build_model(encode: Callable[..., keras.KerasTensor]) -> keras.Model:
    """Letters `(batch, length)` to logits of the letter `OFFSET` places before."""
    ids = keras.Input((None,), dtype="int32", name="ids")
    x = encode(layers.Embedding(LETTERS, WIDTH, SMALLER)(ids), ids)
    heard = layers.LayerNormalization()(x)
    attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    x = x + attention(heard, heard, use_causal_mask=True)
    hidden = layers.Dense(2 * WIDTH, "relu")(layers.LayerNormalization()(x))
    x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(hidden))
    return keras.Model(ids, layers.Dense(LETTERS, name="letters")(x))


def sequences(
    rng: np.random.Generator, count: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Random letters, and at every place the one `OFFSET` before (0 at the start)."""
    letters = rng.integers(0, LETTERS, (count, length)).astype("int32")
    before = np.pad(letters[:, : length - OFFSET], ((0, 0), (OFFSET, 0)))
    return letters, before


def endless_batches(encoding: str, seed: int) -> several_seeds.Batches:
    rng = np.random.default_rng(seed)
    counted = np.arange(TRAINING_LENGTH) >= OFFSET
    weights = np.tile(counted.astype("float32"), (several_seeds.BATCH_SIZE, 1))
    while True:
        yield *sequences(rng, len(weights), TRAINING_LENGTH), weights


def accuracies(model: keras.Model, encoding: str, seed: int) -> np.ndarray:
    """The share of right letters at each place from `OFFSET` on."""
    # Training draws from the seed itself, never from this pair.
    rng = np.random.default_rng([seed, 1])
    letters, before = sequences(rng, HELD_OUT, LONGEST)
    named = ops.convert_to_numpy(model(letters)).argmax(axis=-1)
    return (named == before).mean(axis=0)[OFFSET:]


def between(curves: np.ndarray, first: int, last: int) -> np.ndarray:
    """For each seed, the share of right letters from one place to another (from 1)."""
    return curves[:, max(first - 1 - OFFSET, 0) : last - OFFSET].mean(axis=1)


def reach(curves: np.ndarray) -> int:
    """How many places in a row beyond the training length have half of them right."""
    bad = curves.mean(axis=0)[TRAINING_LENGTH - OFFSET :] < 0.5
    return int(bad.argmax()) if bad.any() else len(bad)


def results(curves: Curves) -> Table:
    ends = [TRAINING_LENGTH + more for more in (4, 8, 32, 96)]
    spans = [(1, TRAINING_LENGTH), *((end - 3, end) for end in ends)]
    title = (
        f"Right letters by place, mean and range of seeds (chance {1 / LETTERS:.1%})"
    )
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("encoding")
    for first, last in spans:
        table.add_column(f"{first}-{last}", justify="right")
    for name, curve in curves.items():
        shares = [between(curve, *span) for span in spans]
        ranges = [f"{share.min():.0%} - {share.max():.0%}" for share in shares]
        table.add_row(name, *(f"{share.mean():.1%}" for share in shares))
        table.add_row("", *ranges)
    return table


def statement(curves: Curves) -> str:
    """What was seen, in words, whatever it was."""
    inside = {name: between(c, 1, TRAINING_LENGTH).mean() for name, c in curves.items()}
    lines = [
        f"{name}: {inside[name]:.1%} right within the training length, at least half "
        f"right for {reach(curve)} more places, "
        f"{between(curve, LONGEST - 3, LONGEST).mean():.1%} at the end."
        for name, curve in curves.items()
    ]
    difference = 100 * abs(inside["sinusoidal"] - inside["table"])
    lines.append(
        "Within the training length the table and the sinusoidal encoding differ by "
        f"{difference:.2f} percentage points."
    )
    return "\n".join(lines)


def end_of_table() -> str:
    """What a table of as many rows as the training length says to one letter more."""
    model = build_model(table_of(TRAINING_LENGTH))
    letters = np.zeros((1, TRAINING_LENGTH + 1), "int32")
    asked = f"A table of {TRAINING_LENGTH} rows, given {TRAINING_LENGTH + 1} letters:"
    try:
        answer = ops.convert_to_numpy(model(letters))[0, -1]
    except Exception as error:  # each backend has its own
        return f"{asked} {type(error).__name__}."
    return f"{asked} no error, and the logits {answer}."


def draw(curves: Curves) -> Figure:
    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    places = np.arange(OFFSET, LONGEST) + 1
    for name, curve in curves.items():
        (line,) = ax.plot(places, curve.mean(axis=0), label=name)
        low, high = curve.min(axis=0), curve.max(axis=0)
        ax.fill_between(places, low, high, color=line.get_color(), alpha=0.2, lw=0)
    ax.axvline(TRAINING_LENGTH, color="0.3", ls="--", label="end of training length")
    ax.axhline(1 / LETTERS, color="0.6", ls=":", label="chance")
    seeds = len(curves["sinusoidal"])
    title = f"The letter {OFFSET} places before: mean and range of {seeds} seeds"
    ax.set_title(title, loc="left")
    ax.set(xlabel="place in the sequence", ylabel="share of right letters")
    ax.set(xlim=(0, LONGEST), ylim=(0, 1.02))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper right")
    return figure


def main(arguments: list[str] | None = None) -> None:
    experiment = several_seeds.read_command_line(
        "extrapolation", __doc__, STEPS, arguments
    )
    experiment.train(
        list(ENCODINGS),
        lambda name: build_model(ENCODINGS[name]),
        endless_batches,
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    curves = experiment.measure(list(ENCODINGS), accuracies)
    Console().print(results(curves))
    print(statement(curves), end_of_table(), sep="\n")
    figure = experiment.folder / "extrapolation.png"
    draw(curves).savefig(figure)
    print(f"Saved {figure}")
    model = experiment.load("sinusoidal", experiment.seeds[0])
    onnx_file = experiment.folder / "extrapolation.onnx"
    lengths = (1, TRAINING_LENGTH, LONGEST)
    export_onnx(model, onnx_file, lengths=lengths, progress=True)
    print(check_parity(model, onnx_file, lengths=lengths, seed=1))


if __name__ == "__main__":
    main()
