"""What the scripts in this folder share: arguments, loading a model, exit status."""

import argparse
import importlib
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

EXIT_STATUS = """\
exit status:
  0  the artifact computes what the model computes
  1  it does not; the report says where
  2  an argument or a file cannot be used; one sentence says why, nothing was written
"""


class UnusableInputError(Exception):
    """A file or an argument that a script cannot work with, in one sentence."""


def parser_for(description: str) -> argparse.ArgumentParser:
    """Make a parser with the arguments that every script takes."""
    parser = argparse.ArgumentParser(
        description=description,
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a `.keras` file")
    return parser


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what concerns the model's inputs and the parity check."""
    parser.add_argument(
        "--import",
        dest="modules",
        action="append",
        default=[],
        metavar="MODULE",
        help="import this module first, so that the layers it registers can be loaded; "
        "may be repeated",
    )
    parser.add_argument(
        "--input",
        dest="input_specs",
        action="append",
        default=[],
        type=_input_spec,
        metavar="NAME=DTYPE[SIZES]",
        help='an input of a subclassed model, "?" for a free size, for example '
        '"ids=int32[?,?]"; several are passed to the model as one dict',
    )
    parser.add_argument(
        "--output-name",
        dest="output_names",
        action="append",
        metavar="NAME",
        help="a name for an output, in the order of the model's outputs; one for each",
    )
    parser.add_argument(
        "--batch-sizes",
        type=_sizes,
        default=(5, 3, 1),
        metavar="N,N",
        help="batch sizes to check, which take turns (default: 5,3,1)",
    )
    parser.add_argument(
        "--lengths",
        type=_sizes,
        metavar="N,N",
        help="lengths to check (default: 1,2,7,64,65,1030)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="ERROR",
        help="largest error of any number (default: what its rounding explains)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def check_options(arguments: argparse.Namespace) -> dict[str, object]:
    """Turn the arguments of `add_check_arguments` into those of `check_parity`."""
    return {
        "input_signature": _signature(arguments.input_specs),
        "output_names": arguments.output_names,
        "batch_sizes": arguments.batch_sizes,
        "lengths": arguments.lengths,
        "tolerance": arguments.tolerance,
        "progress": sys.stderr.isatty(),
    }


def load_model(path: str, modules: list[str]) -> object:
    """Load a Keras model file, or raise an `UnusableInputError` that says why not."""
    if not os.path.isfile(path):
        raise UnusableInputError(f"There is no model file {path!r}.")
    if not os.access(path, os.R_OK):
        raise UnusableInputError(f"The model file {path!r} cannot be read.")
    if not _is_keras_file(path):
        raise UnusableInputError(f"The file {path!r} is not a `.keras` model file.")
    for module in modules:
        _import(module)
    import keras

    try:
        return keras.saving.load_model(path)
    except Exception as error:
        raise UnusableInputError(_loading_failure(path, str(error))) from error


def check_target(model: str, target: str) -> None:
    """Raise an `UnusableInputError` if the target is the model file itself."""
    if os.path.realpath(model) == os.path.realpath(target):
        raise UnusableInputError(f"The target {target!r} is the model file itself.")


@contextmanager
def exit_status() -> Iterator[None]:
    """Turn what a script may raise into a sentence and an exit status."""
    from keras_sinpe import BackendError, ExportError
    from keras_sinpe.parity import ParityError

    try:
        yield
    except ParityError as error:
        print(error.report)
        sys.exit(1)
    except (
        UnusableInputError,
        BackendError,
        ExportError,
        ModuleNotFoundError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        _fail(error)


def import_quietly() -> None:
    """Import the package without what TensorFlow writes about itself to stderr.

    Keras itself fails where its backend is missing, before the package can say so.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    kept, silent = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)
    try:
        importlib.import_module("keras_sinpe.exporting")  # and registers the layers
        missing = None
    except ModuleNotFoundError as error:
        missing = error.name
    finally:
        os.dup2(kept, 2)
        os.close(silent)
        os.close(kept)
    if missing:
        extra = "[tensorflow]" if missing == "tensorflow" else ""
        _fail(f"`{missing}` must be installed: pip install 'keras_sinpe{extra}'")


def _fail(reason: object) -> NoReturn:
    print(f"{os.path.basename(sys.argv[0])}: {reason}", file=sys.stderr)
    sys.exit(2)


def _is_keras_file(path: str) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "config.json" in archive.namelist()


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise UnusableInputError(f"`--import {module}` fails with: {error}.") from error


def _loading_failure(path: str, message: str) -> str:
    unknown = re.search(r"Could not locate (?:class|function) '([^']+)'", message)
    if unknown:
        return (
            f"The model file {path!r} uses {unknown[1]!r}, which nothing registers: "
            "name the module that does with `--import`."
        )
    first = message.strip().splitlines()[0] if message.strip() else "no message"
    return f"The model file {path!r} does not load: {first}"


def _sizes(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not N,N")
    return tuple(int(size) for size in text.split(","))


def _input_spec(text: str) -> tuple[str, str, tuple[int | None, ...]]:
    match = re.fullmatch(r"([\w.]+)=(\w+)\[([\d?, ]*)\]", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=DTYPE[SIZES]")
    sizes = [size.strip() for size in match[3].split(",") if size.strip()]
    shape = tuple(None if size == "?" else int(size) for size in sizes)
    return match[1], match[2], shape


def _signature(specs: list[tuple[str, str, tuple[int | None, ...]]]) -> object:
    import keras

    found = {
        name: keras.InputSpec(dtype=dtype, shape=shape, name=name)
        for name, dtype, shape in specs
    }
    if not found:
        return None
    return [next(iter(found.values())) if len(found) == 1 else found]
