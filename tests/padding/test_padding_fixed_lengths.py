"""Models of a fixed length, to which no padding can be appended."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_sinpe.padding import check_padding

# Keras warns while some of the planted faults are built, which is their point.
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a m")

LENGTH, WIDTH = 9, 4


@pytest.fixture(autouse=True)
def _fixed_weights():
    keras.utils.set_random_seed(5)


def frames(length=LENGTH, name="frames"):
    return keras.Input((length, WIDTH), name=name)


def masked_lstm():
    inputs = frames()
    return keras.Model(inputs, layers.LSTM(6, name="state")(layers.Masking()(inputs)))


def masked_by_another_value():
    inputs = frames()
    x = layers.Masking(mask_value=-1.0)(inputs)
    x = layers.Bidirectional(layers.GRU(5, return_sequences=True))(x)
    return keras.Model(inputs, layers.Dense(3, name="rows")(x))


class MaskOfFinite(layers.Layer):
    """Marks what is not finite as padding, and puts zero in its place."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x):
        return ops.where(ops.isfinite(x), x, 0.0)

    def compute_mask(self, inputs, previous_mask):
        return ops.all(ops.isfinite(inputs), axis=-1)


def masked_by_a_layer_of_the_user():
    inputs = frames()
    return keras.Model(inputs, layers.LSTM(6, name="state")(MaskOfFinite()(inputs)))


def rows(padding):
    array = np.random.default_rng(3).normal(size=(3, LENGTH, WIDTH)).astype("float32")
    array[1, 5:], array[2, 1:] = padding, padding
    return array


SOUND = {
    "lstm": (masked_lstm, 0.0),
    "another mask value": (masked_by_another_value, -1.0),
    "a mask of the user": (masked_by_a_layer_of_the_user, np.nan),
}


@pytest.mark.parametrize(("build", "padding"), SOUND.values(), ids=SOUND.keys())
def test_a_sound_model_without_an_embedding_passes(build, padding):
    report = check_padding(build(), rows(padding))
    report.raise_if_failed()
    assert [change.probe for change in report.changes] == ["padding replaced"]


@pytest.mark.parametrize("build", [masked_lstm, masked_by_another_value])
def test_sampled_rows_are_padded_with_what_masking_skips(build):
    report = check_padding(build())
    report.raise_if_failed()
    assert [change.probe for change in report.changes] == ["padding replaced"]


@pytest.mark.parametrize("padding", [0.0, -1.0])
def test_a_layer_that_reads_masked_positions_is_found_and_named(padding):
    inputs = frames()
    x = layers.Masking(mask_value=padding)(inputs)
    x = layers.Conv1D(5, 3, padding="same", name="convolution")(x)
    report = check_padding(keras.Model(inputs, layers.LSTM(6)(x)))
    assert not report.passed
    assert report.first_leak == "convolution"
    assert report.mask_loss.layer == "convolution"


def with_mask_as_input(sound, length=LENGTH):
    inputs, valid = frames(length), keras.Input((length,), dtype="bool", name="valid")
    state = layers.LSTM(6, name="state")(inputs, mask=valid if sound else None)
    return keras.Model([inputs, valid], state)


@pytest.mark.parametrize("sound", [True, False])
def test_numbers_whose_mask_is_another_input_are_replaced_in_the_input(sound):
    report = check_padding(with_mask_as_input(sound), padding_id={"valid": 0})
    assert [change.probe for change in report.changes] == ["padding replaced"]
    assert report.passed is sound


@pytest.mark.parametrize("sound", [True, False])
def test_numbers_beside_ids_are_replaced_too(sound):
    ids, numbers = keras.Input((LENGTH,), dtype="int32", name="ids"), frames()
    x = layers.Embedding(20, WIDTH, mask_zero=True)(ids)
    known = layers.Embedding(20, WIDTH)(ids) * 0
    pooled = layers.GlobalAveragePooling1D(name="pooled")
    mask = ops.not_equal(ids, 0) if sound else None
    outputs = [layers.LSTM(5, name="state")(x), pooled(numbers + known, mask=mask)]
    report = check_padding(keras.Model([ids, numbers], outputs))
    verdicts = {change.output: change.passed for change in report.changes}
    assert verdicts == {"state": True, "pooled": sound}


def test_a_free_length_to_which_nothing_is_appended_counts_as_fixed():
    inputs = frames(None)
    model = keras.Model(inputs, layers.LSTM(6)(layers.Masking()(inputs)))
    report = check_padding(model, extra_padding=0)
    report.raise_if_failed()
    assert [change.probe for change in report.changes] == ["padding replaced"]


def test_zeros_that_masking_puts_out_stay_where_padding_can_be_appended():
    """A sum over them is right at any length, and no other padding exists."""
    inputs = frames(None)
    total = layers.Lambda(lambda x: ops.sum(x, axis=1), name="total")
    check_padding(
        keras.Model(inputs, total(layers.Masking()(inputs)))
    ).raise_if_failed()


class Zeroing(layers.Layer):
    """Puts zero at masked positions and hands the mask on."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x, mask=None):
        return x if mask is None else ops.where(mask[..., None], x, 0.0)


def test_a_nested_model_puts_out_what_it_makes_of_the_padding():
    inputs = frames()
    x = layers.Masking(name="masking")(inputs)
    encoder = keras.Model(inputs, Zeroing()(x), name="encoder")
    outer = frames(name="outer")
    total = layers.Lambda(lambda x: ops.sum(x, axis=1), name="total")
    check_padding(keras.Model(outer, total(encoder(outer)))).raise_if_failed()


def test_rows_without_padding_are_still_refused():
    with pytest.raises(ValueError, match="must hold padding") as raised:
        check_padding(masked_lstm(), np.ones((2, LENGTH, WIDTH), "float32"))
    assert str(raised.value) == (
        "`inputs` must hold padding for a model whose length is fixed. "
        "Received: inputs without padding"
    )
