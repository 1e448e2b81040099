"""Sinusoidal positional encoding for Keras, exact at every position."""

from keras_sinpe import plots, properties, reference
from keras_sinpe.artifacts.description import Description, describe
from keras_sinpe.conventions import convention, convention_names
from keras_sinpe.exporting import ExportError, export_onnx, export_saved_model
from keras_sinpe.layers import SinusoidalEmbedding, SinusoidalPositionalEncoding
from keras_sinpe.model.backend import BackendError
from keras_sinpe.padding import PaddingError, PaddingReport, check_padding
from keras_sinpe.parity import ParityError, ParityReport, check_parity
from keras_sinpe.version import __version__

__all__ = [
    "BackendError",
    "Description",
    "ExportError",
    "PaddingError",
    "PaddingReport",
    "ParityError",
    "ParityReport",
    "SinusoidalEmbedding",
    "SinusoidalPositionalEncoding",
    "__version__",
    "check_padding",
    "check_parity",
    "convention",
    "convention_names",
    "describe",
    "export_onnx",
    "export_saved_model",
    "plots",
    "properties",
    "reference",
]
