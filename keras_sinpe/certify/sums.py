"""Sums of two products as float32 rounds them, and as compilers may contract them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rotation = tuple[Array, Array]  # cosines and sines

# What float64 holds beyond float32, and where that lies half way between two of them.
_BEYOND_FLOAT32 = 2**29 - 1
_HALF_WAY = 2**28


def product(first: Rotation, second: Rotation) -> Rotation:
    """One rotation after another: the operations of `digit_products.product`."""
    (cosine, sine), (other_cosine, other_sine) = first, second
    return (
        cosine * other_cosine - sine * other_sine,
        sine * other_cosine + cosine * other_sine,
    )


def both_products(first: Rotation, second: Rotation) -> tuple[Rotation, Rotation]:
    """The product, and that with `second` turned backwards: its sine negated."""
    (cosine, sine), (other_cosine, other_sine) = first, second
    cosines, sines = cosine * other_cosine, sine * other_sine
    crossed, other_crossed = sine * other_cosine, cosine * other_sine
    return (
        (cosines - sines, crossed + other_crossed),
        (cosines + sines, crossed - other_crossed),
    )


def contracted_products(
    first: Rotation, second: Rotation
) -> tuple[list[Array], list[Array]]:
    """The cosines and the sines that compilers can make of the same, in float32."""
    (cosine, sine), (other_cosine, other_sine) = first, second
    return (
        _contracted_sums(cosine, other_cosine, -sine, other_sine),
        _contracted_sums(sine, other_cosine, cosine, other_sine),
    )


def _contracted_sums(a: Array, b: Array, c: Array, d: Array) -> list[Array]:
    """The values of `a * b + c * d`: as written, and with either product fused."""
    return [a * b + c * d, fused(a, b, c * d), fused(c, d, a * b)]


def fused(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` of float32, rounded once.

    The product is exact in float64. The sum, rounded there, lies on the same side of
    every number half way between two of float32, unless it is one: then what it lost
    shows the side.
    """
    exact = a.astype("float64") * b
    total = exact + c
    ties = total.view("int64") & _BEYOND_FLOAT32 == _HALF_WAY
    if ties.any():
        places = np.nonzero(ties)
        lost = _lost(
            np.broadcast_to(exact, ties.shape)[places],
            np.broadcast_to(c, ties.shape)[places],
            total[places],
        )
        aside = np.nextafter(total[places], np.copysign(np.inf, lost))
        total[places] = np.where(lost == 0, total[places], aside)
    return total.astype("float32")


def _lost(first: Array, second: Array, total: Array) -> Array:
    """What the float64 sum of two numbers lost, exactly: Knuth's two-sum."""
    of_second = total - first
    of_first = total - of_second
    lost = (first - of_first) + (second - of_second)
    return np.asarray(lost)


def half_spacing(values: Array) -> Array:
    """The most by which rounding moves a result: float32 numbers of this exponent."""
    powers = (values.view("int32") & 0x7F800000).view("float32")
    return np.asarray(powers * np.float32(2**-24))
