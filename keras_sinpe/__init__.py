"""Sinusoidal positional encoding for Keras, exact at every position."""

from keras_sinpe.version import __version__

__all__ = ["__version__"]
