"""The check must fail whatever is wrong with an artifact, and say where."""

import keras
import numpy as np
import onnx
import pytest
from export_models import dense, difference, encoder, token_input
from keras import layers
from onnx import helper, numpy_helper

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.parity import ParityError, check_parity

SHORT = {"batch_sizes": (1, 3), "lengths": (1, 7)}


def kinds(report):
    return {fault.kind for fault in report.all_faults}


def sentences(report):
    return {f"{fault.output} {fault.message}" for fault in report.all_faults}


@pytest.fixture
def artifact(tmp_path):
    """A model and its ONNX file, to be tampered with."""
    model, path = dense(), tmp_path / "model.onnx"
    export_onnx(model, path, **SHORT)
    return model, path


def tamper(path, change):
    proto = onnx.load(path)
    change(proto.graph)
    onnx.save(proto, path)


def test_an_untouched_artifact_passes(artifact):
    report = check_parity(*artifact, **SHORT)
    assert report.passed
    assert report.all_faults == ()
    report.raise_if_failed()


def test_a_wrong_constant_is_a_wrong_value_with_its_place(artifact):
    model, path = artifact
    model.get_layer("head").bias.assign([0.0, 0.25, 0.0])
    report = check_parity(model, path, **SHORT)
    assert not report.passed
    assert kinds(report) == {"value"}
    (row,) = report.rows
    assert row.error == pytest.approx(0.25, abs=1e-6)
    assert row.index[-1] == 1
    # As many faults as runs: the first did not end the check.
    assert len(report.all_faults) == len(report.comparisons) == 2
    assert report.all_faults[0].message.startswith("differs by 0.25 at [")


def test_an_error_just_above_the_tolerance_is_found(artifact):
    model, path = artifact
    model.get_layer("head").bias.assign([0.0, 0.0, 6e-5])
    assert not check_parity(model, path, **SHORT).passed
    assert check_parity(model, path, tolerance=1e-4, **SHORT).passed
    assert check_parity(model, path, tolerance={"float32": 1e-4}, **SHORT).passed


def test_a_swapped_input_pair_is_found(tmp_path):
    model, path = difference(), tmp_path / "model.onnx"
    export_onnx(model, path, **SHORT)

    def swap(graph):
        (node,) = [node for node in graph.node if node.op_type == "Sub"]
        node.input[0], node.input[1] = node.input[1], node.input[0]

    tamper(path, swap)
    report = check_parity(model, path, **SHORT)
    assert kinds(report) == {"value"}


def test_a_baked_length_is_found(tmp_path):
    tokens = token_input()
    vectors = layers.Embedding(9, 4, name="vectors")(tokens)
    baked = keras.Input((5,), dtype="int32", name="ids")
    path = tmp_path / "model.onnx"
    embedding = layers.Embedding(9, 4, name="vectors")
    fixed = keras.Model(baked, embedding(baked))
    model = keras.Model(tokens, vectors)
    fixed.set_weights(model.get_weights())
    export_onnx(fixed, path)
    report = check_parity(model, path, batch_sizes=(2,), lengths=(5, 6))
    assert kinds(report) == {"axes", "refused"}
    axes, fault = report.all_faults[:2]
    assert f"{axes.output} {axes.message}" == (
        "ids has the axes ('batch', 5), the model's are ('batch', 'ids_length')"
    )
    assert fault.message == (
        "the artifact refuses batch 2, ids_length 6: FeedError: Input `ids` must be "
        "int32 of shape (batch, 5). Received: int32 of shape (2, 6)"
    )


def test_a_baked_length_in_the_graph_is_a_wrong_shape(artifact):
    model, path = artifact

    def cut(graph):
        graph.output[0].name = "whole"
        for node in graph.node:
            node.output[:] = ["whole" if o == "head" else o for o in node.output]
        for name, value in (("start", 0), ("stop", 5), ("axis", 1)):
            tensor = numpy_helper.from_array(np.array([value], np.int64), name)
            graph.initializer.append(tensor)
        inputs = ["whole", "start", "stop", "axis"]
        graph.node.append(helper.make_node("Slice", inputs, ["head"]))
        graph.output[0].name = "head"

    tamper(path, cut)
    report = check_parity(model, path, **SHORT)
    assert kinds(report) == {"shape"}
    assert (
        "head has shape (3, 5, 3), the model's is (3, 7, 3) at batch 3, features_"
        in (" ".join(sentences(report)))
    )


def test_a_wrong_input_dtype_is_found_beside_the_rest(tmp_path):
    path = tmp_path / "model.onnx"
    wide = keras.Input((None,), dtype="int64", name="ids")
    embedding = layers.Embedding(9, 4, name="vectors")
    export_onnx(keras.Model(wide, embedding(wide)), path, **SHORT)
    tokens = token_input()
    model = keras.Model(tokens, embedding(tokens))
    report = check_parity(model, path, **SHORT)
    assert sentences(report) == {"ids is an input of int64, the model's is int32"}
    assert kinds(report) == {"dtype"}
    # The values were compared all the same.
    assert len(report.comparisons) == 2


