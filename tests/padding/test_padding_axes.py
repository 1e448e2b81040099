"""Outputs that count a sequence's positions along other axes than the second."""

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


def attention_scores(sound=True, causal=False):
    """(batch, heads, length, length)"""
    ids = models.token_ids()
    x = models.embed(ids, mask_zero=False)
    valid = models.keys_of(ops.not_equal(ids, 0)) if sound else None
    _, scores = models.attention("attention")(
        x,
        x,
        attention_mask=valid,
        use_causal_mask=causal,
        return_attention_scores=True,
    )
    return ids, scores


def cross_attention_scores(sound=True):
    """(batch, heads, length of the target, length of the source)"""
    source, target = models.token_ids("source"), models.token_ids("target")
    valid = models.keys_of(ops.not_equal(source, 0)) if sound else None
    _, scores = models.attention("attention")(
        models.embed(target, mask_zero=False),
        models.embed(source, mask_zero=False),
        attention_mask=valid,
        return_attention_scores=True,
    )
    return [source, target], scores


def scores_by_query(sound=True):
    """(batch, length, heads, length)"""
    ids, scores = attention_scores(sound)
    return ids, layers.Permute((2, 1, 3))(scores)


def encoded(sound):
    """(batch, length, features), with padding in it unless `sound`."""
    ids = models.token_ids()
    x = models.embed(ids)
    if not sound:
        x = layers.Conv1D(models.WIDTH, 3, padding="same", name="convolution")(x)
    return ids, x


def channels_first(sound=True):
    """(batch, features, length)"""
    ids, x = encoded(sound)
    return ids, layers.Permute((2, 1))(x)


def stacked(sound=True):
    """(batch, 2, length, features)"""
    ids, x = encoded(sound)
    return ids, ops.stack([x, 2 * x], axis=1)


def two_heads_channels_first(sound=True):
    """(batch, 2, features, length)"""
    ids, x = encoded(sound)
    return ids, layers.Reshape((2, models.WIDTH // 2, -1))(layers.Permute((2, 1))(x))


def pairwise(sound=True):
    """(batch, length, length)"""
    ids, x = encoded(sound)
    return ids, layers.Dot(axes=2)([x, x])


def pairwise_features(sound=True):
    """(batch, length, length, features)"""
    ids, x = encoded(sound)
    return ids, ops.expand_dims(x, 1) - ops.expand_dims(x, 2)


def alignment(sound=True):
    """(batch, length of the source, length of the target)"""
    source, target = models.token_ids("source"), models.token_ids("target")
    first, second = models.embed(source), models.embed(target)
    if not sound:
        second = layers.Conv1D(models.WIDTH, 3, padding="same")(second)
    return [source, target], layers.Dot(axes=2)([first, second])


OUTPUTS = [
    attention_scores,
    cross_attention_scores,
    scores_by_query,
    channels_first,
    stacked,
    two_heads_channels_first,
    pairwise,
    pairwise_features,
    alignment,
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_sound_output_passes_along_every_axis_that_follows_a_length(output):
    report = check_padding(keras.Model(*output()), padding_id=0)
    report.raise_if_failed()
    assert {change.probe for change in report.changes} >= {"padding appended"}


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_leak_is_found_with_its_place_and_size(output):
    report = check_padding(keras.Model(*output(sound=False)), padding_id=0)
    assert not any(change.passed for change in report.changes)
    for change in report.changes:
        assert 1e-3 < change.largest < 10
        assert change.where is not None


@pytest.mark.parametrize("output", [attention_scores, pairwise, pairwise_features])
def test_the_place_of_a_leak_is_valid_along_both_axes(output):
    first_length_axis = 2 if output is attention_scores else 1
    report = check_padding(keras.Model(*output(sound=False)), IDS, padding_id=0)
    moved = [change.where for change in report.changes if not change.passed]
    assert moved
    for row, *rest in moved:
        places = rest[first_length_axis - 1 :][:2]
        assert max(places) < np.count_nonzero(IDS[row])


@pytest.mark.parametrize("output", OUTPUTS)
def test_padding_at_the_start_is_left_out_along_every_axis(output):
    ids, outputs = output()
    at_start = np.ascontiguousarray(IDS[:, ::-1])
    inputs = [at_start, at_start[:, 1:]] if isinstance(ids, list) else at_start
    model = keras.Model(ids, outputs)
    check_padding(model, inputs, padding_id=0).raise_if_failed()
    check_padding(model, inputs, padding_id=0, extra_padding=0).raise_if_failed()


def test_a_leaking_layer_inside_is_named_by_its_scores():
    ids, scores = attention_scores(sound=False)
    normed = layers.Identity(name="later")(scores)
    report = check_padding(keras.Model(ids, normed), padding_id=0)
    assert report.first_leak == "attention"


@pytest.mark.parametrize("causal", [True, False])
def test_attention_scores_must_not_look_ahead_where_that_is_asked(causal):
    ids, scores = attention_scores(causal=causal)
    report = check_padding(keras.Model(ids, scores), padding_id=0, causal=True)
    verdicts = {change.probe: change.passed for change in report.changes}
    assert verdicts["later tokens changed"] is causal
    assert verdicts["padding appended"]


@pytest.mark.parametrize("output", [channels_first, pairwise, pairwise_features])
def test_causality_is_asked_along_every_axis_that_follows_the_length(output):
    check_padding(keras.Model(*output()), causal=True).raise_if_failed()
    ahead = check_padding(keras.Model(*output(sound=False)), causal=True)
    verdicts = {change.probe: change.passed for change in ahead.changes}
    assert not verdicts["later tokens changed"]


def test_an_output_whose_shape_alone_depends_on_padding_has_changed():
    ids = models.token_ids()
    rows = layers.Lambda(lambda x: ops.reshape(x, (-1, models.WIDTH)))
    report = check_padding(keras.Model(ids, rows(models.embed(ids))))
    changes = {change.probe: change for change in report.changes}
    assert changes["padding appended"].largest == np.inf
    assert changes["padding appended"].where is None
