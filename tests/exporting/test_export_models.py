"""Every kind of model in both formats, compared with Keras by the test alone."""

import keras
import numpy as np
import onnx
import pytest
import tensorflow as tf
from export_models import FLOAT32_TOLERANCE, axes, ids, run_onnx, session
from keras import layers
from shipped_models import MODELS, SIGNATURES

from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.exporting import export_onnx, export_saved_model

SIZES = [(1, 1), (3, 7), (3, 128), (1, 1024), (1, 4096)]


class Shipped:
    """A model with its two artifacts."""

    def __init__(self, kind, folder):
        keras.utils.set_random_seed(1)
        self.model = MODELS[kind]()
        options = {"input_signature": SIGNATURES.get(kind), "lengths": (1, 7)}
        self.onnx, saved_model = folder / "model.onnx", folder / "model"
        export_onnx(self.model, self.onnx, **options)
        export_saved_model(self.model, saved_model, **options)
        self._loaded = tf.saved_model.load(str(saved_model))
        # Loops of thousands of steps are slow when run eagerly.
        self._keras = tf.function(lambda feeds: self.model(feeds, training=False))
        self.inputs = sorted(axes(session(self.onnx).get_inputs()))

    def feeds(self, batch, length):
        """Ids below the smallest vocabulary; the second input is 3 tokens longer."""
        lengths = {name: length + 3 * n for n, name in enumerate(self.inputs)}
        return {n: ids(batch, size, 7) for n, size in lengths.items()}

    def keras_outputs(self, feeds):
        given = feeds if len(feeds) > 1 else next(iter(feeds.values()))
        return [array.numpy() for array in keras.tree.flatten(self._keras(given))]

    def saved_model_outputs(self, feeds):
        given = {name: tf.constant(array) for name, array in feeds.items()}
        return self._loaded.signatures["serving_default"](**given)


@pytest.fixture(scope="module", params=MODELS)
def shipped(request, tmp_path_factory):
    return Shipped(request.param, tmp_path_factory.mktemp("shipped"))


@pytest.mark.parametrize(("batch", "length"), SIZES)
def test_both_artifacts_compute_what_keras_computes(shipped, batch, length):
    feeds = shipped.feeds(batch, length)
    by_onnx = run_onnx(shipped.onnx, **feeds)
    by_saved_model = shipped.saved_model_outputs(feeds)
    assert sorted(by_onnx) == sorted(by_saved_model)
    expected = shipped.keras_outputs(feeds)
    assert len(expected) == len(by_onnx)
    for wanted, name in zip(expected, by_onnx, strict=True):
        for received in (by_onnx[name], by_saved_model[name].numpy()):
            assert (received.shape, received.dtype) == (wanted.shape, wanted.dtype)
            np.testing.assert_allclose(
                received, wanted, rtol=0, atol=FLOAT32_TOLERANCE, err_msg=name
            )


def test_every_free_axis_is_named_after_an_input(shipped):
    opened = session(shipped.onnx)
    known = {"batch"} | {f"{name}_length" for name in shipped.inputs}
    for shape in axes([*opened.get_inputs(), *opened.get_outputs()]).values():
        assert {axis for axis in shape if isinstance(axis, str)} <= known
        assert shape[0] == "batch"


def encoding_alone(width):
    vectors = keras.Input((None, width), name="vectors")
    return keras.Model(vectors, SinusoidalPositionalEncoding(name="encoded")(vectors))


@pytest.fixture(scope="module")
def encoding_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("encoding") / "encoding.onnx"
    export_onnx(encoding_alone(512), path, lengths=(1, 7))
    return path


def nested_graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nested_graphs(attribute.g)


def test_the_encoding_holds_no_sine_no_float64_and_no_table_of_positions(encoding_file):
    inferred = onnx.shape_inference.infer_shapes(onnx.load(encoding_file))
    graphs = list(nested_graphs(inferred.graph))
    nodes = [node for graph in graphs for node in graph.node]
    assert not {node.op_type for node in nodes} & {"Sin", "Cos"}
    tensors = [tensor for graph in graphs for tensor in graph.initializer]
    assert onnx.TensorProto.DOUBLE not in {tensor.data_type for tensor in tensors}
    # Tables of 0.94 MB, and 512 stored rows of 1.05 MB.
    assert encoding_file.stat().st_size <= 2_050_000
    values = [value for graph in graphs for value in graph.value_info]
    dtypes = {value.name: value.type.tensor_type.elem_type for value in values}
    ranges = [node for node in nodes if node.op_type == "Range"]
    integers = {onnx.TensorProto.INT32, onnx.TensorProto.INT64}
    assert ranges
    for node in ranges:
        assert dtypes[node.output[0]] in integers


def test_one_file_is_exact_at_lengths_it_was_never_checked_at(encoding_file):
    length = 70_000
    vectors = np.zeros((1, length, 512), "float32")
    encoded = run_onnx(encoding_file, vectors=vectors)["encoded"][0, -3:]
    positions = np.arange(length - 3, length, dtype=np.float64)[:, None]
    angles = positions * 10000.0 ** (-np.arange(256) / 256)
    # A few products of numbers in [-1, 1], each rounded once.
    np.testing.assert_allclose(encoded[:, 0::2], np.sin(angles), rtol=0, atol=5e-7)
    np.testing.assert_allclose(encoded[:, 1::2], np.cos(angles), rtol=0, atol=5e-7)


def test_an_attention_kernel_is_stored_once(tmp_path):
    vectors = keras.Input((None, 64), name="vectors")
    attended = layers.MultiHeadAttention(4, 16)(vectors, vectors)
    model, path = keras.Model(vectors, attended), tmp_path / "model.onnx"
    export_onnx(model, path, lengths=(1, 7))
    weights = sum(weight.size * 4 for weight in model.get_weights())
    # The rest is the graph itself: some hundred nodes of some hundred bytes.
    assert path.stat().st_size <= weights + 40_000
