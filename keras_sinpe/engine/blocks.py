"""The blocks that positions lie in: their rotations, and the places in them."""

import numpy as np
from keras import ops

from keras_sinpe.engine.backend_ops import constant
from keras_sinpe.engine.digit_products import (
    SPAN,
    SPANS,
    Rotation,
    Tensor,
    block_rotation,
    fraction_rotation,
    product,
    smaller,
    span_rotation,
    split,
    turned,
)
from keras_sinpe.engine.digit_tables import BLOCK, DigitTables

# The last float32 below 2**31: float positions beyond it have no integer to go to.
LAST_FLOAT_POSITION = 2.0**31 - 128


def is_short(start: int | Tensor, length: int | Tensor) -> bool:
    """Whether a range from a tensor on is best taken position by position."""
    return not isinstance(start, int) and isinstance(length, int) and length < BLOCK


def next_positions(start: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """The positions of a range, and which of them wrapped around."""
    positions = start + ops.arange(length, dtype="int32")
    return positions, ops.logical_and(start >= 0, positions < 0)


def range_blocks(
    tables: DigitTables, start: int | Tensor, length: int | Tensor, least: int = 0
) -> tuple[Rotation, int | Tensor, int | Tensor]:
    """The rotations of the blocks of a range, the places used, those before `start`.

    A length that is not known is known to be at `least` so much.
    """
    span, within, offset = split(start)
    # Compilers want a size that does not hang on the value of a tensor.
    spare = offset if isinstance(start, int) or not isinstance(length, int) else BLOCK
    count = (length + (spare + BLOCK - 1)) // BLOCK
    rotate = _next_known_blocks if isinstance(start, int) else _next_blocks
    rotation = rotate(tables, span, within, count)
    # A short sequence needs no whole block: half of the time at length 1.
    places = BLOCK if least >= BLOCK else smaller(spare + length, BLOCK)
    return rotation, places, offset


def _next_blocks(
    tables: DigitTables, span: Tensor, within: Tensor, count: int | Tensor
) -> Rotation:
    """The rotations of `count` blocks from one on that is a scalar tensor."""
    within = within + ops.arange(count, dtype="int32")
    later = within // SPAN
    span = span + later
    return block_rotation(tables, span, within - later * SPAN, _are_beyond(span))


def _next_known_blocks(
    tables: DigitTables, span: int, within: int, count: int | Tensor
) -> Rotation:
    """The rotations of `count` blocks from one on that is known: few look-ups."""
    spans = span + ops.arange((count + (within + SPAN - 1)) // SPAN, dtype="int32")
    # From the first half on, as many rows would have to follow to leave int32.
    if 0 <= span < SPANS // 2:
        of_spans = turned(tables, spans)
    else:
        of_spans = span_rotation(tables, spans, _are_beyond(spans))
    used = smaller(within + count, SPAN)
    in_span = (constant(table)[:used] for table in tables.block_digits[0])
    rotation = product(
        tuple(in_span), tuple(ops.expand_dims(part, 1) for part in of_spans)
    )
    width = len(tables.pairs.frequencies)
    cosine, sine = (ops.reshape(part, (-1, width)) for part in rotation)
    return cosine[within : within + count], sine[within : within + count]


def _are_beyond(span: Tensor) -> Tensor:
    return span - SPANS >= 0


def rows_of_blocks(
    blocks: Tensor, offset: int | Tensor, length: int | Tensor
) -> Tensor:
    """Rows of `(blocks, places, width)` from `offset` on, `(length, width)`."""
    width = blocks.shape[-1]
    rows = ops.reshape(blocks, (-1, width))
    if isinstance(offset, int):
        return rows[offset : offset + length]
    # Where integers have 64 bits, JAX wants both starts to have 32.
    return ops.slice(rows, (offset, np.int32(0)), (length, width))


def integer_block(
    tables: DigitTables, positions: Tensor, beyond: Tensor | None = None
) -> tuple[Rotation, Tensor]:
    """The rotation of the block of every position, and the place in it, `(n,)`."""
    span, within, low = split(ops.reshape(positions, (-1,)))
    if beyond is not None:
        beyond = ops.reshape(beyond, (-1,))
    return block_rotation(tables, span, within, beyond), low


def real_block(tables: DigitTables, positions: Tensor) -> tuple[Rotation, Tensor]:
    """As `_integer_block`, the rotation turned by the fraction too."""
    flat = ops.reshape(positions, (-1,))
    in_range = ops.abs(flat) <= LAST_FLOAT_POSITION
    nearest = ops.stop_gradient(ops.where(in_range, ops.round(flat), 0))
    fraction = ops.where(in_range, flat - nearest, float("nan"))
    rotation, low = integer_block(tables, ops.cast(nearest, "int32"))
    return product(rotation, fraction_rotation(tables, fraction)), low
