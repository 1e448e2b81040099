"""Positions turned into encodings, or into rotations alone, with `keras.ops`.

A position is a block and a place in it. The rotation of the block is a product of four
looked up rotations; one more product with the row of the place gives the encoding,
where the row holds the waves themselves (phases, amplitudes and layout), or the
rotation, where it holds cosine and sine. Whichever way a position comes, its row is the
same product of the same numbers.
"""

from collections.abc import Callable
from typing import Any

from keras import ops

from keras_sinpe.engine.backend_ops import (
    can_ask_tensors,
    constant,
    shortcut,
    take_rows,
)
from keras_sinpe.engine.blocks import (
    integer_block,
    is_short,
    next_positions,
    range_blocks,
    real_block,
    rows_of_blocks,
)
from keras_sinpe.engine.digit_products import Rotation, Tensor, look_up, product
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
    if is_short(start, length):
        return then(
            _encoding(tables, *integer_block(tables, *next_positions(start, length)))
        )
    # Shorter ranges are looked up, where that can be asked.
    asked = can_ask_tensors() and not isinstance(length, int)
    first_rows = asked and isinstance(start, int) and 0 <= start < tables.stored_rows
    least = tables.stored_rows - start if first_rows else 0
    rotation, places, offset = range_blocks(tables, start, length, least)
    pairs = tables.pairs
    cosine, sine = (
        _join(pairs, 2 * [ops.expand_dims(part, pairs.axis)], (-1, 1))
        for part in rotation
    )
    wave, quadrature = (constant(table)[:places] for table in tables.low_digit)

    def cut_to_length() -> Tensor:
        rows = wave * cosine + quadrature * sine  # (blocks, places, feature_dim)
        return then(rows_of_blocks(rows, offset, length))

    def in_whole_blocks() -> Tensor:
        # XLA compiles a branch that is not taken too, and wants `length` rows of it.
        places = ops.where(rest <= 0, BLOCK, 1)
        blocks = ops.arange(length // places, dtype="int32")
        first, second = (
            ops.reshape(table[:places] * take_rows(part, blocks), (-1, pairs.width))
            for table, part in ((wave, cosine), (quadrature, sine))
        )
        return then(first + second)

    if not asked or tables.stored_rows == 0 or not isinstance(offset, int) or offset:
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
    if is_short(start, length):
        return rotate_integers(tables, *next_positions(start, length))
    rotation, places, offset = range_blocks(tables, start, length)
    cosine, sine = product(
        tuple(constant(table)[:places] for table in tables.low_rotations),
        tuple(ops.expand_dims(part, 1) for part in rotation),
    )  # (blocks, places, frequencies)
    return rows_of_blocks(cosine, offset, length), rows_of_blocks(sine, offset, length)


def encode_integers(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> Tensor:
    """Encodings of int32 `positions` of any shape: `(..., feature_dim)`.

    Those that are `beyond` int32, booleans of the shape of the positions, give NaN.
    """
    encoding = shortcut(
        positions_are_stored(tables, positions, beyond),
        lambda: stored_at(tables, positions),
        lambda: _encoding(tables, *integer_block(tables, positions, beyond)),
    )
    return _shaped(positions, encoding)


def rotate_integers(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> Rotation:
    """Cosines and sines at int32 `positions`, as `encode_integers` takes them."""
    cosine, sine = _rotation(tables, *integer_block(tables, positions, beyond))
    return _shaped(positions, cosine), _shaped(positions, sine)


def encode_reals(tables: DigitTables, positions: Tensor) -> Tensor:
    """Encodings of float `positions` of any shape: `(..., feature_dim)`.

    The nearest integer goes the way of the integers; the fraction, between -1/2 and
    1/2 and exact, adds a rotation through which gradients flow. Positions that are not
    finite or beyond 2**31 - 128 give NaN.
    """
    return _shaped(positions, _encoding(tables, *real_block(tables, positions)))


def rotate_reals(tables: DigitTables, positions: Tensor) -> Rotation:
    """Cosines and sines at float `positions`, as `encode_reals` takes them."""
    cosine, sine = _rotation(tables, *real_block(tables, positions))
    return _shaped(positions, cosine), _shaped(positions, sine)


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
