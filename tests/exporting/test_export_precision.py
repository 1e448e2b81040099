import keras
import numpy as np
import onnx
import pytest
from export_models import FLOAT32_TOLERANCE, Subclassed, ids, run_onnx, token_input
from keras import layers

from keras_sinpe.exporting import export_onnx, export_saved_model
from keras_sinpe.model.float32 import full_precision

# Two layers round each intermediate of order one once, to this precision.
ROUNDING = {
    "mixed_float16": 2e-3,
    "float16": 2e-3,
    "mixed_bfloat16": 2e-2,
    "bfloat16": 2e-2,
    "float64": 1e-6,
}


@pytest.fixture(params=ROUNDING)
def policy(request):
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    yield request.param
    keras.config.set_dtype_policy(previous)


def small_model():
    keras.utils.set_random_seed(1)
    inner_input = keras.Input((None, 6))
    inner = keras.Model(inner_input, layers.Dense(6, activation="tanh")(inner_input))
    tokens = token_input()
    x = inner(layers.Embedding(11, 6)(tokens))
    x = layers.SpectralNormalization(layers.Dense(4))(x)
    return keras.Model(tokens, layers.Dense(3, name="head")(x))


def dtypes(path):
    graph = onnx.load(path).graph
    return {tensor.data_type for tensor in graph.initializer}


def test_a_model_of_any_precision_is_exported_in_float32(policy, tmp_path):
    model, path = small_model(), tmp_path / "model.onnx"
    report = export_onnx(model, path, lengths=(1, 5))
    tokens = ids(3, 9)
    received = run_onnx(path, ids=tokens)["head"]
    expected = keras.ops.convert_to_numpy(keras.ops.cast(model(tokens), "float64"))
    assert received.dtype == np.float32
    np.testing.assert_allclose(received, expected, rtol=0, atol=ROUNDING[policy])
    rebuilt = full_precision(model)(tokens)
    np.testing.assert_allclose(received, rebuilt, rtol=0, atol=FLOAT32_TOLERANCE)
    floats = {onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.INT64}
    assert dtypes(path) <= floats
    (note,) = report.notes
    assert note.startswith(
        f"the model has the dtype policy '{policy}' and was rebuilt in float32 with "
        "the same weights; the rebuild differs from it by up to "
    )


def test_the_saved_model_of_a_half_precision_model_is_float32(tmp_path):
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        model = small_model()
    finally:
        keras.config.set_dtype_policy(previous)
    report = export_saved_model(model, tmp_path / "model", lengths=(1, 5))
    assert report.passed
    assert {row.dtype for row in report.rows} == {"float32"}


def test_a_float32_model_is_its_own_reference():
    model = small_model()
    assert full_precision(model) is model


def test_a_rebuild_has_the_same_names_and_weights():
    model = keras.Sequential(
        [keras.Input((None, 4)), layers.Dense(3, dtype="mixed_float16", name="head")]
    )
    rebuilt = full_precision(model)
    assert [layer.name for layer in rebuilt.layers] == ["head"]
    assert {layer.dtype_policy.name for layer in rebuilt.layers} == {"float32"}
    for old, new in zip(model.get_weights(), rebuilt.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_subclassed_model_is_rebuilt_from_its_configuration(policy):
    keras.utils.set_random_seed(3)
    model = Subclassed()
    tokens = ids(2, 5)
    model(tokens)
    rebuilt = full_precision(model)
    assert rebuilt.dense.dtype_policy.name == "float32"
    reference = keras.ops.cast(model(tokens), "float64")
    np.testing.assert_allclose(
        rebuilt(tokens), reference, rtol=0, atol=ROUNDING[policy]
    )


def test_a_model_with_a_loss_of_its_own_is_rebuilt():
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Lambda(lambda x: 2 * x, output_shape=(4,)),
            layers.Dense(3, dtype="mixed_float16"),
        ]
    )
    model.compile("adam", loss=lambda wanted, got: keras.ops.mean(got - wanted))
    model.fit(np.ones((2, 4)), np.ones((2, 3)), verbose=0)
    rebuilt = full_precision(model)
    assert not rebuilt.compiled
    features = np.ones((2, 4), "float32")
    reference = keras.ops.cast(model(features), "float32")
    # Two roundings of float16, of numbers of order one.
    np.testing.assert_allclose(rebuilt(features), reference, rtol=0, atol=4e-3)


def test_the_global_policy_is_what_it_was_after_a_rebuild():
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, dtype="bfloat16")])
    before = keras.config.dtype_policy().name, keras.config.floatx()
    full_precision(model)
    assert (keras.config.dtype_policy().name, keras.config.floatx()) == before


class NoConfig(keras.Model):
    def __init__(self, units):
        super().__init__(dtype="mixed_float16", name="stubborn")
        self.dense = layers.Dense(units, dtype="mixed_float16")

    def call(self, x):
        return self.dense(x)


def test_a_model_that_cannot_be_rebuilt_is_refused_in_one_sentence():
    model = NoConfig(units=3)
    model(np.ones((2, 4), "float32"))
    with pytest.raises(ValueError, match="rebuildable") as raised:
        full_precision(model)
    sentence = str(raised.value)
    assert sentence.startswith("`model` must be float32 or be rebuildable in float32")
    assert sentence.endswith(
        "Received: model='stubborn' with the dtype policy 'mixed_float16'"
    )
