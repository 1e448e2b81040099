"""Put the page together in one folder that any static server can serve.

Copies the page, the two libraries that it runs on (ONNX Runtime Web and uPlot, fetched
by `npm install` beforehand) and their licences into `dist/`. `make_encoding.py` adds
the encodings. `make browser-page` does all three, and `serve.py` serves the result.

    python examples/browser/build.py
"""

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
LIBRARIES = (
    "onnxruntime-web/dist/ort.wasm.min.mjs",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.mjs",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
    "uplot/dist/uPlot.esm.js",
    "uplot/dist/uPlot.min.css",
    "uplot/LICENSE",
)


def build(folder: Path) -> None:
    """Fill `folder`; what is there already is replaced, the encodings stay."""
    missing = [
        name for name in LIBRARIES if not (HERE / "node_modules" / name).exists()
    ]
    if missing:
        sys.exit(
            "The page needs its libraries: run `npm install` in examples/browser. "
            f"Missing: {', '.join(missing)}"
        )
    try:
        shutil.copytree(HERE / "page", folder, dirs_exist_ok=True)
        (folder / "libraries").mkdir(exist_ok=True)
        for name in LIBRARIES:
            shutil.copy2(HERE / "node_modules" / name, folder / "libraries")
    except OSError as error:
        sys.exit(f"`--folder` must be one that can be written to: {error}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=HERE / "dist")
    folder = parser.parse_args(arguments).folder
    build(folder)
    print(f"The page is in {folder}")


if __name__ == "__main__":
    main()
