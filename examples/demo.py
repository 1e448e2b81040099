"""The whole way in one command: train, save, export, prove, use. Run by `make demo`.

Trains the example `reverse.py` with and without the positional encoding, saves the
model as `.keras`, exports it as a SavedModel and as an ONNX file, compares both with
the model at batches of 1 and 3 and lengths from 1 to 5000, and has words reversed by a
process that holds onnxruntime and no Keras.

    python examples/demo.py
    python examples/demo.py --output somewhere/else
"""

import subprocess
import sys
from pathlib import Path

import command_line  # beside this file, as is `reverse`

try:
    import keras
    import numpy as np
    import reverse
    from rich.console import Console
    from rich.table import Table

    from keras_sinpe import (
        ParityReport,
        SinusoidalPositionalEncoding,
        export_onnx,
        export_saved_model,
    )
    from keras_sinpe.reference import encode
except ImportError as error:
    sys.exit(
        f"This example needs `pip install 'keras_sinpe[tensorflow,onnx]'`: {error}"
    )

BATCH_SIZES, LENGTHS = (1, 3), (1, 2, 7, 64, 65, 1000, 5000)
WORDS = ("SINUSOID", "POSITION", "ATTENTION", "TRANSFORMER")
# The table's error is measured in rows of 512 features, 512 positions from each.
STARTS = (0, 65_536, 2**24, 2**31 - 1000)

LEAST_ACCURACY, MOST_ENCODING_ERROR = 0.99, 5e-7

Row = tuple[str, str, str]  # what, measured, wanted


def trained(
    folder: Path, *, encoded: bool, steps: int, seed: int
) -> tuple[Path, float]:
    choice = "with" if encoded else "without"
    print(f"\nTraining {choice} the encoding, {steps} steps")
    filepath = folder / f"reverse_{choice}_encoding.keras"
    model = reverse.train(filepath, encoded=encoded, steps=steps, seed=seed)
    return filepath, reverse.held_out_accuracy(model, seed)


def proof(kind: str, report: ParityReport) -> Row:
    """How many cases were compared, and the largest error of them all."""
    (worst,) = report.rows
    cases = len(report.comparisons)
    return (
        f"{kind} in {cases} cases",
        f"error {worst.error:.1e}",
        f"at most {worst.allowed:.1e}",
    )


def encoding_error() -> float:
    layer, width, length = SinusoidalPositionalEncoding(), 512, 512
    nothing = np.zeros((1, length, width), "float32")
    return max(
        float(np.abs(layer(nothing, start_index=start)[0] - wanted).max())
        for start in STARTS
        for wanted in [encode(start + np.arange(length), width)]
    )


def size_of(artifact: Path) -> str:
    files = artifact.rglob("*") if artifact.is_dir() else [artifact]
    return f"{sum(f.stat().st_size for f in files if f.is_file()) / 1e6:.2f} MB"


def reversed_without_keras(onnx_file: Path) -> list[str]:
    script = Path(__file__).with_name("reverse_without_keras.py")
    command = [sys.executable, script, onnx_file, *WORDS]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()


def show(rows: list[Row]) -> None:
    table = Table("what", "measured", "wanted", title="From training to ONNX Runtime")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def main(arguments: list[str] | None = None) -> None:
    parser = command_line.parser_of(__doc__, steps=reverse.STEPS)
    options = parser.parse_args(arguments)
    command_line.require("tensorflow", "onnx", "tf2onnx", "onnxruntime")
    folder = command_line.writable_folder(options.output)
    training = {"steps": options.steps, "seed": options.seed}
    filepath, accuracy = trained(folder, encoded=True, **training)
    _, without_encoding = trained(folder, encoded=False, **training)

    model = keras.saving.load_model(filepath)
    saved_model, onnx_file = folder / "reverse_saved_model", folder / "reverse.onnx"
    check = {"batch_sizes": BATCH_SIZES, "lengths": LENGTHS}
    print("\nExporting, and running each artifact beside the model")
    saved_model_report = export_saved_model(model, saved_model, progress=True, **check)
    onnx_report = export_onnx(model, onnx_file, progress=True, **check)
    answers = reversed_without_keras(onnx_file)

    most_error = f"at most {MOST_ENCODING_ERROR:.1e}"
    show(
        [
            ("words reversed", f"{accuracy:.1%}", f"at least {LEAST_ACCURACY:.0%}"),
            ("without the encoding", f"{without_encoding:.1%}", "chance, 10%"),
            proof("SavedModel", saved_model_report),
            proof("ONNX file", onnx_report),
            ("lengths of those", ", ".join(map(str, LENGTHS)), ""),
            ("encoding against float64", f"error {encoding_error():.1e}", most_error),
            ("onnxruntime alone, no Keras", "\n".join(answers), ""),
            *((p.name, size_of(p), "") for p in (filepath, saved_model, onnx_file)),
        ]
    )
    print(f"All of it lies in {folder.resolve()}")
    if accuracy < LEAST_ACCURACY:
        sys.exit(
            f"{options.steps} steps are too few: {accuracy:.1%} of words reversed."
        )


if __name__ == "__main__":
    main()
