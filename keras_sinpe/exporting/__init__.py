"""Any Keras model on TensorFlow to an artifact, proved before it gets its name."""

from keras_sinpe.artifacts.description import Description, describe
from keras_sinpe.exporting.errors import ExportError
from keras_sinpe.exporting.onnx import export_onnx
from keras_sinpe.exporting.saved_model import export_saved_model
from keras_sinpe.parity.options import OPSETS

__all__ = [
    "OPSETS",
    "Description",
    "ExportError",
    "describe",
    "export_onnx",
    "export_saved_model",
]
