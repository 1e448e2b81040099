"""The oracle itself, against 60-digit arithmetic and against the naive formula."""

import mpmath
import numpy as np
import pytest
from conventions import CONVENTIONS

from keras_sinpe import reference

# The rounding of the reduced angle, of 2 pi times it, and of the sine: a few 2**-53.
ORACLE_TOLERANCE = 2e-15
# What the naive formula loses at positions up to 100: 100 times 2**-53, twice.
NAIVE_TOLERANCE = 3e-14

SERIES = {
    "the paper": ({}, 2.0**31),
    "many turns": ({"position_scale": 1000.0}, 1e6),
    "short waves": ({"min_wavelength": 0.001}, 1e6),
    "offset": ({"first_position": 0.1, "frequency_shift": 0.3}, 2.0**31),
}


def exact(position, width, **given):
    """One row of the paper's layout in 60 digits."""
    with mpmath.workdps(60):
        first, scale, shift, shortest = (
            mpmath.mpf(given.get(name, default))
            for name, default in (
                ("first_position", 0),
                ("position_scale", 1),
                ("frequency_shift", 0),
                ("min_wavelength", 1),
            )
        )
        place = (mpmath.mpf(position) + first) * scale / shortest
        ratio, steps = mpmath.mpf(10000) / shortest, mpmath.mpf(width) / 2 - shift
        waves = (mpmath.sin, mpmath.cos)
        return [waves[j % 2](place / ratio ** ((j // 2) / steps)) for j in range(width)]


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("integers", [True, False])
def test_reference_equals_arithmetic_in_60_digits(series, integers):
    parameters, bound = SERIES[series]
    random = np.random.default_rng(7)
    for position in random.uniform(-bound, bound, 12):
        position = float(np.rint(position)) if integers else float(position)
        width = int(random.integers(2, 40))
        row = reference.encode(position, width, **parameters)
        expected = exact(position, width, **parameters)
        error = max(
            abs(float(mpmath.mpf(value) - true))
            for value, true in zip(row.tolist(), expected, strict=True)
        )
        assert error <= ORACLE_TOLERANCE


def test_the_naive_formula_would_not_do_as_an_oracle():
    naive = np.sin(float(2**31 - 1) * 10000.0 ** (-2 * np.arange(32) / 64))
    exactly = reference.encode(2**31 - 1, 64)[::2]
    assert 1e-8 < np.abs(naive - exactly).max() < 1e-6


@pytest.mark.parametrize("width", [1, 2, 5, 6])
def test_reference_equals_the_naive_formula_at_small_positions(width):
    positions = np.array([[0.0, 1.0, 2.0], [-3.0, 41.5, 100.0]])
    j = np.arange(width)
    angles = positions[..., None] / 10000.0 ** (2 * (j // 2) / width)
    naive = np.where(j % 2 == 0, np.sin(angles), np.cos(angles))
    np.testing.assert_allclose(
        reference.encode(positions, width), naive, rtol=0, atol=NAIVE_TOLERANCE
    )


# Columns as (function, 1 / wavelength); None is silent. Written out by hand.
COLUMNS = {
    "halves, even": (4, {"layout": "halves"}, ["s1", "s.01", "c1", "c.01"]),
    "cosines first": (4, {"cos_first": True}, ["c1", "s1", "c.01", "s.01"]),
    "halves, cosines first": (
        (4, {"layout": "halves", "cos_first": True}, ["c1", "c.01", "s1", "s.01"])
    ),
    "shift of one": (4, {"frequency_shift": 1.0}, ["s1", "c1", "s.0001", "c.0001"]),
    "odd, truncated": (3, {"odd": "truncate"}, ["s1", "c1", "s.01"]),
    "odd, truncated halves": (
        (3, {"odd": "truncate", "layout": "halves"}, ["s1", "s.01", "c1"])
    ),
    "odd, padded": (5, {"odd": "zero"}, ["s1", "c1", "s.01", "c.01", None]),
    "odd, padded halves": (
        (5, {"odd": "zero", "layout": "halves"}, ["s1", "s.01", "c1", "c.01", None])
    ),
    "own wavelengths": (
        4,
        {"min_wavelength": 2, "max_wavelength": 50, "frequency_shift": 1},
        ["s.5", "c.5", "s.02", "c.02"],
    ),
    "scaled position": (4, {"position_scale": 0.5}, ["s.5", "c.5", "s.005", "c.005"]),
    "periods": ((4, {"periods": (2 * np.pi, 4 * np.pi)}, ["s1", "c1", "s.5", "c.5"])),
}


@pytest.mark.parametrize("convention", COLUMNS)
def test_columns_hold_the_waves_they_should(convention):
    width, parameters, columns = COLUMNS[convention]
    positions = np.array([0.0, 1.0, -2.0, 7.25])
    functions = {"s": np.sin, "c": np.cos}
    expected = [
        functions[column[0]](positions * float(column[1:])) if column else 0 * positions
        for column in columns
    ]
    np.testing.assert_allclose(
        reference.encode(positions, width, **parameters),
        np.stack(expected, axis=-1),
        rtol=0,
        atol=NAIVE_TOLERANCE,
    )


def test_first_position_is_added_before_the_scale():
    shifted = reference.encode(3, 6, first_position=2, position_scale=0.5)
    np.testing.assert_array_equal(shifted, reference.encode(2.5, 6))


@pytest.mark.parametrize(
    ("output_scale", "factor"), [(0.5, 0.5), (0, 0.0), ("unit_norm", 3**-0.5)]
)
def test_output_scale_multiplies(output_scale, factor):
    scaled = reference.encode([3, 4], 6, output_scale=output_scale)
    np.testing.assert_allclose(scaled, factor * reference.encode([3, 4], 6), rtol=1e-15)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3, 1, 2)])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_any_shape_of_positions_gets_one_axis_more(convention, shape):
    encoding = reference.encode(np.ones(shape, "int32"), 5, **CONVENTIONS[convention])
    assert encoding.shape == (*shape, 5)
    assert encoding.dtype == np.float64


@pytest.mark.parametrize("argument", ["layout", "odd"])
def test_unknown_choices_are_refused(argument):
    with pytest.raises(KeyError, match="quarters"):
        reference.encode(1, 4, **{argument: "quarters"})
