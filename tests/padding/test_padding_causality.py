"""The padding check on outputs that must not depend on later tokens."""

import keras
import padding_models as models
import pytest
from keras import layers, ops

from keras_sinpe.padding import check_padding

# Keras warns while some of the planted faults are built, which is their point.
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a m")


@pytest.fixture(autouse=True)
def _fixed_weights():
    keras.utils.set_random_seed(5)


def test_a_causal_model_passes_and_a_bidirectional_one_does_not():
    causal = models.stacked_by_explicit_mask(2, causal=True)
    check_padding(causal, causal=True).raise_if_failed()
    report = check_padding(models.stacked_by_explicit_mask(2), causal=True)
    failed = {change.probe for change in report.changes if not change.passed}
    assert failed == {"later tokens changed"}
    assert report.first_leak == "attention_0"


@pytest.mark.parametrize("offset", [1, 5])
def test_a_planted_look_ahead_is_found(offset):
    ids = models.token_ids()
    x = models.embed(ids)
    shift = layers.Lambda(lambda x: x + ops.roll(x, -offset, axis=1), name="shift")
    report = check_padding(keras.Model(ids, shift(x)), causal=True)
    assert {c.probe: c.passed for c in report.changes}["later tokens changed"] is False


def test_a_causal_model_without_any_mask_is_checked_for_causality_alone():
    ids = models.token_ids()
    x = models.embed(ids, mask_zero=False)
    heard = models.attention()(x, x, use_causal_mask=True)
    report = check_padding(keras.Model(ids, heard), causal=True)
    report.raise_if_failed()
    assert {change.probe for change in report.changes} == {"later tokens changed"}


def test_an_encoder_decoder_is_causal_in_its_target_only():
    check_padding(models.encoder_decoder(), causal=True).raise_if_failed()
