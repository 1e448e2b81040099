"""Generic float16 converters, run by users on an exported file, keep the encoding."""

import keras
import numpy as np
import onnx
import onnxruntime
import pytest
from keras import ops
from onnxconverter_common import float16 as onnxconverter_float16
from onnxruntime.transformers import float16 as onnxruntime_float16

from keras_sinpe import SinusoidalPositionalEncoding, export_onnx

WIDTH = 512
LENGTHS = (512, 4096, 70000)
# Four roundings to float16 of numbers within [-1, 1], 4.9e-4 each: two products of
# rotations, the product with the waves, and the sum.
TOLERANCE = 2e-3
CONVERTERS = {
    "onnxruntime": onnxruntime_float16.convert_float_to_float16,
    "onnxconverter_common": onnxconverter_float16.convert_float_to_float16,
}


@keras.saving.register_keras_serializable("float16_tests")
class AngleEncoding(keras.layers.Layer):
    """What others do: multiply positions by frequencies, in the graph."""

    def call(self, x):
        pair = np.arange(WIDTH) // 2
        frequencies = (10000.0 ** (-2 * pair / WIDTH)).astype("float32")
        phases = (np.arange(WIDTH) % 2 * np.pi / 2).astype("float32")
        positions = ops.cast(ops.arange(ops.shape(x)[1], dtype="int32"), "float32")
        return x + ops.sin(positions[:, None] * frequencies + phases)


def converted(layer, folder, convert):
    """A session on the float16 conversion of a model that is one layer."""
    x = keras.Input((None, WIDTH), name="x")
    path = str(folder / "model.onnx")
    export_onnx(keras.Model(x, layer(x)), path, batch_sizes=(1,), lengths=(1, 7))
    model = convert(onnx.load(path), keep_io_types=True)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def error(session, length):
    """The largest distance from the float64 formula, over rows spread evenly."""
    x = np.zeros((1, length, WIDTH), "float32")
    [[encoding]] = session.run(None, {"x": x})
    positions = np.linspace(0, length - 1, min(length, 2048)).astype("int64")
    pair = np.arange(WIDTH) // 2
    angles = positions[:, None] * 10000.0 ** (-2 * pair / WIDTH)
    expected = np.where(np.arange(WIDTH) % 2, np.cos(angles), np.sin(angles))
    return np.abs(encoding[positions] - expected).max()


@pytest.fixture(scope="module", params=CONVERTERS)
def session(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("float16")
    return converted(SinusoidalPositionalEncoding(), folder, CONVERTERS[request.param])


@pytest.mark.parametrize("length", LENGTHS)
def test_a_float16_conversion_of_our_file_keeps_the_encoding(session, length):
    assert error(session, length) <= TOLERANCE


def test_the_same_conversion_ruins_an_encoding_that_computes_angles(tmp_path):
    ruined = converted(AngleEncoding(), tmp_path, CONVERTERS["onnxruntime"])
    assert error(ruined, 4096) > 0.5
    assert np.isnan(error(ruined, 70000))
