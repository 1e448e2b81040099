"""Rotated queries and keys against a float64 rotation by exactly reduced angles."""

import keras
import numpy as np
import pytest
from exactness import as_float64, assert_exact
from keras import ops

from keras_sinpe import RotaryPositionalEncoding, reference

# A sine and a cosine, exact to 5e-7, times the members of a pair; three roundings.
PAIR_TOLERANCE = 1e-6
STARTS = [0, 4096, 2**24, 2**31 - 70, -5000, -(2**31)]
LAYOUTS = ["halves", "interleaved"]


def drawn(*shape):
    """Inputs whose pairs are at most 1 long."""
    size = np.random.default_rng(5).uniform(-0.7, 0.7, shape)
    return size.astype("float32")


def rotated(inputs, positions, layout, **parameters):
    """Complex numbers, turned; the sequence on axis 1, heads after it."""
    width = inputs.shape[-1]
    waves = reference.encode(positions, width, layout="halves", **parameters)
    turn = waves[..., width // 2 :] + 1j * waves[..., : width // 2]
    turn = turn if turn.ndim == 3 else turn[None]
    if inputs.ndim == 4:
        turn = turn[:, :, None]
    step = slice(None, width // 2), slice(width // 2, None)
    if layout == "interleaved":
        step = slice(0, None, 2), slice(1, None, 2)
    turned = (inputs[..., step[0]] + 1j * inputs[..., step[1]].astype("f8")) * turn
    result = np.zeros(inputs.shape)
    result[..., step[0]], result[..., step[1]] = turned.real, turned.imag
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("start", STARTS)
def test_every_start_of_int32_is_exact(start, layout):
    inputs = drawn(2, 70, 3, 10)
    layer = RotaryPositionalEncoding(layout=layout)
    expected = rotated(inputs, start + np.arange(70), layout)
    for given in (start, ops.convert_to_tensor(start, "int32")):
        assert_exact(layer(inputs, start_index=given), expected, PAIR_TOLERANCE)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(2, 5, 6), (2, 5, 3, 8), (0, 5, 2), (2, 0, 3, 4)])
def test_starts_and_positions_of_every_form_are_exact(shape, layout):
    inputs = drawn(*shape)
    layer = RotaryPositionalEncoding(layout=layout)
    starts = np.array([7, -70001][: shape[0]], "int32")
    each = starts[:, None] + np.arange(shape[1])
    expected = rotated(inputs, each, layout)
    assert_exact(layer(inputs, start_index=starts), expected, PAIR_TOLERANCE)
    received = layer(inputs, positions=each.astype("int32"))
    assert_exact(received, expected, PAIR_TOLERANCE)
    reals = np.linspace(-3.3, 900.7, shape[1]).astype("float32")
    expected = rotated(inputs, reals, layout)
    assert_exact(layer(inputs, positions=reals), expected, 2 * PAIR_TOLERANCE)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_wavelength": 5e5, "min_wavelength": 0.5},
        {"position_scale": 0.25, "first_position": 3},
        {"periods": [7.0, 24.0, 365.25]},
    ],
    ids=str,
)
def test_every_wave_parameter_is_obeyed(parameters):
    inputs = drawn(2, 5, 6)
    layer = RotaryPositionalEncoding(**parameters)
    expected = rotated(inputs, np.arange(5), "halves", **parameters)
    assert_exact(layer(inputs), expected, PAIR_TOLERANCE)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_features_past_rotary_dim_come_out_as_they_are(layout):
    inputs = drawn(2, 5, 3, 9)
    received = as_float64(RotaryPositionalEncoding(layout=layout, rotary_dim=4)(inputs))
    expected = rotated(inputs[..., :4], np.arange(5), layout)
    assert_exact(received[..., :4], expected, PAIR_TOLERANCE)
    np.testing.assert_array_equal(received[..., 4:], inputs[..., 4:])


@pytest.mark.parametrize("start", [3, np.array([3, 900], "int32")])
def test_heads_may_come_before_the_sequence(start):
    inputs = drawn(2, 5, 3, 8)
    usual = as_float64(RotaryPositionalEncoding()(inputs, start_index=start))
    layer = RotaryPositionalEncoding(sequence_axis=2)
    received = layer(inputs.transpose(0, 2, 1, 3), start_index=start)
    np.testing.assert_array_equal(as_float64(received).transpose(0, 2, 1, 3), usual)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dot_products_depend_on_the_distance_alone(layout):
    layer = RotaryPositionalEncoding(layout=layout)
    query, key = drawn(1, 1, 16), drawn(2, 1, 16)[1:]

    def product(at, distance):
        turned = (layer(query, start_index=at), layer(key, start_index=at + distance))
        return np.sum(as_float64(turned[0]) * as_float64(turned[1]))

    for distance in (0, 1, -900):
        expected = product(1000, distance)
        # Sixteen products of rotated features below 1.
        assert abs(product(2**31 - 1000, distance) - expected) < 16 * PAIR_TOLERANCE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_position_0_changes_nothing_and_minus_one_rotates_back(layout):
    inputs = drawn(2, 3, 8)
    layer = RotaryPositionalEncoding(layout=layout)
    at_zero = layer(inputs, positions=np.zeros(3, "int32"))
    np.testing.assert_array_equal(as_float64(at_zero), inputs)
    back = RotaryPositionalEncoding(layout=layout, position_scale=-1)
    turned = layer(inputs, start_index=70001)
    again = back(turned, start_index=70001)
    assert_exact(again, inputs.astype("float64"), 2 * PAIR_TOLERANCE)


def test_decoding_step_by_step_equals_the_full_pass():
    inputs, layer = drawn(2, 70, 3, 8), RotaryPositionalEncoding()
    full = as_float64(layer(inputs, start_index=60000))
    for step in (0, 1, 63, 64, 69):
        received = layer(inputs[:, step : step + 1], start_index=60000 + step)
        np.testing.assert_array_equal(as_float64(received)[:, 0], full[:, step])


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_gets_the_float32_rotation_rounded(policy):
    inputs = drawn(2, 70, 8)
    single = RotaryPositionalEncoding()(inputs, start_index=70001)
    half = RotaryPositionalEncoding(dtype=policy)(inputs, start_index=70001)
    dtype = policy.removeprefix("mixed_")
    assert keras.backend.standardize_dtype(half.dtype) == dtype
    np.testing.assert_array_equal(as_float64(half), as_float64(ops.cast(single, dtype)))


def test_a_saved_model_rotates_as_before(tmp_path):
    inputs = keras.Input((None, 3, 8))
    layer = RotaryPositionalEncoding(
        layout="interleaved", rotary_dim=4, max_wavelength=500, name="turn"
    )
    model = keras.Model(inputs, layer(inputs))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_layer("turn").get_config() == layer.get_config()
    given = drawn(2, 5, 3, 8)
    np.testing.assert_array_equal(as_float64(loaded(given)), as_float64(model(given)))
