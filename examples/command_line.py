"""What the command lines of the examples share: their options, and what they refuse."""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path


def parser_of(
    page: str, *, seed: int = 0, steps: int | None = None
) -> argparse.ArgumentParser:
    """A parser that shows the page and knows the options which most pages have."""
    parser = argparse.ArgumentParser(
        description=page, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if steps is not None:
        parser.add_argument("--steps", type=positive, default=steps, help="of training")
    parser.add_argument("--seed", type=int, default=seed, help="of everything random")
    parser.add_argument("--output", type=Path, default=Path("artifacts"))
    return parser


def positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, or one sentence before any time is spent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / ".writable").touch()
        (path / ".writable").unlink()
    except OSError as error:
        sys.exit(f"`--output` must be a folder that can be written to: {error}")
    return path


def require(*modules: str, extras: str = "tensorflow,onnx") -> None:
    """End with one sentence if a module is missing that is imported only later."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        sys.exit(
            f"This example needs `pip install 'keras_sinpe[{extras}]'`: there is no "
            f"{' and no '.join(missing)}."
        )
