import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from shipping_page import headings, run_snippet, ship, snippets

import keras_sinpe  # noqa: F401 (registers the layer)

pytestmark = pytest.mark.slow  # the page starts TensorFlow three times

RUNTIME_SECTIONS = {
    "Node",
    "Browser",
    "OpenVINO",
    "LiteRT",
    "MLServer",
    "saved_model_cli",
}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return folder, ship(folder)


def test_onnx_runtime_prints_what_keras_prints(shipped):
    folder, printed = shipped
    [(language, code)] = snippets("ONNX Runtime")
    assert len(printed.split()) == 5
    assert run_snippet(language, code, folder) == printed


def test_the_body_for_tensorflow_serving_fits_the_signature(shipped):
    folder, printed = shipped
    _, (_, body) = snippets("TensorFlow Serving")
    request = json.loads(body)
    loaded = tf.saved_model.load(str(folder / "served" / "classifier" / "1"))
    signature = loaded.signatures[request["signature_name"]]
    tensors = {
        name: tf.constant(values, signature.structured_input_signature[1][name].dtype)
        for name, values in request["inputs"].items()
    }
    [label] = signature(**tensors)["label"].numpy()
    assert label == pytest.approx([float(text) for text in printed.split()], abs=1e-3)


def test_no_section_is_left_without_a_test():
    here = {"A model", "Export", "ONNX Runtime", "TensorFlow Serving"}
    prose = {"Measured", "What the check proves"}
    assert set(headings()) == here | RUNTIME_SECTIONS | prose


def test_the_model_of_the_page_ignores_its_padding(shipped):
    folder, _ = shipped
    model = keras.saving.load_model(folder / "model.keras")
    padded = np.array([[3, 4, 5, 0, 0], [3, 4, 5, 6, 7]], "int32")
    alone = np.array([[3, 4, 5]], "int32")
    np.testing.assert_allclose(model(padded)[:1], model(alone), rtol=0, atol=1e-5)
