"""Random arrays for one case: ids within the vocabulary, rows padded in every way."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from keras_sinpe.model.signatures import Signature
from keras_sinpe.model.sizes import Case, TensorSpec

Array = np.ndarray[Any, Any]
Feeds = dict[str, Array]

# Numbers below which an integer is drawn of which nothing is known: starts, lengths and
# positions go beyond 1,024 and 65,536; smaller ones for a model that refuses those.
LIMITS = (2**17, 1000, 2)

# What is padded in one row after the other: a row alone is whole.
PADDED = ("nothing", "the end", "the start", "everything", "the end")


def draw(
    signature: Signature,
    case: Case,
    limits: Mapping[str, int],
    padded: Collection[str],
    rng: np.random.Generator,
    unknown: int = LIMITS[0],
) -> Feeds:
    """Draw one array per input.

    Args:
        signature: the inputs.
        case: a size for every free axis.
        limits: for integer inputs that are ids, the number of them.
        padded: the inputs whose rows are padded with zeros: at the end, at the start,
            all of them, or not at all.
        rng: source of the numbers.
        unknown: the number of values of an integer of which nothing is known.
    """
    feeds = {}
    for spec in signature.inputs:
        shape = [case.sizes[a] if isinstance(a, str) else a for a in spec.axes]
        if "int" not in spec.dtype:
            array = draw_values(spec, shape, 0, rng)
        elif spec.name in limits:
            array = _ids(spec, shape, limits[spec.name], rng)
        else:
            array = _integers(spec, shape, unknown, rng)
        feeds[spec.name] = _pad(array, rng) if spec.name in padded else array
    return feeds


def draw_values(
    spec: TensorSpec, shape: list[int], limit: int, rng: np.random.Generator
) -> Array:
    """Draw one array without padding; integers below `limit`, and above 0 if possible.

    NumPy has no bfloat16 of its own: such an input is drawn in float32.
    """
    if spec.dtype == "bool":
        return rng.random(shape) < 0.5
    if spec.dtype.startswith(("int", "uint")):
        # Zero is the padding id wherever there is one.
        return rng.integers(min(1, limit - 1), limit, shape).astype(spec.dtype)
    if spec.dtype.startswith(("float", "bfloat")):
        dtype = spec.dtype.replace("bfloat16", "float32")
        return rng.standard_normal(shape).astype(dtype)
    raise ValueError(
        "`inputs` must be given for an input that is neither a number nor a bool. "
        f"Received: inputs=None with the input {spec.name!r} of dtype {spec.dtype}"
    )


def _ids(
    spec: TensorSpec, shape: list[int], limit: int, rng: np.random.Generator
) -> Array:
    """Ids of a vocabulary, its last and its first among them where there is room."""
    array = draw_values(spec, shape, limit, rng)
    array.reshape(-1)[:2] = (limit - 1, 0)[: array.size]
    return array


def _integers(
    spec: TensorSpec, shape: list[int], unknown: int, rng: np.random.Generator
) -> Array:
    """Numbers below a limit, of every size alike: as many of two digits as of four."""
    limit = min(unknown, int(np.iinfo(spec.dtype).max))
    drawn: Array = np.exp(rng.random(shape) * np.log(limit + 1)) - 1
    return drawn.astype(spec.dtype)


def _pad(array: Array, rng: np.random.Generator) -> Array:
    if array.ndim < 2 or array.shape[1] < 2:
        return array
    length = array.shape[1]
    for row in range(len(array)):
        kept = int(rng.integers(1, length))
        place = PADDED[row % len(PADDED)]
        if place == "everything":
            array[row] = 0
        elif place == "the end":
            array[row, kept:] = 0
        elif place == "the start":
            array[row, :kept] = 0
    return array
