"""Rotations from angles that are integers, in float64: what the tables should hold.

Made without `digit_tables`, whose entries are what is certified.
"""

from collections.abc import Sequence

import numpy as np

from keras_sinpe.certify.sums import Rotation
from keras_sinpe.engine.digit_tables import BLOCK, DIGIT_PLACES, DIGIT_SIZES
from keras_sinpe.engine.waves import TURN, radians

# An angle of at most half a turn has three roundings (9e-16), its cosine and sine one
# each (2e-16): four such rotations, and three products of 5e-16, err by 6e-15.
EXACT_TO = 1e-14


def exact_rotations(turns: int, steps: Sequence[int], phase_turns: int = 0) -> Rotation:
    """Cosines and sines of `steps` of a frequency, both in 2**-128 turns."""
    half = TURN // 2
    angles = radians(
        [(turns * step + phase_turns + half) % TURN - half for step in steps]
    )
    return np.cos(angles), np.sin(angles)


def exact_block_digits(turns: int) -> list[Rotation]:
    """What `DigitTables.block_digits` should hold for one frequency."""
    return [
        exact_rotations(BLOCK * place * turns, range(size))
        for size, place in zip(DIGIT_SIZES, DIGIT_PLACES, strict=True)
    ]
