"""The artifacts that every runtime is fed, and how its outputs are compared."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
RUNTIMES = ROOT / "runtimes"
ARTIFACTS = ROOT / "artifacts" / "runtimes"

# Sums in another order: 84 roundings of float32, for outputs of order one.
FLOAT32_TOLERANCE = 1e-5

# The largest error that each model may have.
MODELS = dict.fromkeys(
    (
        "encoder_classifier",
        "encoder_classifier_without_encoding",
        "causal_language_model",
        "encoder_decoder",
        "recurrent",
        "subclassed",
        "nested",
        "encoding_only",
    ),
    FLOAT32_TOLERANCE,
)
# What the layer promises, against exact rows.
MODELS |= {"integer_positions": 5e-7, "real_positions": 1e-6}
# Both batches with every length; the files are made by `runtimes/make_artifacts.py`.
SIZES = tuple(f"{batch}x{n}" for batch in (1, 3) for n in (1, 7, 128, 1024, 4096))


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
    """The largest error of `outputs/SIZE.npz`; NaN counts as an infinite one.

    Names, dtypes and shapes must equal those that are expected.
    """
    return max(np.abs(errors).max() for errors in all_errors(model, outputs, sizes))


def mean_error(model, outputs, sizes=SIZES):
    """The root of the mean squared error, over all outputs and sizes."""
    found = np.concatenate([e.ravel() for e in all_errors(model, outputs, sizes)])
    return np.sqrt(np.mean(found**2))


def all_errors(model, outputs, sizes):
    for size in sizes:
        expected = read(artifact(model, "expected") / f"{size}.npz")
        yield from errors(expected, read(outputs / f"{size}.npz"))


def errors(expected, received):
    """One array of errors per output, after names, dtypes and shapes."""
    assert set(received) == set(expected)
    for name, wanted in expected.items():
        found = received[name]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
        yield np.nan_to_num(found.astype("float64") - wanted, nan=np.inf)
