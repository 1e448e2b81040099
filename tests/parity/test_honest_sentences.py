"""What a report says of models that are no ordinary ones, and of others' files."""

import keras
import numpy as np
import pytest
from export_models import dense, random, token_input
from keras import layers, ops

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.parity import ParityError, check_parity

SHORT = {"lengths": (2, 7)}


@pytest.mark.parametrize("export", [export_onnx, export_saved_model])
def test_a_random_model_is_called_one(tmp_path, export):
    with pytest.raises(ParityError) as raised:
        export(random(), tmp_path / "model", **SHORT)
    assert raised.value.report.all_faults[0].message == (
        "the model itself gives different outputs for equal inputs"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "layer",
    [
        layers.BatchNormalization(name="always"),
        layers.Dropout(0.5, name="always"),
        layers.GaussianNoise(0.5, name="always"),
    ],
)
def test_a_layer_that_is_called_in_training_is_named(tmp_path, layer):
    x = keras.Input((None, 4), name="x")
    model = keras.Model(x, layers.Dense(2)(layer(x, training=True)))
    report = export_onnx(model, tmp_path / "model.onnx", **SHORT)
    (note,) = report.notes
    assert note == (
        "the layer 'always' is called with training=True in the model's graph; the "
        "artifact calls it with training=False, as `predict` does"
    )


def masked_mean(divided_by):
    ids = token_input()
    vectors = layers.Embedding(9, 3)(ids)

    def mean(given):
        kept = ops.cast(given[0] != 0, "float32")[..., None]
        return ops.sum(given[1] * kept, 1) / divided_by(ops.sum(kept, 1))

    return keras.Model(ids, layers.Lambda(mean, name="mean")([ids, vectors]))


IDS = {"ids": np.array([[1, 2], [0, 0]], "int32")}


def test_nan_on_both_sides_is_a_note(tmp_path):
    model, path = masked_mean(lambda n: n), tmp_path / "model.onnx"
    report = export_onnx(model, path, inputs=IDS)
    assert report.passed
    assert report.notes == (
        "the model itself gives NaN, as does the artifact: [1, 0] of batch 2, "
        "ids_length 2",
    )


def test_nan_on_one_side_is_a_fault(tmp_path):
    keras.utils.set_random_seed(1)
    model, path = masked_mean(lambda n: n), tmp_path / "model.onnx"
    export_onnx(model, path, inputs=IDS)
    other = masked_mean(lambda n: ops.maximum(n, 1.0))
    other.set_weights(model.get_weights())
    report = check_parity(other, path, inputs=IDS)
    assert {fault.kind for fault in report.all_faults} == {"nan"}


def pooled():
    vectors = keras.Input((None, 4), name="vectors")
    return keras.Model(vectors, layers.GlobalAveragePooling1D()(vectors), name="pooled")


def nested(times, beside):
    ids = token_input()
    x = layers.Embedding(9, 4, mask_zero=True)(ids)
    inner = pooled()
    outputs = [inner(x) for _ in range(times)]
    if beside:
        outputs.append(layers.GlobalMaxPooling1D()(layers.Embedding(9, 4)(ids)))
    joined = layers.Concatenate()(outputs) if len(outputs) > 1 else outputs[0]
    return keras.Model(ids, joined)


# The nested model declares no mask, and Keras says that it is lost there.
@pytest.mark.filterwarnings("ignore:Layer 'pooled'")
@pytest.mark.parametrize(("times", "beside"), [(1, False), (2, False), (1, True)])
def test_a_masked_tensor_may_go_into_a_nested_model(tmp_path, times, beside):
    assert export_onnx(nested(times, beside), tmp_path / "model.onnx").passed


@pytest.mark.parametrize("words", [["a", "zz"], ["", "b", "a"], ["日本", "a"]])
def test_strings_are_served_and_proved(tmp_path, words):
    text = keras.Input((), dtype="string", name="text")
    ids = layers.StringLookup(vocabulary=["a", "b"])(text)
    model = keras.Model(text, layers.Embedding(5, 3, name="vectors")(ids))
    report = export_saved_model(model, tmp_path / "m", inputs={"text": words})
    assert report.passed


def test_strings_are_not_drawn(tmp_path):
    text = keras.Input((), dtype="string", name="text")
    model = keras.Model(text, layers.StringLookup(vocabulary=["a"])(text))
    with pytest.raises(ValueError, match="`inputs` must be given for an input that is"):
        export_saved_model(model, tmp_path / "m")


# The converter asks NumPy for a name that newer releases retire.
@pytest.mark.filterwarnings("ignore:.*np.object")
def test_a_file_of_another_exporter_is_compared_by_name(tmp_path):
    model, path = dense(), str(tmp_path / "k.onnx")
    model.predict(np.zeros((1, 2, 4)), verbose=0)  # as Keras asks for
    model.export(path, format="onnx", verbose=False)
    names = {"output_names": {"head": "output_0"}, "input_names": {}}
    import onnxruntime

    (output,) = onnxruntime.InferenceSession(path).get_outputs()
    names["output_names"] = {"head": output.name}
    (given,) = onnxruntime.InferenceSession(path).get_inputs()
    names["input_names"] = {"features": given.name}
    assert check_parity(model, path, **names, **SHORT).passed
    head = model.get_layer("head")
    head.bias.assign(head.bias + 0.1)
    report = check_parity(model, path, **names, **SHORT)
    assert {fault.kind for fault in report.all_faults} == {"value"}


def test_a_scalar_output_in_half_precision_is_proved(tmp_path):
    keras.config.set_dtype_policy("bfloat16")
    x = keras.Input((3,), name="x")
    model = keras.Model(x, ops.sum(x))
    assert export_onnx(model, tmp_path / "model.onnx").rows[0].shape == ()


def test_an_output_that_is_cast_to_float64_is_proved(tmp_path):
    x = keras.Input((3,), name="x")
    wide = layers.Lambda(lambda x: ops.cast(x * 3.0, "float64"), name="wide")
    report = export_onnx(keras.Model(x, wide(x)), tmp_path / "model.onnx")
    assert report.rows[0].dtype == "float64"


def test_an_optional_input_is_an_input(tmp_path):
    x, bias = keras.Input((3,), name="x"), keras.Input((3,), name="bias", optional=True)
    add = layers.Lambda(lambda given: given[0] + given[1], name="sum")
    report = export_onnx(keras.Model([x, bias], add([x, bias])), tmp_path / "m.onnx")
    assert report.passed


def test_what_tells_nothing_apart_is_unproven_until_a_tolerance_decides(tmp_path):
    keras.utils.set_random_seed(1)
    x = keras.Input((40,), name="x")
    one = layers.Dense(8)
    # The same by two ways: what is left is rounding alone.
    other = layers.Lambda(
        lambda x: ops.sum(x[:, :, None] * one.kernel[None], axis=1), name="again"
    )
    model = keras.Model(x, layers.Subtract(name="nothing")([one(x), other(x)]))
    path = tmp_path / "model.onnx"
    with pytest.raises(ParityError, match="is not proved") as raised:
        export_onnx(model, path)
    assert raised.value.report.outcome == "unproven"
    assert export_onnx(model, path, tolerance=1e-5).passed
