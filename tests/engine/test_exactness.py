"""The yardstick of the other tests: what is wrong fails, and what is missing too."""

import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, ROUNDING, assert_exact, tolerance_of

from keras_sinpe import reference

POSITIONS = np.arange(70)
ROWS = reference.encode(POSITIONS, 6)
HOLED = np.where(np.arange(6) == 2, np.nan, ROWS)

FAULTS = {
    "another base": reference.encode(POSITIONS, 6, max_wavelength=9999.0),
    "a position off by one": reference.encode(POSITIONS + 1, 6),
    "sine and cosine swapped": reference.encode(POSITIONS, 6, cos_first=True),
    "another layout": reference.encode(POSITIONS, 6, layout="halves"),
    "a row too few": ROWS[:-1],
    "a batch too many": ROWS[None],
    "a missing value": HOLED,
    "half precision": ROWS.astype("float16"),
    "a step of two in the last place": ROWS + 2 * INTEGER_TOLERANCE,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_fails(fault):
    with pytest.raises(AssertionError):
        assert_exact(FAULTS[fault], ROWS, INTEGER_TOLERANCE)


def test_the_rows_themselves_pass():
    assert_exact(ROWS.astype("float32"), ROWS, INTEGER_TOLERANCE)


@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_second_rounding_of_half_precision_fails(dtype):
    # Angles in half precision, as an encoding computed under the policy has them.
    angles = POSITIONS.astype("float16" if dtype == "float16" else "float32")
    angles = angles * np.float16(0.3)
    rows = np.sin(angles.astype("float16"))
    with pytest.raises(AssertionError):
        assert_exact(rows, np.sin(POSITIONS * 0.3), tolerance_of(dtype))
