"""Published numbers, through the layer and through the reference."""

import keras
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, assert_exact, encode
from keras import ops

import keras_sinpe
from keras_sinpe import reference

# The tables below are printed to six digits.
PRINTED = 5e-7 + INTEGER_TOLERANCE

# (width, parameters, positions, rows)
TABLES = {
    "four features": (
        4,
        {},
        range(4),
        [
            [0, 1, 0, 1],
            [0.841471, 0.540302, 0.01, 0.99995],
            [0.909297, -0.416147, 0.019999, 0.9998],
            [0.14112, -0.989992, 0.029996, 0.99955],
        ],
    ),
    "six features": (
        6,
        {},
        range(4),
        [
            [0, 1, 0, 1, 0, 1],
            [0.841471, 0.540302, 0.046399, 0.998923, 0.002154, 0.999998],
            [0.909297, -0.416147, 0.092699, 0.995694, 0.004309, 0.999991],
            [0.14112, -0.989992, 0.138798, 0.990321, 0.006463, 0.999979],
        ],
    ),
    "each cosine shares its sine's exponent": (
        8,
        {},
        [1],
        [[0.841471, 0.540302, 0.099833, 0.995004, 0.01, 0.99995, 0.001, 0.9999995]],
    ),
    "halves": (
        8,
        {"layout": "halves"},
        [1],
        [[0.841471, 0.099833, 0.01, 0.001, 0.540302, 0.995004, 0.99995, 0.9999995]],
    ),
    "halves, shifted": (
        8,
        {"layout": "halves", "frequency_shift": 1},
        [1],
        [[0.841471, 0.046399, 0.002154, 0.0001, 0.540302, 0.998923, 0.999998, 1]],
    ),
    "odd width": (5, {}, [1], [[0.841471, 0.540302, 0.025116, 0.999685, 0.000631]]),
    "odd width, halves": (
        5,
        {"layout": "halves"},
        [1],
        [[0.841471, 0.025116, 0.000631, 0.540302, 0.999685]],
    ),
    "two features": (
        2,
        {"frequency_shift": 1},
        range(3),
        [[0, 1], [0.841471, 0.540302], [0.909297, -0.416147]],
    ),
    "one feature": (1, {"frequency_shift": 0.5}, range(2), [[0], [0.841471]]),
    "a million": (
        8,
        {},
        [10**6],
        [
            [
                -0.349994,
                0.936752,
                0.035749,
                -0.999361,
                -0.305614,
                -0.952155,
                0.826880,
                0.562379,
            ],
        ],
    ),
    "around the last float16 integer": (
        2,
        {},
        [2047, 2048, 2049],
        [[-0.968319, 0.249715], [-0.313057, 0.949734], [0.630028, 0.776572]],
    ),
    "half steps": (
        4,
        {"position_scale": 0.5},
        [1],
        [[0.479426, 0.877583, 0.005, 0.999988]],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_published_rows_come_out(name):
    width, parameters, positions, rows = TABLES[name]
    rows = np.array(rows, "float64")
    received = encode(np.array(positions), width=width, batch=3, **parameters)
    assert_exact(received, np.stack([rows] * 3), PRINTED)
    assert_exact(reference.encode(positions, width, **parameters), rows, PRINTED)


def test_a_sentence_gets_its_embeddings_plus_the_encoding():
    words = ["transformers", "use", "positional", "encoding"]
    ids = np.array([[words.index(word) for word in words]])
    table = np.random.RandomState(42).rand(4, 6)
    embedding = keras.layers.Embedding(4, 6)
    embedding.build()
    embedding.set_weights([table])
    rows = keras_sinpe.SinusoidalPositionalEncoding()(embedding(ids))
    assert_exact(rows, table[None] + reference.encode([0, 1, 2, 3], 6), PRINTED)
    first_columns = [
        [0.374540, 1.950714],
        [0.899555, 1.406478],
        [1.741740, -0.203808],
        [0.573065, -0.698763],
    ]
    assert_exact(rows[0, :, :2], np.array(first_columns), PRINTED)


@pytest.mark.parametrize("batch", [1, 3, 7])
def test_every_sample_gets_the_same_rows_along_its_length(batch):
    expected = np.stack([reference.encode(np.arange(7), 8)] * batch)
    received = encode(width=8, batch=batch, length=7)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize(
    ("input_scale", "factor"), [(1, 1), (0.0, 0), (2.5, 2.5), ("sqrt_dim", 6**0.5)]
)
@pytest.mark.parametrize(("output_scale", "size"), [(1, 1), (0.0, 0), (-0.5, -0.5)])
def test_scales_multiply_embedding_and_encoding(
    input_scale, factor, output_scale, size
):
    inputs = np.random.default_rng(1).uniform(-1, 1, (2, 5, 6)).astype("float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        input_scale=input_scale, output_scale=output_scale
    )
    expected = factor * inputs + size * reference.encode(np.arange(5), 6)
    # Products and sum below 4 are rounded to 2**-23.
    assert_exact(layer(inputs), expected, INTEGER_TOLERANCE + 2 * 2.0**-23)


def test_embeddings_scaled_by_hand_are_taken():
    # Keras 3.15 flags a symbolic product with a number as sparse.
    ids = keras.Input((None,), dtype="int32")
    scaled = keras.layers.Embedding(9, 6)(ids) * 2.0
    model = keras.Model(ids, keras_sinpe.SinusoidalPositionalEncoding()(scaled))
    table = ops.convert_to_numpy(model.weights[0])
    tokens = np.array([[3, 1, 4, 1]])
    expected = 2 * table[tokens] + reference.encode(np.arange(4), 6)
    assert_exact(model(ops.array(tokens)), expected, INTEGER_TOLERANCE)