def retype(graph, operator, **attributes):
    """Append an operator between the graph and its only output."""
    for node in graph.node:
        node.output[:] = ["whole" if o == "head" else o for o in node.output]
    graph.node.append(helper.make_node(operator, ["whole"], ["head"], **attributes))


def test_a_wrong_output_dtype_is_found(artifact):
    model, path = artifact

    def narrow(graph):
        retype(graph, "Cast", to=onnx.TensorProto.DOUBLE)
        graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE

    tamper(path, narrow)
    report = check_parity(model, path, **SHORT)
    assert sentences(report) == {"head is float64, the model's is float32"}
    assert kinds(report) == {"dtype"}


def test_a_planted_nan_is_found(artifact):
    model, path = artifact
    tamper(path, lambda graph: retype(graph, "Sqrt"))
    report = check_parity(model, path, **SHORT)
    assert "nan" in kinds(report)
    assert any("the artifact alone gives NaN at [" in s for s in sentences(report))
    assert report.rows[0].error == float("inf")


def test_a_nan_of_the_model_alone_is_found(artifact):
    model, path = artifact
    weights = model.get_layer("head")
    weights.bias.assign([float("nan"), 0.0, 0.0])
    report = check_parity(model, path, **SHORT)
    assert any(
        "the model alone gives NaN at [0, 0, 0] of batch 1" in s
        for s in sentences(report)
    )


def test_a_renamed_output_is_found(artifact):
    model, path = artifact

    def rename(graph):
        for node in graph.node:
            node.output[:] = ["tail" if o == "head" else o for o in node.output]
        graph.output[0].name = "tail"

    tamper(path, rename)
    report = check_parity(model, path, **SHORT)
    assert not report.passed
    assert sentences(report) == {
        "head is an output of the model only",
        "tail is an output of the artifact only",
    }


def test_a_renamed_input_is_found(artifact):
    model, path = artifact

    def rename(graph):
        for node in graph.node:
            node.input[:] = ["x" if i == "features" else i for i in node.input]
        graph.input[0].name = "x"

    tamper(path, rename)
    report = check_parity(model, path, **SHORT)
    assert kinds(report) == {"name"}
    assert not report.passed
    assert "Nothing was compared." in str(report)


def test_the_artifact_of_other_weights_fails_as_a_saved_model_too(tmp_path):
    model, path = encoder(), tmp_path / "model"
    export_saved_model(model, path, **SHORT)
    head = model.get_layer("head")
    head.bias.assign(head.bias + 0.01)
    report = check_parity(model, path, **SHORT)
    assert kinds(report) == {"value"}


def test_everything_is_evaluated_before_anything_is_raised(artifact):
    model, path = artifact
    model.get_layer("head").bias.assign([0.0, 0.25, 0.0])
    report = check_parity(model, path, **SHORT)
    with pytest.raises(ParityError) as raised:
        report.raise_if_failed()
    assert raised.value.report is report
    assert str(raised.value) == (
        f"The artifact '{path}' differs from its model.\n{report}"
    )


class LearnedPositions(layers.Layer):
    """Adds a table of 20 positions, and so refuses longer inputs."""

    def build(self, shape):
        self.table = self.add_weight(shape=(20, shape[-1]), name="table")

    def call(self, x):
        positions = keras.ops.arange(keras.ops.shape(x)[1])
        return x + keras.ops.take(self.table, positions, axis=0)


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A model that takes up to 20 tokens, and its ONNX file."""
    features = keras.Input((None, 4), name="features")
    path = tmp_path_factory.mktemp("limited") / "model.onnx"
    model = keras.Model(features, LearnedPositions(name="placed")(features))
    return model, path, export_onnx(model, path)


def test_a_length_that_the_model_itself_refuses_is_noted(limited):
    *_, report = limited
    assert report.passed
    assert len(report.comparisons) == 3
    assert report.notes[0].startswith(
        "the model itself refuses batch 5, features_length 64: InvalidArgumentError: "
    )


def test_a_length_that_was_asked_for_and_the_model_refuses_is_a_fault(limited):
    model, path, _ = limited
    report = check_parity(model, path, lengths=(9, 21), batch_sizes=(2,))
    assert kinds(report) == {"refused"}
    assert len(report.comparisons) == 1
    assert report.all_faults[0].message.startswith(
        "the model itself refuses batch 2, features_length 21: "
    )


def test_a_check_that_compared_nothing_has_not_passed(limited):
    model, path, _ = limited
    assert not check_parity(model, path, lengths=(21,)).passed


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "which does not exist"),
        (lambda path: path.write_text("not a model"), "which fails with: "),
        (lambda path: path.mkdir(), "which fails with: "),
    ],
)
def test_what_is_no_artifact_is_refused_in_one_sentence(tmp_path, make, sentence):
    path = tmp_path / "artifact"
    make(path)
    with pytest.raises((ValueError, FileNotFoundError)) as raised:
        check_parity(dense(), path)
    assert str(raised.value).startswith("`filepath` must be a SavedModel directory or")
    assert f"Received: filepath='{path}', {sentence}" in str(raised.value)
