"""How exact an encoding must be, why no more can be asked, and how that is checked."""

import keras
import numpy as np
from keras import ops

import keras_sinpe

# Five factors of a product, each rounded once to float32 (6e-8), and the products.
INTEGER_TOLERANCE = 5e-7
# One or two factors more, and the rounding of the fraction's angle.
REAL_TOLERANCE = 1e-6
# The same in float64, and the oracle's own 2e-15.
FLOAT64_TOLERANCE = 1e-12
# Half a unit in the last place of numbers below 1 (2**-12 and 2**-9), one float32
# encoding included.
ROUNDING = {"float16": 2.5e-4, "bfloat16": 2.0e-3}


def tolerance_of(dtype, single=INTEGER_TOLERANCE):
    """The tolerance of an encoding of amplitude 1 in the compute dtype `dtype`."""
    if dtype == "float64":
        return FLOAT64_TOLERANCE
    return ROUNDING.get(dtype, single)


def as_float64(tensor):
    """A float64 array of a tensor of any backend and float dtype."""
    tensor = ops.convert_to_tensor(tensor)
    if keras.backend.standardize_dtype(tensor.dtype) != "float64":
        tensor = ops.cast(tensor, "float32")  # NumPy itself knows no bfloat16
    return ops.convert_to_numpy(tensor).astype("float64")


def assert_exact(received, expected, tolerance):
    """Same shape, every value within `tolerance`; NaN fails."""
    received = as_float64(received)
    assert received.shape == expected.shape
    np.testing.assert_allclose(received, expected, rtol=0, atol=tolerance)


def encode(
    positions=None,
    *,
    width,
    batch=2,
    length=None,
    start_index=0,
    dtype="float32",
    **parameters,
):
    """What the layer adds to zeros, as a tensor of the layer's dtype."""
    layer = keras_sinpe.SinusoidalPositionalEncoding(dtype=dtype, **parameters)
    if positions is None:
        zeros = np.zeros((batch, length, width), "float32")
        return layer(zeros, start_index=start_index)
    positions = np.asarray(positions)
    batch = len(positions) if positions.ndim == 2 else batch
    zeros = np.zeros((batch, positions.shape[-1], width), "float32")
    return layer(zeros, positions=positions)
