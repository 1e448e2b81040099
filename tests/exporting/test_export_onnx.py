import keras
import numpy as np
import onnx
import pytest
import tensorflow as tf
from export_models import (
    FLOAT32_TOLERANCE,
    ID_SIGNATURE,
    axes,
    classifier,
    dense,
    difference,
    encoder,
    encoder_decoder,
    ids,
    run_onnx,
    session,
    subclassed,
    token_input,
)
from keras import layers

from keras_sinpe.exporting import ExportError, export_onnx, export_saved_model

SHORT = {"lengths": (1, 7)}


def assert_close(received, expected):
    expected = np.asarray(expected)
    assert received.shape == expected.shape
    assert received.dtype == expected.dtype
    np.testing.assert_allclose(received, expected, rtol=0, atol=FLOAT32_TOLERANCE)


@pytest.fixture(scope="module")
def exported_encoder(tmp_path_factory):
    model, path = encoder(), tmp_path_factory.mktemp("onnx") / "encoder.onnx"
    export_onnx(model, path, **SHORT)
    return model, path


@pytest.fixture(scope="module")
def exported_translator(tmp_path_factory):
    model, path = encoder_decoder(), tmp_path_factory.mktemp("onnx") / "pair.onnx"
    export_onnx(model, path, **SHORT)
    return model, path


@pytest.mark.parametrize(
    ("batch", "length"), [(1, 1), (3, 7), (1, 128), (3, 1000), (2, 64), (2, 65)]
)
def test_one_file_serves_every_batch_and_length(exported_encoder, batch, length):
    model, path = exported_encoder
    tokens = ids(batch, length)
    assert_close(run_onnx(path, ids=tokens)["head"], model(tokens))


def test_dropout_is_off_and_two_runs_are_equal(exported_encoder):
    model, path = exported_encoder
    tokens = ids(3, 7)
    first, second = (run_onnx(path, ids=tokens)["head"] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, model(tokens, training=True))


def test_exact_gelu_is_converted_to_erf(exported_encoder):
    _, path = exported_encoder
    operators = {node.op_type for node in onnx.load(path).graph.node}
    assert "Erf" in operators
    assert "Erfc" not in operators


def test_axes_carry_the_name_of_their_input(exported_encoder):
    opened = session(exported_encoder[1])
    assert axes(opened.get_inputs()) == {"ids": ["batch", "ids_length"]}
    assert axes(opened.get_outputs()) == {"head": ["batch", "ids_length", 5]}


def test_encoder_and_decoder_lengths_never_share_a_symbol(exported_translator):
    opened = session(exported_translator[1])
    assert axes(opened.get_inputs()) == {
        "source": ["batch", "source_length"],
        "target": ["batch", "target_length"],
    }
    assert axes(opened.get_outputs()) == {
        "logits": ["batch", "target_length", 7],
        "memory": ["batch", "source_length", 2],
    }


@pytest.mark.parametrize("lengths", [(3, 11), (11, 3)])
def test_encoder_and_decoder_take_unequal_lengths(exported_translator, lengths):
    model, path = exported_translator
    feeds = {"source": ids(2, lengths[0], 30), "target": ids(2, lengths[1], 7)}
    received, expected = run_onnx(path, **feeds), model(feeds)
    for name in ("logits", "memory"):
        assert_close(received[name], expected[name])


def test_dict_inputs_are_fed_by_name(tmp_path):
    model, path = difference(), tmp_path / "difference.onnx"
    export_onnx(model, path, **SHORT)
    zeta, alpha = np.full((2, 3, 4), 5, "float32"), np.full((2, 3, 4), 2, "float32")
    received = run_onnx(path, zeta=zeta, alpha=alpha)["difference"]
    np.testing.assert_array_equal(received, np.full((2, 3, 4), 3, "float32"))


