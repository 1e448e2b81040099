"""Other libraries' variants of the encoding, by name, in our parameters.

Weights are tied to the variant they were trained with. Each name stands for what the
library computes, not for what its documentation says; the tests compare each with
vectors that the library itself printed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keras_sinpe.arguments import choice
from keras_sinpe.engine.waves import WaveParameters

_HALVES = {"layout": "halves"}
_SHIFTED_HALVES = {"layout": "halves", "frequency_shift": 1.0}
_COSINES_FIRST = {"layout": "halves", "cos_first": True}

_CONVENTIONS: dict[str, dict[str, Any]] = {
    "vaswani": {},
    "keras_hub": {},
    "pytorch_examples": {},
    "trax": {},
    "espnet": {"input_scale": "sqrt_dim"},
    "positional_encodings": {"odd": "truncate"},
    "tensor2tensor": {**_SHIFTED_HALVES, "odd": "zero"},
    "tf_models": _SHIFTED_HALVES,
    "tf_tutorial": {**_HALVES, "input_scale": "sqrt_dim"},
    "whisper": _SHIFTED_HALVES,
    "flax_wmt": _SHIFTED_HALVES,
    "opennmt_tf": {**_SHIFTED_HALVES, "first_position": 1},
    "fairseq": {
        **_SHIFTED_HALVES,
        "first_position": 2,
        "positions_from_mask": True,
        "zero_masked": True,
    },
    "m2m100": {
        **_SHIFTED_HALVES,
        "first_position": 2,
        "positions_from_mask": True,
        "zero_masked": True,
    },
    "marian": _HALVES,
    "transformer_xl": _HALVES,
    "musicgen": {**_SHIFTED_HALVES, "cos_first": True},
    "ddpm": _SHIFTED_HALVES,
    "stable_diffusion": _COSINES_FIRST,
    "dit": _HALVES,
    "mlx": {**_SHIFTED_HALVES, "output_scale": "unit_norm"},
}


def convention_names() -> tuple[str, ...]:
    """The names that `convention` knows, in alphabetical order."""
    return tuple(sorted(_CONVENTIONS))


def convention(name: str) -> dict[str, Any]:
    """Another library's variant, as keyword arguments of our layers.

    Args:
        name: one of `convention_names()`.

    Returns:
        A new dictionary. Where it holds `input_scale` or `positions_from_mask` it
        suits `SinusoidalPositionalEncoding` alone.

    Raises:
        TypeError: if `name` is not a string.
        ValueError: if no such convention is known.

    Example:
    >>> import keras_sinpe
    >>> keras_sinpe.convention("stable_diffusion")
    {'layout': 'halves', 'cos_first': True}
    >>> layer = keras_sinpe.SinusoidalPositionalEncoding(
    ...     **keras_sinpe.convention("whisper")
    ... )
    """
    return dict(_CONVENTIONS[choice("name", name, convention_names())])


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
