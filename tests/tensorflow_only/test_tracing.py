"""The layer inside `tf.function`, compiled by XLA, traced once for every length."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf
from conventions import CONVENTIONS
from exactness import INTEGER_TOLERANCE, REAL_TOLERANCE, assert_exact

import keras_sinpe
from keras_sinpe import reference

STARTS = [0, 4096, 65536, 2**20, 2**24, 2**31 - 1000, -5000, -(2**31)]
MODES = {"graph": {}, "XLA": {"jit_compile": True}}


def encoding_from(start_index, length, width, **parameters):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    return layer(tf.zeros((1, length, width)), start_index=start_index)


@pytest.fixture(scope="module", params=MODES)
def encode_512(request):
    """One function, traced once, for 512 positions from a start that is a tensor."""
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    layer.build((None, None, 512))

    @tf.function(input_signature=[tf.TensorSpec((), "int32")], **MODES[request.param])
    def encode(start_index):
        return layer(tf.zeros((1, 512, 512)), start_index=start_index)

    return encode


@pytest.mark.parametrize("start", STARTS)
def test_every_start_of_int32_is_exact_as_a_tensor(encode_512, start):
    expected = reference.encode(start + np.arange(512), 512)[None]
    assert_exact(encode_512(tf.constant(start)), expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", STARTS)
def test_every_start_of_int32_is_exact_as_a_constant(mode, start):
    encode = tf.function(lambda: encoding_from(start, 512, 512), **MODES[mode])
    expected = reference.encode(start + np.arange(512), 512)[None]
    assert_exact(encode(), expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_is_exact(mode, convention):
    parameters = CONVENTIONS[convention]
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    layer.build((None, None, 9))

    @tf.function(**MODES[mode])
    def encode(integers, reals):
        zeros = tf.zeros((1, 4, 9))
        return layer(zeros, positions=integers), layer(zeros, positions=reals)

    integers = np.array([[-(2**31), -5000, 2**24 + 1, 2**31 - 1]], "int32")
    reals = np.array([[-0.25, 19700.25, 999999.9, -500.2714]], "float32")
    rows, real_rows = encode(integers, reals)
    assert_exact(rows, reference.encode(integers, 9, **parameters), INTEGER_TOLERANCE)
    assert_exact(real_rows, reference.encode(reals, 9, **parameters), REAL_TOLERANCE)


def test_one_trace_serves_every_batch_and_length():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    traces = []

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, 6)),
            tf.TensorSpec((), "int32"),
        ]
    )
    def encode(inputs, start_index):
        traces.append(inputs.shape)
        return layer(inputs), layer(inputs, start_index=start_index)

    for batch, length in [(3, 7), (0, 5), (2, 0), (1, 1), (2, 63), (2, 64), (1, 9000)]:
        for start in (0, -70, 70001):
            plain, started = encode(np.zeros((batch, length, 6)), start)
            for received, first in ((plain, 0), (started, start)):
                rows = reference.encode(first + np.arange(length), 6)
                expected = np.broadcast_to(rows, (batch, length, 6))
                assert_exact(received, expected, INTEGER_TOLERANCE)
    assert len(traces) == 1


def test_ten_lengths_take_two_traces_at_most():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    traces = []

    @tf.function(reduce_retracing=True)
    def encode(inputs):
        traces.append(inputs.shape)
        return layer(inputs)

    for length in (1, 2, 5, 63, 64, 65, 100, 128, 300, 1000):
        expected = np.stack([reference.encode(np.arange(length), 6)] * 2)
        received = encode(tf.zeros((2, length, 6)))
        assert_exact(received, expected, INTEGER_TOLERANCE)
    assert len(traces) <= 2


def test_a_layer_first_met_in_a_graph_works_eagerly_and_in_the_next_graph(tmp_path):
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    model = keras.Sequential([layer])
    expected = np.stack([reference.encode(np.arange(5), 6)] * 2)
    zeros = tf.zeros((2, 5, 6))
    for call in (tf.function(model), model, tf.function(model, jit_compile=True)):
        assert_exact(call(zeros), expected, INTEGER_TOLERANCE)
    assert model.weights == []
    model.export(tmp_path / "saved", format="tf_saved_model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "saved")
    assert_exact(loaded.serve(zeros), expected, INTEGER_TOLERANCE)


def trained_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(9, 6, mask_zero=True),
            keras_sinpe.SinusoidalPositionalEncoding(learned_scale=True),
            keras.layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse", jit_compile=True)
    return model


def test_xla_trains_and_predicts_at_two_lengths():
    model = trained_model()
    random = np.random.default_rng(2)
    for length in (5, 70):
        ids = random.integers(1, 9, (4, length))
        before = model.layers[1].scale.numpy()
        model.fit(ids, random.normal(size=(4, length, 1)), batch_size=4, verbose=0)
        assert model.layers[1].scale.numpy() != before
        predicted = model.predict(ids, verbose=0)
        # Sums of six products in another order.
        assert_exact(predicted, model(ids).numpy().astype("float64"), 1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_reach_real_positions_and_inputs(mode):
    layer = keras_sinpe.SinusoidalPositionalEncoding(input_scale=3.0)

    @tf.function(**MODES[mode])
    def slopes(inputs, positions):
        with tf.GradientTape() as tape:
            tape.watch((inputs, positions))
            encoding = layer(inputs, positions=positions)
        return tape.gradient(encoding, (inputs, positions))

    positions = np.array([[0.25, 70001.5, -3]], "float32")
    of_inputs, of_positions = slopes(tf.zeros((1, 3, 2)), positions)
    np.testing.assert_array_equal(of_inputs, np.full((1, 3, 2), 3.0))
    # The derivative of sin(p) + cos(p).
    expected = reference.encode(positions, 2) @ [-1, 1]
    assert_exact(of_positions, expected, 2 * REAL_TOLERANCE)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision_saved_models_never_round_a_position(policy, tmp_path):
    keras.config.set_dtype_policy(policy)
    inputs = keras.Input((None, 6), name="inputs")
    positions = keras.Input((None,), dtype="float32", name="positions")
    layer = keras_sinpe.SinusoidalPositionalEncoding(dtype="float32")
    model = keras.Model([inputs, positions], layer(inputs, positions=positions))
    model.export(tmp_path / "saved", format="tf_saved_model", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "saved")
    given = np.array([[2049, 70001.25]], "float32")
    received = loaded.serve([tf.zeros((1, 2, 6)), given])
    assert_exact(received, reference.encode(given, 6), REAL_TOLERANCE)


@pytest.mark.parametrize("name", ["inputs", "start_index", "positions", "mask"])
@pytest.mark.parametrize("kind", ["ragged", "sparse"])
def test_tensors_that_are_not_dense_are_refused(kind, name):
    given = tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ragged_rank=1)
    if kind == "sparse":
        given = tf.sparse.from_dense(tf.ones((2, 3, 4)))
    calls = {"inputs": tf.ones((2, 3, 4)), name: given}
    with pytest.raises(TypeError, match="must be a dense tensor") as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(**calls)
    sentence = (
        f"`{name}` must be a dense tensor; pad ragged sequences and pass a mask. "
        f"Received: {name}={kind} tensor"
    )
    assert sentence in str(caught.value)


@pytest.mark.parametrize("kind", ["ragged", "sparse"])
def test_numbers_that_are_not_dense_are_refused(kind):
    given = tf.ragged.constant([[1], [2, 3]])
    if kind == "sparse":
        given = tf.sparse.from_dense([[1, 0]])
    with pytest.raises(TypeError, match="`inputs` must be a dense tensor"):
        keras_sinpe.SinusoidalEmbedding(4)(given)


@pytest.mark.parametrize("mode", MODES)
def test_in_a_graph_every_integer_of_a_mask_but_zero_counts(mode):
    layer = keras_sinpe.SinusoidalPositionalEncoding(positions_from_mask=True)

    @tf.function(input_signature=[tf.TensorSpec((1, None), "int32")], **MODES[mode])
    def encode(mask):
        return layer(tf.zeros((1, 5, 6)), mask=mask)

    expected = reference.encode([[0, 0, 1, 1, 2]], 6)
    assert_exact(encode(tf.constant([[0, 7, -3, 0, 1]])), expected, INTEGER_TOLERANCE)


def test_lists_of_tensors_are_stacked_in_a_graph():
    layer = keras_sinpe.SinusoidalPositionalEncoding()

    @tf.function
    def encode(first):
        positions = [first, first + 7, first - 2]
        return layer(tf.zeros((2, 3, 6)), positions=positions)

    expected = np.stack([reference.encode([5, 12, 3], 6)] * 2)
    assert_exact(encode(tf.constant(5)), expected, INTEGER_TOLERANCE)


def test_xla_leaves_one_addition_of_a_fixed_length():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    add = tf.function(lambda x: layer(x), jit_compile=True)
    x = tf.zeros((1, 4096, 512))
    program = add.experimental_get_compiler_ir(x)(stage="optimized_hlo")
    operations = re.findall(r" = [\w\[\],{}]+ (\w+)\(", program)
    assert operations.count("add") == 1
    assert set(operations) <= {"parameter", "constant", "add", "fusion", "call"}
