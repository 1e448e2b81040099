"""Smaller ONNX files, and what they cost; files that would be too large."""

import keras
import numpy as np
import onnx
import pytest
from export_models import dense, ids, run_onnx, session, token_input
from keras import layers
from onnxruntime.quantization import QuantType, quantize_dynamic

from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.exporting import ExportError, export_onnx
from keras_sinpe.exporting.size_limit import check_size
from keras_sinpe.parity import check_parity

WIDTH = 64
# Weights and activations of 8 bits in two layers: each of the four roundings may be
# off by half of 1/127 of the range. Measured: 0.021.
INT8_TOLERANCE = 0.05


def model():
    keras.utils.set_random_seed(1)
    tokens = token_input()
    x = layers.Embedding(11, WIDTH, name="tokens")(tokens)
    x = SinusoidalPositionalEncoding()(x)
    x = layers.Dense(4 * WIDTH, activation="tanh")(x)
    return keras.Model(tokens, layers.Dense(5, name="head")(x))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder, original = tmp_path_factory.mktemp("compression"), model()
    for precision in ("float32", "float16"):
        path = folder / f"{precision}.onnx"
        report = export_onnx(original, path, precision=precision, lengths=(1, 7, 64))
    return original, folder, report


def test_half_precision_keeps_float32_inputs_and_outputs(exported):
    opened = session(exported[1] / "float16.onnx")
    assert [value.type for value in opened.get_inputs()] == ["tensor(int32)"]
    assert [value.type for value in opened.get_outputs()] == ["tensor(float)"]
    assert opened.get_outputs()[0].shape == ["batch", "ids_length", 5]


def test_half_precision_holds_no_float32_weights(exported):
    graph = onnx.load(exported[1] / "float16.onnx").graph
    dtypes = {tensor.data_type for tensor in graph.initializer}
    assert onnx.TensorProto.FLOAT16 in dtypes
    assert onnx.TensorProto.FLOAT not in dtypes


def recurrent():
    keras.utils.set_random_seed(6)
    features = keras.Input((None, 4), name="features")
    masked = layers.Masking()(layers.Dense(5)(features))
    return keras.Model(features, layers.GRU(3, name="head")(masked))


@pytest.mark.parametrize("make", [dense, recurrent])
def test_half_precision_keeps_float_inputs(tmp_path, make):
    path = tmp_path / "model.onnx"
    export_onnx(make(), path, precision="float16", lengths=(1, 7))
    opened = session(path)
    assert [value.type for value in opened.get_inputs()] == ["tensor(float)"]
    features = np.random.default_rng(0).standard_normal((3, 5, 4)).astype("float32")
    received = run_onnx(path, features=features)["head"]
    expected = np.asarray(make()(features))
    error = np.abs(received - expected).max()
    assert 0 < error <= FLOAT16_TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("length", [512, 4096, 70_000])
def test_half_precision_is_within_its_tolerance_at_any_length(exported, length):
    original, folder, _ = exported
    tokens = ids(1, length)
    expected = original.predict(tokens, verbose=0)
    received = run_onnx(folder / "float16.onnx", ids=tokens)["head"]
    assert np.abs(received - expected).max() <= FLOAT16_TOLERANCE


def test_the_report_has_the_error_of_half_precision(exported):
    original, folder, report = exported
    tokens = ids(3, 64)
    received = run_onnx(folder / "float16.onnx", ids=tokens)["head"]
    error = np.abs(received - np.asarray(original(tokens))).max()
    (row,) = report.rows
    assert 0 < error <= 10 * row.error
    assert 1e-5 < row.error <= FLOAT16_TOLERANCE


def test_a_check_knows_that_a_file_is_in_half_precision(exported):
    original, folder, _ = exported
    assert check_parity(original, folder / "float16.onnx", lengths=(7,)).passed
    strict = check_parity(
        original, folder / "float16.onnx", lengths=(7,), tolerance=1e-5
    )
    assert not strict.passed


def test_an_unknown_precision_is_refused(tmp_path):
    with pytest.raises(ValueError, match="precision") as raised:
        export_onnx(model(), tmp_path / "model.onnx", precision="int8")
    assert str(raised.value) == (
        '`precision` must be "float32" or "float16". Received: precision=\'int8\''
    )


def test_the_recipe_for_weights_of_8_bits_costs_what_it_says(exported):
    original, folder, _ = exported
    large, small = folder / "float32.onnx", folder / "int8.onnx"
    quantize_dynamic(large, small, weight_type=QuantType.QInt8)
    report = check_parity(original, small, tolerance=INT8_TOLERANCE, lengths=(1, 7, 64))
    report.raise_if_failed()
    assert not check_parity(original, small, lengths=(7,)).passed
    weights = sum(weight.size for weight in original.get_weights())
    assert small.stat().st_size < large.stat().st_size - 2 * weights


def test_weights_beyond_the_limit_of_a_file_are_refused():
    inputs = keras.Input((10,), name="x")
    large = keras.Model(inputs, layers.Dense(10, name="d")(inputs), name="large")
    check_size(large, limit=440)
    with pytest.raises(ExportError) as raised:
        check_size(large, limit=439)
    assert str(raised.value) == (
        "`model` must have at most 439 bytes of float32 weights to fit into an ONNX "
        "file; a SavedModel has no such limit. "
        "Received: model='large' with 440 bytes"
    )


class Huge(keras.Model):
    """Claims weights of 2 GB without holding them."""

    def __init__(self):
        super().__init__(name="huge")
        self.built = True

    @property
    def weights(self):
        return [keras.KerasTensor((2**15, 2**14))]


def test_a_model_beyond_2_gb_is_refused_before_any_work(tmp_path):
    with pytest.raises(ExportError, match=r"2,147,483,648 bytes$"):
        export_onnx(Huge(), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
