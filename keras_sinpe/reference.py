"""The textbook formula in float64 NumPy: what everything else is measured against.

Shares no code with the engine, so that agreement means something. Nothing but tests,
demonstrations and benchmarks calls it.
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_DIGITS = Context(prec=50)
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")

# Veltkamp's constant: splits the 53 bits of a double in two halves that multiply
# without rounding.
_SPLITTER = 2.0**27 + 1


def encode(
    positions: ArrayLike,
    feature_dim: int,
    *,
    max_wavelength: float = 10000.0,
    min_wavelength: float = 1.0,
    frequency_shift: float = 0.0,
    layout: str = "interleaved",
    cos_first: bool = False,
    odd: str = "ceil",
    first_position: float = 0,
    position_scale: float = 1.0,
    output_scale: float | str = 1.0,
    periods: Sequence[float] | None = None,
) -> Floats:
    """The encodings of `positions`, within 2e-15 of the exact values up to 2**55 turns.

    Pair `i` holds the sine and the cosine of
    `(position + first_position) * position_scale * frequency`, where `frequency` is
    `1 / (min * (max / min) ** (i / (feature_dim / 2 - frequency_shift)))`.

    Written down directly, `np.sin(position * frequency)` is no oracle: frequency and
    product are each rounded to 53 bits, which moves the angle by 1e-10 at position
    10**6 and by 2.4e-7 at 2**31, as much as the errors to be measured. So frequencies
    are counted in turns and held in two doubles, the product is kept with its rounding
    error, and whole turns are dropped before the sine is taken.

    Args:
        positions: integers within 2**53 or real numbers, of any shape, in float64.
        feature_dim: positive integer, the number of features.
        max_wavelength: the angular wavelength that the geometric series approaches.
        min_wavelength: the shortest angular wavelength.
        frequency_shift: 0 as in the paper, 1 as in tensor2tensor.
        layout: `"interleaved"` or `"halves"`.
        cos_first: whether cosines take the sines' places and the other way round.
        odd: `"ceil"`, `"truncate"` or `"zero"`, as the layer takes it.
        first_position: number added to every position.
        position_scale: number that multiplies every position after that.
        output_scale: number, or `"unit_norm"` for `sqrt(2 / feature_dim)`.
        periods: true periods, one per pair, in place of the geometric series.

    Returns:
        float64 array of shape `(*positions.shape, feature_dim)`.

    Raises:
        KeyError: for a `layout` or `odd` that does not exist.

    Example:
        >>> encode([0, 1], 4).round(4)
        array([[0.    , 1.    , 0.    , 1.    ],
               [0.8415, 0.5403, 0.01  , 1.    ]])

    Source: https://arxiv.org/abs/1706.03762, section 3.5.
    """
    even_width = {
        "ceil": feature_dim,  # its exponents use the odd width
        "truncate": feature_dim + feature_dim % 2,
        "zero": feature_dim - feature_dim % 2,
    }[odd]
    with localcontext(_DIGITS):
        if periods is None:
            steps = Decimal(even_width) / 2 - Decimal(frequency_shift)
            frequencies = _geometric(
                (even_width + 1) // 2, steps, min_wavelength, max_wavelength
            )
        else:
            frequencies = [1 / Decimal(period) for period in periods]
        frequencies = [turns * Decimal(position_scale) for turns in frequencies]
        phases = [turns * Decimal(first_position) % 1 for turns in frequencies]
        turns = _turns(np.asarray(positions, "float64"), frequencies, phases)
    waves = np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)
    scale = math.sqrt(2 / feature_dim) if output_scale == "unit_norm" else output_scale
    return float(scale) * _lay_out(
        waves[::-1] if cos_first else waves, layout, feature_dim
    )


def _geometric(
    pairs: int, steps: Decimal, shortest: Any, longest: Any
) -> list[Decimal]:
    """Turns per position of each pair, from the shortest wavelength to the longest."""
    shortest, longest = Decimal(float(shortest)), Decimal(float(longest))
    exponents = [i / steps if i else Decimal(0) for i in range(pairs)]
    return [
        1 / (2 * _PI * shortest * (longest / shortest) ** exponent)
        for exponent in exponents
    ]


def _turns(
    positions: Floats, frequencies: list[Decimal], phases: list[Decimal]
) -> Floats:
    """Angles in turns, whole turns dropped, of every position and frequency."""
    high = np.array([float(turns) for turns in frequencies])
    low = np.array([float(turns - Decimal(float(turns))) for turns in frequencies])
    product, error = _exact_product(positions[..., None], high)
    rest: Floats = error + positions[..., None] * low
    phase: Floats = np.array([float(p) for p in phases])
    whole: Floats = np.rint(product)
    return product - whole + (rest + phase)


def _exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Dekker's product: the rounded product, and what the rounding took away."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    cross = a_high * b_high - product + a_high * b_low + a_low * b_high
    return product, cross + a_low * b_low


def _halves(a: Floats) -> tuple[Floats, Floats]:
    spread = a * _SPLITTER
    high = spread - (spread - a)
    return high, a - high


def _lay_out(waves: tuple[Floats, Floats], layout: str, feature_dim: int) -> Floats:
    """Columns in the order of `layout`; what is missing at the end is zero."""
    join = {"interleaved": _side_by_side, "halves": _one_after_the_other}[layout]
    columns = join(*waves)[..., :feature_dim]
    missing = feature_dim - columns.shape[-1]
    return np.concatenate([columns, np.zeros((*columns.shape[:-1], missing))], axis=-1)


def _side_by_side(first: Floats, second: Floats) -> Floats:
    pairs = np.stack([first, second], axis=-1)
    return pairs.reshape(*first.shape[:-1], 2 * first.shape[-1])


def _one_after_the_other(first: Floats, second: Floats) -> Floats:
    return np.concatenate([first, second], axis=-1)
