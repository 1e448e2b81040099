"""Positions turned into encodings, or into rotations alone, with `keras.ops`.

A position is a block and a place in it. The rotation of the block is a product of four
looked up rotations; one more product with the row of the place gives the encoding,
where the row holds the waves themselves (phases, amplitudes and layout), or the
rotation, where it holds cosine and sine. Whichever way a position comes, its row is the
same product of the same numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from keras import ops

from keras_sinpe.engine.backend_ops import constant, shortcut, take_rows
from keras_sinpe.engine.digit_products import (
    Rotation,
    Tensor,
    block_rotation,
    fraction_rotation,
    look_up,
    next_blocks,
    next_known_blocks,
    product,
    smaller,
    split,
)
from keras_sinpe.engine.digit_tables import BLOCK, DigitTables
from keras_sinpe.engine.pairs import Pairs
from keras_sinpe.engine.stored_rows import (
    positions_are_stored,
    range_is_stored,
    stored_at,
    stored_range,
)

Then = Callable[[Tensor], Tensor]


def same(rows: Tensor) -> Tensor:
    """The rows as they are."""
    return rows


# The last float32 below 2**31: float positions beyond it have no integer to go to.
LAST_FLOAT_POSITION = 2.0**31 - 128


def encode_range(
    tables: DigitTables, start: int | Tensor, length: int | Tensor, then: Then = same
) -> Tensor:
    """Encodings of `start, start + 1, ...`, block by block.

    Args:
        tables: the tables of the encoding.
        start: integer, or int32 tensor of shape `()`.
        length: integer, or int32 tensor of shape `()` where it is not known yet.
        then: what is done with the rows, in each branch of a condition. OpenVINO
            2026.4 gives the memory of a condition away too early that hangs on shapes
            alone; one that adds the rows to the inputs hangs on these.

    Returns:
        Tensor of shape `(length, feature_dim)` and the dtype of the tables, or what
        `then` makes of it.
    """
    return shortcut(
        range_is_stored(tables, start, length),
        lambda: then(stored_range(tables, start, length)),
        lambda: _computed_range(tables, start, length, then),
    )


def _computed_range(
    tables: DigitTables, start: int | Tensor, length: int | Tensor, then: Then
) -> Tensor:
    if _is_short(start, length):
        return then(_encoding(tables, *_integer_block(tables, *_next(start, length))))
    # Shorter ranges are looked up.
    known = isinstance(start, int) and 0 <= start < tables.stored_rows
    least = tables.stored_rows - start if known else 0
    rotation, places, offset = _blocks(tables, start, length, least)
    pairs = tables.pairs
    cosine, sine = (
        _join(pairs, 2 * [ops.expand_dims(part, pairs.axis)], (-1, 1))
        for part in rotation
    )
    wave, quadrature = (constant(table)[:places] for table in tables.low_digit)

    def cut_to_length() -> Tensor:
        rows = wave * cosine + quadrature * sine  # (blocks, places, feature_dim)
        return then(_rows(rows, offset, length))

    def in_whole_blocks() -> Tensor:
        # XLA compiles a branch that is not taken too, and wants `length` rows of it.
        places = ops.where(rest <= 0, BLOCK, 1)
        blocks = ops.arange(length // places, dtype="int32")
        first, second = (
            ops.reshape(table[:places] * take_rows(part, blocks), (-1, pairs.width))
            for table, part in ((wave, cosine), (quadrature, sine))
        )
        return then(first + second)

    conditional = tables.stored_rows > 0 and not isinstance(length, int)
    if not conditional or not isinstance(offset, int) or offset:
        return cut_to_length()
    # The cut copies all rows: a third of the time at 4096.
    rest = length - length // BLOCK * BLOCK
    return shortcut(rest <= 0, in_whole_blocks, cut_to_length)


def rotate_range(
    tables: DigitTables, start: int | Tensor, length: int | Tensor
) -> Rotation:
    """Cosines and sines of every frequency at `start, start + 1, ...`.

    Takes what `encode_range` takes; returns two tensors `(length, frequencies)`,
    without phases and amplitudes, in the order of `tables.pairs.frequencies`.
    """
    if _is_short(start, length):
        return rotate_integers(tables, *_next(start, length))
    rotation, places, offset = _blocks(tables, start, length)
    cosine, sine = product(
        tuple(constant(table)[:places] for table in tables.low_rotations),
        tuple(ops.expand_dims(part, 1) for part in rotation),
    )  # (blocks, places, frequencies)
    return _rows(cosine, offset, length), _rows(sine, offset, length)


def encode_integers(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> Tensor:
    """Encodings of int32 `positions` of any shape: `(..., feature_dim)`.

    Those that are `beyond` int32, booleans of the shape of the positions, give NaN.
    """
    encoding = shortcut(
        positions_are_stored(tables, positions, beyond),
        lambda: stored_at(tables, positions),
        lambda: _encoding(tables, *_integer_block(tables, positions, beyond)),
    )
    return _shaped(positions, encoding)


def rotate_integers(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> Rotation:
    """Cosines and sines at int32 `positions`, as `encode_integers` takes them."""
    cosine, sine = _rotation(tables, *_integer_block(tables, positions, beyond))
    return _shaped(positions, cosine), _shaped(positions, sine)


def encode_reals(tables: DigitTables, positions: Tensor) -> Tensor:
    """Encodings of float `positions` of any shape: `(..., feature_dim)`.

    The nearest integer goes the way of the integers; the fraction, between -1/2 and
    1/2 and exact, adds a rotation through which gradients flow. Positions that are not
    finite or beyond 2**31 - 128 give NaN.
    """
    return _shaped(positions, _encoding(tables, *_real_block(tables, positions)))


def rotate_reals(tables: DigitTables, positions: Tensor) -> Rotation:
    """Cosines and sines at float `positions`, as `encode_reals` takes them."""
    cosine, sine = _rotation(tables, *_real_block(tables, positions))
    return _shaped(positions, cosine), _shaped(positions, sine)


def _next(start: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The positions of a range, and which of them wrapped around."""
    positions = start + ops.arange(length, dtype="int32")
    return positions, ops.logical_and(start >= 0, positions < 0)


