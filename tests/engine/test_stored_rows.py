"""The first rows of an encoding are stored: the same bits, at every way in."""

import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import as_float64
from keras import ops

from keras_sinpe.engine.backend_ops import can_ask_tensors
from keras_sinpe.engine.digit_tables import DigitTables
from keras_sinpe.engine.rotation import encode_integers, encode_range
from keras_sinpe.engine.stored_rows import positions_are_stored, range_is_stored
from keras_sinpe.engine.waves import WaveParameters

STORED = 130  # two blocks and a bit


def tables_of(width, stored_rows=STORED, dtype="float32", **parameters):
    return DigitTables(WaveParameters(**parameters).waves(width), dtype, stored_rows)


def integers(values):
    return ops.convert_to_tensor(np.array(values, "int32"))


def computed(positions, width, **parameters):
    return as_float64(encode_integers(tables_of(width, 0, **parameters), positions))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("width", [1, 7, 24])
def test_stored_rows_are_the_bits_of_the_computed_ones(convention, width):
    parameters = CONVENTIONS[convention]
    rows = tables_of(width, 8192, **parameters).rows
    assert (rows.shape, rows.dtype) == ((8192, width), "float32")
    expected = computed(integers(np.arange(8192)), width, **parameters)
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.float64
def test_stored_rows_have_the_dtype_of_the_tables():
    tables = tables_of(10, dtype="float64")
    assert tables.rows.dtype == "float64"
    received = ops.convert_to_numpy(encode_range(tables, 3, 5))
    np.testing.assert_array_equal(received, tables.rows[3:8])


@pytest.mark.parametrize("length", [0, 1, 5, 63, 64, 128, 129, 130, 131, 300])
@pytest.mark.parametrize(
    "start", [0, 1, 2, 66, 129, 130, -1, -130, -(2**31), 2**31 - 5]
)
def test_ranges_are_the_same_bits_with_and_without_stored_rows(start, length):
    tables = tables_of(10)
    for kind in (start, integers(start)):
        received = as_float64(encode_range(tables, kind, length))
        expected = as_float64(encode_range(tables_of(10, 0), kind, length))
        np.testing.assert_array_equal(received, expected)


@pytest.mark.parametrize(
    "positions",
    [[], [0], [129, 0, 5], [130], [129, 130], [-1, 3], [[4, 5], [6, 2**31 - 1]], 7],
)
def test_positions_are_the_same_bits_with_and_without_stored_rows(positions):
    positions = integers(positions)
    received = as_float64(encode_integers(tables_of(10), positions))
    np.testing.assert_array_equal(received, computed(positions, 10))


def test_a_position_beyond_int32_is_not_looked_up_where_it_wrapped_around():
    beyond = ops.convert_to_tensor(np.array([False, True]))
    rows = as_float64(encode_integers(tables_of(10), integers([5, 5]), beyond))
    np.testing.assert_array_equal(rows[0], as_float64(tables_of(10).rows)[5])
    assert np.isnan(rows[1]).all()


@pytest.mark.parametrize(
    ("start", "length", "stored"),
    [
        (0, 130, True),
        (0, 131, False),
        (129, 1, True),
        (-1, 1, False),
        (-(2**31), 2, False),
        (2**31 - 1, 1, False),
        (100, 30, True),
        (100, 31, False),
    ],
)
def test_a_range_is_stored_where_its_last_row_is(start, length, stored):
    tables = tables_of(4)
    assert range_is_stored(tables, start, length) is stored
    stored = stored and can_ask_tensors()
    for known in (length, integers(length)):
        assert bool(range_is_stored(tables, integers(start), known)) is stored
    assert range_is_stored(tables_of(4, 0), integers(start), length) is False


@pytest.mark.parametrize(
    ("positions", "stored"),
    [([0, 129], True), ([], True), ([130], False), ([-(2**31), 3], False)],
)
def test_positions_are_stored_where_all_of_them_are(positions, stored):
    positions, stored = integers(positions), stored and can_ask_tensors()
    assert bool(positions_are_stored(tables_of(4), positions, None)) is stored
    assert positions_are_stored(tables_of(4, 0), positions, None) is False
