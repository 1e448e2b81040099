import json

import keras
import onnx
import pytest
from export_models import dense
from keras import layers

from keras_sinpe import SinusoidalPositionalEncoding, __version__
from keras_sinpe.exporting import describe, export_onnx, export_saved_model
from keras_sinpe.parity import check_parity

EXPORTERS = {"model.onnx": export_onnx, "model": export_saved_model}


@pytest.fixture(scope="module", params=EXPORTERS)
def artifact(request, tmp_path_factory):
    vectors = keras.Input((None, 8), name="vectors", dtype="float32")
    encoding = SinusoidalPositionalEncoding(max_wavelength=500, name="encoded")
    model = keras.Model(vectors, encoding(vectors), name="small")
    path = tmp_path_factory.mktemp("described") / request.param
    return path, EXPORTERS[request.param](model, path, lengths=(1, 7))


def test_an_artifact_says_how_it_was_made_and_proved(artifact):
    path, report = artifact
    metadata = describe(path).metadata
    assert metadata["model"] == "small"
    assert metadata["dtype_policy"] == "float32"
    assert metadata["versions"]["keras"] == keras.__version__
    assert metadata["versions"]["keras_sinpe"] == __version__
    parity = metadata["parity"]
    proved = "serve" if path.suffix else "serving_default"
    assert parity[proved] == report.to_dict()
    assert set(parity) == {"serve", proved}
    (layer,) = metadata["layers"]
    assert (layer["name"], layer["class"]) == (
        "encoded",
        "SinusoidalPositionalEncoding",
    )
    assert layer["config"]["max_wavelength"] == 500


def test_an_onnx_file_says_its_opset_and_precision(tmp_path):
    export_onnx(dense(), tmp_path / "m.onnx", opset_version=15, lengths=(2,))
    metadata = describe(tmp_path / "m.onnx").metadata
    assert (metadata["opset_version"], metadata["precision"]) == (15, "float32")


def test_metadata_are_one_json_entry_of_the_file(tmp_path):
    export_onnx(dense(), tmp_path / "m.onnx", lengths=(2,))
    (entry,) = onnx.load(tmp_path / "m.onnx").metadata_props
    assert entry.key == "keras_sinpe"
    assert json.loads(entry.value) == describe(tmp_path / "m.onnx").metadata


def test_metadata_lie_where_a_saved_model_keeps_files_of_others(tmp_path):
    export_saved_model(dense(), tmp_path / "m", lengths=(2,))
    data = json.loads((tmp_path / "m" / "assets.extra/keras_sinpe.json").read_text())
    assert data == describe(tmp_path / "m").metadata


def test_a_description_prints_inputs_outputs_axes_and_proof(artifact):
    path, _ = artifact
    printed = str(describe(path))
    axes = "batch x vectors_length x 8" if path.suffix else "? x ? x 8"
    words = [" ".join(line.split()) for line in printed.splitlines()]
    assert words[0] == str(path)
    assert f"input vectors float32 {axes}" in words
    assert f"output encoded float32 {axes}" in words
    assert "proof: the artifact is as it was when it was proved" in words
    assert "parity of serve: passed in 3 runs" in words
    assert any(line.startswith("parity of serve: encoded within ") for line in words)
    # Of the options only those that are not the layer's defaults.
    call = "SinusoidalPositionalEncoding(max_wavelength=500.0)"
    assert f"layer encoded: {call}" in words


def test_a_description_is_json(artifact):
    path, _ = artifact
    data = json.loads(describe(path).to_json())
    assert [port["name"] for port in data["inputs"]] == ["vectors"]
    assert [port["dtype"] for port in data["outputs"]] == ["float32"]


def test_an_artifact_of_another_exporter_is_described_without_metadata(tmp_path):
    model = keras.Sequential([keras.Input((4,), name="x"), layers.Dense(2)])
    model.export(tmp_path / "model", verbose=False)
    description = describe(tmp_path / "model")
    assert (description.proof, description.metadata) == ("none", {})
    assert str(description).endswith("proof: no record: another exporter made this")


def test_an_artifact_is_proved_again_and_another_model_is_not(artifact):
    path, _ = artifact
    vectors = keras.Input((None, 8), name="vectors")
    encoding = SinusoidalPositionalEncoding(max_wavelength=500, name="encoded")
    model = keras.Model(vectors, encoding(vectors))
    assert check_parity(model, path, lengths=(2, 65)).passed
    encoding = SinusoidalPositionalEncoding(max_wavelength=501, name="encoded")
    wrong = keras.Model(vectors, encoding(vectors))
    assert not check_parity(wrong, path, lengths=(2, 65)).passed


def test_an_unknown_endpoint_is_refused_with_those_that_exist(tmp_path):
    model, path = dense(), tmp_path / "m"
    export_saved_model(model, path, lengths=(2,))
    sentence = (
        "`endpoint` must be one of ['serve', 'serving_default']. "
        "Received: endpoint='nope'"
    )
    with pytest.raises(ValueError, match="`endpoint` must be") as raised:
        check_parity(model, path, endpoint="nope")
    assert str(raised.value) == sentence
    with pytest.raises(ValueError, match="`endpoint` must be") as raised:
        describe(path, endpoint="nope")
    assert str(raised.value) == sentence
