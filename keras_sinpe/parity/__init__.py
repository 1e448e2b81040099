"""Proof that an exported artifact computes what its Keras model computes."""

from keras_sinpe.artifacts.runners import FeedError, open_runner
from keras_sinpe.model.sizes import Case
from keras_sinpe.model.tolerances import ROUNDINGS
from keras_sinpe.parity.check import check_parity
from keras_sinpe.parity.comparison import Comparison, Fault
from keras_sinpe.parity.report import ParityError, ParityReport

__all__ = [
    "ROUNDINGS",
    "Case",
    "Comparison",
    "Fault",
    "FeedError",
    "ParityError",
    "ParityReport",
    "check_parity",
    "open_runner",
]
