"""The formulas of other libraries, in float64, each as its source builds the row."""

import numpy as np

BASE = 10000.0


def _halves(angles, *, cos_first=False, width=None):
    parts = [np.sin(angles), np.cos(angles)]
    row = np.concatenate(parts[::-1] if cos_first else parts, axis=-1)
    return row if width is None else _padded(row, width)


def _padded(row, width):
    return np.pad(row, ((0, 0), (0, width - row.shape[-1])))


def _feature_by_feature(positions, width):
    feature = np.arange(width)
    angles = positions[:, None] / BASE ** (2 * (feature // 2) / width)
    return np.where(feature % 2 == 0, np.sin(angles), np.cos(angles))


def _by_slices(positions, width):
    rates = np.exp(np.arange(0, width, 2) * -(np.log(BASE) / width))
    row = np.zeros((len(positions), width))
    row[:, 0::2] = np.sin(positions[:, None] * rates)
    row[:, 1::2] = np.cos(positions[:, None] * rates)
    return row


def _timescales(positions, width):
    """Angles whose last reaches the base, as many as half of the width."""
    half = width // 2
    rates = np.exp(np.arange(half) * -(np.log(BASE) / max(half - 1, 1)))
    return positions[:, None] * rates


def _shares(positions, width):
    """Angles whose exponents are shares of half the width."""
    half = width // 2
    return positions[:, None] * np.exp(-np.log(BASE) * np.arange(half) / max(half, 1))


def even_width_above(positions, width):
    return _by_slices(positions, width + width % 2)[:, :width]


def padded_timescales(positions, width):
    return _halves(_timescales(positions, width), width=width)


def padded_from_two(positions, width):
    return padded_timescales(positions + 2, width)


def marian(positions, width):
    feature = np.arange(width)
    angles = positions[:, None] / BASE ** (2 * (feature // 2) / width)
    return np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=-1)


def transformer_xl(positions, width):
    return _halves(np.outer(positions, 1 / BASE ** (np.arange(0, width, 2) / width)))


def nerf(numbers, width):
    angles = numbers[:, None] * 2.0 ** np.arange(width // 2) * np.pi
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(-1, width)


def keras_ddim(numbers, width):
    frequencies = np.exp(np.linspace(np.log(1.0), np.log(1000.0), width // 2))
    return _halves(2 * np.pi * frequencies * numbers[:, None])


FORMULAS = {
    "vaswani": _feature_by_feature,
    "keras_hub": _feature_by_feature,
    "pytorch_examples": _by_slices,
    "trax": _by_slices,
    "espnet": _by_slices,
    "positional_encodings": even_width_above,
    "tensor2tensor": padded_timescales,
    "tf_models": lambda p, d: _halves(_timescales(p, d)),
    "tf_tutorial": lambda p, d: _halves(_shares(p, d)),
    "whisper": lambda p, d: _halves(_timescales(p, d)),
    "flax_wmt": padded_timescales,
    "opennmt_tf": lambda p, d: _halves(_timescales(p + 1, d)),
    "fairseq": padded_from_two,
    "m2m100": padded_from_two,
    "marian": marian,
    "transformer_xl": transformer_xl,
    "musicgen": lambda p, d: _halves(_timescales(p, d), cos_first=True, width=d),
    "ddpm": padded_timescales,
    "stable_diffusion": lambda p, d: _halves(_shares(p, d), cos_first=True, width=d),
    "dit": lambda p, d: _halves(_shares(p, d)),
    "mlx": lambda p, d: np.sqrt(2 / d) * _halves(_timescales(p, d)),
    "detr": lambda p, d: _feature_by_feature(p + 1, d),
    "nerf": nerf,
    "keras_ddim": keras_ddim,
}
