"""Random arrays for one run: ids within the vocabulary, padded rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from keras_sinpe.model.signatures import Signature
from keras_sinpe.model.tensor_specs import Case, TensorSpec

Feeds = dict[str, np.ndarray[Any, Any]]

# Values of an integer input of which nothing is known: positions, counts and the like;
# and, for a model that refuses those, flags.
WIDE, NARROW = 1000, 2


def draw(
    signature: Signature,
    case: Case,
    limits: Mapping[str, int],
    rng: np.random.Generator,
) -> Feeds:
    """Draw one array per input.

    Rows are padded with zeros at their end, each to a length of its own, except that
    about every other row is full.

    Args:
        signature: the inputs.
        case: A size for every free axis.
        limits: for an integer input, the number of values it may take.
        rng: source of the numbers.
    """
    feeds = {}
    for spec in signature.inputs:
        shape = [case.sizes[a] if isinstance(a, str) else a for a in spec.axes]
        array = draw_values(spec, shape, limits.get(spec.name, WIDE), rng)
        feeds[spec.name] = _pad(array, rng)
    return feeds


def draw_values(
    spec: TensorSpec, shape: list[int], limit: int, rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Draw one array without padding; integers below `limit`, and above 0 if possible.

    NumPy has no bfloat16 of its own: such an input is drawn in float32.
    """
    if spec.dtype == "bool":
        return rng.random(shape) < 0.5
    if spec.dtype.startswith(("int", "uint")):
        # Zero is the padding id wherever there is one.
        return rng.integers(min(1, limit - 1), limit, shape).astype(spec.dtype)
    if spec.dtype.startswith("float"):
        return rng.standard_normal(shape).astype(spec.dtype)
    if spec.dtype == "bfloat16":
        return rng.standard_normal(shape).astype("float32")
    raise ValueError(
        "`inputs` must be given for an input that is neither a number nor a bool. "
        f"Received: inputs=None with the input {spec.name!r} of dtype {spec.dtype}"
    )


def _pad(array: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if array.ndim < 2 or array.shape[1] < 2:
        return array
    length = array.shape[1]
    for row in range(array.shape[0]):
        if (row + length) % 2:
            array[row, rng.integers(1, length) :] = 0
    return array
