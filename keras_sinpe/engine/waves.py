"""Parameters of a sinusoidal encoding, turned into one wave per feature.

Every sinusoidal encoding is ``amplitude[j] * sin(frequency[j] * p + phase[j])`` for
feature ``j``. Layout, order of sine and cosine, odd widths, scales and offsets are all
data in these three vectors; nothing after this module knows about them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.arguments import (
    boolean,
    choice,
    finite_number,
    is_word,
    nonzero_number,
    positive_integer,
    positive_number,
    refusal,
)

LAYOUTS = ("interleaved", "halves")
ODD_WIDTHS = ("ceil", "truncate", "zero")

# Fixed point for angles: integers in units of 2**-128 of a turn. A frequency times any
# 64-bit position then errs by less than 2**-64 of a turn.
TURN_BITS = 128
TURN = 1 << TURN_BITS

# 80 digits hold as many turns per position in that unit, and lose six to a series of
# products as long as half of the widest encoding.
MOST_TURNS = 10**9
_EXACT = Context(prec=80)
_TWO_PI = Decimal(
    "6.28318530717958647692528676655900576839433879875021164194988918"
    "461563281257241799725606965068"
)

# The tables of so many take three seconds and, with 512 stored rows, one gigabyte.
MOST_FEATURES = 2**18


@dataclass(frozen=True)
class Waves:
    """One sine wave per feature: ``amplitude * sin(frequency * position + phase)``.

    Attributes:
        turns: `feature_dim` integers, the frequencies in 2**-128 turns per position.
            Exact enough to reduce any 64-bit position modulo a turn.
        phase_turns: `feature_dim` integers, the phases in 2**-128 turns.
        amplitude: float64 array of shape `(feature_dim,)`.
    """

    turns: tuple[int, ...]
    phase_turns: tuple[int, ...]
    amplitude: NDArray[np.float64]

    @property
    def feature_dim(self) -> int:
        """The number of features."""
        return len(self.turns)

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Angular frequencies in radians per position, float64 `(feature_dim,)`."""
        return radians(self.turns)

    @property
    def phase(self) -> NDArray[np.float64]:
        """Phases in radians, float64 `(feature_dim,)`."""
        return radians(self.phase_turns)


