"""The layers, one a file, named after their class."""

from keras_sinpe.layers.sinusoidal_embedding import SinusoidalEmbedding
from keras_sinpe.layers.sinusoidal_positional_encoding import (
    SinusoidalPositionalEncoding,
)

__all__ = ["SinusoidalEmbedding", "SinusoidalPositionalEncoding"]
