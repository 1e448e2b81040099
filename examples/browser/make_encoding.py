"""Export the positional encoding for the browser page: one ONNX file a setting.

The width and the longest wavelength are constants of an exported graph, so the page
gets a small file for each pair of them, 27 to 250 kB, and loads the one that it shows.
The length and the first position are inputs of every file. Each file is compared with
the Keras layer before it gets its name.

    python examples/browser/make_encoding.py examples/browser/dist
"""

import argparse
import json
import sys
from itertools import product
from pathlib import Path

try:
    import keras
    import numpy as np
    from rich.progress import track

    from keras_sinpe import SinusoidalPositionalEncoding, export_onnx
except ImportError as error:
    sys.exit(f"This script needs `pip install 'keras_sinpe[tensorflow,onnx]'`: {error}")

WIDTHS = (8, 16, 32, 64, 128)
MAX_WAVELENGTHS = (100, 1000, 10_000, 100_000)
LONGEST = 512
# Lengths and first positions at which each file is compared with the layer.
CHECKED = ((1, 0), (65, -100), (200, 1_000_000), (LONGEST, 2**31 - LONGEST))


def build_model(width: int, max_wavelength: float) -> keras.Model:
    """Embeddings and a first position in, embeddings plus encoding out."""
    embeddings = keras.Input((None, width), name="embeddings")
    start_index = keras.Input(batch_shape=(), dtype="int32", name="start_index")
    layer = SinusoidalPositionalEncoding(max_wavelength=max_wavelength, name="encoded")
    return keras.Model(
        {"embeddings": embeddings, "start_index": start_index},
        layer(embeddings, start_index=start_index),
    )


def checked_inputs(width: int) -> list[dict[str, np.ndarray]]:
    """What the page feeds: embeddings of zeros, so that only the encoding comes out."""
    return [
        {
            "embeddings": np.zeros((1, length, width), "float32"),
            "start_index": np.array(start, "int32"),
        }
        for length, start in CHECKED
    ]


def export(folder: Path, width: int, max_wavelength: int) -> dict[str, int | str]:
    """Write one file and return its line of the catalogue."""
    name = f"width_{width}_wavelength_{max_wavelength}.onnx"
    model = build_model(width, max_wavelength)
    export_onnx(model, folder / name, inputs=checked_inputs(width))
    return {
        "file": name,
        "width": width,
        "maxWavelength": max_wavelength,
        "bytes": (folder / name).stat().st_size,
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the folder of the built page")
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument(
        "--max-wavelengths", type=int, nargs="+", default=MAX_WAVELENGTHS
    )
    options = parser.parse_args(arguments)
    folder = options.folder / "encodings"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"`folder` must be one that can be written to: {error}")
    settings = list(product(options.widths, options.max_wavelengths))
    catalogue = {
        "longest": LONGEST,
        "encodings": [
            export(folder, width, max_wavelength)
            for width, max_wavelength in track(settings, "Exporting and checking")
        ],
    }
    # Last, so that the page never finds a name whose file is not there.
    (folder / "catalogue.json").write_text(json.dumps(catalogue, indent=2) + "\n")
    total = sum(line["bytes"] for line in catalogue["encodings"])
    print(f"{len(settings)} encodings, {total / 1e6:.1f} MB, in {folder}")


if __name__ == "__main__":
    main()
