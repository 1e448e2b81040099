"""Fill gaps in real measurements at irregular times, with dates as positions.

Carbon dioxide over Mauna Loa, 1958 to 2001, as statsmodels carries it: it rises year by
year and swings with the seasons, and 59 weeks are missing. A Transformer sees 40
readings from three years, at uneven distances, and fills a gap of 13 weeks between
them. What differs is where it is told that a reading stands:

* dates, year: the encoding of the date in days, with the year among its `periods`;
* dates: the encoding of the date with the usual geometric wavelengths;
* index: the usual encoding of the place in the sequence, whatever the time between;
* none: no encoding at all.

All are judged on the same held-out gaps, of which training has seen no reading, beside
two that need no training: a straight line between the neighbours, and a parabola with
two waves of a year fitted to the 40 readings, which knows the answer's form and is hard
to beat. The model of "dates, year" becomes an ONNX file, proved equal.

    pip install 'keras_sinpe[examples]'
    python examples/irregular_times.py                 # under two minutes
    python examples/irregular_times.py --seeds 1 --steps 50
"""

import sys
from pathlib import Path

try:
    import keras
    import mauna_loa  # the pages beside this one
    import numpy as np
    import several_seeds
    from keras import layers, ops
    from matplotlib.figure import Figure
    from mauna_loa import HELD_OUT_GAPS, QUERIES, YEAR, Windows
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import SinusoidalPositionalEncoding, check_parity, export_onnx
except ImportError as error:
    sys.exit(f"This example needs `pip install 'keras_sinpe[examples]'`: {error}")

WIDTH, HEADS = 32, 4
STEPS = 300
PPM = 3.0  # about the swing of the seasons; the unit that the model computes in

