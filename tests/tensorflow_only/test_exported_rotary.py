"""Attention with rotated queries and keys, exported with proof at any length."""

import keras
import onnx
import pytest
from keras import layers, ops

import keras_sinpe

LENGTHS = (1, 64, 65, 1000)


def attention_model(layout):
    keras.utils.set_random_seed(2)
    inputs = keras.Input((None, 12), name="inputs")
    heads = layers.Dense(12)(inputs), layers.Dense(12)(inputs)
    rotate = keras_sinpe.RotaryPositionalEncoding(layout=layout)
    query, key = (rotate(tensor) for tensor in heads)
    scores = ops.softmax(ops.matmul(query, ops.transpose(key, (0, 2, 1))))
    return keras.Model(inputs, layers.Dense(3, name="out")(ops.matmul(scores, inputs)))


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
def test_both_artifacts_are_proved_and_onnx_evaluates_no_sine(layout, tmp_path):
    model, sizes = attention_model(layout), {"batch_sizes": (2,), "lengths": LENGTHS}
    assert keras_sinpe.export_saved_model(model, tmp_path / "saved", **sizes).passed
    path = tmp_path / "model.onnx"
    assert keras_sinpe.export_onnx(model, path, **sizes).passed
    graph = onnx.load(path).graph
    assert not {"Sin", "Cos"} & {node.op_type for node in graph.node}
    double = onnx.TensorProto.DOUBLE
    assert double not in {table.data_type for table in graph.initializer}
