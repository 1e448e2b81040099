"""One rounding instead of two, emulated exactly."""

from fractions import Fraction

import numpy as np
import pytest

from keras_sinpe.certify.sums import (
    both_products,
    contracted_products,
    fused,
    half_spacing,
    product,
)
from keras_sinpe.engine import digit_products


def rounded_once(a, b, c):
    """`a * b + c`, rounded once to the nearest float32: to the even one of two."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    guess = np.float32(float(exact))
    near = [np.nextafter(guess, np.float32(way)) for way in (-np.inf, np.inf)]
    return min(
        [guess, *near],
        key=lambda each: (
            abs(Fraction(float(each)) - exact),
            int(each.view("int32")) & 1,
        ),
    )


def test_a_fused_sum_is_rounded_once():
    random = np.random.default_rng(7)
    a, b, c = random.uniform(-1, 1, (3, 400)).astype("float32")
    c[::4] = (-a * b)[::4]  # cancels but for the rounding of the product
    expected = [rounded_once(*each) for each in zip(a, b, c, strict=True)]
    np.testing.assert_array_equal(fused(a, b, c), expected)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("beyond", [0, 2.0**-60, -(2.0**-60)])
@pytest.mark.parametrize("last_bit", [0, 1])
def test_what_float64_loses_decides_between_two_float32(sign, beyond, last_bit):
    # 1 and half a unit in its last place more, and something that float64 drops.
    c = sign * np.float32([1 + last_bit * 2.0**-23])
    a = sign * np.float32([2.0**-24 + 2.0**-47])
    b = np.float32([1.0])
    if beyond:
        a, b = a, b * np.float32(1 - 2.0**-23) if beyond < 0 else b
    expected = [rounded_once(*each) for each in zip(a, b, c, strict=True)]
    np.testing.assert_array_equal(fused(a, b, c), expected)


def test_exact_ties_go_to_even():
    c = np.float32([1, 1 + 2.0**-23, -1])
    a, b = np.float32([2.0**-24, 2.0**-24, -(2.0**-24)]), np.float32([1, 1, 1])
    np.testing.assert_array_equal(fused(a, b, c), np.float32([1, 1 + 2.0**-22, -1]))


def rotations(seed, dtype="float32"):
    angles = np.random.default_rng(seed).uniform(-4, 4, 300)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def test_products_are_those_of_the_engine_bit_for_bit():
    first, second = rotations(1), rotations(2)
    expected = digit_products.product(first, second)
    for received in (product(first, second), both_products(first, second)[0]):
        np.testing.assert_array_equal(received, expected)
    backwards = digit_products.product(first, (second[0], -second[1]))
    np.testing.assert_array_equal(both_products(first, second)[1], backwards)


def test_contraction_offers_what_is_written_and_two_ways_to_fuse():
    first, second = rotations(3), rotations(4)
    for choices, written in zip(
        contracted_products(first, second), product(first, second), strict=True
    ):
        assert len(choices) == 3
        np.testing.assert_array_equal(choices[0], written)
        assert not np.array_equal(choices[1], choices[2])


def test_rounding_moves_by_half_a_spacing_at_most():
    values = np.float32([1, 1.5, 0.75, 2.0**-10])
    np.testing.assert_array_equal(half_spacing(values), np.spacing(values) / 2)
