"""Smaller ONNX files, and what they cost; files that would be too large."""

import shutil
import textwrap

import keras
import numpy as np
import onnx
import pytest
from export_models import dense, ids, run_onnx, session, token_input
from keras import layers

from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.exporting import ExportError, export_onnx
from keras_sinpe.exporting.errors import check_size
from keras_sinpe.parity import check_parity

WIDTH = 64
# Twenty roundings of float16, 4.9e-4 each. Measured: up to 3.4e-3 of the magnitude.
FLOAT16_TOLERANCE = 1e-2
# What the recipe in the docstring says. Measured: 0.014, on AVX2 alone too; weights and
# activations of two layers are each off by up to half of 1/255 of their range.
RECIPE_ERROR = 0.021


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


def follow_recipe(model, folder, monkeypatch):
    """Run the snippet for 8 bits in the docstring, from `model.onnx` on."""
    snippet = export_onnx.__doc__.partition("```python")[2].partition("```")[0]
    monkeypatch.chdir(folder)
    names = {"model": model, "check_parity": check_parity}
    exec(textwrap.dedent(snippet), names)


def test_the_recipe_for_weights_of_8_bits_costs_what_it_says(
    exported, tmp_path, monkeypatch, capsys
):
    large, small = tmp_path / "model.onnx", tmp_path / "small.onnx"
    shutil.copy(exported[1] / "float32.onnx", large)
    follow_recipe(exported[0], tmp_path, monkeypatch)
    assert "PASSED" in capsys.readouterr().out
    report = check_parity(exported[0], small, tolerance=RECIPE_ERROR)
    report.raise_if_failed()
    assert not check_parity(exported[0], small, lengths=(7,)).passed
    kernels = WIDTH * 4 * WIDTH + 4 * WIDTH * 5
    assert small.stat().st_size < large.stat().st_size - 2 * kernels


def test_the_recipe_quantizes_to_what_every_processor_adds_without_saturation(
    exported, tmp_path, monkeypatch
):
    """Pairs of unsigned by signed products overflow 16 bits where there is no VNNI."""
    shutil.copy(exported[1] / "float32.onnx", tmp_path / "model.onnx")
    follow_recipe(exported[0], tmp_path, monkeypatch)
    tensors = onnx.load(tmp_path / "small.onnx").graph.initializer
    dtypes = [tensor.data_type for tensor in tensors if len(tensor.dims) == 2]
    assert dtypes.count(onnx.TensorProto.UINT8) == 2
    assert onnx.TensorProto.INT8 not in dtypes


def test_the_recipe_leaves_the_encoding_as_it_is(tmp_path, monkeypatch):
    """Rounded to 8 bits, its tables would be off by 0.012."""
    embeddings = keras.Input((None, WIDTH), name="x")
    encoded = SinusoidalPositionalEncoding(name="encoded")(embeddings)
    alone = keras.Model(embeddings, encoded)
    export_onnx(alone, tmp_path / "model.onnx", lengths=(1, 7, 65))
    follow_recipe(alone, tmp_path, monkeypatch)
    zeros = np.zeros((2, 70, WIDTH), "float32")
    large, small = (
        run_onnx(tmp_path / name, x=zeros)["encoded"]
        for name in ("model.onnx", "small.onnx")
    )
    np.testing.assert_array_equal(small, large)


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
