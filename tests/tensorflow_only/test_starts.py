"""Starts of every integer dtype in a graph, in XLA and in ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
import tf2onnx
from start_cases import (
    COUNTED,
    LAST,
    LENGTHS,
    MASK,
    STARTS,
    WIDTH,
    assert_rows,
)

import keras_sinpe


def step_of(dtype):
    """A function of the start and a sequence: every way in which starts are read."""
    plain = keras_sinpe.SinusoidalPositionalEncoding()
    counting = keras_sinpe.SinusoidalPositionalEncoding(positions_from_mask=True)
    for layer in (plain, counting):
        layer.build((None, None, WIDTH))

    def step(start, inputs):
        short, long = (tf.zeros((1, length, WIDTH)) for length in LENGTHS)
        starts = tf.stack([start, start])
        mask = tf.constant(np.repeat(MASK, 2, axis=0))
        return {
            "short": plain(short, start_index=start),
            "long": plain(long, start_index=start),
            "free": plain(inputs, start_index=start),
            "each": plain(tf.zeros((2, LENGTHS[0], WIDTH)), start_index=starts),
            "each_free": plain(tf.tile(inputs, (2, 1, 1)), start_index=starts),
            "counted": counting(tf.zeros((2, 4, WIDTH)), start_index=starts, mask=mask),
        }

    return step, [
        tf.TensorSpec((), dtype, name="start"),
        tf.TensorSpec((1, None, WIDTH), "float32", name="inputs"),
    ]


def in_graph(dtype):
    step, signature = step_of(dtype)
    return tf.function(step, input_signature=signature)


def in_xla(dtype):
    step, signature = step_of(dtype)
    return tf.function(step, input_signature=signature, jit_compile=True)


def in_onnx_runtime(dtype):
    step, signature = step_of(dtype)
    proto, _ = tf2onnx.convert.from_function(
        tf.function(step), input_signature=signature, opset=17
    )
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_outputs()]

    def run(start, inputs):
        feeds = {"start": np.array(start, dtype), "inputs": inputs.numpy()}
        found = zip(names, session.run(None, feeds), strict=True)
        return {name.split(":")[0]: output for name, output in found}

    return run


RUNTIMES = {"graph": in_graph, "XLA": in_xla, "ONNX Runtime": in_onnx_runtime}


@pytest.mark.parametrize("dtype", STARTS)
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_start_gives_nan_exactly_where_it_leaves_int32(runtime, dtype):
    run = RUNTIMES[runtime](dtype)
    for start in STARTS[dtype]:
        for free in LENGTHS:
            offsets = {
                "short": range(LENGTHS[0]),
                "long": range(LENGTHS[1]),
                "free": range(free),
                "each": range(LENGTHS[0]),
                "each_free": range(free),
                "counted": COUNTED,
            }
            outputs = run(tf.constant(start, dtype), tf.zeros((1, free, WIDTH)))
            assert set(outputs) == set(offsets)
            for name, received in outputs.items():
                assert_rows(received, start, offsets[name])


@pytest.mark.parametrize("start", [LAST - 69, LAST - 1])
def test_a_known_start_gives_nan_beyond_int32_where_the_length_is_free(start):
    layer = keras_sinpe.SinusoidalPositionalEncoding()

    @tf.function(input_signature=[tf.TensorSpec((1, None, WIDTH))])
    def encode(inputs):
        return layer(inputs, start_index=start)

    for length in LENGTHS:
        assert_rows(encode(tf.zeros((1, length, WIDTH))), start, range(length))


def nodes(start_index, length):
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    encode = tf.function(lambda inputs: layer(inputs, start_index=start_index))
    traced = encode.get_concrete_function(tf.TensorSpec((2, length, WIDTH)))
    return len(traced.graph.as_graph_def().node)


@pytest.mark.parametrize("length", [3, 70, None])
def test_a_known_start_traces_the_same_graph_in_every_form(length):
    for form in (np.int32(5), np.int64(5), np.uint8(5), np.array(5)):
        assert nodes(form, length) == nodes(5, length)
