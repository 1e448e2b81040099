"""What a sinusoidal encoding is made of: wavelengths, shifts, distances, coverage.

Everything here is float64 NumPy on the host, computed from the very waves that the
layers use. `**parameters` are the wave parameters of `SinusoidalPositionalEncoding`,
such as `max_wavelength`, `layout` or `periods`. Angles are reduced exactly, so results
are as good at position 10**9 as at 1.

Source: [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.5.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keras_sinpe.arguments import finite_number, positive_number, refusal
from keras_sinpe.engine.digit_tables import cosines_and_sines
from keras_sinpe.engine.pairs import complete_pairs, pairs_of
from keras_sinpe.engine.waves import TURN, TURN_BITS, WaveParameters

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """How much of its waves a training length shows to a model.

    Attributes:
        complete: the number of pairs that turn at least once.
        incomplete: the number of pairs that do not.
        slowest_degrees: how far the slowest pair turns, in degrees.
    """

    complete: int
    incomplete: int
    slowest_degrees: float


def encoding(positions: ArrayLike, feature_dim: int, **parameters: Any) -> Array:
    """The encodings of integer or real positions, for study; layers are faster.

    Args:
        positions: finite numbers of any shape `(...,)`; float64 is taken at its word.
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        Array of shape `(..., feature_dim)`.

    Raises:
        ValueError: if a position is not finite.

    Example:
    >>> encoding([0, 1], 4).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    waves = WaveParameters(**parameters).waves(feature_dim)
    _, sine = _rotations("positions", positions, waves.turns, waves.phase_turns)
    return waves.amplitude * sine


def frequencies(feature_dim: int, **parameters: Any) -> Array:
    """The angular frequencies, in radians per position, highest first.

    Args:
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        Array with one positive entry per pair; a sine without its cosine counts.

    Example:
    >>> frequencies(4).tolist()
    [1.0, 0.01]
    """
    return 2 * math.pi / wavelengths(feature_dim, **parameters)


def wavelengths(feature_dim: int, **parameters: Any) -> Array:
    """The wavelengths (true periods, not angular), in positions, shortest first.

    Args:
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        Array with one entry per pair; a sine without its cosine counts.

    Example:
    >>> wavelengths(512)[[0, -1]].round(4).tolist()
    [6.2832, 60611.4772]
    """
    waves = WaveParameters(**parameters).waves(feature_dim)
    pairs = pairs_of(waves)
    features = [sine for sine, _ in pairs.complete] + list(pairs.alone)
    return np.sort([TURN / abs(waves.turns[feature]) for feature in features])


def shift_matrix(offset: float, feature_dim: int, **parameters: Any) -> Array:
    """The matrix that shifts an encoding: `PE(p + offset) = M @ PE(p)` for every `p`.

    It is orthogonal: each pair of sine and cosine is rotated, wherever the layout puts
    the two. A feature of zeros (`odd="zero"`) is left as it is.

    Args:
        offset: finite number of positions, of either sign.
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        Array of shape `(feature_dim, feature_dim)`.

    Raises:
        ValueError: if a sine has no cosine (an odd width with `odd="ceil"` or
            `"truncate"`): a sine alone does not tell where it will go.

    Example:
    >>> shift_matrix(1, 2).round(4).tolist()
    [[0.5403, 0.8415], [-0.8415, 0.5403]]
    """
    waves = WaveParameters(**parameters).waves(feature_dim)
    offset = finite_number("offset", offset)
    cosine, sine = _rotations("offset", offset, waves.turns)
    matrix = np.eye(feature_dim)
    for first, second in complete_pairs(waves):
        matrix[first, first] = matrix[second, second] = cosine[first]
        matrix[first, second], matrix[second, first] = sine[first], -sine[first]
    return matrix


def dot_product(
    distance: ArrayLike, feature_dim: int, **parameters: Any
) -> Array | np.float64:
    """The dot product of two encodings, which depends on their distance alone.

    `PE(p) @ PE(p + k)` is the sum over the pairs of `cos(frequency * k)`, times the
    square of `output_scale`: even in `k`, largest at 0, falling but not monotonically.

    Args:
        distance: finite number or array of numbers, in positions.
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        float64 of the shape of `distance`.

    Raises:
        ValueError: if a sine has no cosine, as in `shift_matrix`, or a distance is not
            finite.

    Example:
    >>> dot_product([0, 1, 100], 512).round(4).tolist()
    [256.0, 249.1021, 111.9502]
    """
    waves = WaveParameters(**parameters).waves(feature_dim)
    sines = [sine for sine, _ in complete_pairs(waves)]
    turns = tuple(waves.turns[sine] for sine in sines)
    cosine, _ = _rotations("distance", distance, turns)
    total: Array = np.sum(waves.amplitude[sines] ** 2 * cosine, axis=-1)
    return total[()]


def coverage(training_length: float, feature_dim: int, **parameters: Any) -> Coverage:
    """How many pairs complete a turn within a training length.

    Args:
        training_length: positive number of positions.
        feature_dim: positive integer, the number of features.
        **parameters: wave parameters, see the module.

    Returns:
        The counts, and the turn of the slowest pair (0 if there is no wave at all).

    Example:
    >>> seen = coverage(512, 512)
    >>> seen.complete, seen.incomplete, round(seen.slowest_degrees, 2)
    (123, 133, 3.04)
    """
    length = positive_number("training_length", training_length)
    periods = wavelengths(feature_dim, **parameters)
    complete = int(np.sum(periods <= length))
    slowest = 360 * length / float(periods[-1]) if len(periods) else 0.0
    return Coverage(complete, len(periods) - complete, slowest)


def _rotations(
    name: str,
    positions: ArrayLike,
    turns: tuple[int, ...],
    phases: tuple[int, ...] | None = None,
) -> tuple[Array, Array]:
    """Cosines and sines of `turns * positions + phases`: `(..., len(turns))` each."""
    given = np.asarray(positions)
    if given.dtype.kind not in "iuf":
        raise TypeError(refusal(name, "numbers", positions))
    if not np.isfinite(given).all():
        raise ValueError(refusal(name, "finite", positions))
    ratios = [position.as_integer_ratio() for position in given.ravel().tolist()]
    fractions = np.array(ratios, dtype=object).reshape(-1, 2, 1)
    exact = np.array(turns, dtype=object) * fractions[:, 0] // fractions[:, 1]
    exact = (exact + np.array(phases or 0, dtype=object)) % TURN
    angles = (exact >> (TURN_BITS - 64)).astype("uint64")
    cosine, sine = cosines_and_sines(angles.reshape(*given.shape, len(turns)))
    return np.asarray(cosine, "float64"), np.asarray(sine, "float64")
