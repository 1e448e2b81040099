"""Positions of every dtype, and starts of every dtype, on their way to the rotations.

A row whose position int32 does not hold is NaN, never the row of another position.
"""

import math
from dataclasses import replace
from typing import Any

import keras
from keras import ops

from keras_sinpe.engine.digit_tables import DigitTables
from keras_sinpe.engine.rotation import (
    Then,
    encode_integers,
    encode_range,
    encode_reals,
    same,
)

Tensor = Any

FIRST_POSITION, LAST_POSITION = -(2**31), 2**31 - 1

# Those that int32 holds, and those that it may not.
NARROW_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")
WIDE_INTEGERS = ("uint32", "int64", "uint64")
INTEGER_POSITIONS = NARROW_INTEGERS + WIDE_INTEGERS
REAL_POSITIONS = ("float32", "float64")


def dtype_of(tensor: Tensor) -> str:
    """The dtype of any backend's tensor, by its Keras name."""
    return str(keras.backend.standardize_dtype(tensor.dtype))


def encode(tables: DigitTables, positions: Tensor) -> Tensor:
    """Encodings of `positions` of any shape and dtype: `(..., feature_dim)`.

    Args:
        tables: the tables of the encoding.
        positions: tensor of integers, float32 or float64.

    Returns:
        Tensor of the shape of the positions with one axis more, and of the dtype of
        the tables.
    """
    if dtype_of(positions) in REAL_POSITIONS:
        return encode_reals(tables, positions)
    if dtype_of(positions) == "uint32":
        positions = ops.cast(positions, "int32")  # what lies beyond wraps around
        return encode_integers(tables, positions, positions < 0)
    return encode_integers(tables, *_narrowed(_signed(positions)))


def far_bits(position_scale: float) -> int:
    """How many times the range of 64-bit positions doubles before it is scaled.

    62 times are as many as the turns' 128 bits leave exact.
    """
    return min(62, max(0, -math.floor(math.log2(abs(position_scale)))))


def far_tables(tables: DigitTables, bits: int) -> DigitTables:
    """The tables of positions that are counted in units of `2**bits`."""
    turns = tuple(turn << bits for turn in tables.waves.turns)
    return replace(tables, waves=replace(tables.waves, turns=turns))


def encode_far(
    tables: DigitTables, far: DigitTables, bits: int, positions: Tensor
) -> Tensor:
    """Encodings of 64-bit `positions`, up to `2**(31 + bits)` of them exactly.

    Rows within the usual range are the same bits as ever.
    """
    near = encode(tables, positions)
    units = ops.cast(positions, "float64") / 2.0**bits
    return ops.where(ops.isnan(near), encode_reals(far, units), near)


def encode_sequence(
    tables: DigitTables, start: int | Tensor, length: int | Tensor, then: Then = same
) -> Tensor:
    """Encodings of `start, start + 1, ...`.

    Args:
        tables: the tables of the encoding.
        start: integer, or integer tensor of shape `()` or `(batch, ..., 1)`.
        length: integer, or int32 tensor of shape `()` where it is not known yet.
        then: what is done with the rows, see `encode_range`.

    Returns:
        Tensor of shape `(length, feature_dim)` or `(batch, ..., length, feature_dim)`,
        or what `then` makes of it.
    """
    if isinstance(start, int):
        return encode_range(tables, start, length, then)
    if len(start.shape) == 0 and dtype_of(start) in NARROW_INTEGERS:
        return encode_range(tables, ops.cast(start, "int32"), length, then)
    return then(encode_offsets(tables, start, ops.arange(length, dtype="int32")))


def encode_offsets(tables: DigitTables, start: int | Tensor, offsets: Tensor) -> Tensor:
    """Encodings of `start + offsets`.

    Args:
        tables: the tables of the encoding.
        start: integer, or integer tensor that can be added to the offsets.
        offsets: int32 tensor of shape `(length,)` or `(batch, ..., length)`, 0 or more.

    Returns:
        Tensor of shape `(length, feature_dim)` or `(batch, ..., length, feature_dim)`.
    """
    if isinstance(start, int):
        positions = start + offsets
        return encode_integers(tables, positions, positions < 0 if start > 0 else None)
    unsigned = dtype_of(start) == "uint32"
    start = ops.cast(start, "int32") if unsigned else _signed(start)
    positions = start + ops.cast(offsets, dtype_of(start))
    if dtype_of(start) == "int64":
        return encode_integers(tables, *_narrowed(positions))
    # A sum past int32 wraps around, and so did the start itself, if it was unsigned.
    # Runtimes differ in how they compare large integers, but not with 0.
    if unsigned:
        beyond = ops.logical_or(start < 0, positions < 0)
    else:
        beyond = ops.logical_and(start >= 0, positions < 0)
    return encode_integers(tables, positions, beyond)


def _signed(integers: Tensor) -> Tensor:
    """Integers, other than uint32, as int32, or as int64 if they may need it."""
    if dtype_of(integers) in NARROW_INTEGERS:
        return ops.cast(integers, "int32")
    if dtype_of(integers) == "int64":
        return integers
    # What int64 does not hold wraps around; to 2**62 a length can still be added.
    signed = ops.cast(integers, "int64")
    return ops.where(signed < 0, 2**62, signed)


def _narrowed(integers: Tensor) -> tuple[Tensor, Tensor | None]:
    """Integers as int32, and which of them it does not hold."""
    if dtype_of(integers) == "int32":
        return integers, None
    narrow = ops.cast(integers, "int32")
    return narrow, ops.cast(narrow, "int64") != integers
