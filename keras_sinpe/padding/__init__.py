"""Whether a model's valid outputs depend on padding, or on later tokens."""

from keras_sinpe.padding.check import check_padding
from keras_sinpe.padding.report import Change, MaskLoss, PaddingError, PaddingReport

__all__ = ["Change", "MaskLoss", "PaddingError", "PaddingReport", "check_padding"]
