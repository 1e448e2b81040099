"""Integer positions in every form: one exact row each, whatever stands around it."""

import keras
import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import INTEGER_TOLERANCE, as_float64, assert_exact, encode
from keras import ops

import keras_sinpe
from keras_sinpe import reference

STARTS = [0, 4096, 65536, 2**20, 2**24, 2**31 - 1000, -5000, -(2**31)]


@pytest.mark.parametrize("start", STARTS)
def test_every_start_of_int32_is_exact(start):
    expected = reference.encode(start + np.arange(512), 512)[None]
    for start_index in (start, ops.convert_to_tensor(start, "int32")):
        received = encode(width=512, batch=1, length=512, start_index=start_index)
        assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("width", [9, 10])
def test_every_convention_is_exact(convention, width):
    parameters = CONVENTIONS[convention]
    for start in (0, 2**24, -(2**31)):
        rows = reference.encode(start + np.arange(70), width, **parameters)
        received = encode(
            width=width, batch=2, length=70, start_index=start, **parameters
        )
        assert_exact(received, np.stack([rows] * 2), INTEGER_TOLERANCE)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_any_batch_length_and_width_will_do(batch, length, width):
    rows = reference.encode(np.arange(length), width)
    expected = np.broadcast_to(rows, (batch, length, width))
    positions = np.arange(length, dtype="int32")
    for form in ({}, {"start_index": np.zeros(batch, "int32")}):
        received = encode(width=width, batch=batch, length=length, **form)
        assert_exact(received, expected, INTEGER_TOLERANCE)
    received = encode(positions, width=width, batch=batch)
    assert_exact(received, expected, INTEGER_TOLERANCE)


def test_a_row_is_the_same_bits_however_it_is_asked_for():
    width, position = 24, 70001
    everywhere = [
        encode(width=width, batch=1, length=1, start_index=position)[0, 0],
        encode(width=width, batch=5, length=3, start_index=position)[4, 0],
        encode(width=width, length=200, start_index=position - 150)[1, 150],
        encode(width=width, length=70002)[0, -1],
        encode(width=width, length=3, start_index=np.array([5, position - 1], "int32"))[
            1, 1
        ],
        encode(np.array([4, position, -9], "int32"), width=width)[0, 1],
        encode(np.array([[1, 2], [position, 3]], "int64"), width=width)[1, 0],
        encode(np.array([position, 0.5], "float32"), width=width)[0, 0],
    ]
    for row in everywhere[1:]:
        np.testing.assert_array_equal(as_float64(row), as_float64(everywhere[0]))


def test_negative_positions_flip_the_sines():
    forward = as_float64(encode(np.arange(1, 90), width=6))
    backward = as_float64(encode(-np.arange(1, 90), width=6))
    flip = [-1, 1] * 3
    np.testing.assert_allclose(
        backward, flip * forward, rtol=0, atol=2 * INTEGER_TOLERANCE
    )


def start_forms(step, batch):
    """The step as a caller may hold it, and as one start per sample."""
    return {
        "integer": step,
        "NumPy integer": np.int64(step),
        "tensor": ops.convert_to_tensor(step, "int32"),
        "tensor per sample": ops.convert_to_tensor([step] * batch, "int32"),
    }


def test_decoding_step_by_step_equals_the_full_pass():
    inputs = np.random.default_rng(2).normal(size=(3, 300, 8)).astype("float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    full = as_float64(layer(inputs))
    for step in range(300):
        form = list(start_forms(step, 3))[step % 4]
        start_index = start_forms(step, 3)[form]
        stepwise = layer(inputs[:, step : step + 1], start_index=start_index)
        np.testing.assert_array_equal(as_float64(stepwise)[:, 0], full[:, step])


@pytest.mark.parametrize("shape", ["one", "per sample"])
@pytest.mark.parametrize("length", [1, 70])
def test_start_index_can_be_an_input_of_the_model(shape, length):
    inputs = keras.Input((None, 8))
    start = keras.Input((), dtype="int32")
    start_index = start if shape == "per sample" else start[0]
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    model = keras.Model([inputs, start], layer(inputs, start_index=start_index))
    starts = np.array([100, 0] if shape == "per sample" else [100, 100], "int32")
    received = model([np.zeros((2, length, 8), "float32"), starts])
    expected = reference.encode(starts[:, None] + np.arange(length), 8)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("shape", [(6,), (1, 6), (2, 6)])
def test_positions_of_every_integer_dtype_are_welcome(dtype, shape):
    positions = np.broadcast_to(np.array([0, 3, 64, 65, 120, 7], dtype), shape)
    zeros = np.zeros((2, 6, 8), "float32")
    received = keras_sinpe.SinusoidalPositionalEncoding()(zeros, positions=positions)
    expected = np.broadcast_to(reference.encode(positions, 8), (2, 6, 8))
    assert_exact(received, expected, INTEGER_TOLERANCE)


def test_positions_can_be_lists():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    received = layer(np.zeros((2, 3, 4), "float32"), positions=[[9, 8, 7], [2, 0, 1]])
    expected = reference.encode([[9, 8, 7], [2, 0, 1]], 4)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize(
    ("dtype", "position"),
    [("uint32", 2**31), ("uint32", 2**32 - 1)]
    + [
        pytest.param("int64", position, marks=pytest.mark.float64)
        for position in (2**31, -(2**31) - 1, 2**62)
    ],
)
def test_integers_beyond_int32_give_nan_and_leave_their_neighbours_alone(
    dtype, position
):
    layer = keras_sinpe.SinusoidalEmbedding(4)
    received = as_float64(layer(ops.array(np.array([5, position, 6], dtype))))
    assert np.isnan(received[1]).all()
    expected = reference.encode([5, 6], 4)
    assert_exact(received[[0, 2]], expected, INTEGER_TOLERANCE)
