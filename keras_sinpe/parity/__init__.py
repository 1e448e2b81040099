"""Proof that an exported artifact computes what its Keras model computes."""

from keras_sinpe.parity.checking import check_parity
from keras_sinpe.parity.comparison import Case, Comparison, Fault
from keras_sinpe.parity.report import ParityError, ParityReport
from keras_sinpe.parity.runners import FeedError, open_runner
from keras_sinpe.parity.tolerances import TOLERANCES

__all__ = [
    "TOLERANCES",
    "Case",
    "Comparison",
    "Fault",
    "FeedError",
    "ParityError",
    "ParityReport",
    "check_parity",
    "open_runner",
]
