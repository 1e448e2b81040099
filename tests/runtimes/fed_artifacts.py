"""The artifacts that every runtime is fed, and how its outputs are compared."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
RUNTIMES = ROOT / "runtimes"
ARTIFACTS = ROOT / "artifacts" / "runtimes"

MODELS = (
    "encoder_classifier",
    "encoder_classifier_without_encoding",
    "causal_language_model",
    "encoder_decoder",
    "recurrent",
    "subclassed",
    "nested",
    "encoding_only",
)
# Both batches with every length; the files are made by `runtimes/make_artifacts.py`.
SIZES = tuple(f"{batch}x{n}" for batch in (1, 3) for n in (1, 7, 128, 1024, 4096))

# Sums in another order: 84 roundings of float32, for outputs of order one.
FLOAT32_TOLERANCE = 1e-5


def artifact(model, name):
    path = ARTIFACTS / model / name
    assert path.exists(), f"{path} is missing: run `make runtime-artifacts`"
    return path


def feeds(model, sizes=SIZES):
    return [artifact(model, "feeds") / f"{size}.npz" for size in sizes]


def python_of(venv):
    """The interpreter of a runtime's own environment."""
    path = ROOT / f".venv-{venv}" / "bin" / "python"
    assert path.exists(), f"{path} is missing: run `make .venv-{venv}/.installed`"
    return path


def run(*command, **options):
    """Run a process to its end and return what it printed."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )
    if result.returncode:
        pytest.fail(f"{command[:3]} failed:\n{result.stdout}{result.stderr[-4000:]}")
    return result.stdout


def read(path):
    with np.load(path) as arrays:
        return dict(arrays)


def largest_error(model, outputs, sizes=SIZES):
    """Compare `outputs/SIZE.npz` with what Keras computed; return the largest error.

    Names, dtypes and shapes must be equal; NaN counts as an infinite error.
    """
    return max(
        error
        for size in sizes
        for error in errors(
            read(artifact(model, "expected") / f"{size}.npz"),
            read(outputs / f"{size}.npz"),
        )
    )


def errors(expected, received):
    assert set(received) == set(expected)
    for name, wanted in expected.items():
        found = received[name]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
        distance = np.abs(found.astype("float64") - wanted)
        yield float(np.nan_to_num(distance, nan=np.inf).max(initial=0.0))
