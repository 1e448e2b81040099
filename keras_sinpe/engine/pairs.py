"""Features sorted by frequency: two lanes, as each frequency has two features.

All conventions hold a wave and its quarter-turn companion per frequency. Half of the
work is saved when both use one rotation, and joining two lanes side by side, or one
after the other, is cheap; picking features one by one takes 6 times as long in ONNX
Runtime.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.arguments import refusal
from keras_sinpe.engine.waves import TURN, Waves


@dataclass(frozen=True)
class Lanes:
    """Where each feature sits among `(2, frequencies)` places.

    Attributes:
        frequencies: the different frequencies, in order of appearance.
        features: int array `(2, frequencies)`, the feature at each place, or -1.
        axis: the axis along which two lanes are stacked to read off the features: -1
            side by side, -2 one after the other.
        order: the features' places after stacking, or `None` where that is the order
            they have already, but for places left over at the end.
    """

    frequencies: tuple[int, ...]
    features: NDArray[np.int_]
    axis: int
    order: NDArray[np.int_] | None

    @property
    def width(self) -> int:
        """The number of features."""
        return int(np.count_nonzero(self.features >= 0))

    def split(self, table: NDArray[np.floating]) -> list[NDArray[np.floating]]:
        """Columns per feature as columns per frequency, lane by lane; gaps are zero."""
        return [
            np.where(lane >= 0, table[:, lane], 0).astype(table.dtype)
            for lane in self.features
        ]


def lanes_of(turns: Sequence[int]) -> Lanes:
    """The lanes of features with frequencies `turns`."""
    seen: Counter[int] = Counter()
    places: dict[tuple[int, int], int] = {}
    frequency, lane = [], []
    for turn in turns:
        nth_pair, nth_lane = divmod(seen[turn], 2)
        seen[turn] += 1
        frequency.append(places.setdefault((turn, nth_pair), len(places)))
        lane.append(nth_lane)
    features = np.full((2, len(places)), -1)
    features[lane, frequency] = np.arange(len(turns))
    axis, order = _stacking(np.array(frequency), np.array(lane), len(places))
    return Lanes(tuple(turn for turn, _ in places), features, axis, order)


def _stacking(
    frequency: NDArray[np.int_], lane: NDArray[np.int_], count: int
) -> tuple[int, NDArray[np.int_] | None]:
    in_order = np.arange(len(frequency))
    side_by_side = 2 * frequency + lane
    if np.array_equal(side_by_side, in_order):
        return -1, None
    if np.array_equal(lane * count + frequency, in_order):
        return -2, None
    return -1, side_by_side


@dataclass(frozen=True)
class WavePairs:
    """The features of an encoding, by the wave that they sample.

    Attributes:
        complete: features that belong together, as (sine, cosine).
        alone: features whose partner an odd width cut off.
    """

    complete: tuple[tuple[int, int], ...]
    alone: tuple[int, ...]


def pair_up(waves: Waves) -> WavePairs:
    """Finds partners: equal frequencies, phases a quarter turn apart.

    >>> from keras_sinpe.engine.waves import WaveParameters
    >>> pair_up(WaveParameters(layout="halves", cos_first=True).waves(5))
    WavePairs(complete=((3, 0), (4, 1)), alone=(2,))
    """
    complete: list[tuple[int, int]] = []
    waiting: dict[tuple[int, int], list[int]] = {}
    places = zip(waves.turns, waves.phase_turns, strict=True)
    for feature, (turns, phase) in enumerate(places):
        if turns == 0:
            continue  # a feature of zeros
        ahead = waiting.get((turns, (phase + TURN // 4) % TURN))
        behind = waiting.get((turns, (phase - TURN // 4) % TURN))
        if ahead:
            complete.append((feature, ahead.pop(0)))
        elif behind:
            complete.append((behind.pop(0), feature))
        else:
            waiting.setdefault((turns, phase), []).append(feature)
    alone = sorted(feature for queue in waiting.values() for feature in queue)
    return WavePairs(tuple(complete), tuple(alone))


def complete_pairs(waves: Waves) -> tuple[tuple[int, int], ...]:
    """The pairs (sine, cosine), if no feature is alone.

    Raises:
        ValueError: if one is.
    """
    pairs = pair_up(waves)
    if pairs.alone:
        expected = (
            'even, or odd with odd="zero": a sine without its cosine does not tell '
            "how it moves"
        )
        raise ValueError(refusal("feature_dim", expected, waves.feature_dim))
    return pairs.complete
