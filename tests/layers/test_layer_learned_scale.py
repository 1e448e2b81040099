"""The one weight: a scalar on the encoding that trains, saves and keeps its digits."""

import keras
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, as_float64, assert_exact, tolerance_of

import keras_sinpe
from keras_sinpe import reference

ROWS = reference.encode(np.arange(5), 6)


def model_with_scale(policy="float32", **parameters):
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        learned_scale=True, dtype=policy, **parameters
    )
    return keras.Sequential([keras.Input((None, 6)), layer])


def zeros(batch=3):
    return np.zeros((batch, 5, 6), "float32")


def test_the_scale_starts_at_one_and_is_trainable():
    model = model_with_scale()
    (scale,) = model.trainable_weights
    assert scale.shape == ()
    assert float(as_float64(scale)) == 1.0
    assert_exact(model(zeros()), np.stack([ROWS] * 3), INTEGER_TOLERANCE)


def test_the_scale_learns_what_the_data_say(tmp_path):
    model = model_with_scale()
    model.compile(optimizer=keras.optimizers.SGD(0.9), loss="mse")
    targets = np.stack([2.5 * ROWS] * 8).astype("float32")
    model.fit(zeros(8), targets, epochs=40, batch_size=8, verbose=0)
    scale = as_float64(model.layers[0].scale)
    np.testing.assert_allclose(scale, 2.5, atol=1e-3)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert as_float64(loaded.layers[0].scale) == scale
    assert_exact(loaded(zeros()), scale * np.stack([ROWS] * 3), 3 * INTEGER_TOLERANCE)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision_keeps_the_scale_in_float32(policy):
    keras.config.set_dtype_policy(policy)
    model = model_with_scale(policy)
    scale = model.layers[0].scale
    assert scale.dtype == "float32"
    # In half precision it would be 1, and 3000 times the encoding off by 0.9.
    scale.assign(1.0003)
    dtype = policy.removeprefix("mixed_")
    expected = 1.0003 * np.stack([ROWS] * 3)
    assert_exact(model(zeros()), expected, 2 * tolerance_of(dtype))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_a_surrounding_model_does_not_round_the_scale(policy):
    keras.config.set_dtype_policy(policy)
    # At position 0 the inputs take 1000 away, and leave the digits rounding would cost.
    model = model_with_scale(policy, output_scale=1000.0)
    model.layers[0].scale.assign(1.0003)
    received = model(np.full((3, 1, 6), [0, -1000] * 3, "float32"))
    assert_exact(received, np.full((3, 1, 6), [0, 0.3] * 3), 1e-3)


def test_scale_and_input_scale_are_independent():
    model = model_with_scale(input_scale=3.0, output_scale=0.5)
    model.layers[0].scale.assign(4.0)
    expected = 3 + 2 * np.stack([ROWS] * 3)
    # Products and sums below 8 are rounded to 2**-22.
    assert_exact(model(zeros() + 1), expected, 2 * INTEGER_TOLERANCE + 2.0**-21)


def test_a_frozen_layer_keeps_its_scale():
    model = model_with_scale(trainable=False)
    assert model.trainable_weights == []
    assert len(model.weights) == 1
