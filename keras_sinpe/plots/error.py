"""The error of an encoding against the position, for three ways to compute it."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from keras_sinpe.arguments import positive_integer, refusal
from keras_sinpe.engine.encode import LAST_POSITION
from keras_sinpe.engine.waves import WaveParameters
from keras_sinpe.plots.figure import COLOURS, axes_or_new, tidy
from keras_sinpe.properties import encoding

Array = NDArray[np.float64]

# Positions per point of a curve: the largest error of these is drawn.
NEIGHBOURS = 8
POINTS = 64


def plot_error(
    feature_dim: int = 128,
    max_position: int = 2**31 - 1,
    *,
    ax: Any = None,
    **parameters: Any,
) -> Any:
    """Draws the largest error over the features against the position, log-log.

    The layer of this library is run as it is. The other curves form the angle
    `position * frequency` in float32, float16 or bfloat16 and take its sine, as most
    implementations do. float16 ends at its largest number, 65504.

    Args:
        feature_dim: positive integer, the number of features.
        max_position: integer from 16 to 2**31 - 1, the end of the curves.
        ax: matplotlib axes to draw on, or `None`.
        **parameters: wave parameters, as of `SinusoidalPositionalEncoding`.

    Returns:
        The `matplotlib.figure.Figure`.

    Raises:
        ImportError: if matplotlib is missing.
        ValueError: if `max_position` is out of range.

    Example:
    >>> curves = plot_error(16, 10**6).axes[0].get_lines()
    >>> [curve.get_label() for curve in curves]
    ['keras_sinpe', 'float32 angles', 'bfloat16 angles', 'float16 angles']
    >>> [bool(curve.get_ydata().max() > 5e-7) for curve in curves]
    [False, True, True, True]
    """
    positions = _positions(max_position)
    exact = encoding(positions, feature_dim, **parameters)
    ax = axes_or_new(ax)
    for (label, rows), colour in zip(
        _computed(positions, feature_dim, parameters).items(), COLOURS, strict=False
    ):
        errors = np.abs(rows - exact).max(axis=(1, 2))
        finite = np.isfinite(errors)
        shown = np.maximum(errors[finite], np.finfo("float64").eps)
        ax.loglog(positions[finite, 0], shown, color=colour, label=label)
    tidy(
        ax,
        f"Error against position, {feature_dim} features",
        "position",
        "largest error",
    )
    ax.legend()
    return ax.figure


def _positions(max_position: int) -> NDArray[np.int64]:
    """Runs of neighbours at about equal ratios: `(points, NEIGHBOURS)`."""
    last = positive_integer("max_position", max_position)
    if not 2 * NEIGHBOURS <= last <= LAST_POSITION:
        expected = f"from {2 * NEIGHBOURS} to {LAST_POSITION}"
        raise ValueError(refusal("max_position", expected, max_position))
    starts = np.geomspace(1, last - NEIGHBOURS + 1, POINTS).round().astype("int64")
    return np.unique(starts)[:, None] + np.arange(NEIGHBOURS)


def _computed(
    positions: NDArray[np.int64], feature_dim: int, parameters: dict[str, Any]
) -> dict[str, Array]:
    import ml_dtypes

    ways: dict[str, DTypeLike] = {
        "float32": np.float32,
        "bfloat16": ml_dtypes.bfloat16,
        "float16": np.float16,
    }
    computed = {"keras_sinpe": _of_the_layer(positions, feature_dim, parameters)}
    for name, dtype in ways.items():
        rows = _of_angles(positions, feature_dim, dtype, parameters)
        computed[f"{name} angles"] = rows
    return computed


def _of_the_layer(
    positions: NDArray[np.int64], feature_dim: int, parameters: dict[str, Any]
) -> Array:
    from keras import ops

    from keras_sinpe.layers import SinusoidalPositionalEncoding

    layer = SinusoidalPositionalEncoding(dtype="float32", **parameters)
    rows = layer(ops.zeros((*positions.shape, feature_dim)), positions=positions)
    return np.asarray(ops.convert_to_numpy(rows), "float64")


def _of_angles(
    positions: NDArray[np.int64],
    feature_dim: int,
    dtype: DTypeLike,
    parameters: dict[str, Any],
) -> Array:
    """Sines and cosines of angles that were formed in `dtype`, rounded to it."""
    first = WaveParameters(**parameters).first_position
    waves = WaveParameters(**{**parameters, "first_position": 0}).waves(feature_dim)
    is_cosine = np.array(waves.phase) > 0  # a quarter turn, where the start is 0
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = (positions + first).astype(dtype)[..., None]
        angles = (shifted * waves.frequency.astype(dtype)).astype("float32")
        values = np.where(is_cosine, np.cos(angles), np.sin(angles)).astype(dtype)
        rows: Array = waves.amplitude * values.astype("float64")
    return rows
