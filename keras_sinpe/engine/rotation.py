"""Positions turned into encodings: digits, look-ups and products, with `keras.ops`.

A position is `64 * block + low`. The rotation of the block is a product of four looked
up rotations; the low digit's table holds the waves themselves: phases, amplitudes and
layout. Whichever way a position comes, its row is the same product of the same numbers.
"""

from typing import Any

from keras import ops

from keras_sinpe.engine.backend_ops import cosine_and_sine, take_rows
from keras_sinpe.engine.digit_tables import (
    BLOCK,
    DIGIT_SIZES,
    FRACTION_BITS,
    DigitTables,
)
from keras_sinpe.engine.pairs import Lanes

Tensor = Any
Rotation = tuple[Tensor, Tensor]  # cosine and sine, (n, frequencies) each

RUN = DIGIT_SIZES[0]  # blocks that share their higher digits

# The last float32 below 2**31: float positions beyond it have no integer to go to.
LAST_FLOAT_POSITION = 2.0**31 - 128


def encode_range(
    tables: DigitTables, start: int | Tensor, length: int | Tensor
) -> Tensor:
    """Encodings of `start, start + 1, ...`, block by block.

    Args:
        tables: the tables of the encoding.
        start: integer, or int32 tensor of shape `()`.
        length: integer, or int32 tensor of shape `()` where it is not known yet.

    Returns:
        Tensor of shape `(length, feature_dim)` and the dtype of the tables.
    """
    if not isinstance(start, int) and isinstance(length, int) and length < BLOCK:
        positions = start + ops.arange(length, dtype="int32")
        beyond = ops.logical_and(start >= 0, positions < 0)  # wrapped around
        return encode_integers(tables, positions, beyond)
    first_block, offset = _split(start)
    # Compilers want a size that does not hang on the value of a tensor.
    spare = offset if isinstance(start, int) or not isinstance(length, int) else BLOCK
    block_count = (length + (spare + BLOCK - 1)) // BLOCK
    # From a start up to 2**30, as many rows would have to follow to leave int32.
    within_int32 = isinstance(length, int) or (
        isinstance(start, int) and start <= 2**30
    )
    if isinstance(start, int) and start >= 0 and within_int32:
        rotation = _consecutive_rotations(tables, first_block, block_count)
    else:
        blocks = first_block + ops.arange(block_count, dtype="int32")
        rotation = _block_rotation(tables, blocks, blocks - 2**31 // BLOCK >= 0)
    cosine, sine = (_join(tables.lanes, [part, part], (-1, 1)) for part in rotation)
    # A short sequence needs no whole block: half of the time at length 1.
    used = _smaller(spare + length, BLOCK)
    wave, quadrature = (
        ops.convert_to_tensor(table)[:used] for table in tables.low_digit
    )
    rows = wave * cosine + quadrature * sine  # (blocks, used, feature_dim)
    rows = ops.reshape(rows, (-1, tables.waves.feature_dim))
    if isinstance(offset, int):
        return rows[offset : offset + length]
    # JAX takes no int32 beside a Python 0 where that is an int64.
    corner = (offset, ops.convert_to_tensor(0, "int32"))
    return ops.slice(rows, corner, (length, tables.waves.feature_dim))


def _smaller(size: int | Tensor, limit: int) -> int | Tensor:
    return min(size, limit) if isinstance(size, int) else ops.minimum(size, limit)


def encode_integers(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> Tensor:
    """Encodings of int32 `positions` of any shape: `(..., feature_dim)`.

    Those that are `beyond` int32, booleans of the shape of the positions, give NaN.
    """
    block, low = _split(ops.reshape(positions, (-1,)))
    if beyond is not None:
        beyond = ops.reshape(beyond, (-1,))
    encoding = _finish(tables, _block_rotation(tables, block, beyond), low)
    return _reshape_as(positions, encoding)


def encode_reals(tables: DigitTables, positions: Tensor) -> Tensor:
    """Encodings of float `positions` of any shape: `(..., feature_dim)`.

    The nearest integer goes the way of the integers; the fraction, between -1/2 and
    1/2 and exact, adds a rotation through which gradients flow. Positions that are not
    finite or beyond 2**31 - 128 give NaN.
    """
    flat = ops.reshape(positions, (-1,))
    in_range = ops.abs(flat) <= LAST_FLOAT_POSITION
    nearest = ops.stop_gradient(ops.where(in_range, ops.round(flat), 0))
    fraction = ops.where(in_range, flat - nearest, float("nan"))
    block, low = _split(ops.cast(nearest, "int32"))
    rotation = _product(
        _block_rotation(tables, block), _fraction_rotation(tables, fraction)
    )
    return _reshape_as(positions, _finish(tables, rotation, low))


def _split(position: int | Tensor) -> tuple[Any, Any]:
    """`position` as `64 * block + low`, with `low` from 0 to 63.

    A tensor is lifted to non-negative values first, 2**30 at a time so that nothing
    overflows: runtimes disagree on the division of negative integers.
    """
    if isinstance(position, int):
        return divmod(position, BLOCK)
    negative = ops.cast(position < 0, "int32")
    half_lift = negative * 2**30
    lifted = position + half_lift + half_lift
    block = lifted // BLOCK
    low = lifted - block * BLOCK
    return block - negative * (2**31 // BLOCK), low


def _block_rotation(
    tables: DigitTables, block: Tensor, beyond: Tensor | None = None
) -> Rotation:
    """The rotation by `64 * block`, for int32 `block` of shape `(n,)`.

    A sine of NaN, where the block is `beyond` int32, makes every feature NaN.
    """
    number = ops.abs(block)
    run = number // RUN
    within = _look_up(tables.block_digits[0], number - run * RUN)
    cosine, sine = _product(within, _run_rotation(tables, run))
    sign = ops.cast(ops.sign(block), tables.dtype)
    if beyond is not None:
        sign = ops.where(beyond, float("nan"), sign)
    return cosine, sine * ops.expand_dims(sign, -1)


def _consecutive_rotations(
    tables: DigitTables, first_block: int, block_count: int | Tensor
) -> Rotation:
    """The rotations by 64 times `first_block, first_block + 1, ...`, not negative.

    Blocks come in runs of 128, as rows come in blocks: few rows are looked up.
    """
    first_run, skipped = divmod(first_block, RUN)
    run_count = (block_count + (skipped + RUN - 1)) // RUN
    runs = _run_rotation(tables, first_run + ops.arange(run_count, dtype="int32"))
    used = _smaller(skipped + block_count, RUN)
    within = (ops.convert_to_tensor(table)[:used] for table in tables.block_digits[0])
    cosine, sine = _product(
        tuple(within), tuple(ops.expand_dims(part, 1) for part in runs)
    )
    frequencies = len(tables.lanes.frequencies)
    cosine, sine = (
        ops.reshape(part, (-1, frequencies))[skipped : skipped + block_count]
        for part in (cosine, sine)
    )
    return cosine, sine


def _run_rotation(tables: DigitTables, run: Tensor) -> Rotation:
    """The rotation by 128 blocks times `run`, non-negative and of shape `(n,)`."""
    first, second, third = (
        _look_up(table, digit)
        for table, digit in zip(tables.block_digits[1:], _digits(run), strict=True)
    )
    return _product(_product(first, third), second)


def _digits(run: Tensor) -> list[Tensor]:
    """The digits of a non-negative `run`, lowest first."""
    digits = []
    for size in DIGIT_SIZES[1:-1]:
        rest = run // size
        digits.append(run - rest * size)
        run = rest
    return [*digits, run]


def _fraction_rotation(tables: DigitTables, fraction: Tensor) -> Rotation:
    """The rotation by a `fraction` of a position, of shape `(n,)`."""
    rotations = []
    for level, table in enumerate(tables.fraction_digits, start=1):
        units = 2.0 ** (FRACTION_BITS * level)
        digit = ops.stop_gradient(ops.round(fraction * units))
        fraction = fraction - digit / units
        row = ops.cast(ops.where(digit == digit, digit, 0), "int32")
        rotations.append(_look_up(table, row + 2**FRACTION_BITS // 2))
    radians = ops.convert_to_tensor(tables.radians)
    angles = ops.expand_dims(ops.cast(fraction, tables.dtype), -1) * radians
    rotation = cosine_and_sine(angles)
    for digit_rotation in rotations:
        rotation = _product(digit_rotation, rotation)
    return rotation


def _look_up(tables: tuple[Any, Any], rows: Tensor) -> tuple[Tensor, Tensor]:
    first, second = (ops.convert_to_tensor(table) for table in tables)
    return take_rows(first, rows), take_rows(second, rows)


def _product(first: Rotation, second: Rotation) -> Rotation:
    """One rotation after another: the product of two complex numbers of modulus 1."""
    (cosine, sine), (other_cosine, other_sine) = first, second
    return (
        cosine * other_cosine - sine * other_sine,
        sine * other_cosine + cosine * other_sine,
    )


def _finish(tables: DigitTables, rotation: Rotation, low: Tensor) -> Tensor:
    """The waves at `low`, rotated: `(n, feature_dim)`."""
    cosine, sine = rotation
    encodings = []
    for lane in tables.low_digit_lanes:
        wave, quadrature = _look_up(lane, low)
        encodings.append(wave * cosine + quadrature * sine)
    return _join(tables.lanes, encodings, (-1,))


def _join(lanes: Lanes, parts: list[Tensor], leading: tuple[int, ...]) -> Tensor:
    """Two lanes, `(n, frequencies)` each, as features: `(*leading, feature_dim)`."""
    joined = ops.stack(parts, axis=lanes.axis)
    width = 2 * len(lanes.frequencies)
    joined = ops.reshape(joined, (*leading, width))
    if lanes.order is not None:
        return ops.take(joined, lanes.order, axis=-1)
    return joined if width == lanes.width else joined[..., : lanes.width]


def _reshape_as(positions: Tensor, encoding: Tensor) -> Tensor:
    if len(positions.shape) == 1:
        return encoding
    return ops.reshape(encoding, (*ops.shape(positions), encoding.shape[-1]))
