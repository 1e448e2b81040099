"""The largest error of the rotation of any block, for one frequency.

Every rotation is made as the engine makes it, and compared with the exact one: those of
2**18 spans, forwards and backwards, times those of the 128 blocks within a span.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from keras_sinpe.certify.sums import Array, Rotation, both_products, product
from keras_sinpe.engine.digit_products import SPANS

# Arrays of 128 spans times 128 places lie in a cache.
_SPANS_AT_ONCE = 128


def block_error(exact: Sequence[Rotation], rounded: Sequence[Rotation]) -> float:
    """The largest modulus of an error, where no sum is contracted.

    Args:
        exact: cosines and sines of the four digits of a block, float64.
        rounded: the same as the tables hold them, float32.
    """
    exact_spans, spans = span_rotations(exact), span_rotations(rounded)
    largest = 0.0
    for part in parts_of_spans():
        expected = both_products(as_row(exact[0]), as_column(exact_spans, part))
        received = both_products(as_row(rounded[0]), as_column(spans, part))
        for each in map(squares, received, expected):
            largest = max(largest, float(each.max()))
    return float(np.sqrt(largest))


def span_rotations(digits: Sequence[Rotation]) -> Rotation:
    """The rotations of spans `0 .. 2**18`, in the order of products of the engine."""
    _, first, second, third = digits
    outer = product(as_row(first), as_column(third))
    cosine, sine = product(with_middle(outer), middle(second))
    return in_order(cosine), in_order(sine)


def with_middle(outer: Rotation) -> Rotation:
    """Rotations of third and first digits, `(65, 64)`, with an axis for the second."""
    return outer[0][:, None, :], outer[1][:, None, :]


def middle(second: Rotation) -> Rotation:
    """Rotations of second digits on that axis."""
    return second[0][:, None], second[1][:, None]


def in_order(spans: Array) -> Array:
    """Spans by their numbers, without those beyond int32."""
    return spans.reshape(-1)[: SPANS + 1]


def parts_of_spans(first: int = 0, end: int = SPANS + 1) -> Iterator[slice]:
    """Few spans at a time."""
    for start in range(first, end, _SPANS_AT_ONCE):
        yield slice(start, min(start + _SPANS_AT_ONCE, end))


def as_row(rotations: Rotation) -> Rotation:
    """Rotations along the last of two axes."""
    return rotations[0][None, :], rotations[1][None, :]


def as_column(rotations: Rotation, part: slice = slice(None)) -> Rotation:
    """Rotations, or part of them, along the first of two axes."""
    return rotations[0][part, None], rotations[1][part, None]


def squares(received: Rotation, expected: Rotation) -> Array:
    """The squared moduli of the errors, float64."""
    cosine, sine = received[0] - expected[0], received[1] - expected[1]
    return np.asarray(cosine * cosine + sine * sine)