# Pairs of waves: the year and its overtones, then from a month to the whole record.
PERIODS = [YEAR, YEAR / 2, YEAR / 3, *np.geomspace(30, 44 * YEAR, WIDTH // 2 - 3)]
ENCODINGS = {
    "dates, year": {"periods": PERIODS},
    "dates": {},
    "index": {},
    "none": None,
}

Filled = dict[str, np.ndarray]  # ppm, (seeds, windows, readings) per method


def build_model(encoding: str) -> keras.Model:
    """Readings and their positions to the deviation from the mean, at each of them."""
    readings = keras.Input((None, 2), name="readings")
    positions = keras.Input((None,), name="positions")
    attention_mask = readings[:, None, :, 1] > 0  # attend to what is seen
    x = layers.Dense(WIDTH)(readings)
    if ENCODINGS[encoding] is not None:
        encode = SinusoidalPositionalEncoding(**ENCODINGS[encoding])
        x = encode(x, positions=positions)
    attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    heard = attention(x, x, attention_mask=attention_mask)
    x = layers.LayerNormalization()(x + heard)
    hidden = layers.Dense(2 * WIDTH, activation="relu")(x)
    x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(hidden))
    deviation = layers.Dense(1, name="deviation")(x)
    return keras.Model({"readings": readings, "positions": positions}, deviation)


def model_inputs(data: Windows, encoding: str) -> dict[str, np.ndarray]:
    values = (data.ppm - data.level) / PPM * data.seen
    places = np.broadcast_to(np.arange(data.days.shape[1]), data.days.shape)
    positions = data.days if encoding.startswith("dates") else places
    return {
        "readings": np.stack([values, data.seen], axis=-1).astype("float32"),
        "positions": positions.astype("float32"),
    }


def endless_batches(data: Windows, encoding: str, seed: int) -> several_seeds.Batches:
    """Batches of the windows in `data`, over and over."""
    inputs = model_inputs(data, encoding)
    targets = ((data.ppm - data.level) / PPM).astype("float32")[..., None]
    rng = np.random.default_rng(seed)
    while True:
        rows = rng.choice(len(targets), several_seeds.BATCH_SIZE, replace=False)
        batch = {name: array[rows] for name, array in inputs.items()}
        yield batch, targets[rows], 1 - data.seen[rows]


def fill_in(model: keras.Model, encoding: str, data: Windows) -> np.ndarray:
    """The model's ppm at every reading of every window."""
    deviation = ops.convert_to_numpy(model(model_inputs(data, encoding)))[..., 0]
    return deviation * PPM + data.level


def errors(filled: Filled, data: Windows) -> dict[str, np.ndarray]:
    """Per method and seed, the root mean square over what was to fill in, in ppm."""
    gap = data.seen == 0
    return {
        name: np.sqrt(((ppm - data.ppm)[:, gap] ** 2).mean(axis=1))
        for name, ppm in filled.items()
    }


def results(measured: dict[str, np.ndarray]) -> Table:
    title = f"Error in {HELD_OUT_GAPS} held-out gaps of {QUERIES} weeks, ppm"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.min_width = len(title)
    table.add_column("positions")
    for heading in ("mean", "least", "most"):
        table.add_column(heading, justify="right")
    for name, seeds in measured.items():
        numbers = (seeds.mean(), seeds.min(), seeds.max())
        table.add_row(name, *(f"{number:.2f}" for number in numbers))
    return table


def statement(measured: dict[str, np.ndarray]) -> str:
    """What was seen, in words, whatever it was."""
    ranked = sorted(measured, key=lambda name: measured[name].mean())
    year, index = measured["dates, year"], measured["index"]
    always = "every" if year.max() < index.min() else "not every"
    return (
        f"From best to worst: {'; '.join(ranked)}.\n"
        f"Dates with the year make {year.mean() / index.mean():.0%} of the error that "
        f"the index makes; {always} seed of theirs beats every seed of the index."
    )


def draw(data: Windows, filled: Filled) -> Figure:
    """One held-out gap: what was seen, what was there, what the first seed fills in."""
    row = len(data.days) // 2
    years, gap = mauna_loa.FIRST_YEAR + data.days[row] / YEAR, data.seen[row] == 0
    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    ax.plot(years[~gap], data.ppm[row][~gap], "o", color="0.65", ms=4, label="seen")
    ax.plot(years[gap], data.ppm[row][gap], "ko", ms=4, label="held out")
    for name, ppm in filled.items():
        ax.plot(years[gap], ppm[0, row][gap], lw=1.8, label=name)
    ax.set_title("Carbon dioxide over Mauna Loa, one held-out gap", loc="left")
    ax.set(xlabel="year", ylabel="ppm")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left")
    return figure


def prove(model: keras.Model, data: Windows, onnx_file: Path) -> None:
    """Export, and compare on the held-out windows as well as on random inputs."""
    lengths = (1, data.days.shape[1], 200)
    export_onnx(model, onnx_file, lengths=lengths, progress=True)
    print(check_parity(model, onnx_file, inputs=model_inputs(data, "dates, year")))


def main(arguments: list[str] | None = None) -> None:
    experiment = several_seeds.read_command_line(
        "irregular_times", __doc__, STEPS, arguments
    )
    names = list(ENCODINGS)
    training, held_out = mauna_loa.training_and_held_out_windows()
    experiment.train(
        names,
        build_model,
        lambda name, seed: endless_batches(training, name, seed),
        keras.losses.MeanSquaredError(),
    )
    filled = experiment.measure(
        names, lambda model, name, seed: fill_in(model, name, held_out)
    )
    measured = errors(filled | mauna_loa.untrained(held_out), held_out)
    Console().print(results(measured))
    print(statement(measured))
    figure = experiment.folder / "irregular_times.png"
    draw(held_out, filled).savefig(figure)
    print(f"Saved {figure}")
    model = experiment.load("dates, year", experiment.seeds[0])
    prove(model, held_out, experiment.folder / "irregular_times.onnx")


if __name__ == "__main__":
    main()
