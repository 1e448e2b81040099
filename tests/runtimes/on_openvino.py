"""OpenVINO, from the ONNX file and from the SavedModel, in both precisions."""

import pytest
from fed_artifacts import MODELS, RUNTIMES, mean_error, python_of
from shipping_page import run_snippet, snippets

DEFAULT_PRECISION = (python_of("openvino"), RUNTIMES / "run_openvino.py")
FLOAT32 = (*DEFAULT_PRECISION, "--precision", "f32")
ARTIFACTS = ("model.onnx", "saved_model")

# In bfloat16 the mean error of an encoder at length 1024 was 0.96 to 1.20 times the one
# without an encoding, over five seeds, and to three digits the one with a stored
# float32 table in its place: the excess is the other input's, not the encoding's.
SHARE_OF_THE_ERROR_WITHOUT_ENCODING = 1.25


@pytest.mark.parametrize("name", ARTIFACTS)
@pytest.mark.parametrize("model", MODELS)
def test_openvino_computes_what_keras_computes(model, name, measure):
    assert measure(FLOAT32, model, name) <= MODELS[model]


@pytest.mark.parametrize("name", ARTIFACTS)
def test_the_default_precision_is_no_worse_than_without_an_encoding(name, measure):
    with_encoding, without = (
        measure(DEFAULT_PRECISION, model, name, ["3x1024"], error=mean_error)
        for model in ("encoder_classifier", "encoder_classifier_without_encoding")
    )
    assert with_encoding <= SHARE_OF_THE_ERROR_WITHOUT_ENCODING * without


def test_the_snippet_of_the_page_prints_what_keras_prints(shipped):
    folder, printed = shipped
    [(language, code)] = snippets("OpenVINO")
    python = DEFAULT_PRECISION[0]
    assert run_snippet(language, code, folder, python) == 2 * printed
