import re

import keras
import numpy as np
import pytest
from keras import ops

from keras_sinpe import SinusoidalEmbedding, SinusoidalPositionalEncoding, reference

# A few float32 products; measured 3e-7 over the int32 range.
FLOAT32_TOLERANCE = 5e-7

NUMBERS = {
    "scalar": np.int32(7),
    "vector": np.array([0, 1, -5000, 2**31 - 1], "int32"),
    "matrix": np.arange(6, dtype="int32").reshape(2, 3) * 1000,
    "nothing": np.zeros((0, 3), "int32"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_any_shape_are_embedded(name):
    numbers = NUMBERS[name]
    embedded = ops.convert_to_numpy(SinusoidalEmbedding(10)(ops.array(numbers)))
    assert embedded.shape == (*numbers.shape, 10)
    expected = reference.encode(numbers, 10)
    np.testing.assert_allclose(embedded, expected, rtol=0, atol=FLOAT32_TOLERANCE)


def test_it_is_what_the_positional_layer_adds():
    positions = ops.array([[3, 1, 4], [1, 5, 9]])
    added = SinusoidalPositionalEncoding()(ops.zeros((2, 3, 7)), positions=positions)
    embedded = SinusoidalEmbedding(7)(positions)
    np.testing.assert_array_equal(
        ops.convert_to_numpy(added), ops.convert_to_numpy(embedded)
    )


def test_a_symbolic_input_gets_the_shape_and_dtype_of_the_real_one():
    layer = SinusoidalEmbedding(6, dtype="mixed_float16")
    symbolic = layer(keras.Input((None,), dtype="int32"))
    assert symbolic.shape == (None, None, 6)
    assert symbolic.dtype == "float16"
    assert keras.backend.standardize_dtype(layer(ops.ones((2, 3), "int32")).dtype) == (
        "float16"
    )


def test_a_saved_model_embeds_as_before(tmp_path):
    numbers = keras.Input((None,))
    embedding = SinusoidalEmbedding(6, layout="halves", periods=[3.0, 7.5, 365.25])
    model = keras.Model(numbers, keras.layers.Dense(2)(embedding(numbers)))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    days = ops.array([[0.25, 19700.5], [1.0, 2.0], [-3.5, 4e4]])
    np.testing.assert_array_equal(
        ops.convert_to_numpy(model(days)), ops.convert_to_numpy(loaded(days))
    )


@pytest.mark.parametrize(
    ("output_dim", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_a_width_that_is_no_positive_integer_is_refused(output_dim, error):
    with pytest.raises(error) as caught:
        SinusoidalEmbedding(output_dim)
    assert str(caught.value) == (
        f"`output_dim` must be an integer above 0. Received: output_dim={output_dim!r}"
    )


def test_half_precision_numbers_are_refused():
    sentence = (
        "`inputs` must be integers, float32 or float64: half precision holds no odd "
        "integer beyond 2048. Received: inputs.dtype=float16"
    )
    with pytest.raises(TypeError, match=re.escape(sentence)):
        SinusoidalEmbedding(4)(keras.Input((3,), dtype="float16"))
