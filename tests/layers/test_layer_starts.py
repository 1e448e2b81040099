"""Starts of every form and dtype: refused or NaN beyond int32, never wrapped."""

import keras
import numpy as np
import pytest
from keras import ops
from start_cases import (
    CASES,
    COUNTED,
    FIRST,
    LAST,
    LENGTHS,
    MASK,
    WIDTH,
    assert_rows,
    leaves_int32,
)

import keras_sinpe

RANGE = (
    "`start_index` must keep every position within int32, -2**31 to 2**31 - 1. "
    "Received: start_index="
)


def encoded(start_index, length, mask=None, **parameters):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    zeros = np.zeros((2, length, WIDTH), "float32")
    return layer(zeros, start_index=start_index, mask=mask)


def tensors_of(dtype, start):
    """The start as a tensor, and one per sample; none where the backend has none."""
    try:
        scalar = ops.convert_to_tensor(np.array(start, dtype))
    except (TypeError, ValueError):
        return []  # Keras makes no uint64 on PyTorch
    if keras.backend.standardize_dtype(scalar.dtype) != dtype:
        return []  # JAX makes int64 only with JAX_ENABLE_X64=1
    return [scalar, ops.convert_to_tensor(np.array([start, start], dtype))]


@pytest.mark.float64  # and int64 alike
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("dtype", "start"), CASES)
def test_a_tensor_gives_nan_exactly_where_it_leaves_int32(dtype, start, length):
    for tensor in tensors_of(dtype, start):
        assert_rows(encoded(tensor, length), start, range(length))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("start", [5, FIRST, LAST - 1, LAST])
def test_an_int32_tensor_gives_nan_exactly_where_it_leaves_int32(start, length):
    for tensor in tensors_of("int32", start):
        assert_rows(encoded(tensor, length), start, range(length))


@pytest.mark.float64
@pytest.mark.parametrize(("dtype", "start"), CASES)
def test_counted_tokens_start_at_a_start_of_any_dtype(dtype, start):
    mask = np.repeat(MASK, 2, axis=0)
    for tensor in tensors_of(dtype, start):
        received = encoded(tensor, 4, mask, positions_from_mask=True)
        assert_rows(received, start, COUNTED)


def known_forms(dtype, start):
    return {
        "NumPy integer": np.dtype(dtype).type(start),
        "NumPy array without axes": np.array(start, dtype),
        "NumPy array": np.array([start, start], dtype),
        "integer": start,
        "list": [start, start],
    }


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("dtype", "start"), CASES)
def test_a_known_start_that_leaves_int32_is_refused(dtype, start, length):
    for form in known_forms(dtype, start).values():
        if leaves_int32(start, length):
            with pytest.raises(ValueError, match="within int32") as caught:
                encoded(form, length)
            as_received = start if np.ndim(form) == 0 else form
            sentence = f"{RANGE}{as_received!r} and length {length}"
            assert sentence in str(caught.value)
        else:
            assert_rows(encoded(form, length), start, range(length))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint32", "uint64"])
def test_known_starts_may_stand_before_counted_tokens(dtype):
    mask = np.repeat(MASK, 2, axis=0)
    for form in known_forms(dtype, 3).values():
        received = encoded(form, 4, mask, positions_from_mask=True)
        assert_rows(received, 3, COUNTED)


@pytest.mark.parametrize("length", [63, 64, 65, 300])
def test_a_tensor_works_at_every_length(length):
    _a_tensor_works_at(length)


@pytest.mark.float64
@pytest.mark.parametrize("length", [63, 64, 65, 300])
def test_a_tensor_works_at_every_length_beside_64_bits(length):
    _a_tensor_works_at(length)


def _a_tensor_works_at(length):
    for dtype in ("int32", "int64"):
        for tensor in tensors_of(dtype, 70001):
            assert_rows(encoded(tensor, length), 70001, range(length))


def test_a_symbolic_start_of_every_dtype_is_taken():
    for dtype in ("int8", "uint32", "int64", "uint64"):
        layer = keras_sinpe.SinusoidalPositionalEncoding()
        inputs = keras.Input((None, WIDTH))
        start = keras.Input((), dtype=dtype)
        assert layer(inputs, start_index=start).shape == (None, None, WIDTH)


@pytest.mark.float64
def test_a_start_of_64_bits_can_be_an_input_of_the_model():
    inputs = keras.Input((None, WIDTH))
    start = keras.Input((), dtype="int64")
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    model = keras.Model([inputs, start], layer(inputs, start_index=start))
    received = model([ops.zeros((2, 4, WIDTH)), ops.array([7, 2**31 - 2], "int64")])
    assert_rows(received[:1], 7, range(4))
    assert_rows(received[1:], 2**31 - 2, range(4))
