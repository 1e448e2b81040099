"""The wavelengths of an encoding, and which of them a training length shows whole."""

from typing import Any

import numpy as np

from keras_sinpe.plots.figure import COLOURS, axes_or_new, tidy
from keras_sinpe.properties import coverage, wavelengths


def plot_wavelengths(
    feature_dim: int = 512,
    training_length: float = 512,
    *,
    ax: Any = None,
    **parameters: Any,
) -> Any:
    """Draws the ladder of wavelengths with a training length marked.

    Args:
        feature_dim: positive integer, the number of features.
        training_length: positive number of positions.
        ax: matplotlib axes to draw on, or `None`.
        **parameters: wave parameters, as of `SinusoidalPositionalEncoding`.

    Returns:
        The `matplotlib.figure.Figure`.

    Raises:
        ImportError: if matplotlib is missing.

    Example:
    >>> ladder = plot_wavelengths(512, 512).axes[0]
    >>> for text in ladder.get_legend().get_texts():
    ...     print(text.get_text())
    123 pairs complete a turn
    133 pairs do not; the slowest turns 3.04°
    training length 512
    """
    seen = coverage(training_length, feature_dim, **parameters)
    periods = wavelengths(feature_dim, **parameters)
    pairs = np.arange(len(periods))
    ax = axes_or_new(ax)
    ends = (slice(None, seen.complete), slice(seen.complete, None))
    slowest = f"the slowest turns {seen.slowest_degrees:.2f}°"
    labels = (
        f"{seen.complete} pairs complete a turn",
        f"{seen.incomplete} pairs do not; {slowest}",
    )
    for part, label, colour in zip(ends, labels, COLOURS, strict=False):
        ax.plot(pairs[part], periods[part], ".", color=colour, label=label)
    ax.axhline(
        training_length,
        color="0.3",
        ls="--",
        label=f"training length {training_length}",
    )
    ax.set_yscale("log")
    title = f"Wavelengths of {feature_dim} features"
    tidy(ax, title, "pair of features, fastest first", "wavelength in positions")
    ax.legend()
    return ax.figure
