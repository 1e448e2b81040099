"""Positions in digits, and the rotation of a block or fraction: a product of look-ups.

A position is `8192 * span + 64 * within + low`. Only the span has a sign.
"""

from typing import Any

from keras import ops

from keras_sinpe.engine.backend_ops import constant, cosine_and_sine, take_rows
from keras_sinpe.engine.digit_tables import (
    BLOCK,
    DIGIT_SIZES,
    FRACTION_BITS,
    DigitTables,
)

Tensor = Any
Rotation = tuple[Tensor, Tensor]  # cosine and sine, (n, frequencies) each

SPAN = DIGIT_SIZES[0]  # blocks in a span
SPANS = 2**31 // (SPAN * BLOCK)  # of each sign


def split(position: int | Tensor) -> tuple[Any, Any, Any]:
    """The span, block within it and place in the block of an integer or int32 tensor.

    OpenVINO divides int32 by way of float32. Multiples of 8192 are exact there and
    rounding is monotone, so the quotient by 8192 is at most one too far, as it is where
    a runtime rounds negative quotients towards zero; the sign of the remainder shows
    either. All that follows stays below 2**24, where float32 is exact.
    """
    size = SPAN * BLOCK
    span = position // size
    rest = position - span * size
    if not isinstance(position, int):
        too_far = ops.cast(rest < 0, "int32")
        span, rest = span - too_far, rest + too_far * size
    within = rest // BLOCK
    return span, within, rest - within * BLOCK


def block_rotation(
    tables: DigitTables, span: Tensor, within: Tensor, beyond: Tensor | None = None
) -> Rotation:
    """The rotation from 0 to the first positions of blocks, int32 `(n,)` each."""
    return product(
        look_up(tables.block_digits[0], within), span_rotation(tables, span, beyond)
    )


def span_rotation(tables: DigitTables, span: Tensor, beyond: Tensor | None) -> Rotation:
    """The rotation by 8192 times `span`, int32 `(n,)`.

    A sine of NaN, where the span is `beyond` int32, makes every feature NaN.
    """
    cosine, sine = turned(tables, ops.abs(span))
    sign = ops.cast(ops.sign(span), tables.dtype)
    if beyond is not None:
        sign = ops.where(beyond, float("nan"), sign)
    return cosine, sine * ops.expand_dims(sign, -1)


def turned(tables: DigitTables, span: Tensor) -> Rotation:
    """As `span_rotation`, for spans that are not negative."""
    first, second, third = (
        look_up(table, digit)
        for table, digit in zip(tables.block_digits[1:], _digits(span), strict=True)
    )
    return product(product(first, third), second)


def _digits(number: Tensor) -> list[Tensor]:
    """The digits of the size of a span, lowest first."""
    digits = []
    for size in DIGIT_SIZES[1:-1]:
        rest = number // size
        digits.append(number - rest * size)
        number = rest
    return [*digits, number]


def fraction_rotation(tables: DigitTables, fraction: Tensor) -> Rotation:
    """The rotation by a `fraction` of a position, of shape `(n,)`."""
    rotations = []
    for level, table in enumerate(tables.fraction_digits, start=1):
        units = 2.0 ** (FRACTION_BITS * level)
        digit = ops.stop_gradient(ops.round(fraction * units))
        fraction = fraction - digit / units
        row = ops.cast(ops.where(digit == digit, digit, 0), "int32")
        rotations.append(look_up(table, row + 2**FRACTION_BITS // 2))
    frequency = constant(tables.frequency)
    angles = ops.expand_dims(ops.cast(fraction, tables.dtype), -1) * frequency
    rotation = cosine_and_sine(angles)
    for digit_rotation in rotations:
        rotation = product(digit_rotation, rotation)
    return rotation


def look_up(tables: tuple[Any, Any], rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of two tables."""
    first, second = (constant(table) for table in tables)
    return take_rows(first, rows), take_rows(second, rows)


def product(first: Rotation, second: Rotation) -> Rotation:
    """One rotation after another: the product of two complex numbers of modulus 1."""
    (cosine, sine), (other_cosine, other_sine) = first, second
    return (
        cosine * other_cosine - sine * other_sine,
        sine * other_cosine + cosine * other_sine,
    )


def smaller(size: int | Tensor, limit: int) -> int | Tensor:
    """The smaller of the two; known where `size` is."""
    return min(size, limit) if isinstance(size, int) else ops.minimum(size, limit)
