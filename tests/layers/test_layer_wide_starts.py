"""Starts of 64 bits: right within int32, never wrapped beyond."""

import keras
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, as_float64, assert_exact
from keras import ops

import keras_sinpe
from keras_sinpe import reference


def encoded(start_index, batch=2, length=3):
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    return layer(ops.zeros((batch, length, 6)), start_index=start_index)


@pytest.mark.parametrize("start_index", [np.int64(5), np.array([5, -70], "int64")])
def test_a_start_of_64_bits_continues_the_sequence(start_index):
    positions = np.reshape(start_index, (-1, 1)) + np.arange(3)
    expected = np.broadcast_to(reference.encode(positions, 6), (2, 3, 6))
    assert_exact(encoded(start_index), expected, INTEGER_TOLERANCE)


def test_positions_past_int32_are_nan_not_wrapped():
    # JAX holds no int64 unless told to: there the start is refused or wrapped before.
    if keras.backend.backend() == "jax":
        start = ops.cast(2.0**31 - 2, "uint32")
    else:
        start = np.int64(2**31 - 2)
    received = as_float64(encoded(start))
    inside = reference.encode(2**31 - 2 + np.arange(2), 6)
    np.testing.assert_allclose(received[0, :2], inside, rtol=0, atol=INTEGER_TOLERANCE)
    assert np.isnan(received[:, 2]).all()


@pytest.mark.float64  # and int64 alike
def test_a_symbolic_start_of_64_bits_is_taken():
    inputs = keras.Input((None, 6))
    start = keras.Input((), dtype="int64")
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    model = keras.Model([inputs, start], layer(inputs, start_index=start))
    received = model([ops.zeros((2, 4, 6)), ops.array([7, 100], "int64")])
    positions = np.array([[7], [100]]) + np.arange(4)
    assert_exact(received, reference.encode(positions, 6), INTEGER_TOLERANCE)