@dataclass(frozen=True, kw_only=True)
class WaveParameters:
    """The validated parameters of an encoding, independent of its width.

    Args:
        max_wavelength: positive number. The angular wavelength that the geometric
            series of wavelengths approaches (`period = 2 * pi * wavelength`), in
            positions.
        min_wavelength: positive number. The shortest angular wavelength.
        frequency_shift: number. Pair `i` has the wavelength
            `min * (max / min) ** (i / (feature_dim / 2 - frequency_shift))`: 0 as in
            the paper, 1 as in tensor2tensor, where the last pair reaches `max`.
        layout: `"interleaved"` (sine and cosine of a pair side by side) or `"halves"`
            (all sines, then all cosines).
        cos_first: whether cosines take the sines' places and the other way round.
        odd: what an odd `feature_dim` means. `"ceil"`: the last sine has no cosine,
            exponents use the odd width. `"truncate"`: the encoding of the next even
            width without its last feature. `"zero"`: the encoding of the even width
            below, and a last feature of zeros.
        first_position: number added to every position.
        position_scale: nonzero number that multiplies every position, after
            `first_position` is added.
        output_scale: number that multiplies the encoding, or `"unit_norm"` for
            `sqrt(2 / feature_dim)`, which gives rows of even width the norm 1.
        periods: sequence of positive numbers, or `None`. The true periods (not angular
            wavelengths), one per pair, in positions; replaces the geometric series.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if an argument is out of range or names no known choice.
    """

    max_wavelength: float = 10000.0
    min_wavelength: float = 1.0
    frequency_shift: float = 0.0
    layout: str = "interleaved"
    cos_first: bool = False
    odd: str = "ceil"
    first_position: float = 0
    position_scale: float = 1.0
    output_scale: float | str = 1.0
    periods: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Replaces what was given by plain Python values, and refuses what is wrong."""
        for name in ("max_wavelength", "min_wavelength"):
            self._set(name, positive_number)
        for name in ("frequency_shift", "first_position"):
            self._set(name, finite_number)
        self._set("position_scale", nonzero_number)
        self._set("layout", choice, LAYOUTS)
        self._set("odd", choice, ODD_WIDTHS)
        self._set("cos_first", boolean)
        if not is_word(self.output_scale, "unit_norm"):
            self._set("output_scale", finite_number, 'a finite number or "unit_norm"')
        if self.periods is not None:
            self._set("periods", _checked_periods)
            self._refuse_two_series()

    def _set(self, name: str, check: Callable[..., Any], *how: Any) -> None:
        object.__setattr__(self, name, check(name, getattr(self, name), *how))

    def _refuse_two_series(self) -> None:
        for name in ("max_wavelength", "min_wavelength", "frequency_shift"):
            value = getattr(self, name)
            if value != getattr(type(self), name):
                raise ValueError(
                    f"`{name}` must be left at its default when `periods` are given. "
                    f"Received: {name}={value!r}"
                )

    def waves(self, feature_dim: int) -> Waves:
        """The waves of an encoding of width `feature_dim`.

        Args:
            feature_dim: positive integer, the number of features.

        Returns:
            `Waves` with `feature_dim` entries.

        Raises:
            TypeError: if `feature_dim` is not an integer.
            ValueError: if `feature_dim` is not from 1 to 2**18, does not fit the number
                of `periods`, or leaves `frequency_shift` no room; if a wave makes more
                than 10**9 turns per position.
        """
        feature_dim = feature_count("feature_dim", feature_dim)
        pairs, is_cosine = _places(feature_dim, self)
        with localcontext(_EXACT):  # whatever the caller's own decimal context is
            frequencies = [*self._frequencies(feature_dim), Decimal(0)]
            scale = Decimal(self.position_scale) * TURN
            turns = [int((w * scale).to_integral_value()) for w in frequencies]
        _refuse_blur(turns)
        first = Fraction(self.first_position)
        firsts = [round(turn * first) if first else 0 for turn in turns]
        phases = [
            (firsts[pair] + (TURN // 4 if cosine else 0)) % TURN
            for pair, cosine in zip(pairs, is_cosine, strict=True)
        ]
        amplitude = np.full(feature_dim, self._scale(feature_dim))
        amplitude[[pair == _SILENT for pair in pairs]] = 0.0
        return Waves(tuple(turns[pair] for pair in pairs), tuple(phases), amplitude)

    def _scale(self, feature_dim: int) -> float:
        if self.output_scale == "unit_norm":
            return math.sqrt(2 / feature_dim)
        return float(self.output_scale)

    def _frequencies(self, feature_dim: int) -> list[Decimal]:
        """Turns per position of each pair, before `position_scale`."""
        pairs = feature_dim // 2 if self.odd == "zero" else (feature_dim + 1) // 2
        if self.periods is not None:
            if len(self.periods) != pairs:
                raise ValueError(
                    f"`periods` must hold one period per pair, {pairs} for "
                    f"feature_dim={feature_dim}. Received: periods={self.periods!r}"
                )
            return [1 / Decimal(period) for period in self.periods]
        return self._geometric_series(pairs, feature_dim)

    def _geometric_series(self, pairs: int, feature_dim: int) -> list[Decimal]:
        even_width = feature_dim if self.odd == "ceil" else 2 * pairs
        steps = Decimal(even_width) / 2 - Decimal(self.frequency_shift)
        if pairs > 1 and steps <= 0:
            raise ValueError(
                "`frequency_shift` must be less than half the width, "
                f"{even_width / 2:g}. "
                f"Received: frequency_shift={self.frequency_shift!r}"
            )
        lowest = 1 / (_TWO_PI * Decimal(self.min_wavelength))
        log_ratio = (Decimal(self.min_wavelength) / Decimal(self.max_wavelength)).ln()
        ratio = (log_ratio / steps).exp() if pairs > 1 else lowest
        return list(accumulate(repeat(ratio, pairs - 1), mul, initial=lowest))[:pairs]


# The pair of a feature that is always zero: the entry after the last frequency.
_SILENT = -1


def _places(
    feature_dim: int, parameters: WaveParameters
) -> tuple[list[int], list[bool]]:
    """For each feature: its pair, and whether it holds the cosine."""
    sounding = feature_dim - feature_dim % 2 * (parameters.odd == "zero")
    features = range(sounding)
    first_half = (sounding + 1) // 2
    if parameters.layout == "interleaved":
        pairs = [j // 2 for j in features]
        second = [j % 2 == 1 for j in features]
    else:
        pairs = [j % first_half for j in features]
        second = [j >= first_half for j in features]
    silent = feature_dim - sounding
    is_cosine = [place != parameters.cos_first for place in second]
    return pairs + [_SILENT] * silent, is_cosine + [False] * silent


def feature_count(name: str, value: Any) -> int:
    """`value` as a number of features that an encoding can have."""
    count = positive_integer(name, value)
    if count > MOST_FEATURES:
        raise ValueError(refusal(name, f"at most {MOST_FEATURES}", value))
    return count


def _refuse_blur(turns: Sequence[int]) -> None:
    fastest = max(map(abs, turns))
    if fastest > MOST_TURNS * TURN:
        raise ValueError(
            "Wavelengths, `periods` and `position_scale` must give at most 1e9 turns "
            f"per position. Received: {fastest / TURN:.3g} turns per position"
        )


def radians(fixed_point: Sequence[int]) -> NDArray[np.float64]:
    """Angles in 2**-128 turns as radians, float64."""
    return np.array([2 * math.pi * (turns / TURN) for turns in fixed_point])


def _checked_periods(name: str, value: Any) -> tuple[float, ...]:
    expected = "a sequence of finite numbers above 0"
    if isinstance(value, str) or len(getattr(value, "shape", (0,))) != 1:
        raise TypeError(refusal(name, expected, value))
    try:
        value = list(value)
    except TypeError as error:
        raise TypeError(refusal(name, expected, value)) from error
    return tuple(
        positive_number(f"{name}[{i}]", period) for i, period in enumerate(value)
    )
