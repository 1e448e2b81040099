"""Host tables: sines and cosines of angles that are integers."""

import mpmath
import numpy as np
import pytest

from keras_sinpe.engine.digit_tables import DigitTables, cosines_and_sines
from keras_sinpe.engine.waves import WaveParameters

EIGHTH = 1 << 61  # an eighth of a turn in 2**-64 turns


def test_multiples_of_a_quarter_turn_are_exact():
    angles = np.array([0, 2 * EIGHTH, 4 * EIGHTH, 6 * EIGHTH], "uint64")
    cosines, sines = cosines_and_sines(angles)
    np.testing.assert_array_equal(cosines, [1, 0, -1, 0])
    np.testing.assert_array_equal(sines, [0, 1, 0, -1])


def test_cosines_and_sines_are_correctly_rounded_in_float32():
    random = np.random.default_rng(3)
    angles = random.integers(0, 2**64, 300, "uint64")
    # Beside a quarter turn one of the two is small and keeps its own precision.
    angles[::3] = angles[::3] // 2**20 + (angles[::3] % 4) * 2 * EIGHTH
    for function, received in zip(
        (mpmath.cospi, mpmath.sinpi), cosines_and_sines(angles), strict=True
    ):
        with mpmath.workprec(200):
            exact = [function(mpmath.mpf(int(a)) / 2**63) for a in angles]
            expected = np.array([np.float32(str(value)) for value in exact])
        np.testing.assert_array_equal(received.astype("float32"), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_tables_hold_rotations_of_the_asked_dtype(dtype, scale):
    waves = WaveParameters(position_scale=scale).waves(10)
    tables = DigitTables(waves, dtype)
    rotations = [*tables.block_digits, *tables.fraction_digits, tables.low_digit]
    assert len(tables.fraction_digits) == (0 if scale == 1 else 2)
    for cosines, sines in rotations:
        assert cosines.dtype == sines.dtype == dtype
        squares = cosines.astype("float64") ** 2 + sines.astype("float64") ** 2
        np.testing.assert_allclose(squares, 1, rtol=0, atol=2 * np.finfo(dtype).eps)


def test_tables_do_not_grow_with_the_positions():
    tables = DigitTables(WaveParameters().waves(512), "float32")
    rotations = [*tables.block_digits, tables.low_digit]
    size = sum(cosines.nbytes + sines.nbytes for cosines, sines in rotations)
    assert size < 2**20
