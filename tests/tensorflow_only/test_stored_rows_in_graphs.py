"""Stored rows in graphs: one condition, one table, the same bits."""

import keras
import numpy as np
import onnx
import onnxruntime
import pytest
import tensorflow as tf

import keras_sinpe
from keras_sinpe import SinusoidalPositionalEncoding

WIDTH, STORED = 16, 512
LENGTHS = (1, 63, 64, 511, 512, 513, 576, 700)
STARTS = (-1, 0, 1, 511, 512, 2**31 - 700)


def model(layers=1, **arguments):
    """The rows of a plain range, of a start and of positions, for inputs of zeros."""
    zeros = keras.Input((None, WIDTH), name="zeros")
    start = keras.Input((), dtype="int32", name="start")
    positions = keras.Input((None,), dtype="int32", name="positions")
    outputs = {}
    for number in range(layers):
        encode = SinusoidalPositionalEncoding(**arguments)
        outputs |= {
            f"plain_{number}": encode(zeros),
            f"started_{number}": encode(zeros, start_index=start[0]),
            f"placed_{number}": encode(zeros, positions=positions),
        }
    feeds = {"zeros": zeros, "start": start, "positions": positions}
    return keras.Model(feeds, outputs)


def feeds(length, start):
    return {
        "zeros": np.zeros((1, length, WIDTH), "float32"),
        "start": np.array([start], "int32"),
        "positions": (start + np.arange(length, dtype="int32"))[None],
    }


def export(folder, **arguments):
    path = folder / "model.onnx"
    keras_sinpe.export_onnx(
        model(**{"stored_rows": STORED, **arguments}),
        path,
        batch_sizes=(1, 2),
        lengths=(1, 7, 600),
    )
    return path


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    """The same model with and without stored rows."""
    return [
        onnxruntime.InferenceSession(
            export(tmp_path_factory.mktemp("rows"), stored_rows=stored),
            providers=["CPUExecutionProvider"],
        )
        for stored in (STORED, 0)
    ]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("start", STARTS)
def test_artifacts_give_the_same_bits_with_and_without_stored_rows(
    sessions, start, length
):
    with_rows, without = (
        session.run(None, feeds(length, start)) for session in sessions
    )
    for received, expected in zip(with_rows, without, strict=True):
        np.testing.assert_array_equal(received, expected)


def conditions(graph):
    return sum(node.op_type == "If" for node in graph.node)


def test_a_graph_asks_once_for_each_call_and_never_without_stored_rows(tmp_path):
    assert conditions(onnx.load(export(tmp_path)).graph) == 3
    without = onnx.load(export(tmp_path, stored_rows=0)).graph
    # What is left tells whole blocks from others.
    assert conditions(without) <= 1


def test_layers_of_equal_waves_share_their_tables_in_an_artifact(tmp_path):
    two = onnx.load(export(tmp_path, layers=2)).graph
    assert [list(t.dims) for t in two.initializer].count([STORED, WIDTH]) == 1
    nested = [a.g for node in two.node for a in node.attribute if a.HasField("g")]
    assert len(nested) == 2 * conditions(two) > 0
    assert all(np.prod(t.dims) < WIDTH for g in nested for t in g.initializer)
    folder = tmp_path / "saved"
    keras_sinpe.export_saved_model(
        model(2, stored_rows=STORED), folder, batch_sizes=(1,), lengths=(1, 600)
    )
    graph = tf.saved_model.load(folder).signatures["serving_default"].graph
    assert sum(size_of(node) == STORED * WIDTH for node in nodes_of(graph)) == 1


def nodes_of(graph):
    definition = graph.as_graph_def()
    yield from definition.node
    for function in definition.library.function:
        yield from function.node_def


def size_of(node):
    if node.op != "Const":
        return 0
    shape = node.attr["value"].tensor.tensor_shape
    return np.prod([size.size for size in shape.dim], dtype=int)


def test_xla_compiles_every_length_in_one_trace():
    layer = SinusoidalPositionalEncoding()
    compiled = tf.function(
        lambda x: layer(x),
        input_signature=[tf.TensorSpec((None, None, WIDTH))],
        jit_compile=True,
    )
    for length in LENGTHS:
        zeros = tf.zeros((1, length, WIDTH))
        # XLA contracts products and sums.
        np.testing.assert_allclose(compiled(zeros), layer(zeros), rtol=0, atol=2e-7)


def test_xla_adds_a_constant_where_the_length_is_fixed():
    layer = SinusoidalPositionalEncoding()
    compiled = tf.function(lambda x: layer(x), jit_compile=True)
    zeros = tf.zeros((1, 100, WIDTH))
    program = compiled.experimental_get_compiler_ir(zeros)(stage="optimized_hlo")
    assert "conditional" not in program
    assert program.count(" add(") == 1


def test_gradients_reach_the_inputs_through_the_condition():
    layer = SinusoidalPositionalEncoding(input_scale=3.0)

    @tf.function(input_signature=[tf.TensorSpec((None, None, WIDTH))])
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        return tape.gradient(y, x)

    for length in (5, 600):
        np.testing.assert_array_equal(slope(tf.zeros((2, length, WIDTH))), 3)
