"""Axes between batch and length: each sequence is encoded along the axis of its own."""

import keras
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, assert_exact
from keras import layers, ops

import keras_sinpe
from keras_sinpe import reference

SHAPES = [(2, 3, 5, 8), (2, 1, 70, 8), (2, 3, 4, 5, 8), (0, 3, 5, 8), (2, 3, 0, 8)]
MASK = np.array([[[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]] * 2, bool)
COUNTED = np.array([[[0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]] * 2)


def encoded(shape, **call):
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    return layer(np.zeros(shape, "float32"), **call)


def expected(positions, shape):
    return np.broadcast_to(reference.encode(positions, shape[-1]), shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_follow_the_axis_before_the_last(shape):
    positions = np.arange(shape[-2])
    assert_exact(encoded(shape), expected(positions, shape), INTEGER_TOLERANCE)
    started = encoded(shape, start_index=-9)
    assert_exact(started, expected(positions - 9, shape), INTEGER_TOLERANCE)


@pytest.mark.parametrize("shape", SHAPES[:3])
@pytest.mark.parametrize("form", [np.array, ops.array])
def test_a_start_per_sample_serves_all_sequences_of_the_sample(shape, form):
    received = encoded(shape, start_index=form(np.array([7, 100], "int32")))
    starts = np.reshape([7, 100], (2, *[1] * (len(shape) - 2)))
    positions = starts + np.arange(shape[-2])
    assert_exact(received, expected(positions, shape), INTEGER_TOLERANCE)


@pytest.mark.parametrize("size", [(5,), (2, 3, 5), (1, 3, 5), (2, 1, 5), (1, 1, 5)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_positions_come_with_the_axes_of_the_inputs(size, dtype):
    positions = np.random.default_rng(3).integers(-9, 999, size).astype(dtype)
    received = encoded((2, 3, 5, 8), positions=positions)
    assert_exact(received, expected(positions, (2, 3, 5, 8)), INTEGER_TOLERANCE)


@pytest.mark.parametrize("size", [(2, 5), (3, 5), (2, 3, 4), (3, 2, 5), (1, 2, 3, 5)])
def test_positions_of_other_axes_are_refused(size):
    with pytest.raises(ValueError, match="must have shape") as caught:
        encoded((2, 3, 5, 8), positions=np.zeros(size, "int32"))
    assert (
        "`positions` must have shape (length,), or that of the inputs without their "
        f"last axis. Received: positions.shape={size} with inputs.shape=(2, 3, 5, 8)"
    ) in str(caught.value)


def test_masks_count_and_silence_each_sequence_alone():
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        positions_from_mask=True, zero_masked=True
    )
    starts = np.array([3, 70])
    received = layer(np.zeros((2, 3, 4, 8), "float32"), mask=MASK, start_index=starts)
    rows = reference.encode(COUNTED + starts[:, None, None], 8)
    assert_exact(received, np.where(MASK[..., None], rows, 0), INTEGER_TOLERANCE)


def test_the_mask_of_an_embedding_is_found_and_passed_on():
    ids = np.where(MASK, 5, 0)
    layer = keras_sinpe.SinusoidalPositionalEncoding(positions_from_mask=True)
    embedding = layers.Embedding(9, 8, mask_zero=True, embeddings_initializer="zeros")
    received = layer(embedding(ids))
    assert_exact(received, reference.encode(COUNTED, 8), INTEGER_TOLERANCE)
    np.testing.assert_array_equal(ops.convert_to_numpy(received._keras_mask), MASK)


# Keras 3.10 loads a model of one input as one of a list, and says so.
@pytest.mark.filterwarnings("ignore:(?s).*structure of `inputs` doesn't match")
@pytest.mark.parametrize("shape", [(3, None, 8), (None, None, 8), (3, 5, 8)])
def test_a_model_of_rank_4_is_saved_and_computes_the_same(shape, tmp_path):
    inputs = keras.Input(shape)
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    model = keras.Model(inputs, layer(inputs))
    assert model.output_shape == (None, *shape)
    model.save(tmp_path / "model.keras")
    zeros = np.zeros((2, 3, 5, 8), "float32")
    for each in (model, keras.saving.load_model(tmp_path / "model.keras")):
        rows = expected(np.arange(5), zeros.shape)
        assert_exact(each(zeros), rows, INTEGER_TOLERANCE)
