"""The engine's three ways in, against the reference and against each other."""

import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import INTEGER_TOLERANCE, REAL_TOLERANCE, as_float64, assert_exact
from keras import ops

from keras_sinpe import reference
from keras_sinpe.engine.digit_products import split
from keras_sinpe.engine.digit_tables import DigitTables
from keras_sinpe.engine.rotation import (
    encode_integers,
    encode_range,
    encode_reals,
    rotate_integers,
    rotate_range,
    rotate_reals,
)
from keras_sinpe.engine.waves import WaveParameters

FIRST, LAST = -(2**31), 2**31 - 1
CORNERS = [FIRST, FIRST + 1, -(2**30), -(2**25), -5000, -65, -64, -63, -1, 0, 1, 63, 64]
CORNERS += [65, 8191, 8192, 2**19, 2**24 + 1, 10**6, 2**25, 2**30, LAST - 1, LAST]
CORNERS += [-8193, -8192, -8191, -(2**24) - 1, 2**31 - 8193, 2**31 - 8192]
LENGTHS = [0, 1, 2, 63, 64, 65, 127, 128, 129, 300]
STARTS = [0, 1, 63, 64, 8000, -1, -64, -200, -8200, FIRST, LAST - 299]


def tables_of(width, **parameters):
    return DigitTables(WaveParameters(**parameters).waves(width), "float32")


def integers(values):
    return ops.convert_to_tensor(np.array(values, "int32"))


def reals(values):
    return ops.convert_to_tensor(np.array(values, "float32"))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("width", [7, 24])
def test_integers_of_all_of_int32_are_exact(convention, width):
    parameters = CONVENTIONS[convention]
    random = np.random.default_rng(width).integers(FIRST, LAST, 200)
    positions = np.concatenate([CORNERS, random])
    received = encode_integers(tables_of(width, **parameters), integers(positions))
    expected = reference.encode(positions, width, **parameters)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("width", [512, 8191])
def test_wide_encodings_are_exact(width):
    received = encode_integers(tables_of(width), integers(CORNERS))
    assert_exact(received, reference.encode(CORNERS, width), INTEGER_TOLERANCE)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_reals_up_to_a_million_are_exact(convention):
    parameters = CONVENTIONS[convention]
    random = np.random.default_rng(5)
    positions = np.concatenate(
        [
            random.uniform(-1e6, 1e6, 200),
            random.uniform(-1, 1, 200),
            [0.5, -0.5, 1.5, 1e-30, -1e-7, 500.2714, 500.2744, 19700.25, 0, -3, 2**24],
        ]
    ).astype("float32")
    received = encode_reals(tables_of(10, **parameters), reals(positions))
    assert_exact(
        received, reference.encode(positions, 10, **parameters), REAL_TOLERANCE
    )


def test_reals_of_all_of_int32_are_exact():
    positions = np.array([-(2.0**31) + 128, 2.0**31 - 128, 2.0**30, -(2.0**24) - 2])
    received = encode_reals(tables_of(10), reals(positions))
    assert_exact(received, reference.encode(positions, 10), REAL_TOLERANCE)


@pytest.mark.parametrize("convention", ["the paper", "mass spectrometry"])
def test_reals_without_a_fraction_equal_the_integers(convention):
    tables = tables_of(12, **CONVENTIONS[convention])
    positions = [-70000, -65, -1, 0, 1, 64, 2049, 2**24]
    received = encode_reals(tables, reals(positions))
    np.testing.assert_array_equal(
        as_float64(received), as_float64(encode_integers(tables, integers(positions)))
    )


@pytest.mark.parametrize("convention", ["the paper", "times from 0 to 1"])
@pytest.mark.parametrize(
    "position", [float("nan"), float("inf"), -float("inf"), 2.0**31, -3e38]
)
def test_reals_that_are_no_position_give_nan_and_leave_their_neighbours_alone(
    convention, position
):
    tables = tables_of(6, **CONVENTIONS[convention])
    received = as_float64(encode_reals(tables, reals([2.5, position, -7])))
    assert np.isnan(received[1]).all()
    assert np.isfinite(received[[0, 2]]).all()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("start", STARTS)
