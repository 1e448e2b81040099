"""The first rows of an encoding, looked up instead of computed."""

from typing import Any

from keras import ops

from keras_sinpe.engine.backend_ops import can_ask_tensors, constant, take_rows
from keras_sinpe.engine.digit_tables import DigitTables

Tensor = Any


def range_is_stored(
    tables: DigitTables, start: int | Tensor, length: int | Tensor
) -> bool | Tensor:
    """Whether the table holds all positions of a range; a `bool` where that is known.

    Comparisons are with 0, which runtimes with integers in float32 do exactly.
    """
    known = isinstance(start, int) and isinstance(length, int)
    if tables.stored_rows == 0 or not (known or can_ask_tensors()):
        return False
    last_start = tables.stored_rows - length
    if isinstance(start, int):
        return 0 <= start < tables.stored_rows and last_start - start >= 0
    if isinstance(last_start, int) and last_start < 0:
        return False
    return ops.minimum(start, last_start - start) >= 0


def stored_range(
    tables: DigitTables, start: int | Tensor, length: int | Tensor
) -> Tensor:
    """The rows of a range that is stored: `(length, feature_dim)`."""
    if isinstance(start, int) and isinstance(length, int):
        return constant(tables.rows[start : start + length])
    # Not a slice: XLA wants `length` rows of a branch that is not taken too.
    places = start + ops.arange(length, dtype="int32")
    return take_rows(constant(tables.rows), places)


def positions_are_stored(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None
) -> bool | Tensor:
    """Whether the table holds all of int32 `positions`, and none is `beyond` int32."""
    if tables.stored_rows == 0 or not can_ask_tensors():
        return False
    inside = ops.minimum(positions, tables.stored_rows - 1 - positions)
    if beyond is not None:
        inside = ops.where(beyond, -1, inside)
    # ONNX Runtime 1.15 takes no minimum of nothing.
    return ops.min(ops.pad(ops.reshape(inside, (-1,)), (0, 1))) >= 0


def stored_at(tables: DigitTables, positions: Tensor) -> Tensor:
    """The rows at int32 `positions` of any shape: `(n, feature_dim)`."""
    rows = constant(tables.rows)
    return take_rows(rows, ops.reshape(positions, (-1,)))
