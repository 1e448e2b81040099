"""Waves turned into tables of rotations, one row per digit of a position.

A shift of position by `k` rotates the sine and cosine of a wave by `frequency * k`. A
position is `64 * block + low`, a block `128 * span + within`, and the span is written
in three digits. Each digit looks up one rotation here, made with exact reduction, so no
angle is ever formed in a graph.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.engine.pairs import Pairs, pairs_of
from keras_sinpe.engine.waves import TURN_BITS, Waves, radians

Table = NDArray[np.floating]

# Positions per block: the lowest digit. Rows of a block are one product away from the
# block's first row, so consecutive positions need few full rotations.
BLOCK = 64

# Spans are |span| <= 2**18: the int32 range. Sizes of a block's digits, lowest first:
# the place within its span, then those of `|span|`; the last holds one more row, for
# span -2**18. Four digits are the fewest that keep the
# tables of a width of 512 under one megabyte (a fifth costs 20 % of the time).
DIGIT_SIZES = (128, 64, 64, 65)
DIGIT_PLACES = (1, 2**7, 2**13, 2**19)

# Rows of a span: no more can be stored.
MOST_STORED_ROWS = BLOCK * DIGIT_SIZES[0]

# Bits of a position's fraction per digit.
FRACTION_BITS = 7

_UINT64_TURN = 1 << 64


@dataclass(frozen=True)
class DigitTables:
    """The rotations that encode a position, and the waves they came from.

    Attributes:
        waves: the waves, `feature_dim` of them.
        dtype: `"float32"` or `"float64"`, the dtype of every table.
        stored_rows: how many encodings are stored, from position 0 on; at most
            `MOST_STORED_ROWS`.
    """

    waves: Waves
    dtype: str
    stored_rows: int = 0

    @cached_property
    def pairs(self) -> Pairs:
        """The features of each frequency."""
        return pairs_of(self.waves)

    @cached_property
    def block_digits(self) -> tuple[tuple[Table, Table], ...]:
        """For each digit of a block, cosines and sines, `(size, frequencies)` each."""
        return tuple(
            self._rotations(
                [BLOCK * place * turn for turn in self.pairs.frequencies], size
            )
            for size, place in zip(DIGIT_SIZES, DIGIT_PLACES, strict=True)
        )

    @cached_property
    def low_digit(self) -> tuple[Table, Table]:
        """Waves in place `0 .. 63` and a quarter turn on, `(64, feature_dim)` each."""
        angles = _angles(self.waves.turns, np.arange(BLOCK))
        angles += _reduced(self.waves.phase_turns)
        cosines, sines = cosines_and_sines(angles)
        wave, quadrature = (self.waves.amplitude * part for part in (sines, cosines))
        return wave.astype(self.dtype), quadrature.astype(self.dtype)

    @cached_property
    def low_digit_of_pairs(self) -> tuple[tuple[Table, Table], ...]:
        """`low_digit` of first and of second features: `(64, frequencies)` each."""
        wave, quadrature = (self.pairs.split(table) for table in self.low_digit)
        return tuple(zip(wave, quadrature, strict=True))

    @cached_property
    def low_rotations(self) -> tuple[Table, Table]:
        """Cosines and sines of the low digit alone, `(64, frequencies)` each."""
        return self._rotations(self.pairs.frequencies, BLOCK)

    @cached_property
    def rows(self) -> Table:
        """The first encodings, `(stored_rows, feature_dim)`: as a graph computes them.

        Within the first span the rotation of a block is that of its digit; what is left
        are the same two products and the same sum, each rounded.
        """
        block, low = divmod(np.arange(self.stored_rows), BLOCK)
        cosine, sine = (self.pairs.spread(table) for table in self.block_digits[0])
        wave, quadrature = self.low_digit
        return wave[low] * cosine[block] + quadrature[low] * sine[block]

    @cached_property
    def fraction_digits(self) -> tuple[tuple[Table, Table], ...]:
        """Cosines and sines of the digits `-64 .. 64` of a fraction, level by level.

        Level `k` counts in `2 ** (-7 * (k + 1))` of a position. There are as many
        levels as bring the fastest wave's remaining angle below half a radian.
        """
        fastest = max(np.abs(self.waves.frequency), default=0.0)
        bits = math.ceil(math.log2(fastest)) if fastest > 1 else 0
        levels = -(-bits // FRACTION_BITS)
        return tuple(
            self._rotations(
                [turn >> (FRACTION_BITS * level) for turn in self.pairs.frequencies],
                2**FRACTION_BITS + 1,
                -(2**FRACTION_BITS // 2),
            )
            for level in range(1, levels + 1)
        )

    @cached_property
    def frequency(self) -> Table:
        """Angular frequencies in radians per position, `(frequencies,)`."""
        return radians(self.pairs.frequencies).astype(self.dtype)

    def _rotations(
        self, turns: Sequence[int], count: int, first: int = 0
    ) -> tuple[Table, Table]:
        cosines, sines = cosines_and_sines(
            _angles(turns, np.arange(first, first + count))
        )
        return cosines.astype(self.dtype), sines.astype(self.dtype)


def cosines_and_sines(angles: NDArray[np.uint64]) -> tuple[Table, Table]:
    """Cosine and sine, in float64, of angles in 2**-64 turns.

    The angle is reduced to an eighth of a turn first: near a multiple of a quarter
    turn the small one of the two keeps its relative precision, so both are correctly
    rounded in float32.
    """
    eighth, quarter_bits = np.uint64(_UINT64_TURN // 8), np.uint64(62)
    quadrant = (angles + eighth) >> quarter_bits
    rest = (angles - (quadrant << quarter_bits)).view("int64")
    angle = rest * (2 * np.pi / _UINT64_TURN)
    cosine, sine = np.cos(angle), np.sin(angle)
    odd = quadrant % 2 == 1
    cosine, sine = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    np.negative(cosine, where=(quadrant == 1) | (quadrant == 2), out=cosine)
    np.negative(sine, where=quadrant >= 2, out=sine)
    return cosine, sine


def _angles(turns: Sequence[int], digits: NDArray[np.int_]) -> NDArray[np.uint64]:
    """Every digit times every frequency, modulo a turn: integers in 2**-64 turns."""
    return digits.astype("uint64")[:, None] * _reduced(turns)


def _reduced(turns: Sequence[int]) -> NDArray[np.uint64]:
    rounding = 1 << (TURN_BITS - 65)
    return np.array(
        [((turn + rounding) >> (TURN_BITS - 64)) % _UINT64_TURN for turn in turns],
        "uint64",
    )