STRUCTURES = {
    "a list": lambda zeta, alpha: [zeta, alpha],
    "a tuple": lambda zeta, alpha: (zeta, alpha),
    "a dict": lambda zeta, alpha: {"zeta": zeta, "alpha": alpha},
    "a dict in a list": lambda zeta, alpha: [{"zeta": zeta}, alpha],
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_inputs_of_any_structure_are_fed_by_name(tmp_path, structure):
    zeta, alpha = keras.Input((4,), name="zeta"), keras.Input((4,), name="alpha")
    inputs = STRUCTURES[structure](zeta, alpha)
    model = keras.Model(inputs, layers.Subtract(name="difference")([zeta, alpha]))
    path = tmp_path / "model.onnx"
    export_onnx(model, path)
    five, two = np.full((3, 4), 5, "float32"), np.full((3, 4), 2, "float32")
    received = run_onnx(path, alpha=two, zeta=five)["difference"]
    np.testing.assert_array_equal(received, np.full((3, 4), 3, "float32"))


def test_a_model_that_was_just_loaded_and_never_called_is_exported(tmp_path):
    model = classifier()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    path = tmp_path / "model.onnx"
    export_onnx(loaded, path, **SHORT)
    tokens = ids(3, 5)
    assert_close(run_onnx(path, ids=tokens)["classes"], model(tokens))
    assert axes(session(path).get_outputs()) == {"classes": ["batch", 4]}


def test_a_subclassed_model_asks_for_its_signature(tmp_path):
    with pytest.raises(ValueError, match="input_signature") as raised:
        export_onnx(subclassed(), tmp_path / "model.onnx")
    assert str(raised.value) == (
        "`input_signature` must be given for a subclassed model, for example "
        '`[keras.InputSpec(shape=(None, None), dtype="int32", name="ids")]`: the '
        "model knows neither its dtypes nor which sizes are free. "
        "Received: input_signature=None"
    )


def test_a_subclassed_model_with_a_signature_keeps_sizes_free_and_ids_whole(tmp_path):
    model, path = subclassed(), tmp_path / "model.onnx"
    export_onnx(model, path, input_signature=ID_SIGNATURE, **SHORT)
    (value,) = session(path).get_inputs()
    assert (value.name, value.type) == ("ids", "tensor(int32)")
    assert value.shape == ["batch", "ids_length"]
    tokens = ids(3, 13)
    assert_close(run_onnx(path, ids=tokens)["output"], model(tokens))


OUTPUTS = {
    "one": (lambda x, y: x, ["first"]),
    "a list": (lambda x, y: [x, y], ["first", "second"]),
    "a tuple": (lambda x, y: (y, x), ["second", "first"]),
    "a dict": (lambda x, y: {"b": x, "a": y}, ["a", "b"]),
    "an input": (
        lambda x, y: [x, x._keras_history.operation.input],
        ["first", "ids_1"],
    ),
}


@pytest.mark.parametrize("structure", OUTPUTS)
def test_outputs_are_called_by_layer_or_dict_key(tmp_path, structure):
    arrange, names = OUTPUTS[structure]
    tokens = token_input()
    first = layers.Embedding(9, 4, name="first")(tokens)
    second = layers.Dense(2, name="second")(first)
    path = tmp_path / "model.onnx"
    export_onnx(keras.Model(tokens, arrange(first, second)), path, **SHORT)
    assert sorted(axes(session(path).get_outputs())) == sorted(names)


def test_output_names_can_be_given(tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(dense(), path, output_names=["scores"], **SHORT)
    assert axes(session(path).get_outputs()) == {
        "scores": ["batch", "features_length", 3]
    }


def test_an_empty_batch_is_an_ordinary_input(tmp_path):
    path = tmp_path / "model.onnx"
    export_onnx(dense(), path, **SHORT)
    features = np.zeros((0, 7, 4), "float32")
    assert run_onnx(path, features=features)["head"].shape == (0, 7, 3)


def test_output_names_must_be_as_many_as_outputs(tmp_path):
    with pytest.raises(ValueError, match="output_names") as raised:
        export_onnx(dense(), tmp_path / "model.onnx", output_names=["a", "b"])
    assert str(raised.value) == (
        "`output_names` must hold one name per output, here 1. "
        "Received: output_names=['a', 'b']"
    )


@pytest.mark.parametrize("opset", range(13, 19))
def test_a_supported_opset_is_what_the_file_says(tmp_path, opset):
    path = tmp_path / "model.onnx"
    export_onnx(encoder(), path, opset_version=opset, lengths=(3,))
    versions = {entry.domain: entry.version for entry in onnx.load(path).opset_import}
    assert versions[""] == opset


@pytest.mark.parametrize("opset", [9, 10, 12, 19, 21, True, None, "17"])
def test_an_unsupported_opset_is_refused_before_anything_else(tmp_path, opset):
    with pytest.raises(ValueError, match="opset_version") as raised:
        export_onnx("not even a model", tmp_path / "model.onnx", opset_version=opset)
    assert str(raised.value) == (
        f"`opset_version` must be 13 to 18. Received: opset_version={opset!r}"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_unsupported_operator_is_named_with_its_layer(tmp_path):
    features = keras.Input((None, 4), name="features")
    bessel = layers.Lambda(tf.math.bessel_i0, name="bessel")(features)
    with pytest.raises(ExportError) as raised:
        export_onnx(keras.Model(features, bessel), tmp_path / "model.onnx")
    assert str(raised.value) == (
        "`model` must use operators that the ONNX converter supports. "
        "Received: `BesselI0` in the layer 'bessel'"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_graph_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "keras_sinpe.exporting.onnx.convert", lambda *_, **__: onnx.ModelProto()
    )
    with pytest.raises(ExportError) as raised:
        export_onnx(dense(), tmp_path / "model.onnx")
    assert str(raised.value).startswith(
        "`model` must be one that the ONNX converter turns into a valid graph. "
        "Received: a graph of which the checker says: "
    )
    assert list(tmp_path.iterdir()) == []


def test_a_state_that_would_be_lost_is_refused(tmp_path):
    steps = keras.Input(batch_shape=(2, 5, 4), name="steps")
    model = keras.Model(steps, layers.LSTM(3, stateful=True)(steps))
    state = [keras.ops.convert_to_numpy(s) for s in model.layers[1].states]
    for export in (export_onnx, export_saved_model):
        with pytest.raises(ValueError, match="carry no state") as raised:
            export(model, tmp_path / "model")
        assert str(raised.value) == (
            "`model` must carry no state from one call to the next, which an artifact "
            "would lose: make the state an input and an output. "
            f"Received: model='{model.name}' with the layer '{model.layers[1].name}' "
            "and stateful=True"
        )
    for before, after in zip(state, model.layers[1].states, strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_loop_that_the_converter_gets_wrong_is_refused_with_its_layer(tmp_path):
    steps = keras.Input((None, 6), name="steps")
    looped = layers.TimeDistributed(layers.Dense(4), name="looped")(steps)
    with pytest.raises(ExportError, match=r"in the layer 'looped'$"):
        export_onnx(keras.Model(steps, looped), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


class Shifted(layers.Layer):
    """Adds a tensor that is no variable and too large to be inlined."""

    def build(self, shape):
        self.table = tf.constant(np.arange(400, dtype="float32").reshape(100, 4))

    def call(self, x):
        return x + self.table[7]


def test_a_tensor_that_the_model_captures_becomes_a_constant(tmp_path):
    features = keras.Input((None, 4), name="features")
    path = tmp_path / "model.onnx"
    export_onnx(keras.Model(features, Shifted(name="shifted")(features)), path, **SHORT)
    received = run_onnx(path, features=np.zeros((2, 3, 4), "float32"))["shifted"]
    expected = np.broadcast_to(np.float32([28, 29, 30, 31]), (2, 3, 4))
    np.testing.assert_array_equal(received, expected)


def test_an_input_that_the_model_ignores_is_kept(tmp_path):
    features, unused = keras.Input((4,), name="features"), token_input("unused")
    model = keras.Model([features, unused], layers.Dense(2, name="head")(features))
    path = tmp_path / "model.onnx"
    export_onnx(model, path, **SHORT)
    assert sorted(axes(session(path).get_inputs())) == ["features", "unused"]


def test_names_that_tensorflow_cannot_hold_are_made_plain(tmp_path):
    features = keras.Input((4,), name="my features")
    model = keras.Model(features, {"a score": layers.Dense(2)(features)})
    path = tmp_path / "model.onnx"
    export_onnx(model, path)
    assert list(axes(session(path).get_inputs())) == ["my_features"]
    assert list(axes(session(path).get_outputs())) == ["a_score"]


def test_an_image_has_a_symbol_for_each_free_size(tmp_path):
    image = keras.Input((None, None, 3), name="image")
    path = tmp_path / "model.onnx"
    model = keras.Model(image, layers.Conv2D(2, 3, padding="same", name="edges")(image))
    export_onnx(model, path, lengths=(4, 9))
    assert axes(session(path).get_outputs()) == {
        "edges": ["batch", "image_length", "image_length_2", 2]
    }


def test_an_axis_that_follows_no_input_has_a_symbol_of_its_own(tmp_path):
    features = keras.Input((None, 4), name="features")
    halves = layers.MaxPooling1D(2, name="halves")(features)
    path = tmp_path / "model.onnx"
    export_onnx(keras.Model(features, halves), path, lengths=(2, 7))
    assert axes(session(path).get_outputs()) == {
        "halves": ["batch", "halves_axis_1", 4]
    }


def test_only_keras_models_are_exported(tmp_path):
    with pytest.raises(TypeError) as raised:
        export_onnx(layers.Dense(2, name="d"), tmp_path / "model.onnx")
    assert str(raised.value).startswith("`model` must be a `keras.Model`. Received: ")


def test_a_model_that_is_not_built_is_refused(tmp_path):
    model = keras.Sequential([layers.Dense(2)], name="fresh")
    with pytest.raises(ValueError, match="must be built") as raised:
        export_onnx(model, tmp_path / "model.onnx")
    assert str(raised.value) == (
        "`model` must be built: call it once on data, or give it a `keras.Input`. "
        "Received: model='fresh', which is not built"
    )
