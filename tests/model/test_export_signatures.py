import keras
import numpy as np
import pytest
import tensorflow as tf
from export_models import axes, dense, difference, session
from keras import layers

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.model.signatures import read_signature


class Pair(keras.Model):
    """Takes two arguments and returns a structure."""

    def call(self, first, second=None):
        return {"sum": first + second, "parts": [first, second]}


@pytest.fixture(scope="module")
def pair():
    model = Pair()
    model(np.ones((2, 3), "float32"), np.ones((2, 3), "float32"))
    return model


def spec(name=None, shape=(None, None), dtype="float32"):
    return keras.InputSpec(shape=shape, dtype=dtype, name=name)


FORMS = {
    "arguments, called as `call` calls them": (
        [spec(), spec()],
        ["first", "second"],
    ),
    "arguments with names of their own": (
        [spec("left"), spec("right")],
        ["left", "right"],
    ),
    "specs of TensorFlow": (
        [tf.TensorSpec((None, 3), tf.float32, name="left"), tf.TensorSpec((None, 3))],
        ["left", "second"],
    ),
    "a Keras tensor and a sample": (
        [keras.KerasTensor((None, 3), name="left"), np.ones((2, 3), "float32")],
        ["left", "second"],
    ),
    "a dict as one argument": ({"b": spec(), "a": spec()}, ["a", "b"]),
    "a list as one argument": ([[spec(), spec()]], ["first_0", "first_1"]),
    "a single spec": (spec(), ["first"]),
    "two of the same name": ([spec("x"), spec("x")], ["x", "x_1"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_signature_is_taken_as_keras_takes_it(pair, form):
    given, names = FORMS[form]
    assert [found.name for found in read_signature(pair, given).inputs] == names


def test_outputs_of_a_structure_are_called_by_their_path(pair):
    signature = read_signature(pair, [spec(), spec()])
    ones = np.ones((2, 3), "float32")
    outputs = signature.call(pair, {"first": ones, "second": 2 * ones})
    assert {name: float(array[0, 0]) for name, array in outputs.items()} == {
        "sum": 3.0,
        "parts_0": 1.0,
        "parts_1": 2.0,
    }


def test_the_batch_size_of_a_sample_is_free_and_its_length_is_not():
    signature = read_signature(dense(), np.ones((2, 7, 4), "float32"))
    assert signature.inputs[0].axes == ("batch", 7, 4)


def test_a_functional_model_keeps_its_names_under_a_signature_without(tmp_path):
    signature = read_signature(dense(), [spec(shape=(None, 7, 4))])
    assert [found.name for found in signature.inputs] == ["features"]


def test_a_functional_model_takes_the_structure_of_its_inputs():
    specs = {name: spec(name, (None, None, 4)) for name in ("alpha", "zeta")}
    signature = read_signature(difference(), [specs])
    assert [found.name for found in signature.inputs] == ["alpha", "zeta"]


def test_another_structure_than_that_of_the_inputs_is_refused():
    with pytest.raises(ValueError, match="structured like the inputs") as raised:
        read_signature(difference(), [spec("zeta")])
    assert str(raised.value).startswith(
        "`input_signature` must be structured like the inputs of the model, "
        "{'zeta': 'zeta', 'alpha': 'alpha'}. Received: input_signature=["
    )


@pytest.mark.parametrize("wrong", [[(None, 3)], [keras.InputSpec(ndim=2)], ["ids"]])
def test_a_spec_without_shape_or_dtype_is_refused(pair, wrong):
    with pytest.raises(ValueError, match="`input_signature` must hold specs") as raised:
        read_signature(pair, wrong)
    assert str(raised.value).endswith(f"Received: input_signature={wrong!r}")


def test_an_unnamed_input_is_called_the_same_in_every_process(tmp_path):
    inputs = keras.Input((None, 4))
    model = keras.Model(inputs, layers.Dense(2)(inputs))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert read_signature(loaded).inputs == read_signature(model).inputs


def subtract(*names):
    """The first input, minus the others by turns: no two of them are alike."""
    inputs = [keras.Input((None, 4), name=name) for name in names]
    x = inputs[0]
    for factor, tensor in enumerate(inputs[1:], start=2):
        x = x - factor * tensor
    return keras.Model(inputs, layers.Identity(name="head")(x))


INPUT_NAMES = {
    "words that Python keeps": (
        ["class", "in", "None", "self", "match"],
        ["arg_class", "arg_in", "arg_None", "arg_self", "match"],
    ),
    "no letter first": (["0x", "_x", "é"], ["arg_0x", "arg__x", "arg__"]),
    "a dot or a dash": (["a.b", "a-b", "c"], ["a_b", "a_b_1", "c"]),
    "upper and lower case": (["Ids", "ids", "x"], ["Ids", "ids_1", "x"]),
}


@pytest.mark.parametrize("kind", INPUT_NAMES)
def test_both_artifacts_call_the_inputs_alike_whatever_their_names(kind, tmp_path):
    given, names = INPUT_NAMES[kind]
    model = subtract(*given)
    export_onnx(model, tmp_path / "model.onnx", lengths=(1, 7))
    export_saved_model(model, tmp_path / "model", lengths=(1, 7))
    loaded = tf.saved_model.load(tmp_path / "model")
    served = loaded.signatures["serving_default"].structured_input_signature[1]
    assert list(axes(session(tmp_path / "model.onnx").get_inputs())) == names
    assert sorted(served) == sorted(names)
