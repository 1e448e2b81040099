"""Real positions: exact, never rounded on the way in, differentiable."""

import keras
import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import REAL_TOLERANCE, ROUNDING, assert_exact, encode
from keras import ops
from position_gradients import gradient_of_sum

import keras_sinpe
from keras_sinpe import reference

DAYS_AND_MASSES = np.array(
    [[19700.25, 500.2714, 500.2744, -0.5], [2049, 70001, 1e6, -999999.9]], "float32"
)
TIMES = np.linspace(0, 1, 101, dtype="float32")


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("width", [9, 10])
def test_every_convention_is_exact_at_the_float32_position(convention, width):
    parameters = CONVENTIONS[convention]
    received = encode(DAYS_AND_MASSES, width=width, **parameters)
    expected = reference.encode(DAYS_AND_MASSES, width, **parameters)
    assert_exact(received, expected, REAL_TOLERANCE)


def test_diffusion_times_are_exact():
    received = encode(TIMES, width=320, position_scale=1000, batch=1)
    expected = reference.encode(TIMES, 320, position_scale=1000)[None]
    assert_exact(received, expected, REAL_TOLERANCE)


@pytest.mark.float64
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_float64_positions_keep_their_digits(convention):
    parameters = CONVENTIONS[convention]
    positions = np.array([[19700.123456789, 999999.999], [-0.1, 123456.7890123]])
    received = encode(positions, width=10, **parameters)
    expected = reference.encode(positions, 10, **parameters)
    assert_exact(received, expected, REAL_TOLERANCE)


def model_with_positions():
    inputs = keras.Input((None, 6))
    positions = keras.Input((None,), dtype="float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    return keras.Model([inputs, positions], layer(inputs, positions=positions))


@pytest.mark.parametrize("policy", ["float16", "mixed_float16", "mixed_bfloat16"])
def test_half_precision_never_rounds_a_position(policy, tmp_path):
    keras.config.set_dtype_policy(policy)
    model = model_with_positions()
    model.save(tmp_path / "model.keras")
    reloaded = keras.saving.load_model(tmp_path / "model.keras")
    positions = np.array([[2049, 70001]] * 3, "float32")
    inputs = np.zeros((3, 2, 6), "float32")
    expected = reference.encode(positions, 6)
    tolerance = ROUNDING[policy.removeprefix("mixed_")]
    for called in (model, model.predict_on_batch, reloaded):
        assert_exact(called([inputs, positions]), expected, tolerance)
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    assert_exact(layer(inputs, positions=positions), expected, tolerance)


def derivative(positions, width, **parameters):
    """Each sine's derivative is its frequency times its cosine, and so on."""
    step = 1e-4  # central difference of the exact formula: error below step ** 2
    forward = reference.encode(positions + step, width, **parameters)
    return (forward - reference.encode(positions - step, width, **parameters)) / (
        2 * step
    )


@pytest.mark.parametrize("convention", ["the paper", "half steps", "cosines in front"])
def test_gradients_flow_to_the_positions(convention):
    parameters = CONVENTIONS[convention]
    positions = np.array([[0.25, -1.5, 3.0], [70.75, 1000.5, -64.0]], "float32")
    random = np.random.default_rng(4)
    weights = random.normal(size=(2, 3, 10)).astype("float32")
    received = gradient_of_sum(
        lambda x: ops.array(weights) * encode_tensor(x, 10, **parameters), positions
    )
    slopes = derivative(positions.astype("float64"), 10, **parameters)
    expected = (weights * slopes).sum(axis=-1)
    # Ten float32 terms of size 3, and the central difference.
    np.testing.assert_allclose(received, expected, rtol=0, atol=1e-5)


def test_gradients_of_many_turns_per_position_are_right():
    times = np.array([[0.0, 0.001, 0.3], [0.5, 0.999, 1.0]], "float32")
    received = gradient_of_sum(
        lambda x: encode_tensor(x, 2, position_scale=1000)[..., 0], times
    )
    expected = 1000 * reference.encode(times, 2, position_scale=1000)[..., 1]
    np.testing.assert_allclose(received, expected, rtol=0, atol=1000 * REAL_TOLERANCE)


def encode_tensor(positions, width, **parameters):
    zeros = np.zeros((*positions.shape, width), "float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    return layer(zeros, positions=positions)
