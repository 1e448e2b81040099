"""Figures of what the encoding does; needs the extra `plot`.

Each function returns a `matplotlib.figure.Figure`, new or the one of the axes it was
given. A new figure is not registered with pyplot: save it with `figure.savefig`, or
pass axes of your own to show it in a window.
"""

from keras_sinpe.plots.dot_product import plot_dot_product
from keras_sinpe.plots.encoding import plot_encoding
from keras_sinpe.plots.error import plot_error
from keras_sinpe.plots.wavelengths import plot_wavelengths

__all__ = ["plot_dot_product", "plot_encoding", "plot_error", "plot_wavelengths"]
