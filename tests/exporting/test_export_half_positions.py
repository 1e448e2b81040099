"""Float16 cannot hold real-valued positions, so they are refused."""

import keras
import numpy as np
import pytest
from export_models import run_onnx

from keras_sinpe.exporting import ExportError, export_onnx
from keras_sinpe.layers import SinusoidalPositionalEncoding

SHORT = {"batch_sizes": (2,), "lengths": (3,)}
# Sums of two numbers of at most 1, each rounded to float16.
FLOAT16_TOLERANCE = 2e-3


def placed(dtype):
    """A model that encodes given positions."""
    vectors = keras.Input((None, 6), name="vectors")
    places = keras.Input((None,), dtype=dtype, name="places")
    layer = SinusoidalPositionalEncoding()
    return keras.Model([vectors, places], layer(vectors, positions=places))


def started():
    vectors = keras.Input((None, 6), name="vectors")
    return keras.Model(
        vectors, SinusoidalPositionalEncoding()(vectors, start_index=5000)
    )


def test_real_positions_are_refused_in_float16_and_nothing_is_written(tmp_path):
    with pytest.raises(ExportError) as raised:
        export_onnx(placed("float32"), tmp_path / "m", precision="float16", **SHORT)
    assert str(raised.value) == (
        '`precision` must be "float32" for a model with real-valued positions, whose '
        "integer parts float16 cannot hold above 2048; integer positions work in both. "
        "Received: precision='float16'"
    )
    assert list(tmp_path.iterdir()) == []


def test_real_positions_are_welcome_in_float32(tmp_path):
    assert export_onnx(placed("float32"), tmp_path / "m.onnx", **SHORT).passed


def test_integer_positions_beyond_float16_are_right_in_float16(tmp_path):
    model, path = placed("int32"), tmp_path / "m.onnx"
    export_onnx(model, path, precision="float16", **SHORT)
    feeds = {
        "vectors": np.zeros((1, 3, 6), "float32"),
        "places": np.array([[7, 2049, 70001]], "int32"),
    }
    (received,) = run_onnx(path, **feeds).values()
    np.testing.assert_allclose(received, model(feeds), rtol=0, atol=FLOAT16_TOLERANCE)


def test_a_start_beyond_float16_is_exported_in_float16(tmp_path):
    report = export_onnx(started(), tmp_path / "m", precision="float16", **SHORT)
    assert report.passed
