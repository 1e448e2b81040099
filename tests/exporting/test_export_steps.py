"""Decoding token by token must equal the full pass, in every artifact."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from export_models import FLOAT32_TOLERANCE, dense, ids, run_onnx, token_input
from keras import layers

import keras_sinpe.exporting.saved_model as saved_model_room
from keras_sinpe import SinusoidalPositionalEncoding
from keras_sinpe.exporting import describe, export_onnx, export_saved_model
from keras_sinpe.parity import ParityError

WIDTH, VOCABULARY, LENGTH = 8, 11, 12


class Decoder:
    """One causal block as two models with the same layers: all tokens, or the next."""

    def __init__(self):
        keras.utils.set_random_seed(1)
        self.embedding = layers.Embedding(VOCABULARY, WIDTH)
        self.encoding = SinusoidalPositionalEncoding(input_scale="sqrt_dim")
        self.attention = layers.MultiHeadAttention(2, 4)
        self.head = layers.Dense(VOCABULARY, name="logits")

    def full(self):
        tokens = token_input("ids")
        x = self.encoding(self.embedding(tokens))
        x = layers.Add()([x, self.attention(x, x, use_causal_mask=True)])
        return keras.Model(tokens, self.head(x))

    def step(self):
        token = keras.Input((1,), dtype="int32", name="token")
        start = keras.Input((), dtype="int32", name="start_index")
        history = keras.Input((None, WIDTH), name="history")
        new = self.encoding(self.embedding(token), start_index=start)
        seen = layers.Concatenate(axis=1)([history, new])
        x = layers.Add()([new, self.attention(new, seen)])
        return keras.Model(
            {"token": token, "start_index": start, "history": history},
            {"logits": self.head(x), "history_with_token": seen},
        )


@pytest.fixture(scope="module")
def decoder():
    return Decoder()


@pytest.fixture(scope="module")
def saved_model(decoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("steps") / "decoder"
    endpoints = {"step": decoder.step()}
    export_saved_model(decoder.full(), path, endpoints=endpoints, lengths=(1, 7))
    return path


def decode(step, tokens):
    """Feed one token after the other; the logits of all of them."""
    history, logits = np.zeros((len(tokens), 0, WIDTH), "float32"), []
    for index in range(tokens.shape[1]):
        outputs = step(
            token=tokens[:, index : index + 1],
            start_index=np.full(len(tokens), index, "int32"),
            history=history,
        )
        history = np.asarray(outputs["history_with_token"])
        logits.append(np.asarray(outputs["logits"]))
    return np.concatenate(logits, axis=1)


def test_a_saved_model_decodes_step_by_step_what_it_serves_at_once(
    decoder, saved_model
):
    loaded = tf.saved_model.load(str(saved_model))
    tokens = ids(3, LENGTH)

    def step(**feeds):
        return loaded.signatures["step"](
            **{k: tf.constant(v) for k, v in feeds.items()}
        )

    decoded = decode(step, tokens)
    np.testing.assert_allclose(
        decoded, loaded.serve(tokens), rtol=0, atol=FLOAT32_TOLERANCE
    )
    np.testing.assert_allclose(
        decoded, decoder.full()(tokens), rtol=0, atol=FLOAT32_TOLERANCE
    )


def test_an_onnx_file_decodes_step_by_step_what_keras_computes_at_once(
    decoder, tmp_path
):
    path = tmp_path / "step.onnx"
    export_onnx(decoder.step(), path, lengths=(1, 7))
    tokens = ids(3, LENGTH)
    decoded = decode(lambda **feeds: run_onnx(path, **feeds), tokens)
    np.testing.assert_allclose(
        decoded, decoder.full()(tokens), rtol=0, atol=FLOAT32_TOLERANCE
    )


def test_shared_weights_are_stored_once(decoder, saved_model, tmp_path):
    export_saved_model(decoder.full(), tmp_path / "full", lengths=(1, 7))

    def size(path):
        return sum(file.stat().st_size for file in (path / "variables").iterdir())

    weights = sum(weight.size * 4 for weight in decoder.full().get_weights())
    assert size(saved_model) < size(tmp_path / "full") + weights


def test_both_endpoints_are_proved(saved_model):
    parity = describe(saved_model).metadata["parity"]
    assert {name: report["passed"] for name, report in parity.items()} == {
        "serving_default": True,
        "serve": True,
        "step": True,
    }
    assert sorted(describe(saved_model, endpoint="step").inputs) == [
        "history",
        "start_index",
        "token",
    ]


class Forgetful(layers.Layer):
    """Computes something else when it is traced."""

    def call(self, x):
        return x if tf.executing_eagerly() else x + 1.0


def test_an_endpoint_that_fails_its_check_fails_the_export(decoder, tmp_path):
    vectors = keras.Input((None, WIDTH), name="vectors")
    step = keras.Model(vectors, Forgetful(name="forgetful")(vectors))
    with pytest.raises(ParityError, match="forgetful"):
        export_saved_model(
            decoder.full(), tmp_path / "m", endpoints={"step": step}, lengths=(2,)
        )
    assert list(tmp_path.iterdir()) == []


def off_by_one(call):
    return lambda *given: keras.tree.map_structure(lambda x: x + 1, call(*given))


@pytest.mark.parametrize(
    ("name", "makes"), [("serve", "structured_call"), ("serving_default", "named_call")]
)
def test_an_endpoint_off_by_one_fails_by_its_name(tmp_path, monkeypatch, name, makes):
    right = getattr(saved_model_room, makes)
    monkeypatch.setattr(
        saved_model_room, makes, lambda *given: off_by_one(right(*given))
    )
    with pytest.raises(ParityError, match=f"The endpoint '{name}' of ") as raised:
        export_saved_model(dense(), tmp_path / "m", lengths=(2,))
    assert raised.value.report.rows[0].error == pytest.approx(1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_further_endpoint_off_by_one_fails_by_its_name(tmp_path, monkeypatch):
    step, right = dense(), saved_model_room.named_call

    def wrong_for_the_step(model, signature):
        call = right(model, signature)
        return off_by_one(call) if model is step else call

    monkeypatch.setattr(saved_model_room, "named_call", wrong_for_the_step)
    with pytest.raises(ParityError, match="The endpoint 'step' of "):
        export_saved_model(
            dense(), tmp_path / "m", endpoints={"step": step}, lengths=(2,)
        )
    assert list(tmp_path.iterdir()) == []


def test_endpoints_in_half_precision_are_rebuilt(tmp_path):
    keras.config.set_dtype_policy("mixed_bfloat16")
    export_saved_model(
        dense(), tmp_path / "m", endpoints={"step": dense()}, lengths=(2,)
    )
    parity = describe(tmp_path / "m").metadata["parity"]
    assert [report["outputs"][0]["dtype"] for report in parity.values()] == [
        "float32"
    ] * 3


@pytest.mark.parametrize("start", [0, 5, 70_000])
def test_a_start_index_continues_the_sequence(tmp_path_factory, start):
    path = tmp_path_factory.mktemp("start") / "model.onnx"
    vectors = keras.Input((None, WIDTH), name="vectors")
    start_index = keras.Input((), dtype="int32", name="start_index")
    layer = SinusoidalPositionalEncoding(name="encoded")
    encoded = layer(vectors, start_index=start_index)
    export_onnx(keras.Model([vectors, start_index], encoded), path, lengths=(1, 7))
    received = run_onnx(
        path,
        vectors=np.zeros((2, 3, WIDTH), "float32"),
        start_index=np.array([start, start + 1], "int32"),
    )["encoded"]
    positions = start + np.arange(2)[:, None] + np.arange(3)
    angles = positions[..., None] * 10000.0 ** (-np.arange(0, WIDTH, 2) / WIDTH)
    np.testing.assert_allclose(received[..., 0::2], np.sin(angles), rtol=0, atol=5e-7)
    np.testing.assert_allclose(received[..., 1::2], np.cos(angles), rtol=0, atol=5e-7)
