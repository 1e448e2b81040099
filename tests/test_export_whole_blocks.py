"""The copy that an `If` spares, and the graphs that it must leave alone."""

import keras
import numpy as np
import onnx
import onnxruntime
import pytest

from keras_sinpe import SinusoidalPositionalEncoding, export_onnx
from keras_sinpe.exporting.whole_blocks import spare_copies

WIDTH = 12

# Four blocks of two rows, cut to the length of x.
GRAPH = """
<ir_version: 8, opset_import: ["": 17]>
cut_blocks (float[length, 4] x) => ({outputs})
<float[2, 4] table = {{0, 1, 2, 3, 4, 5, 6, 7}}, int64[2] rows = {{-1, 4}},
 float[4, 1, 4] turns = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
 int64[1] start = {{{start}}}, int64[1] zero = {{0}}, int64[1] one = {{1}},
 int64[1] two = {{2}}>
{{
  used = Slice(table, zero, two, zero, one)
  first = Mul(turns, used)
  second = Mul(used, turns)
  blocks = Add(first, second)
  all_rows = Reshape(blocks, rows)
  shape = Shape(x)
  end = Slice(shape, zero, one, zero, one)
  cut = Slice(all_rows, start, end, zero, one)
  {users}
}}
"""


def graph(users="sum = Add(x, cut)", outputs="float[length, 4] sum", start="0"):
    model = onnx.parser.parse_model(
        GRAPH.format(users=users, outputs=outputs, start=start)
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def operators(nodes):
    return [node.op_type for node in nodes]


def branches(model):
    """Operators with all rows, and with those that are cut, of every `If`."""
    return [
        {attribute.name: operators(attribute.g.node) for attribute in node.attribute}
        for node in model.graph.node
        if node.op_type == "If"
    ]


def run(model, x):
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})


def encoder(length=None, encodings=1, **arguments):
    x = outputs = keras.Input((length, WIDTH), name="x")
    for _ in range(encodings):
        outputs = SinusoidalPositionalEncoding(**arguments)(outputs)
    return keras.Model(x, outputs)


def exported(model, folder, **options):
    path = folder / "model.onnx"
    export_onnx(model, path, batch_sizes=(1,), lengths=(1, 7), **options)
    return onnx.load(path)


@pytest.mark.parametrize("encodings", [1, 2])
def test_a_free_length_is_cut_in_one_branch_of_two(tmp_path, encodings):
    model = exported(encoder(encodings=encodings), tmp_path)
    expected = {"then_branch": ["Add"], "else_branch": ["Slice", "Add"]}
    assert branches(model) == [expected] * encodings


def test_a_fixed_length_needs_no_branches(tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(encoder(128), path, batch_sizes=(1,))
    assert branches(onnx.load(path)) == []


def test_branches_can_be_left_out(tmp_path):
    model = exported(encoder(), tmp_path, branches=False)
    assert branches(model) == []
    assert operators(model.graph.node)[-2:] == ["Slice", "Add"]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"layout": "halves", "input_scale": "sqrt_dim"}, {"learned_scale": True}],
)
@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 127, 128, 129, 192])
def test_both_branches_give_the_same_bits(tmp_path, arguments, length):
    model = encoder(**arguments)
    x = np.random.default_rng(1).standard_normal((2, length, WIDTH), "float32")
    [with_branches] = run(exported(model, tmp_path), x)
    [without] = run(exported(model, tmp_path, branches=False), x)
    np.testing.assert_array_equal(with_branches, without)
    longer = np.concatenate([x, np.zeros((2, 1, WIDTH), "float32")], axis=1)
    [other_branch] = run(exported(model, tmp_path), longer)
    np.testing.assert_array_equal(with_branches, other_branch[:, :length])


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_every_opset_and_precision_has_branches(tmp_path, opset, precision):
    model = exported(encoder(), tmp_path, opset_version=opset, precision=precision)
    assert len(branches(model)) == 1


@pytest.mark.parametrize("users", ["sum = Add(x, cut)", "sum = Mul(cut, x)"])
@pytest.mark.parametrize("length", [3, 8])
def test_a_cut_before_an_elementwise_node_moves_into_a_branch(users, length):
    model, x = graph(users), np.full((length, 4), 0.5, "float32")
    expected = run(model, x)
    spare_copies(model.graph)
    onnx.checker.check_model(model, full_check=True)
    assert len(branches(model)) == 1
    assert "Slice" not in operators(model.graph.node)[-2:]
    np.testing.assert_array_equal(run(model, x), expected)


def test_a_sum_of_two_cuts_stays_a_valid_graph():
    users = "other = Slice(all_rows, start, end, zero, one)\n  sum = Add(other, cut)"
    model, x = graph(users), np.zeros((8, 4), "float32")
    expected = run(model, x)
    spare_copies(model.graph)
    onnx.checker.check_model(model, full_check=True)
    np.testing.assert_array_equal(run(model, x), expected)


@pytest.mark.parametrize(
    "case",
    [
        {"users": "twice = Add(cut, cut)\n  sum = Add(x, twice)"},
        {"users": "sum = Add(x, cut)\n  too = Neg(cut)"},
        {
            "users": "sum = Add(x, cut)",
            "outputs": "float[length, 4] sum, float[length, 4] cut",
        },
        {"users": "rows_of_x = Neg(cut)\n  sum = Add(x, rows_of_x)"},
        {"start": "-8"},
    ],
    ids=["twice in one node", "two nodes", "an output", "not elementwise", "start"],
)
def test_any_other_cut_is_left_alone(case):
    model = graph(**case)
    before = model.SerializeToString()
    spare_copies(model.graph)
    assert model.SerializeToString() == before


@keras.saving.register_keras_serializable("whole_blocks")
class FirstRows(keras.layers.Layer):
    """A cut of reshaped rows that has nothing to do with an encoding."""

    def call(self, x):
        rows = keras.ops.reshape(x, (-1, WIDTH))
        return x + rows[: keras.ops.shape(x)[1]]


def test_a_slice_of_a_users_own_is_left_alone(tmp_path):
    x = keras.Input((None, WIDTH), name="x")
    model = exported(keras.Model(x, FirstRows()(x)), tmp_path)
    assert branches(model) == []
    assert operators(model.graph.node)[-2:] == ["Slice", "Add"]
