import keras
import numpy as np
import onnx
import pytest
from export_models import FLOAT32_TOLERANCE, ids, run_onnx, token_input
from keras import layers

from keras_sinpe.exporting import export_onnx


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory):
    keras.utils.set_random_seed(6)
    tokens = token_input()
    x = layers.Embedding(11, 5, mask_zero=True)(tokens)
    x = layers.Bidirectional(layers.GRU(3, return_sequences=True), name="states")(x)
    model, path = keras.Model(tokens, x), tmp_path_factory.mktemp("onnx") / "gru.onnx"
    export_onnx(model, path, batch_sizes=(1,), lengths=(1, 7))
    return model, path


def bodies(path):
    nodes = onnx.load(path).graph.node
    return [node.attribute[0].g for node in nodes if node.op_type == "Loop"]


def test_no_output_of_a_loop_is_an_input_of_its_body(recurrent):
    """OpenVINO 2026 counts such a tensor twice and refuses the file."""
    found = bodies(recurrent[1])
    assert len(found) == 2  # one for each direction
    for body in found:
        passed_on = {v.name for v in body.input} & {v.name for v in body.output}
        assert passed_on == set()


def test_a_loop_that_copies_what_it_passes_on_computes_the_same(recurrent):
    model, path = recurrent
    tokens = ids(2, 9)
    received = run_onnx(path, ids=tokens)["states"]
    expected = np.asarray(model(tokens))
    np.testing.assert_allclose(received, expected, rtol=0, atol=FLOAT32_TOLERANCE)
