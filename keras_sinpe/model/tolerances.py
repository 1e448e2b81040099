"""How far a number may be from its model's: as far as its rounding explains.

The largest number of an output explains nothing: one masked logit of -1e9 would allow
an error of 10,000 everywhere, and beside 1.0 the 5e-6 of a softmax over 200,000 classes
could be anything. So each number is measured by its own column, which is one feature
over all runs of a check, with the mean `m` and the RMS deviation `s`:

1. Sentinels are set apart, so that they neither move `m` nor widen `s`: what is not
   finite, and what a factor of 1,000 parts from the rest of its column.
2. Allowed is `unit * (max(|x - m|, s) + 0.1 |x|)`. The first part follows what the
   column tells apart, the second the rounding of an offset.
3. The sigmoid of ONNX Runtime errs by up to 1.7e-7 absolutely, however small it is,
   and gives multiples of 2**-25. Where the artifact does, 3e-7 is forgiven, and so that
   what is made of it passes too, wherever the RMS error is at most 0.005 `s`.
4. On appeal, `appeal` times the movement by one rounding of the weights is allowed.

All may be within this and prove nothing, where the RMS error of a column, or most of
what an appeal allows, is above a quarter of `s`: other weights could give it as well.
A constant column has its own size in the place of `s`.

Measured on 110 models and 4,900 faults in them: dense, convolutional, recurrent,
attention, saturated, near zero, masked, int8. See `tests/parity/test_tolerance.py`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

OFFSET = 0.1
# The RMS error of a proven column, by its spread. Another model's is 1.4 or more.
PROVEN = 0.25
# Innocents reach 0.003; outputs that are 1 % too large have 0.01.
FORGIVING = 0.005
SIGMOID_STEP = 2.0**-25
HALF_ULP = 2.0**-24


@dataclass(frozen=True)
class Rounding:
    """What the precision of an artifact explains.

    Attributes:
        unit: the part of its column's spread that a number may err.
        forgiven: what a sigmoid may err, however small it is.
        appeal: how many times the movement by one rounding of float32 is allowed.
        eps: the distance from 1 to the next number.
        tiny: what underflow may take from a number.
        largest: the largest number: what is beyond in the model is compared as this.
    """

    unit: float
    forgiven: float
    appeal: float
    eps: float
    tiny: float
    largest: float = float("inf")


# From the finest to the coarsest.
ROUNDINGS: dict[str, Rounding] = {
    # As many roundings as in float32.
    "float64": Rounding(6e-14, 6e-16, 2e-7, 2**-52, 2.3e-308),
    # 250 roundings. TensorFlow flushes what is below 1.2e-38 to zero.
    "float32": Rounding(3e-5, 3e-7, 100.0, 2**-23, 1.2e-38),
    # 20 roundings: 97 of 100 outputs took 16 at most, half of them 1. ONNX Runtime's
    # conversion knows no weight below 1e-7.
    "float16": Rounding(2e-2, 3e-7, 10.0 * 2**13, 2**-10, 1.2e-7, 65504.0),
    "bfloat16": Rounding(1.6e-1, 3e-7, 10.0 * 2**16, 2**-7, 1.2e-38),
}


# What padding may change, per unit of the largest magnitude compared. Longer sequences
# are summed in another order, and every layer rounds again: at most 2e-15, 8.5e-7,
# 1.9e-3 and 1.6e-2 in sound encoders of 2 to 12 blocks, up to 60 positions longer.
# Leaks measure 1e-3 to 3.
LONGER = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}


def is_float(dtype: Any) -> bool:
    """Whether a dtype is one of floats, bfloat16 included."""
    return "float" in str(dtype)


def rounding_of(precision: str, dtype: Any) -> Rounding:
    """The rounding of an output: of its artifact or its dtype, whichever is coarser.

    >>> rounding_of("float32", "float64") is ROUNDINGS["float32"]
    True
    """
    names = list(ROUNDINGS)
    known = [names.index(name) for name in (precision, str(dtype)) if name in names]
    return ROUNDINGS[names[max(known)]]


def moved(array: Array, generator: np.random.Generator, *, is_input: bool) -> Array:
    """The array with each number moved to a neighbour, above or below.

    Zeros stay, and so do the whole numbers of an input: padding, masks, positions.

    >>> moved(np.float32([0, 1]), np.random.default_rng(0), is_input=True)
    array([0., 1.], dtype=float32)
    """
    up = generator.integers(0, 2, array.shape, dtype=np.int8)
    towards = np.where(up, np.inf, -np.inf).astype(array.dtype)
    stays = array == (np.rint(array) if is_input else 0)
    return np.where(stays, array, np.nextafter(array, towards))