def test_a_range_equals_its_integers_bit_for_bit(start, length):
    assert_ranges_equal_their_integers(tables_of(10), start, length)


@pytest.mark.float64
@pytest.mark.parametrize("length", LENGTHS)
def test_ranges_equal_their_integers_where_integers_have_64_bits_too(length):
    assert_ranges_equal_their_integers(tables_of(10), 70, length)


def assert_ranges_equal_their_integers(tables, start, length):
    positions = integers(start + np.arange(length))
    expected = as_float64(encode_integers(tables, positions))
    turned = [as_float64(part) for part in rotate_integers(tables, positions)]
    for kind in (start, ops.convert_to_tensor(start, "int32")):
        received = encode_range(tables, kind, length)
        np.testing.assert_array_equal(as_float64(received), expected)
        for part, same in zip(rotate_range(tables, kind, length), turned, strict=True):
            np.testing.assert_array_equal(as_float64(part), same)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_rotations_are_the_waves_without_phase_and_amplitude(convention):
    parameters = CONVENTIONS[convention] | {"first_position": 0, "output_scale": 1.0}
    parameters |= {"layout": "halves", "cos_first": True}
    times = np.array([0.25, 19700.25, -3.75, 2**24], "float32")
    for positions, rotate, given, tolerance in (
        (CORNERS, rotate_integers, integers, INTEGER_TOLERANCE),
        (times, rotate_reals, reals, REAL_TOLERANCE),
    ):
        received = rotate(tables_of(8, **parameters), given(positions))
        expected = np.split(reference.encode(positions, 8, **parameters), 2, axis=-1)
        for part, exact in zip(received, expected, strict=True):
            assert_exact(part, exact, tolerance)


@pytest.mark.parametrize("rotate", [rotate_integers, rotate_reals])
def test_rotations_of_any_shape_of_positions_get_one_axis_more(rotate):
    given = integers if rotate is rotate_integers else reals
    for part in rotate(tables_of(7), given(np.zeros((3, 2)))):
        assert tuple(part.shape) == (3, 2, 4)


def test_every_position_of_int32_is_split_into_digits():
    random = np.random.default_rng(4).integers(FIRST, LAST, 100_000)
    edges = [8192 * k + off for k in range(-(2**18), 2**18, 257) for off in (-1, 0, 1)]
    positions = np.concatenate([CORNERS, random, np.clip(edges, FIRST, LAST)])
    span, within, low = map(as_float64, split(integers(positions)))
    np.testing.assert_array_equal(8192 * span + 64 * within + low, positions)
    assert 0 <= within.min() <= within.max() == 127
    assert 0 <= low.min() <= low.max() == 63


@pytest.mark.parametrize("encode", [encode_integers, encode_reals])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0), (3, 1, 2)])
@pytest.mark.parametrize("width", [1, 2, 7])
def test_any_shape_of_positions_gets_one_axis_more(encode, shape, width):
    dtype = "int32" if encode is encode_integers else "float32"
    positions = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    received = encode(tables_of(width), ops.convert_to_tensor(positions))
    assert_exact(received, reference.encode(positions, width), REAL_TOLERANCE)


@pytest.mark.parametrize(
    ("periods", "width"),
    [((7, 24, 365.25), 6), ((7, 24, 365.25), 5), ((24, 24, 7), 6), ((1e-3,), 2)],
)
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_periods_are_exact_however_they_repeat(periods, width, layout):
    parameters = {"periods": periods, "layout": layout}
    tables = tables_of(width, **parameters)
    assert_exact(
        encode_integers(tables, integers(CORNERS)),
        reference.encode(CORNERS, width, **parameters),
        INTEGER_TOLERANCE,
    )
    times = np.array([0.25, 19700.25, -3.75], "float32")
    assert_exact(
        encode_reals(tables, reals(times)),
        reference.encode(times, width, **parameters),
        REAL_TOLERANCE,
    )


def test_neighbours_beyond_the_last_exact_float32_integer_differ():
    rows = as_float64(encode_integers(tables_of(8), integers([2**24, 2**24 + 1])))
    assert np.abs(rows[0] - rows[1]).max() > 0.1
