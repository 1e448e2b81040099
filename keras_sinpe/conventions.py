"""Other libraries' variants of the encoding, by name, in our parameters.

Weights are tied to the variant they were trained with. Each name stands for what the
library computes, not for what its documentation says; the tests compare each with the
formula of its source, at even, odd and its smallest widths.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.arguments import choice, integer_from, positive_integer, refusal
from keras_sinpe.convention_table import CONVENTIONS
from keras_sinpe.engine.waves import WaveParameters


def convention_names() -> tuple[str, ...]:
    """The names that `convention` knows, in alphabetical order."""
    return tuple(sorted(CONVENTIONS))


def convention(
    name: str, *, feature_dim: int | None = None, length: int | None = None
) -> dict[str, Any]:
    """Another library's variant, as keyword arguments of our layers.

    Args:
        name: one of `convention_names()`. `convention_table.CONVENTIONS` says where
            each stands, and what the library does with odd widths.
        feature_dim: even integer above 0, the width: for `"nerf"`, whose frequencies
            double from pair to pair, however many.
        length: integer above 0. For `"transformer_xl"`: position 0 gets the row of
            distance `length - 1`, and the last the row of 0, as there. For `"detr"`:
            angles are normalised to one turn over as many positions.

    Returns:
        A new dictionary. Where it holds `input_scale` or `positions_from_mask` it
        suits `SinusoidalPositionalEncoding` alone.

    Raises:
        TypeError: if `name` is not a string, or a size no integer.
        ValueError: if no such convention is known, or it does not go with a size.

    Example:
    >>> import keras_sinpe
    >>> keras_sinpe.convention("ddpm")
    {'layout': 'halves', 'frequency_shift': 1.0, 'odd': 'zero'}
    >>> keras_sinpe.convention("nerf", feature_dim=6)
    {'periods': (2.0, 1.0, 0.5)}
    >>> layer = keras_sinpe.SinusoidalPositionalEncoding(
    ...     **keras_sinpe.convention("whisper")
    ... )
    """
    parameters = dict(CONVENTIONS[choice("name", name, convention_names())].parameters)
    if name == "nerf":
        parameters["periods"] = _nerf_periods(feature_dim)
    if length is not None:
        parameters |= _of_length(name, length)
    return parameters


def _nerf_periods(feature_dim: int | None) -> tuple[float, ...]:
    expected = 'an even integer above 0 for "nerf"'
    width = integer_from(2, "feature_dim", feature_dim, expected)
    if width % 2:
        raise ValueError(refusal("feature_dim", expected, feature_dim))
    return tuple(2.0 / 2**band for band in range(width // 2))


def _of_length(name: str, length: int) -> dict[str, float]:
    count = positive_integer("length", length)
    if name == "transformer_xl":
        return {"first_position": 1 - count, "position_scale": -1.0}
    if name == "detr":  # with its own guard against a division by zero
        return {"position_scale": 2 * math.pi / (count + 1e-6)}
    raise ValueError(refusal("length", f'left out for "{name}"', length))


def layout_permutation(
    feature_dim: int, *, source: str, target: str
) -> NDArray[np.int_]:
    """The features of layout `source` in the order of layout `target`.

    Args:
        feature_dim: positive integer, the width.
        source: `"interleaved"` or `"halves"`, the layout there is.
        target: `"interleaved"` or `"halves"`, the layout that is wanted.

    Returns:
        Integer array `order` of shape `(feature_dim,)`: `encoding[..., order]` has the
        layout `target` where `encoding` has the layout `source`.

    Example:
    >>> from keras_sinpe.conventions import layout_permutation
    >>> layout_permutation(6, source="halves", target="interleaved").tolist()
    [0, 3, 1, 4, 2, 5]
    """
    places = [
        _place_of_wave(WaveParameters(layout=layout), feature_dim)
        for layout in (source, target)
    ]
    return np.array([places[0][wave] for wave in places[1]])


def _place_of_wave(
    parameters: WaveParameters, feature_dim: int
) -> dict[tuple[int, int], int]:
    waves = parameters.waves(feature_dim)
    features = zip(waves.turns, waves.phase_turns, strict=True)
    return {wave: place for place, wave in enumerate(features)}
