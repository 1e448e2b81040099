"""Every dtype policy: all maths in float32 or better, one rounding at the end."""

import keras
import numpy as np
import pytest
from conventions import CONVENTIONS
from exactness import FLOAT64_TOLERANCE, as_float64, assert_exact, encode, tolerance_of
from keras import ops

import keras_sinpe
from keras_sinpe import reference

HALF = ["float16", "bfloat16", "mixed_float16", "mixed_bfloat16"]
POLICIES = ["float32", *HALF, pytest.param("float64", marks=pytest.mark.float64)]


def compute_dtype(policy):
    return policy.removeprefix("mixed_")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("start", [0, 2047, 2**24, -(2**31)])
def test_every_policy_rounds_once(policy, start):
    expected = np.stack([reference.encode(start + np.arange(70), 8)] * 2)
    received = encode(width=8, length=70, start_index=start, dtype=policy)
    assert keras.backend.standardize_dtype(received.dtype) == compute_dtype(policy)
    assert_exact(received, expected, tolerance_of(compute_dtype(policy)))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_adds_before_it_rounds(policy):
    inputs = np.full((2, 3, 4), 0.3, "float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding(dtype=policy, input_scale=2)
    expected = 0.6 + np.stack([reference.encode(np.arange(3), 4)] * 2)
    # Sums lie below 2, where the last place counts twice; 0.3 itself is a float32.
    assert_exact(
        layer(inputs), expected, 2 * tolerance_of(compute_dtype(policy)) + 1e-7
    )


@pytest.mark.parametrize("length", [4096, 70000])
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_long_sequences_in_half_precision_have_distinct_exact_rows(policy, length):
    received = as_float64(encode(width=64, batch=1, length=length, dtype=policy))
    expected = reference.encode(np.arange(length), 64)[None]
    assert_exact(received, expected, tolerance_of(compute_dtype(policy)))
    assert len(np.unique(received[0], axis=0)) == length


def test_half_precision_gets_the_float32_encoding_rounded():
    single = encode(width=8, length=300, start_index=1900)
    for policy in HALF:
        half = encode(width=8, length=300, start_index=1900, dtype=policy)
        rounded = ops.cast(single, compute_dtype(policy))
        np.testing.assert_array_equal(as_float64(half), as_float64(rounded))


@pytest.mark.float64
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_float64_is_exact_to_twelve_digits(convention):
    parameters = CONVENTIONS[convention]
    random = np.random.default_rng(6)
    for positions in (
        random.integers(-(10**6), 10**6, (2, 50)),
        random.uniform(-1e6, 1e6, (2, 50)),
    ):
        received = encode(positions, width=10, dtype="float64", **parameters)
        expected = reference.encode(positions, 10, **parameters)
        assert_exact(received, expected, FLOAT64_TOLERANCE)


@pytest.mark.float64
def test_float64_ranges_are_exact_to_twelve_digits():
    expected = reference.encode(10**6 - 300 + np.arange(300), 64)[None]
    received = encode(
        width=64, batch=1, length=300, start_index=10**6 - 300, dtype="float64"
    )
    assert_exact(received, expected, FLOAT64_TOLERANCE)


@pytest.mark.parametrize("floatx", ["float16", "bfloat16"])
def test_a_half_precision_floatx_leaves_positions_whole(floatx):
    keras.config.set_floatx(floatx)
    keras.config.set_dtype_policy(floatx)
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    received = layer(ops.zeros((1, 40000, 6)))
    assert keras.backend.standardize_dtype(received.dtype) == floatx
    expected = reference.encode(np.arange(40000), 6)[None]
    assert_exact(received, expected, tolerance_of(floatx))
    positions = np.array([39999, 2049.5, 0.25], "float32")
    received = layer(ops.zeros((2, 3, 6)), positions=positions)
    expected = np.stack([reference.encode(positions, 6)] * 2)
    assert_exact(received, expected, tolerance_of(floatx))


@pytest.mark.float64
def test_a_float64_floatx_gives_a_float64_encoding():
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    received = keras_sinpe.SinusoidalPositionalEncoding()(ops.zeros((2, 5, 6)))
    expected = np.stack([reference.encode(np.arange(5), 6)] * 2)
    assert_exact(received, expected, FLOAT64_TOLERANCE)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", [(2, 5, 6), (None, None, 6), (None, 5, 6)])
def test_symbolic_outputs_have_the_real_shape_and_dtype(policy, shape):
    layer = keras_sinpe.SinusoidalPositionalEncoding(dtype=policy)
    symbolic = layer(keras.KerasTensor(shape, dtype="float32"))
    assert symbolic.shape == shape
    assert symbolic.dtype == compute_dtype(policy)
    assert layer.compute_output_shape(shape) == shape
    real = layer(np.zeros((2, 5, 6), "float32"))
    assert tuple(real.shape) == (2, 5, 6)
    assert keras.backend.standardize_dtype(real.dtype) == symbolic.dtype
    assert keras.layers.Dense(3)(symbolic).shape == (*shape[:2], 3)


@pytest.mark.float64
def test_a_policy_set_after_the_build_gets_tables_of_its_own():
    positional = keras_sinpe.SinusoidalPositionalEncoding()
    embedding = keras_sinpe.SinusoidalEmbedding(6, position_scale=0.25)
    positional.build((None, None, 6))
    # Products of two rotations, each exact to float64.
    for policy, tolerance in {"float64": 1e-12, "float32": 5e-7}.items():
        for layer in (positional, embedding):
            layer.dtype_policy = policy
        received = positional(ops.zeros((2, 5, 6)), start_index=70001)
        assert keras.backend.standardize_dtype(received.dtype) == policy
        expected = np.stack([reference.encode(70001 + np.arange(5), 6)] * 2)
        assert_exact(received, expected, tolerance)
        for position in (70001, 2**32 + 3):
            expected = reference.encode(np.array(position), 6, position_scale=0.25)
            assert_exact(embedding(position), expected, 2 * tolerance)
