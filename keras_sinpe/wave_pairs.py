"""Which features hold the sine and the cosine of one wave, whatever the layout."""

from dataclasses import dataclass

from keras_sinpe.arguments import refusal
from keras_sinpe.waves import TURN, Waves


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

    >>> from keras_sinpe.waves import WaveParameters
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