def _is_short(start: int | Tensor, length: int | Tensor) -> bool:
    return not isinstance(start, int) and isinstance(length, int) and length < BLOCK


def _blocks(
    tables: DigitTables, start: int | Tensor, length: int | Tensor, least: int = 0
) -> tuple[Rotation, int | Tensor, int | Tensor]:
    """The rotations of the blocks of a range, the places used, those before `start`.

    A length that is not known is known to be at `least` so much.
    """
    span, within, offset = split(start)
    # Compilers want a size that does not hang on the value of a tensor.
    spare = offset if isinstance(start, int) or not isinstance(length, int) else BLOCK
    count = (length + (spare + BLOCK - 1)) // BLOCK
    rotate = next_known_blocks if isinstance(start, int) else next_blocks
    rotation = rotate(tables, span, within, count)
    # A short sequence needs no whole block: half of the time at length 1.
    places = BLOCK if least >= BLOCK else smaller(spare + length, BLOCK)
    return rotation, places, offset


def _rows(blocks: Tensor, offset: int | Tensor, length: int | Tensor) -> Tensor:
    width = blocks.shape[-1]
    rows = ops.reshape(blocks, (-1, width))
    if isinstance(offset, int):
        return rows[offset : offset + length]
    # Where integers have 64 bits, JAX wants both starts to have 32.
    return ops.slice(rows, (offset, np.int32(0)), (length, width))


def _integer_block(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> tuple[Rotation, Tensor]:
    """The rotation of the block of every position, and the place in it, `(n,)`."""
    span, within, low = split(ops.reshape(positions, (-1,)))
    if beyond is not None:
        beyond = ops.reshape(beyond, (-1,))
    return block_rotation(tables, span, within, beyond), low


def _real_block(tables: DigitTables, positions: Tensor) -> tuple[Rotation, Tensor]:
    """As `_integer_block`, the rotation turned by the fraction too."""
    flat = ops.reshape(positions, (-1,))
    in_range = ops.abs(flat) <= LAST_FLOAT_POSITION
    nearest = ops.stop_gradient(ops.where(in_range, ops.round(flat), 0))
    fraction = ops.where(in_range, flat - nearest, float("nan"))
    rotation, low = _integer_block(tables, ops.cast(nearest, "int32"))
    return product(rotation, fraction_rotation(tables, fraction)), low


def _encoding(tables: DigitTables, rotation: Rotation, low: Tensor) -> Tensor:
    """The waves at `low`, rotated: `(n, feature_dim)`."""
    cosine, sine = rotation
    encodings = []
    for features in tables.low_digit_of_pairs:
        wave, quadrature = look_up(features, low)
        encoding = wave * cosine + quadrature * sine
        encodings.append(ops.expand_dims(encoding, tables.pairs.axis))
    return _join(tables.pairs, encodings, (-1,))


def _rotation(tables: DigitTables, rotation: Rotation, low: Tensor) -> Rotation:
    return product(look_up(tables.low_rotations, low), rotation)


def _join(pairs: Pairs, parts: list[Tensor], leading: tuple[int, ...]) -> Tensor:
    """First and second features, expanded at `pairs.axis`, as features."""
    joined = ops.concatenate(parts, axis=pairs.axis)
    width = 2 * len(pairs.frequencies)
    joined = ops.reshape(joined, (*leading, width))
    if pairs.order is not None:
        return ops.take(joined, pairs.order, axis=-1)
    return joined if width == pairs.width else joined[..., : pairs.width]


def _shaped(positions: Tensor, rows: Any) -> Tensor:
    if len(positions.shape) == 1:
        return rows
    return ops.reshape(rows, (*ops.shape(positions), rows.shape[-1]))
