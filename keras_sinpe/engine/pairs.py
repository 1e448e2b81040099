"""Features by the wave that they sample: pairs of one frequency, a quarter turn apart.

All conventions hold a wave and its quarter-turn companion per frequency. Half of the
work is saved when both use one rotation, and joining the first and the second features
of all pairs side by side, or one after the other, is cheap; picking features one by
one takes 6 times as long in ONNX Runtime.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.arguments import refusal
from keras_sinpe.engine.waves import TURN, Waves

QUARTER = TURN // 4


@dataclass(frozen=True)
class Pairs:
    """The features of an encoding, in pairs.

    Attributes:
        frequencies: of each pair, in 2**-128 turns per position, in order of
            appearance; 0 for a feature of zeros, which is a pair of its own.
        features: int array `(2, pairs)`, the first and the second feature of each pair;
            -1 where an odd width cut the second off.
        sine_first: for each pair, whether the first feature is behind the second.
        axis: the axis along which firsts and seconds, `(n, pairs)` each, are stacked to
            read off the features: 2 side by side, 1 one after the other.
        order: the features' places after stacking, or `None` where that is the order
            they have already, but for places left over at the end.
    """

    frequencies: tuple[int, ...]
    features: NDArray[np.int_]
    sine_first: tuple[bool, ...]
    axis: int
    order: NDArray[np.int_] | None

    @property
    def width(self) -> int:
        """The number of features."""
        return int(np.count_nonzero(self.features >= 0))

    @property
    def complete(self) -> tuple[tuple[int, int], ...]:
        """The features that belong together, as (sine, cosine)."""
        return tuple(
            (first, second) if sine_first else (second, first)
            for (first, second), sine_first in zip(
                self.features.T.tolist(), self.sine_first, strict=True
            )
            if second >= 0
        )

    @property
    def alone(self) -> tuple[int, ...]:
        """The features whose partner an odd width cut off; none of zeros."""
        return tuple(
            first
            for frequency, (first, second) in zip(
                self.frequencies, self.features.T.tolist(), strict=True
            )
            if second < 0 and frequency
        )

    def split(self, table: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """Columns of the firsts and of the seconds, one per pair; gaps are zero."""
        return [
            np.where(features >= 0, table[:, features], 0).astype(table.dtype)
            for features in self.features
        ]

    def spread(self, table: NDArray[np.floating]) -> NDArray[np.floating]:
        """Columns per pair as columns per feature."""
        spread = np.empty((len(table), self.width), table.dtype)
        for features in self.features:
            spread[:, features[features >= 0]] = table[:, features >= 0]
        return spread


def pairs_of(waves: Waves) -> Pairs:
    """Finds partners: equal frequencies, phases a quarter turn apart.

    >>> from keras_sinpe.engine.waves import WaveParameters
    >>> pairs = pairs_of(WaveParameters(layout="halves", cos_first=True).waves(5))
    >>> pairs.complete, pairs.alone
    (((3, 0), (4, 1)), (2,))
    """
    firsts, seconds, sine_first = list[int](), list[int](), list[bool]()
    places: list[tuple[int, int]] = []  # of each feature: first or second, pair
    waiting: dict[tuple[int, int], list[int]] = {}
    for feature, (turns, phase) in enumerate(
        zip(waves.turns, waves.phase_turns, strict=True)
    ):
        behind = waiting.get((turns, (phase - QUARTER) % TURN))
        partners = behind or waiting.get((turns, (phase + QUARTER) % TURN))
        if partners:
            pair = partners[0]
            seconds[pair], sine_first[pair] = feature, partners is behind
            del partners[0]
            places.append((1, pair))
        else:
            places.append((0, len(firsts)))
            waiting.setdefault((turns, phase), []).append(len(firsts))
            firsts.append(feature)
            seconds.append(-1)
            sine_first.append(True)
    axis, order = _stacking(np.array(places).T, len(firsts))
    return Pairs(
        tuple(waves.turns[first] for first in firsts),
        np.array([firsts, seconds]),
        tuple(sine_first),
        axis,
        order,
    )


def _stacking(
    places: NDArray[np.int_], count: int
) -> tuple[int, NDArray[np.int_] | None]:
    in_order = np.arange(places.shape[1])
    second, pair = places
    side_by_side = 2 * pair + second
    if np.array_equal(side_by_side, in_order):
        return 2, None
    if np.array_equal(second * count + pair, in_order):
        return 1, None
    return 2, side_by_side


def complete_pairs(waves: Waves) -> tuple[tuple[int, int], ...]:
    """The pairs (sine, cosine), if no feature is alone.

    Raises:
        ValueError: if one is.
    """
    pairs = pairs_of(waves)
    if pairs.alone:
        expected = (
            'even, or odd with odd="zero": a sine without its cosine does not tell '
            "how it moves"
        )
        raise ValueError(refusal("feature_dim", expected, waves.feature_dim))
    return pairs.complete
