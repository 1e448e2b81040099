"""What every Python runner does: arrays in, the artifact run, arrays out, by name.

Needs NumPy only, so that it runs beside any runtime.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]


def parser_for(description: str) -> argparse.ArgumentParser:
    """The arguments that every runner takes: ARTIFACT OUTPUTS FEEDS..."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("artifact", help="the model's file or folder")
    parser.add_argument("outputs", type=Path, help="the folder for the outputs")
    parser.add_argument("feeds", type=Path, nargs="+", help=".npz files, by input name")
    return parser


def feed(
    run: Callable[[dict[str, np.ndarray]], Arrays], feeds: list[Path], outputs: Path
) -> None:
    """Write, for every file of feeds, one file of the same name into `outputs`."""
    outputs.mkdir(parents=True, exist_ok=True)
    for path in feeds:
        with np.load(path) as arrays:
            np.savez(outputs / path.name, **run(dict(arrays)))
