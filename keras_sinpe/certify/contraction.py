"""The largest error of a block's rotation, however a compiler contracts the sums.

Each sum of two products may be left as it is, or one of them may go into it unrounded.
"""

from collections.abc import Iterator, Sequence
from itertools import product as every

import numpy as np

from keras_sinpe.certify.blocks import (
    as_column,
    as_row,
    in_order,
    middle,
    parts_of_spans,
    span_rotations,
    squares,
    with_middle,
)
from keras_sinpe.certify.sums import (
    Array,
    Rotation,
    both_products,
    contracted_products,
    half_spacing,
    product,
)
from keras_sinpe.engine.digit_products import SPANS

Choices = tuple[list[Array], list[Array]]  # cosines, and sines, to be freely combined

# Spans whose suspects are examined together; if all blocks are suspects, 100 MB.
_SPANS_OF_SUSPECTS = 2**14

# No smaller error is looked for: where all rotations are exact, all would be suspects.
_LEAST = 2e-7

# The roundings of two products and their sum, and what `_most` loses in float32.
_ROUNDINGS = 2e-7
_SLACK = 1 + 1e-5


def contracted_block_error(
    exact: Sequence[Rotation], rounded: Sequence[Rotation], least: float
) -> float:
    """A bound of the modulus of an error by any way to contract: the largest, or 2e-7.

    All ways are tried for every span, and for those blocks within it that could err by
    more than has been found.

    Args:
        exact: cosines and sines of the four digits of a block, float64.
        rounded: the same as the tables hold them, float32.
        least: what `block_error` gives.
    """
    least = max(least, _LEAST)
    exact_spans = span_rotations(exact)
    choices = list(_span_choices(rounded))
    errors = (
        np.sqrt(squares(rounded[0], exact[0])),
        np.sqrt(np.max([_squares(each, exact_spans) for each in choices], axis=0)),
    )
    for first in range(0, SPANS + 1, _SPANS_OF_SUSPECTS):
        span, place, sign = _suspects(rounded[0], exact_spans, errors, first, least)
        expected = product(_rows(exact[0], place), _rows(exact_spans, span, sign))
        within = _rows(rounded[0], place)
        for spans in (each for choice in choices for each in every(*choice)):
            received = contracted_products(within, _rows(spans, span, sign))
            worst = _squares(received, expected).max(initial=0)
            least = max(least, float(np.sqrt(worst)))
    return least


def _span_choices(digits: Sequence[Rotation]) -> Iterator[Choices]:
    """All that can be made of the rotations of spans."""
    _, first, second, third = digits
    for outer in every(*contracted_products(as_row(first), as_column(third))):
        cosines, sines = contracted_products(with_middle(outer), middle(second))
        yield list(map(in_order, cosines)), list(map(in_order, sines))


def _squares(choices: Choices, expected: Rotation) -> Array:
    """The largest squared modulus of an error among all choices."""
    parts = [
        np.max([(part - exact) ** 2 for part in choice], axis=0)
        for choice, exact in zip(choices, expected, strict=True)
    ]
    return np.asarray(parts[0] + parts[1])


def _rows(rotation: Rotation, rows: Array, sign: Array | int = 1) -> Rotation:
    return rotation[0][rows], rotation[1][rows] * sign


def _suspects(
    within: Rotation, spans: Rotation, errors: Rotation, first: int, least: float
) -> tuple[Array, Array, Array]:
    """Span, place in it and sign of the blocks that could err by more than `least`."""
    found = []
    for part in parts_of_spans(first, min(first + _SPANS_OF_SUSPECTS, SPANS + 1)):
        errors_here = errors[0], errors[1][part, None]
        both = _most(as_row(within), as_column(spans, part), errors_here)
        for most, sign in zip(both, (1, -1), strict=True):
            span, place = np.nonzero(most * np.float32(_SLACK) > least)
            found.append((span + part.start, place, np.full(len(span), sign, "int8")))
    spans_found, places, signs = map(np.concatenate, zip(*found, strict=True))
    return spans_found, places, signs


def _most(within: Rotation, spans: Rotation, errors: Rotation) -> list[Array]:
    """The most by which the product, forwards and backwards, can err, float32.

    The errors of both factors, and half the spacing of numbers as large as the products
    and the sum can be, for the cosine and for the sine.
    """
    of_places, of_spans = (error.astype("float32") for error in errors)
    slack = np.float32(2 * errors[1].max() + _ROUNDINGS)

    def rounding(numbers: Array) -> Array:
        return half_spacing(np.abs(numbers) + slack)

    cosine, sine = (part.astype("float32") for part in spans)
    of_products = (
        rounding(within[0] * cosine) + rounding(within[1] * sine),
        rounding(within[1] * cosine) + rounding(within[0] * sine),
    )
    both = []
    for sums in both_products(within, (cosine, sine)):
        of_cosine, of_sine = map(np.add, of_products, map(rounding, sums))
        rounded = np.sqrt(of_cosine * of_cosine + of_sine * of_sine)
        both.append(rounded + of_places + of_spans)
    return both
