"""Sinusoidal positional encoding for Keras, exact at every position."""

from typing import TYPE_CHECKING, Any

from keras_sinpe.conventions import convention, convention_names
from keras_sinpe.layers import SinusoidalEmbedding, SinusoidalPositionalEncoding
from keras_sinpe.version import __version__

if TYPE_CHECKING:
    from keras_sinpe.exporting import describe, export_onnx, export_saved_model
    from keras_sinpe.padding import PaddingReport, check_padding
    from keras_sinpe.parity import ParityReport, check_parity

__all__ = [
    "PaddingReport",
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
]

# Who only trains does not pay for the exporters: their rooms open on first use.
_ROOMS = {
    "PaddingReport": "keras_sinpe.padding",
    "ParityReport": "keras_sinpe.parity",
    "check_padding": "keras_sinpe.padding",
    "check_parity": "keras_sinpe.parity",
    "describe": "keras_sinpe.exporting",
    "export_onnx": "keras_sinpe.exporting",
    "export_saved_model": "keras_sinpe.exporting",
}


_SUBMODULES = ("plots", "properties", "reference")


def __getattr__(name: str) -> Any:
    """Finds the public names that live in rooms not opened yet."""
    from importlib import import_module

    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
