"""The bound of an encoding's error, and the parts that it is made of."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from keras_sinpe.certify.blocks import block_error, squares
from keras_sinpe.certify.contraction import contracted_block_error
from keras_sinpe.certify.exact import EXACT_TO, exact_block_digits, exact_rotations
from keras_sinpe.certify.sums import Rotation
from keras_sinpe.engine.digit_tables import BLOCK, DigitTables
from keras_sinpe.engine.waves import WaveParameters, Waves

ASSUMPTIONS = (
    "positions are integers of int32, their digits taken exactly",
    "products and sums of float32 are rounded to nearest; none is reassociated",
    "no product is contracted into a sum; for the contracted bound: in each single sum "
    "either product may be, or none",
)

# A pass over frequencies that may show its progress.
Track = Callable[[Sequence[Any]], Iterable[Any]]

# Errors of block rotations that are known: by what the tables hold of a frequency.
Known = dict[bytes, tuple[float, float]]


@dataclass(frozen=True)
class Certificate:
    """A proved bound of the error of an encoding in float32.

    Attributes:
        feature_dim: the number of features, or of rotations.
        amplitude: the largest of a feature.
        block: the largest modulus of an error of the rotation of any block.
        contracted_block: the same, however a compiler contracts sums.
        low_digit: the largest modulus of an error in the table of the low digit, which
            holds amplitudes.
        last_rounding: the most that the two products and the sum of the last step add.
        exact_to: how far the exact rotations, in float64, may be from the truth.
        assumptions: what the bound rests on.
    """

    feature_dim: int
    amplitude: float
    block: float
    contracted_block: float
    low_digit: float
    last_rounding: float
    exact_to: float = EXACT_TO
    assumptions: tuple[str, ...] = ASSUMPTIONS

    @property
    def bound(self) -> float:
        """The largest error of any feature at any position of int32."""
        return self._bound(self.block)

    @property
    def contracted_bound(self) -> float:
        """The same, however a compiler contracts sums."""
        return self._bound(self.contracted_block)

    def _bound(self, block: float) -> float:
        exact_to = 2 * self.exact_to  # of blocks and of the low digit
        return self.amplitude * (block + exact_to) + self.low_digit + self.last_rounding

    def __str__(self) -> str:
        """The bounds, their parts and what they rest on."""
        blocks = f"{self.block:.3e}, however contracted {self.contracted_block:.3e}"
        lines = [
            f"  rotation of any block  {blocks}",
            f"  low digit              {self.low_digit:.3e}",
            f"  last rounding          {self.last_rounding:.3e}",
            f"  bound                  {self.bound:.3e}",
            f"  contracted bound       {self.contracted_bound:.3e}",
        ]
        return "\n".join([*lines, *(f"  if {each}" for each in self.assumptions)])


def certify(feature_dim: int, **parameters: Any) -> Certificate:
    """Proves a bound of the error of an encoding, at every position of int32.

    Checks the rotations of all 2**26 blocks of 64 positions, for each frequency, which
    takes about a second, and bounds the rest in closed form.

    Args:
        feature_dim: positive integer, the number of features.
        **parameters: those of the waves, as the layers take them.

    Returns:
        A `Certificate`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if an argument is out of range.

    Example:
    >>> from keras_sinpe.certify import certify
    >>> certificate = certify(2)
    >>> certificate.bound < certificate.contracted_bound + 1e-9 < 5e-7
    True
    """
    waves = WaveParameters(**parameters).waves(feature_dim)
    return certify_tables(DigitTables(waves, "float32"))


def certify_rotations(
    frequencies: Sequence[int], *, track: Track = iter, known: Known | None = None
) -> Certificate:
    """Proves a bound for sines and cosines alone: those that turn queries and keys.

    Args:
        frequencies: integers, in 2**-128 turns per position.
        track: shows the progress of a pass over the frequencies.
        known: errors of frequencies certified before; those found are added.
    """
    count = len(frequencies)
    waves = Waves(tuple(frequencies), (0,) * count, np.ones(count))
    return certify_tables(DigitTables(waves, "float32"), track=track, known=known)


def certify_tables(
    tables: DigitTables, *, track: Track = iter, known: Known | None = None
) -> Certificate:
    """Proves a bound for the tables of an encoding, as they are.

    Args:
        tables: tables of float32.
        track: shows the progress of a pass over the frequencies.
        known: errors of frequencies certified before; those found are added.
    """
    known = {} if known is None else known
    amplitude = float(np.abs(tables.waves.amplitude).max())
    errors = [
        _block_errors(
            turns, [(c[:, i], s[:, i]) for c, s in tables.block_digits], known
        )
        for i, turns in track(list(enumerate(tables.pairs.frequencies)))
    ]
    return Certificate(
        feature_dim=tables.waves.feature_dim,
        amplitude=amplitude,
        block=max(error for error, _ in errors),
        contracted_block=max(error for _, error in errors),
        low_digit=max(_low_errors(tables)),
        last_rounding=_last_rounding(amplitude),
    )


def _block_errors(
    turns: int, rounded: Sequence[Rotation], known: Known
) -> tuple[float, float]:
    held = [part.tobytes() for rotation in rounded for part in rotation]
    key = b"".join([str(turns).encode(), *held])
    if key not in known:
        exact = exact_block_digits(turns)
        error = block_error(exact, rounded)
        known[key] = error, contracted_block_error(exact, rounded, error)
    return known[key]


def _low_errors(tables: DigitTables) -> Iterator[float]:
    """The largest error of each feature in the table of the low digit."""
    waves = tables.waves
    wave, quadrature = tables.low_digit
    for i, (turns, phase, amplitude) in enumerate(
        zip(waves.turns, waves.phase_turns, waves.amplitude, strict=True)
    ):
        cosine, sine = exact_rotations(turns, range(BLOCK), phase)
        exact = amplitude * sine, amplitude * cosine
        errors = squares((wave[:, i], quadrature[:, i]), exact)
        yield float(np.sqrt(errors.max()))


def _last_rounding(amplitude: float) -> float:
    """The most by which two products and their sum can be rounded.

    The moduli of the products add to no more than the amplitude and its errors. Below
    `top`, a power of two, both may be rounded by `top * 2**-25` and the sum, which may
    reach it, by `2**-24`; if one product reaches it, by twice as much, the other is
    nothing to speak of.
    """
    top = 2.0 ** math.ceil(math.log2(amplitude)) if amplitude else 0.0
    return top * 2**-23 * (1 + 2**-20)
