"""The dot product of two encodings against their distance."""

from typing import Any

import numpy as np

from keras_sinpe.arguments import positive_integer
from keras_sinpe.plots.figure import COLOURS, axes_or_new, tidy
from keras_sinpe.properties import dot_product


def plot_dot_product(
    feature_dim: int = 128,
    max_distance: int = 100,
    *,
    ax: Any = None,
    **parameters: Any,
) -> Any:
    """Draws `PE(p) @ PE(p + k)` for distances `k` of both signs.

    Args:
        feature_dim: positive integer, the number of features.
        max_distance: positive integer, the largest distance.
        ax: matplotlib axes to draw on, or `None`.
        **parameters: wave parameters, as of `SinusoidalPositionalEncoding`.

    Returns:
        The `matplotlib.figure.Figure`.

    Raises:
        ImportError: if matplotlib is missing.
        ValueError: if a sine has no cosine, see `properties.dot_product`.

    Example:
    >>> curve = plot_dot_product(64, 30).axes[0].get_lines()[0]
    >>> float(curve.get_ydata().max())
    32.0
    """
    reach = positive_integer("max_distance", max_distance)
    distances = np.arange(-reach, reach + 1)
    products = dot_product(distances, feature_dim, **parameters)
    ax = axes_or_new(ax)
    ax.plot(distances, products, ".-", color=COLOURS[0], linewidth=1.2, markersize=4)
    ax.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    title = f"Dot product of two encodings, {feature_dim} features"
    tidy(ax, title, "distance of the positions", "dot product")
    ax.set_xlim(-reach, reach)
    return ax.figure
