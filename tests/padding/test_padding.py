"""Verdicts of the padding check: sound models pass, planted faults are found."""

import keras
import numpy as np
import padding_models as models
import pytest
from keras import layers, ops

from keras_sinpe.padding import check_padding

# Keras warns while some of the planted faults are built, which is their point.
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a m")

IDS = np.array([[3, 4, 5, 0, 0, 0, 0], [7, 8, 2, 9, 4, 0, 0]], "int32")


@pytest.fixture(autouse=True)
def _fixed_weights():
    keras.utils.set_random_seed(5)


def subclassed(explicit):
    model = models.SubclassedEncoder(explicit)
    model(IDS)
    return model


SOUND = {
    "one block, explicit mask": lambda: models.stacked_by_explicit_mask(1),
    "two blocks, explicit mask": lambda: models.stacked_by_explicit_mask(2),
    "one block, implicit mask": lambda: models.stacked_by_implicit_mask(1),
    "classifier, explicit mask": lambda: models.classifier_by_explicit_mask(2),
    "sequential of blocks": lambda: models.sequential_of_blocks(2),
    "recurrent": models.recurrent,
    "encoder-decoder": models.encoder_decoder,
    "nested": lambda: models.nested(models.stacked_by_explicit_mask(2)),
}

LEAKING = {
    "two blocks, implicit mask": lambda: models.stacked_by_implicit_mask(2),
    "mean over all positions": models.mean_over_all_positions,
    "convolution over padding": models.convolutional,
    "cross attention without mask": lambda: models.encoder_decoder(sound=False),
    "nested": lambda: models.nested(models.stacked_by_implicit_mask(2)),
}


@pytest.mark.parametrize("build", SOUND.values(), ids=SOUND.keys())
def test_a_sound_model_passes(build):
    report = check_padding(build())
    report.raise_if_failed()
    probes = {change.probe for change in report.changes}
    assert probes == {"padding appended", "padding replaced"}


@pytest.mark.parametrize("build", LEAKING.values(), ids=LEAKING.keys())
def test_a_leak_is_found_by_each_perturbation(build):
    report = check_padding(build())
    assert all(change.largest > 1e-3 for change in report.changes)
    assert not any(change.passed for change in report.changes)


@pytest.mark.parametrize("sound", [True, False])
def test_a_subclassed_model_is_checked_on_sample_inputs(sound):
    assert check_padding(subclassed(explicit=sound), IDS).passed is sound


def test_the_verdict_agrees_with_a_changed_embedding_row():
    for model in (
        models.stacked_by_implicit_mask(2),
        models.stacked_by_explicit_mask(2),
    ):
        model.compile("adam", "mse", jit_compile=True)
        before = model(IDS).numpy()
        table = next(w for w in model.weights if w.path.endswith("/embeddings"))
        kept = table.numpy()
        changed = kept.copy()
        changed[0] = 1.0
        table.assign(changed)
        moved = np.abs(model(IDS).numpy() - before)[IDS != 0].max() > 1e-5
        table.assign(kept)
        assert check_padding(model, IDS).passed is not moved


def test_inputs_are_taken_by_name_or_in_the_structure_of_the_model():
    model = models.encoder_decoder()
    inputs = {"target": IDS, "source": IDS[:, ::-1][:, :5]}
    check_padding(model, inputs).raise_if_failed()
    one_input = models.stacked_by_explicit_mask(2)
    check_padding(one_input, {"ids": IDS}).raise_if_failed()


def test_sequences_padded_at_their_start_are_checked_too():
    at_start = np.ascontiguousarray(IDS[:, ::-1])
    check_padding(models.stacked_by_explicit_mask(2), at_start).raise_if_failed()
    assert not check_padding(models.stacked_by_implicit_mask(2), at_start).passed


