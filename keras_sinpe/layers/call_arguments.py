"""Checks of what a layer is called with, for eager, traced and symbolic tensors."""

from typing import Any

from keras import ops
from numpy.typing import NDArray

from keras_sinpe.arguments import refusal
from keras_sinpe.engine.encode import (
    FIRST_POSITION,
    INTEGER_POSITIONS,
    LAST_POSITION,
    REAL_POSITIONS,
    dtype_of,
)

START = "an integer, or an integer tensor of shape () or (batch,)"


def check_sequence(inputs: Any, feature_dim: int) -> None:
    """Refuses what is not a dense float `(batch, ..., length, feature_dim)`."""
    check_dense("inputs", inputs)
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


def check_dense(name: str, tensor: Any) -> None:
    """Refuses ragged and sparse tensors."""
    kind = type(tensor).__name__
    ragged = kind == "RaggedTensor" or getattr(tensor, "ragged", False)
    # Keras calls every product of a KerasTensor and a number sparse.
    sparse = kind in ("SparseTensor", "IndexedSlices", "BCOO", "BCSR")
    if ragged or sparse or getattr(tensor, "is_sparse", False):
        raise TypeError(
            f"`{name}` must be a dense tensor; pad ragged sequences and pass a mask. "
            f"Received: {name}={'ragged' if ragged else 'sparse'} tensor"
        )


def check_sequence_shape(shape: Any) -> None:
    """Refuses shapes that are not `(batch, ..., length, feature_dim)`."""
    # Without a batch, length and batch could not be told apart.
    if len(shape) < 3:
        raise ValueError(
            "`inputs` must have shape (batch, length, feature_dim), or more axes "
            f"between batch and length. Received: inputs.shape={tuple(shape)}"
        )
    if shape[-1] is None:
        raise ValueError(
            "`inputs` must have a known last dimension, the width of the encoding. "
            f"Received: inputs.shape={tuple(shape)}"
        )


def check_start_index(start_index: Any, inputs: Any) -> None:
    """Refuses what is not an integer, or integers of shape `()` or `(batch,)`."""
    if isinstance(start_index, int):
        check_reach(start_index, start_index, start_index, inputs.shape[-2])
        return
    check_dense("start_index", start_index)
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


def check_reach(start_index: Any, first: int, last: int, length: Any) -> None:
    """Refuses starts, from `first` to `last`, whose positions leave int32."""
    rows_after = length - 1 if isinstance(length, int) and length else 0
    if first < FIRST_POSITION or last + rows_after > LAST_POSITION:
        raise ValueError(
            "`start_index` must keep every position within int32, -2**31 to "
            f"2**31 - 1. Received: start_index={start_index!r} and length {length}"
        )


def check_numbers(name: str, numbers: Any) -> None:
    """Refuses what is no tensor, and dtypes that hold no exact positions."""
    check_dense(name, numbers)
    if not hasattr(numbers, "dtype"):
        raise TypeError(refusal(name, "a tensor of integers or reals", numbers))
    if dtype_of(numbers) not in INTEGER_POSITIONS + REAL_POSITIONS:
        raise inexact_dtype(name, dtype_of(numbers))


def inexact_dtype(name: str, dtype: str) -> TypeError:
    """The error for a dtype that holds no exact positions."""
    return TypeError(
        f"`{name}` must be integers, float32 or float64: half precision holds no odd "
        f"integer beyond 2048. Received: {name}.dtype={dtype}"
    )


def check_positions(positions: Any, inputs: Any) -> None:
    """Refuses positions that are no numbers or do not fit the inputs."""
    check_numbers("positions", positions)
    shape, leading = tuple(positions.shape), tuple(inputs.shape[:-1])
    fits = len(shape) in (1, len(leading)) and _same(shape[-1], leading[-1])
    if not fits or not all(
        size == 1 or _same(size, other)
        for size, other in zip(shape[:-1], leading, strict=False)
    ):
        raise ValueError(
            "`positions` must have shape (length,), or that of the inputs without "
            f"their last axis. Received: positions.shape={shape} "
            f"with inputs.shape={tuple(inputs.shape)}"
        )


def check_mask(mask: Any, inputs: Any) -> None:
    """Refuses a mask that does not fit the inputs, or that is no mask."""
    check_dense("mask", mask)
    if dtype_of(mask) not in ("bool", *INTEGER_POSITIONS):
        raise no_mask(dtype_of(mask))
    shape, leading = tuple(mask.shape), tuple(inputs.shape[:-1])
    if len(shape) != len(leading) or not all(map(_same, shape, leading)):
        raise ValueError(
            "`mask` must have the shape of the inputs without their last axis, "
            f"(batch, length). Received: mask.shape={shape} "
            f"with inputs.shape={tuple(inputs.shape)}"
        )
    if dtype_of(mask) != "bool":
        _refuse_visible_counts(mask)


def no_mask(dtype: str) -> TypeError:
    """The error for a mask of a dtype that does not tell yes from no."""
    return TypeError(
        "`mask` must be boolean, true for the tokens that count; a mask of floats to "
        f"add to scores is none. Received: mask.dtype={dtype}"
    )


def refuse_counts(integers: NDArray[Any]) -> None:
    """Refuses integers that say more than whether a token counts."""
    others = integers[(integers != 0) & (integers != 1)]
    if others.size:
        raise ValueError(
            "`mask` must be boolean, or integers 0 and 1, true for the tokens that "
            f"count. Received: mask with the number {others[0]}"
        )


def _refuse_visible_counts(mask: Any) -> None:
    try:
        values = ops.convert_to_numpy(mask)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return  # in a graph, where whatever is not 0 counts
    refuse_counts(values)


def as_tensor(values: Any) -> Any:
    """`values` as a tensor; lists of tensors are stacked."""
    if isinstance(values, list | tuple):
        return ops.convert_to_tensor(values)
    return values


def _same(size: Any, other: Any) -> bool:
    return size is None or other is None or size == other
