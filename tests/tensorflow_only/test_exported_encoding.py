"""The encoding in ONNX Runtime and in a SavedModel: as exact as in Keras."""

import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
from exactness import INTEGER_TOLERANCE, REAL_TOLERANCE, assert_exact
from peer_vectors import PEER_TOLERANCE, PLAIN, expected, positions

import keras_sinpe
from keras_sinpe import reference

STARTS = [0, 4096, 65536, 2**20, 2**24, 2**31 - 1000, -5000, -(2**31)]


def model_of_every_start():
    """One start for the batch, and one per sample, as two outputs."""
    inputs = keras.Input((None, 512), name="inputs")
    starts = keras.Input((), dtype="int32", name="starts")
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    outputs = {
        "one": layer(inputs, start_index=starts[0]),
        "each": layer(inputs, start_index=starts),
    }
    return keras.Model({"inputs": inputs, "starts": starts}, outputs)


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    folder, model = tmp_path_factory.mktemp("starts"), model_of_every_start()
    sizes = {"batch_sizes": (2,), "lengths": (3,)}
    keras_sinpe.export_onnx(model, folder / "starts.onnx", **sizes)
    keras_sinpe.export_saved_model(model, folder / "saved", **sizes)
    session = onnxruntime.InferenceSession(
        str(folder / "starts.onnx"), providers=["CPUExecutionProvider"]
    )
    saved = tf.saved_model.load(folder / "saved")
    names = [value.name for value in session.get_outputs()]
    return {
        "ONNX Runtime": lambda feeds: dict(
            zip(names, session.run(names, feeds), strict=True)
        ),
        "SavedModel": lambda feeds: saved.signatures["serving_default"](
            **{name: tf.constant(value) for name, value in feeds.items()}
        ),
    }


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("runtime", ["ONNX Runtime", "SavedModel"])
def test_every_start_of_int32_is_exact_in_the_artifact(artifacts, runtime, start):
    starts = np.array([start, 70001], "int32")
    zeros = np.zeros((2, 512, 512), "float32")
    outputs = artifacts[runtime]({"inputs": zeros, "starts": starts})
    rows = reference.encode(starts[:, None] + np.arange(512), 512)
    assert_exact(outputs["each"], rows, INTEGER_TOLERANCE)
    assert_exact(outputs["one"], np.stack([rows[0]] * 2), INTEGER_TOLERANCE)


def output_of(name):
    """The stored case that stands for all with the same width and parameters."""
    alike = [
        other
        for other, case in PLAIN.items()
        if all(case[key] == PLAIN[name][key] for key in ("feature_dim", "parameters"))
        and positions(case).dtype == positions(PLAIN[name]).dtype
    ]
    return alike[0]


def model_of_all_peers():
    """Every stored convention as one output of one model."""
    inputs = {
        width: keras.Input((None, width), name=f"width_{width}") for width in (7, 8)
    }
    integers = keras.Input((None,), dtype="int32", name="integers")
    reals = keras.Input((None,), dtype="float32", name="reals")
    outputs = {}
    for name in dict.fromkeys(map(output_of, PLAIN)):
        case = PLAIN[name]
        layer = keras_sinpe.SinusoidalPositionalEncoding(**case["parameters"])
        given = integers if positions(case).dtype == "int32" else reals
        outputs[name] = layer(inputs[case["feature_dim"]], positions=given)
    every = {tensor.name: tensor for tensor in [*inputs.values(), integers, reals]}
    return keras.Model(every, outputs)


@pytest.fixture(scope="module")
def peers_session(tmp_path_factory):
    path = tmp_path_factory.mktemp("peers") / "peers.onnx"
    keras_sinpe.export_onnx(model_of_all_peers(), path, batch_sizes=(2,), lengths=(3,))
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", PLAIN)
def test_onnx_runtime_gives_the_rows_of_the_peer(peers_session, name):
    given = positions(PLAIN[name])[None]
    feeds = {
        "width_7": np.zeros((1, given.shape[1], 7), "float32"),
        "width_8": np.zeros((1, given.shape[1], 8), "float32"),
        "integers": given.astype("int32"),
        "reals": given.astype("float32"),
    }
    (received,) = peers_session.run([output_of(name)], feeds)
    assert_exact(received, expected(PLAIN[name])[None], PEER_TOLERANCE)


MILLISECONDS = np.array([[1_700_000_000_123, -1_700_000_000_123, 86_400_001, -7]])


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_onnx_runtime_encodes_milliseconds_since_1970_as_days(tmp_path, dtype):
    numbers = keras.Input((None,), dtype=dtype, name="numbers")
    layer = keras_sinpe.SinusoidalEmbedding(8, position_scale=1 / 86_400_000)
    path = tmp_path / "days.onnx"
    keras_sinpe.export_onnx(keras.Model(numbers, layer(numbers)), path)
    session = onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"]
    )
    (received,) = session.run(None, {"numbers": MILLISECONDS.astype(dtype)})
    # 19,676 days in float64 err by 4e-12.
    expected = reference.encode(MILLISECONDS / 86_400_000, 8)
    assert_exact(received, expected, REAL_TOLERANCE)