class TwoArguments(keras.Model):
    """Takes the memory as a second positional argument and returns a tuple."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.embedding = layers.Embedding(models.VOCABULARY, models.WIDTH)
        self.attention = models.attention("cross")

    def call(self, ids, source):
        x, memory = self.embedding(ids), self.embedding(source)
        valid = models.keys_of(ops.not_equal(source, 0))
        return x + self.attention(x, memory, attention_mask=valid), memory


def test_a_subclassed_model_with_two_arguments_and_a_tuple_of_outputs():
    model = TwoArguments()
    inputs = [IDS, np.ascontiguousarray(IDS[:, 1:])]
    model(*inputs)
    report = check_padding(model, inputs, padding_id=0)
    report.raise_if_failed()
    assert {change.output for change in report.changes} == {"output_0", "output_1"}


def test_several_inputs_and_outputs_as_lists():
    first, second = models.token_ids("first"), models.token_ids("second")
    leaky = layers.Lambda(lambda x: ops.mean(x, axis=1), name="leaky")
    sound = layers.GlobalMaxPooling1D(name="unmasked_maximum")
    rows = layers.Dense(4, name="rows")
    outputs = [rows(models.embed(first)), leaky(models.embed(second))]
    report = check_padding(keras.Model([first, second], outputs))
    verdicts = {(c.output, c.probe): c.passed for c in report.changes}
    assert verdicts == {
        ("rows", "padding appended"): True,
        ("rows", "padding replaced"): True,
        ("leaky", "padding appended"): False,
        ("leaky", "padding replaced"): False,
    }
    maximum = keras.Model(first, sound(models.embed(first)))
    assert not check_padding(maximum).passed


def test_a_padding_id_serves_models_that_mask_by_themselves():
    model = models.stacked_by_explicit_mask(2, mask_zero=False)
    check_padding(model, padding_id=0).raise_if_failed()
    check_padding(model, padding_id={"ids": 0}).raise_if_failed()
    assert not check_padding(model, padding_id=1).passed


def test_float_sequences_are_padded_with_what_masking_skips():
    frames = keras.Input((None, 4), name="frames")
    x = layers.Masking(mask_value=-1.0)(frames)
    sound = keras.Model(frames, layers.GRU(6, name="state")(x))
    array = np.random.default_rng(2).normal(size=(3, 7, 4)).astype("float32")
    array[0, 2:] = -1.0
    check_padding(sound, array).raise_if_failed()
    mean = layers.Lambda(lambda x: ops.mean(x, axis=1), name="mean")(x)
    assert not check_padding(keras.Model(frames, mean), array).passed


def test_logits_tied_to_the_embedding_are_no_leak():
    ids = models.token_ids()
    table = layers.Embedding(models.VOCABULARY, models.WIDTH, mask_zero=True)
    x = table(ids)
    tied = layers.Lambda(
        lambda x: ops.matmul(x, ops.transpose(table.embeddings)), name="tied"
    )
    check_padding(keras.Model(ids, tied(x))).raise_if_failed()


def test_a_fixed_length_model_is_checked_without_appending():
    ids = keras.Input((9,), dtype="int32", name="ids")
    flat = layers.Flatten()(models.embed(ids))
    report = check_padding(keras.Model(ids, layers.Dense(5, name="label")(flat)))
    assert [change.probe for change in report.changes] == ["padding replaced"]
    assert not report.passed


def test_a_tf_function_inside_the_model_is_looked_into():
    import tensorflow as tf

    model = models.SubclassedEncoder(explicit=False)
    model.call = tf.function(model.call)
    model(IDS)
    report = check_padding(model, IDS)
    assert not report.passed
    assert report.first_leak == "attention_1"
    assert not tf.config.functions_run_eagerly()


def test_the_model_is_left_as_it_was():
    model = models.stacked_by_implicit_mask(2)
    call = keras.Layer.__call__
    weights = [weight.copy() for weight in model.get_weights()]
    before = model.predict(IDS, verbose=0)
    check_padding(model)
    assert keras.Layer.__call__ is call
    np.testing.assert_array_equal(model.predict(IDS, verbose=0), before)
    for kept, weight in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(kept, weight)


def test_keras_is_left_as_it_was_when_a_model_raises():
    ids = models.token_ids()

    def refuse_length_ten(x):
        if x.shape[1] == 10:
            raise RuntimeError("ten is too long")
        return x

    model = keras.Model(ids, layers.Lambda(refuse_length_ten)(models.embed(ids)))
    call = keras.Layer.__call__
    with pytest.raises(RuntimeError, match="ten is too long") as raised:
        check_padding(model, IDS)
    assert keras.Layer.__call__ is call
    assert raised.value.__notes__[-1] == (
        "The padding check appended padding, {'ids': 3}; `extra_padding=0` does not."
    )
    check_padding(model, IDS, extra_padding=0).raise_if_failed()


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_rounding_of_other_policies_is_no_leak_and_a_leak_still_is(policy):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        check_padding(models.stacked_by_explicit_mask(2)).raise_if_failed()
        assert not check_padding(models.stacked_by_implicit_mask(2)).passed
    finally:
        keras.config.set_dtype_policy(before)


def test_the_recommended_models_survive_saving(tmp_path):
    path = tmp_path / "model.keras"
    for build in (models.classifier_by_explicit_mask, models.sequential_of_blocks):
        model = build(2)
        model.save(path)
        loaded = keras.models.load_model(path)
        np.testing.assert_array_equal(loaded(IDS), model(IDS))
        check_padding(loaded).raise_if_failed()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_before_the_perturbation_is_no_change(value):
    ids = models.token_ids()
    x = layers.GlobalAveragePooling1D()(models.embed(ids))
    spoil = layers.Lambda(lambda x: ops.concatenate([x, x[:, :1] * 0 + value], 1))
    report = check_padding(keras.Model(ids, spoil(x)))
    report.raise_if_failed()
    assert all(change.tolerance <= 1e-4 for change in report.changes)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_hides_no_leak_beside_it(value):
    ids = models.token_ids()
    x = ops.mean(models.embed(ids), axis=1)
    spoil = layers.Lambda(lambda x: ops.concatenate([x[:, :1] * 0 + value, x], 1))
    report = check_padding(keras.Model(ids, spoil(x)))
    assert not any(change.passed for change in report.changes)
    assert all(1e-3 < change.largest < np.inf for change in report.changes)
