"""Starts of every integer dtype, with the rows that they must give."""

import numpy as np
from exactness import INTEGER_TOLERANCE, as_float64

from keras_sinpe import reference

WIDTH = 6
FIRST, LAST = -(2**31), 2**31 - 1

# Near both ends of the dtype and of int32, and what wraps around to small numbers.
STARTS = {
    "int8": [0, 5, 127, -128],
    "uint8": [5, 255],
    "int16": [5, 32767, -32768],
    "uint16": [5, 65535],
    "int32": [5, -1, FIRST, LAST - 69, LAST - 68, LAST - 1, LAST],
    "uint32": [5, LAST - 1, LAST, 2**31, 2**31 + 5, 2**32 - 1],
    "int64": [5, -1, FIRST - 1, FIRST - 2**20, LAST, 2**31, -(2**32), 2**63 - 1],
    "uint64": [5, LAST - 1, LAST, 2**31, 2**32, 2**63, 2**63 + 5, 2**64 - 1],
}
CASES = [(dtype, start) for dtype, starts in STARTS.items() for start in starts]

# Below and above the length from which sequences are encoded block by block.
LENGTHS = (3, 70)

# With `positions_from_mask`, padded on the left.
MASK = np.array([[False, False, True, True]])
COUNTED = [0, 0, 0, 1]


def leaves_int32(start, length):
    return not FIRST <= start <= LAST - length + 1


def expected_rows(start, offsets):
    """Rows in float64, NaN where int32 does not hold the position."""
    positions = [start + int(offset) for offset in offsets]  # Python's integers
    rows = np.full((len(positions), WIDTH), np.nan)
    for row, position in zip(rows, positions, strict=True):
        if FIRST <= position <= LAST:
            row[:] = reference.encode(np.array(position), WIDTH)
    return rows


def assert_rows(received, start, offsets):
    """Every sample holds the rows of `start + offsets`, NaN in the right places."""
    received = as_float64(received)
    expected = np.stack([expected_rows(start, offsets)] * len(received))
    np.testing.assert_allclose(received, expected, rtol=0, atol=INTEGER_TOLERANCE)
