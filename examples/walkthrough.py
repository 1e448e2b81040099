"""From a sentence to what the encoder sees, number by number.

"Transformers use positional encoding" becomes ids, the ids become rows of an embedding
table, the encoding of each place is added. Then what the encoding is for: attention
alone cannot tell an order, a shift of all positions is one rotation, the dot product of
two rows tells their distance, and random projections of queries and keys undo that.
Two figures are saved, and the model of the sentence as ONNX, proved equal.

    pip install 'keras_sinpe[tensorflow,onnx,plot]'
    python examples/walkthrough.py --output walkthrough
"""

import sys
from pathlib import Path

import command_line  # beside this file

try:
    import keras
    import matplotlib  # noqa: F401 - the figures need it; better said now than later
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    from keras_sinpe import SinusoidalPositionalEncoding, check_parity, export_onnx
    from keras_sinpe.plots import plot_dot_product, plot_encoding
    from keras_sinpe.properties import coverage, dot_product, encoding, shift_matrix
except ImportError as error:
    sys.exit(
        f"This example needs `pip install 'keras_sinpe[tensorflow,onnx,plot]'`: {error}"
    )

SENTENCE = "Transformers use positional encoding"
WIDTH = 6
DISTANCES = (0, 1, 2, 10, 100, 1000, 2000)
PLACES = (0, 100, 10_000)
SHUFFLED = [2, 0, 3, 1]

Array = np.ndarray


def ids_of(sentence: str) -> dict[str, int]:
    """Each word, lower-cased, with its id in the order of appearance."""
    return {word: i for i, word in enumerate(sentence.lower().split())}


def embedding_table(count: int, seed: int) -> Array:
    """The table that `np.random.seed(seed)` and `np.random.rand` draw."""
    return np.random.RandomState(seed).rand(count, WIDTH)


def build_model(table: Array) -> keras.Model:
    """Ids `(batch, length)` to embeddings plus encoding."""
    ids = keras.Input((None,), dtype="int32", name="ids")
    embed = keras.layers.Embedding(*table.shape, weights=[table], name="embedding")
    return keras.Model(ids, SinusoidalPositionalEncoding(name="placed")(embed(ids)))


def new_table(title: str, first: str, *headings: str) -> Table:
    table = Table(
        title=title, title_justify="left", min_width=len(title), box=box.SIMPLE_HEAD
    )
    table.add_column(first)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def rows_table(title: str, words: list[str], rows: Array) -> Table:
    headings = (f"col {column}" for column in range(rows.shape[1]))
    table = new_table(title, "word", *headings)
    for word, row in zip(words, rows, strict=True):
        table.add_row(word, *(f"{value:.5f}" for value in row))
    return table


def sentence_tables(words: dict[str, int], table: Array, placed: Array) -> list[Table]:
    ids = new_table(f'The sentence "{SENTENCE}"', "word", "id")
    for word, i in words.items():
        ids.add_row(word, str(i))
    names, places = list(words), np.arange(len(words))
    return [
        ids,
        rows_table("Embedding of each word", names, table),
        rows_table("Encoding of each place", names, encoding(places, WIDTH)),
        rows_table("What the encoder sees: their sum", names, placed),
    ]


def order_table(seed: int) -> Table:
    """What shuffling the words changes in the outputs of a `MultiHeadAttention`."""
    keras.utils.set_random_seed(seed)
    attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    words = np.random.default_rng(seed).standard_normal((1, len(SHUFFLED), 8))
    add_encoding = SinusoidalPositionalEncoding()
    title = "Attention to the same words in another order: what else changes"
    table = new_table(title, "inputs", "largest change")
    for name, place in (("words", keras.ops.array), ("words + encoding", add_encoding)):
        plain, moved = (place(x.astype("float32")) for x in (words, words[:, SHUFFLED]))
        before = keras.ops.convert_to_numpy(attention(plain, plain))[:, SHUFFLED]
        after = keras.ops.convert_to_numpy(attention(moved, moved))
        table.add_row(name, f"{np.abs(after - before).max():.1e}")
    return table


def shift_table() -> Table:
    title = "One matrix M takes every PE(p) to PE(p + 3)"
    table = new_table(title, "p", "largest |M PE(p) - PE(p + 3)|")
    matrix = shift_matrix(3, WIDTH)
    for place in PLACES:
        moved = matrix @ encoding(place, WIDTH)
        difference = np.abs(moved - encoding(place + 3, WIDTH)).max()
        table.add_row(f"{place:,}", f"{difference:.0e}")
    return table


def distance_table() -> Table:
    title = "PE(p) . PE(p + k), 512 features, whatever p"
    table = new_table(title, "k", *map(str, DISTANCES))
    table.add_row("", *(f"{dot_product(k, 512):.4f}" for k in DISTANCES))
    return table


def projection_table(seed: int) -> Table:
    """Scores of places 10 apart: plain, and through random queries and keys."""
    draw = np.random.default_rng(seed)
    query, key = draw.standard_normal((2, WIDTH, WIDTH)) / np.sqrt(WIDTH)
    title = "Random projections: the score no longer depends on the distance alone"
    table = new_table(title, "p", "PE(p) . PE(p + 10)", "W_Q PE(p) . W_K PE(p + 10)")
    for place in PLACES:
        first, second = encoding(place, WIDTH), encoding(place + 10, WIDTH)
        projected = (query @ first) @ (key @ second)
        table.add_row(f"{place:,}", f"{first @ second:.4f}", f"{projected:.4f}")
    return table


def coverage_table(length: int = 512) -> Table:
    title = f"Pairs that complete a turn within a training length of {length}"
    table = new_table(title, "features", "do", "do not", "the slowest turns")
    for width in (512, 1024):
        seen = coverage(length, width)
        degrees = f"{seen.slowest_degrees:.2f} degrees"
        table.add_row(str(width), str(seen.complete), str(seen.incomplete), degrees)
    return table


def save_figures(folder: Path, length: int, console: Console) -> list[Path]:
    figures = {
        "encoding.png": lambda: plot_encoding(128, length),
        "dot_product.png": lambda: plot_dot_product(128, length),
    }
    for name, draw in track(figures.items(), "Drawing", console=console):
        draw().savefig(folder / name)
    return [folder / name for name in figures]


def walk(folder: Path, *, seed: int, length: int) -> None:
    console = Console()
    words = ids_of(SENTENCE)
    table = embedding_table(len(words), seed)
    model = build_model(table)
    placed = keras.ops.convert_to_numpy(model(np.array([list(words.values())])))[0]
    for shown in (
        *sentence_tables(words, table, placed),
        order_table(seed),
        shift_table(),
        distance_table(),
        projection_table(seed),
        coverage_table(),
    ):
        console.print(shown)
    for path in save_figures(folder, length, Console(stderr=True)):
        console.print(f"Saved {path}", soft_wrap=True)
    onnx_file = folder / "walkthrough.onnx"
    export_onnx(model, onnx_file, progress=True)
    print(check_parity(model, onnx_file, lengths=(4, 5000)))


def main(arguments: list[str] | None = None) -> None:
    parser = command_line.parser_of(__doc__, seed=42)
    parser.add_argument(
        "--length",
        type=command_line.positive,
        default=100,
        help="positions in the figures",
    )
    options = parser.parse_args(arguments)
    folder = command_line.writable_folder(options.output)
    try:
        walk(folder, seed=options.seed, length=options.length)
    except KeyboardInterrupt:
        sys.exit(f"\nInterrupted: what was finished is in {folder}.")


if __name__ == "__main__":
    main()
