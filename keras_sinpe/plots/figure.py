"""Axes to draw on: the caller's, or new ones without any global state."""

from typing import Any

# Okabe and Ito's colours: told apart by colour-blind readers and in grey.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def new_figure(width: float, height: float) -> Any:
    """An empty figure, sizes in inches.

    Raises:
        ImportError: if matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install keras_sinpe[plot]"
        ) from error
    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def axes_or_new(ax: Any, width: float = 7.0, height: float = 4.2) -> Any:
    """`ax`, or the axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def tidy(ax: Any, title: str, x_label: str, y_label: str) -> None:
    """Title, labels and a frame that leaves the word to the data."""
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.spines[["top", "right"]].set_visible(False)
