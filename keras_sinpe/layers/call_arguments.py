"""Checks of what a layer is called with, for eager, traced and symbolic tensors."""

from typing import Any

import numpy as np
from keras import ops

from keras_sinpe.arguments import refusal
from keras_sinpe.engine.encode import (
    FIRST_POSITION,
    INTEGER_POSITIONS,
    LAST_POSITION,
    REAL_POSITIONS,
    dtype_of,
)

# What Python knows at the call; everything else is a tensor.
KNOWN = (bool, int, float, list, tuple, np.ndarray, np.generic)
START = "an integer, or an integer tensor of shape () or (batch,)"


def start_at_the_door(start_index: Any, length: int | None) -> Any:
    """A known number as `int`, known numbers as an int32 tensor, a tensor as it is."""
    if not isinstance(start_index, KNOWN):
        return start_index
    if isinstance(start_index, int) and not isinstance(start_index, bool):
        return start_index
    starts = np.asarray(start_index)
    if starts.dtype.kind not in "iu":
        raise TypeError(refusal("start_index", START, start_index))
    if starts.ndim == 0:
        return int(starts)
    if starts.size:
        _check_reach(start_index, int(starts.min()), int(starts.max()), length)
    return ops.convert_to_tensor(starts.astype("int32"))


def check_sequence(inputs: Any, feature_dim: int) -> None:
    """Refuses what is not a dense float `(batch, length, feature_dim)`."""
    check_dense(inputs)
    check_sequence_shape(inputs.shape)
    if inputs.shape[-1] not in (None, feature_dim):
        raise ValueError(
            f"`inputs` must have the width the layer was built for, {feature_dim}. "
            f"Received: inputs.shape={tuple(inputs.shape)}"
        )
    if not dtype_of(inputs).startswith(("float", "bfloat")):
        raise TypeError(
            "`inputs` must be floating point embeddings, not token ids. "
            f"Received: inputs.dtype={dtype_of(inputs)}"
        )


def check_dense(inputs: Any) -> None:
    """Refuses ragged and sparse tensors."""
    kind = type(inputs).__name__
    ragged = kind == "RaggedTensor" or getattr(inputs, "ragged", False)
    # Keras calls every product of a KerasTensor and a number sparse.
    sparse = kind == "SparseTensor"
    if ragged or sparse:
        raise TypeError(
            "`inputs` must be a dense tensor; pad ragged sequences and pass a mask. "
            f"Received: inputs={'ragged' if ragged else 'sparse'} tensor"
        )


def check_sequence_shape(shape: Any) -> None:
    """Refuses shapes that are not `(batch, length, feature_dim)`."""
    if len(shape) != 3:
        raise ValueError(
            "`inputs` must have shape (batch, length, feature_dim). "
            f"Received: inputs.shape={tuple(shape)}"
        )
    if shape[-1] is None:
        raise ValueError(
            "`inputs` must have a known last dimension, the width of the encoding. "
            f"Received: inputs.shape={tuple(shape)}"
        )


def check_start_index(start_index: Any, inputs: Any) -> None:
    """Refuses what is not an integer, or integers of shape `()` or `(batch,)`."""
    if isinstance(start_index, int):
        _check_reach(start_index, start_index, start_index, inputs.shape[1])
        return
    if not hasattr(start_index, "shape") or dtype_of(start_index) not in (
        INTEGER_POSITIONS
    ):
        raise TypeError(refusal("start_index", START, start_index))
    shape = tuple(start_index.shape)
    if len(shape) > 1 or (shape and not _same(shape[0], inputs.shape[0])):
        raise ValueError(
            f"`start_index` must be {START}. Received: start_index.shape={shape} "
            f"with inputs.shape={tuple(inputs.shape)}"
        )


def _check_reach(start_index: Any, first: int, last: int, length: Any) -> None:
    rows_after = length - 1 if isinstance(length, int) and length else 0
    if first < FIRST_POSITION or last + rows_after > LAST_POSITION:
        raise ValueError(
            "`start_index` must keep every position within int32, -2**31 to "
            f"2**31 - 1. Received: start_index={start_index!r} and length {length}"
        )


def check_numbers(name: str, numbers: Any) -> None:
    """Refuses dtypes that hold no exact positions."""
    if dtype_of(numbers) not in INTEGER_POSITIONS + REAL_POSITIONS:
        raise TypeError(
            f"`{name}` must be integers, float32 or float64: half precision holds no "
            f"odd integer beyond 2048. Received: {name}.dtype={dtype_of(numbers)}"
        )


def check_positions(positions: Any, inputs: Any) -> None:
    """Refuses positions that are no numbers or do not fit the inputs."""
    check_numbers("positions", positions)
    shape = tuple(positions.shape)
    fits = len(shape) in (1, 2) and _same(shape[-1], inputs.shape[1])
    if fits and len(shape) == 2:
        fits = shape[0] == 1 or _same(shape[0], inputs.shape[0])
    if not fits:
        raise ValueError(
            "`positions` must have shape (length,) or (batch, length). Received: "
            f"positions.shape={shape} with inputs.shape={tuple(inputs.shape)}"
        )


def check_mask(mask: Any, inputs: Any) -> None:
    """Refuses a mask that does not fit the inputs, or that is added to scores."""
    if dtype_of(mask).startswith(("float", "bfloat")):
        raise TypeError(
            "`mask` must be boolean, true for the tokens that count; a mask of floats "
            f"to add to scores is none. Received: mask.dtype={dtype_of(mask)}"
        )
    shape = tuple(mask.shape)
    if len(shape) != 2 or not all(map(_same, shape, inputs.shape)):
        raise ValueError(
            "`mask` must have shape (batch, length). Received: "
            f"mask.shape={shape} with inputs.shape={tuple(inputs.shape)}"
        )


def as_tensor(values: Any) -> Any:
    """`values` as a tensor; lists and NumPy arrays are welcome."""
    if hasattr(values, "dtype") and hasattr(values, "shape"):
        return values
    return ops.convert_to_tensor(values)


def _same(size: Any, other: Any) -> bool:
    return size is None or other is None or size == other
