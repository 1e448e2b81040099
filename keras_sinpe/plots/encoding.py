"""The encoding as a picture, beside the waves that its columns are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_sinpe.arguments import positive_integer
from keras_sinpe.engine.waves import TURN, WaveParameters
from keras_sinpe.plots.figure import COLOURS, new_figure, tidy
from keras_sinpe.properties import encoding

# Points per position of a wave: enough for the shortest, 6.3 positions, to look round.
RESOLUTION = 10


COLUMNS = (0, 10, 40, 100)


def plot_encoding(
    feature_dim: int = 128,
    length: int = 100,
    *,
    columns: Sequence[int] | None = None,
    axes: Sequence[Any] | None = None,
    **parameters: Any,
) -> Any:
    """Draws positions x features as a heat map, beside the waves of chosen columns.

    The waves are drawn through real positions, with a dot at every integer one.

    Args:
        feature_dim: positive integer, the number of features.
        length: positive integer, the number of positions, from 0.
        columns: the features whose waves are drawn, each marked over the heat map; by
            default those of 0, 10, 40 and 100 that there are.
        axes: two matplotlib axes, for the heat map and the waves; or `None`.
        **parameters: wave parameters, as of `SinusoidalPositionalEncoding`.

    Returns:
        The `matplotlib.figure.Figure`.

    Raises:
        ImportError: if matplotlib is missing.
        ValueError: if a column is not a feature.

    Example:
    >>> figure = plot_encoding(8, 20, columns=(0, 1, 6))
    >>> [line.get_label() for line in figure.axes[1].get_lines()[::2]]
    ['column 0, period 6.28', 'column 1, period 6.28', 'column 6, period 6,283']
    """
    length = positive_integer("length", length)
    rows = encoding(np.arange(length), feature_dim, **parameters)
    if columns is None:
        columns = [column for column in COLUMNS if column < feature_dim]
    _check_columns(columns, feature_dim)
    heat, waves = new_figure(11, 4.4).subplots(1, 2) if axes is None else axes
    _draw_heat(heat, rows)
    for column, colour in zip(columns, _cycle(len(columns)), strict=True):
        heat.plot(column, -0.03, "v", color=colour, clip_on=False, transform=_top(heat))
    _draw_waves(waves, columns, feature_dim, length, parameters)
    return heat.figure


def _check_columns(columns: Sequence[int], feature_dim: int) -> None:
    for column in columns:
        if column not in range(feature_dim):
            raise ValueError(
                f"`columns` must be features, 0 to {feature_dim - 1}. "
                f"Received: columns={columns!r}"
            )


def _draw_heat(ax: Any, rows: Any) -> None:
    limit = np.abs(rows).max() or 1.0
    image = ax.imshow(
        rows,
        aspect="auto",
        interpolation="nearest",
        cmap="RdBu_r",
        vmin=-limit,
        vmax=limit,
    )
    tidy(ax, "Encoding: the value at each position\n", "feature", "position")
    ax.figure.colorbar(image, ax=ax, pad=0.02)


def _top(ax: Any) -> Any:
    """Data along x; along y 0 at the upper edge and -1 at a height above it."""
    from matplotlib.transforms import Affine2D, blended_transform_factory

    return blended_transform_factory(
        ax.transData, Affine2D().scale(1, -1).translate(0, 1) + ax.transAxes
    )


def _draw_waves(
    ax: Any,
    columns: Sequence[int],
    feature_dim: int,
    length: int,
    parameters: dict[str, Any],
) -> None:
    turns = WaveParameters(**parameters).waves(feature_dim).turns
    fine = np.linspace(0, length - 1, (length - 1) * RESOLUTION + 1)
    values = encoding(fine, feature_dim, **parameters)
    for column, colour in zip(columns, _cycle(len(columns)), strict=True):
        label = f"column {column}{_period(turns[column])}"
        wave = values[:, column]
        ax.plot(fine, wave, color=colour, linewidth=1.2, label=label)
        ax.plot(fine[::RESOLUTION], wave[::RESOLUTION], ".", color=colour, ms=3.5)
    tidy(ax, "Waves: columns of the encoding\n", "position", "value")
    ax.set_xlim(0, max(length - 1, 1))
    if columns:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _period(turns: int) -> str:
    """A period to three digits; nothing for a column of zeros."""
    if turns == 0:
        return ""
    period = TURN / abs(turns)
    return f", period {period:,.0f}" if period >= 100 else f", period {period:.3g}"


def _cycle(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
