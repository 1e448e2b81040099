"""What is saved comes back: configuration, weights and the encoding, bit for bit."""

import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import as_float64
from keras import layers

import keras_sinpe

DEFAULTS = {
    "max_wavelength": 10000.0,
    "min_wavelength": 1.0,
    "frequency_shift": 0.0,
    "layout": "interleaved",
    "cos_first": False,
    "odd": "ceil",
    "first_position": 0,
    "position_scale": 1.0,
    "output_scale": 1.0,
    "periods": None,
    "input_scale": 1.0,
    "learned_scale": False,
    "positions_from_mask": False,
    "zero_masked": False,
    "stored_rows": 0,
}

# Another value for each argument, and for those of every Keras layer.
CHANGED = {
    "max_wavelength": np.float32(500),
    "min_wavelength": np.int64(2),
    "frequency_shift": 1,
    "layout": "halves",
    "cos_first": np.bool_(True),
    "odd": "zero",
    "first_position": 2,
    "position_scale": 0.5,
    "output_scale": "unit_norm",
    "periods": np.array([7.0, 24.0, 365.25]),
    "input_scale": "sqrt_dim",
    "learned_scale": True,
    "positions_from_mask": True,
    "zero_masked": True,
    "stored_rows": np.int64(512),
    "name": "places",
    "dtype": "mixed_bfloat16",
    "trainable": False,
}


def ids(*shape):
    return np.random.default_rng(1).integers(1, 9, shape)


def small_model(**parameters):
    keras.utils.set_random_seed(4)
    return keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            layers.Embedding(9, 6, mask_zero=True),
            keras_sinpe.SinusoidalPositionalEncoding(**parameters),
            layers.Dense(3),
        ]
    )


def assert_same_bits(received, expected):
    np.testing.assert_array_equal(as_float64(received), as_float64(expected))


def test_the_configuration_holds_every_argument_at_its_default():
    config = keras_sinpe.SinusoidalPositionalEncoding().get_config()
    assert {name: config.pop(name) for name in DEFAULTS} == DEFAULTS
    assert set(config) == {"name", "trainable", "dtype"}


@pytest.mark.parametrize("name", CHANGED)
def test_every_argument_survives_the_configuration_as_plain_json(name):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**{name: CHANGED[name]})
    config = json.loads(json.dumps(layer.get_config()))
    again = keras_sinpe.SinusoidalPositionalEncoding.from_config(config)
    assert again.get_config() == layer.get_config()
    default = keras_sinpe.SinusoidalPositionalEncoding(name=layer.name)
    if name == "name":
        assert again.name == "places"
    else:
        assert again.get_config()[name] != default.get_config()[name]


def test_the_layer_is_registered_under_the_name_of_the_package():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    saved = keras.saving.serialize_keras_object(layer)
    assert saved["registered_name"] == "keras_sinpe>SinusoidalPositionalEncoding"
    assert isinstance(keras.saving.deserialize_keras_object(saved), type(layer))


LOAD = """
import sys
import keras_sinpe
import keras, numpy
model = keras.saving.load_model(sys.argv[1])
layer = model.layers[1]
print(layer.name, layer.dtype_policy.name, layer.trainable, len(layer.weights))
numpy.save(sys.argv[2], keras.ops.convert_to_numpy(model(numpy.load(sys.argv[2]))))
"""


def test_a_fresh_process_that_imports_the_package_loads_the_model(tmp_path):
    model = small_model(
        name="places", dtype="mixed_float16", trainable=False, learned_scale=True
    )
    model.layers[1].scale.assign(0.75)
    path, exchange = tmp_path / "model.keras", tmp_path / "exchange.npy"
    model.save(path)
    np.save(exchange, ids(2, 7))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path), str(exchange)],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines()[-1] == "places mixed_float16 False 1"
    assert_same_bits(np.load(exchange), model(ids(2, 7)))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_survives_saving(convention, tmp_path):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**CONVENTIONS[convention])
    model = keras.Sequential([keras.Input((None, 9)), layer])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    zeros = np.zeros((2, 5, 9), "float32")
    assert_same_bits(loaded(zeros), model(zeros))


@pytest.mark.parametrize("learned_scale", [False, True])
def test_weights_alone_come_back_into_a_new_model(learned_scale, tmp_path):
    model = small_model(learned_scale=learned_scale)
    model.save_weights(tmp_path / "model.weights.h5")
    other = small_model(learned_scale=learned_scale)
    other.set_weights([weight + 1 for weight in other.get_weights()])
    other.load_weights(tmp_path / "model.weights.h5")
    assert_same_bits(other(ids(2, 5)), model(ids(2, 5)))


def test_a_clone_of_the_model_computes_the_same():
    model = small_model(input_scale="sqrt_dim", learned_scale=True)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.layers[1] is not model.layers[1]
    assert_same_bits(clone(ids(2, 5)), model(ids(2, 5)))


def test_a_model_rebuilt_from_json_computes_the_same():
    model = small_model(periods=[7, 24, 365.25])
    again = keras.models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    assert_same_bits(again(ids(2, 5)), model(ids(2, 5)))


def test_a_layer_has_no_weights_unless_it_learns_its_scale():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    layer(np.zeros((2, 3, 4), "float32"))
    assert layer.weights == []
