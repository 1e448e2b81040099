import keras
import numpy as np
import pytest
import tensorflow as tf
from export_models import (
    FLOAT32_TOLERANCE,
    ID_SIGNATURE,
    classifier,
    dense,
    difference,
    encoder,
    encoder_decoder,
    ids,
    subclassed,
)
from keras import layers

from keras_sinpe.exporting import export_saved_model

SHORT = {"lengths": (1, 7)}


def assert_close(received, expected):
    received, expected = np.asarray(received), np.asarray(expected)
    assert received.shape == expected.shape
    assert received.dtype == expected.dtype
    np.testing.assert_allclose(received, expected, rtol=0, atol=FLOAT32_TOLERANCE)


def serve(path, inputs):
    loaded = tf.saved_model.load(str(path))  # an endpoint alone keeps no variables
    return loaded.serve(inputs)


@pytest.fixture(scope="module")
def exported_encoder(tmp_path_factory):
    model, path = encoder(), tmp_path_factory.mktemp("saved_model") / "encoder"
    export_saved_model(model, path, **SHORT)
    return model, str(path)


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (3, 7), (1, 128), (3, 1000)])
def test_one_artifact_serves_every_batch_and_length(exported_encoder, batch, length):
    model, path = exported_encoder
    tokens = ids(batch, length)
    assert_close(serve(path, tokens), model(tokens))


def test_one_trace_serves_every_length(exported_encoder):
    loaded = tf.saved_model.load(exported_encoder[1])
    for length in (1, 2, 63, 64, 65):
        loaded.serve(ids(2, length))
    assert len(loaded.serve.concrete_functions) == 1


def test_servers_find_named_inputs_and_outputs_with_free_sizes(exported_encoder):
    signature = tf.saved_model.load(exported_encoder[1]).signatures["serving_default"]
    inputs = signature.structured_input_signature[1]
    assert inputs == {"ids": tf.TensorSpec((None, None), "int32", name="ids")}
    assert {name: spec.shape.as_list() for name, spec in _outputs(signature)} == {
        "head": [None, None, 5]
    }


def _outputs(signature):
    return signature.structured_outputs.items()


def test_dropout_is_off_and_two_runs_are_equal(exported_encoder):
    loaded = tf.saved_model.load(exported_encoder[1])
    tokens = ids(3, 7)
    np.testing.assert_array_equal(loaded.serve(tokens), loaded.serve(tokens))


def test_dict_inputs_are_fed_by_name(tmp_path):
    export_saved_model(difference(), tmp_path / "model", **SHORT)
    loaded = tf.saved_model.load(tmp_path / "model")
    feeds = {"zeta": tf.fill((2, 3, 4), 5.0), "alpha": tf.fill((2, 3, 4), 2.0)}
    expected = np.full((2, 3, 4), 3, "float32")
    np.testing.assert_array_equal(loaded.serve(feeds), expected)
    named = loaded.signatures["serving_default"](**feeds)["difference"]
    np.testing.assert_array_equal(named, expected)


def test_encoder_and_decoder_take_unequal_lengths(tmp_path):
    model = encoder_decoder()
    export_saved_model(model, tmp_path / "model", **SHORT)
    loaded = tf.saved_model.load(tmp_path / "model")
    feeds = {"source": ids(2, 11, 30), "target": ids(2, 3, 7)}
    received, expected = loaded.serve(feeds), model(feeds)
    assert received.keys() == expected.keys()
    for name in expected:
        assert_close(received[name], expected[name])


def test_a_model_that_was_just_loaded_and_never_called_is_exported(tmp_path):
    model = classifier()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    export_saved_model(loaded, tmp_path / "model", **SHORT)
    tokens = ids(3, 5)
    assert_close(serve(tmp_path / "model", tokens), model(tokens))


def test_a_subclassed_model_asks_for_its_signature(tmp_path):
    with pytest.raises(ValueError, match="`input_signature` must be given for a subc"):
        export_saved_model(subclassed(), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_subclassed_model_with_a_signature_keeps_sizes_free(tmp_path):
    model = subclassed()
    export_saved_model(model, tmp_path / "m", input_signature=ID_SIGNATURE, **SHORT)
    tokens = ids(3, 13)
    assert_close(serve(tmp_path / "m", tokens), model(tokens))


def test_output_names_can_be_given(tmp_path):
    export_saved_model(dense(), tmp_path / "model", output_names=["scores"], **SHORT)
    signature = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    assert list(signature.structured_outputs) == ["scores"]


def nested(kind):
    features = keras.Input((None, 4), name="features")
    heads = {name: layers.Dense(2, name=name)(features) for name in ("a", "b", "c")}
    a, b, c = heads.values()
    outputs = {
        "a list in a dict": {"first": a, "others": [b, c]},
        "a dict in a dict": {"first": a, "others": {"second": b, "third": c}},
        "a list in a list": [a, [b, c]],
        "a dict in a tuple": (a, {"others": b, "third": c}),
    }
    return keras.Model(features, outputs[kind])


NESTED_NAMES = {
    "a list in a dict": ["first", "others_0", "others_1"],
    "a dict in a dict": ["first", "others_second", "others_third"],
    "a list in a list": ["a", "b", "c"],
    "a dict in a tuple": ["a", "others", "third"],
}


@pytest.mark.parametrize("kind", NESTED_NAMES)
def test_nested_outputs_are_served_as_a_dict_by_name(kind, tmp_path):
    model = nested(kind)
    export_saved_model(model, tmp_path / "model", **SHORT)
    features = np.random.default_rng(0).standard_normal((2, 5, 4)).astype("float32")
    served = serve(tmp_path / "model", features)
    assert sorted(served) == NESTED_NAMES[kind]
    expected = keras.tree.flatten(model(features))
    for name, array in zip(NESTED_NAMES[kind], expected, strict=True):
        assert_close(served[name], array)


def test_a_compiled_model_that_was_trained_with_xla_is_exported(tmp_path):
    model = dense()
    model.compile("sgd", "mse", jit_compile=True)
    features = np.random.default_rng(0).standard_normal((6, 5, 4)).astype("float32")
    model.fit(features, np.zeros((6, 5, 3)), epochs=1, verbose=0)
    export_saved_model(model, tmp_path / "model", **SHORT)
    assert_close(serve(tmp_path / "model", features), model(features))
