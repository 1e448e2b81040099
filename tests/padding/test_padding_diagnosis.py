"""The padding check names where a mask is lost and where padding gets in."""

import keras
import numpy as np
import padding_models as models
import pytest
from keras import layers, ops

from keras_sinpe.padding import MaskLoss, check_padding
from keras_sinpe.padding.runs import Run

IDS = np.array([[3, 4, 5, 0, 0, 0, 0], [7, 8, 2, 9, 4, 0, 0]], "int32")
OPERATION = "an operation on tensors hands no mask on"

# Keras warns while some of the planted faults are built, which is their point.
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* was passed an input with a m")


def first_operation(model, kind):
    """Name of the first layer or operation of a class, in call order."""
    return next(o.name for o in model.operations if type(o).__name__ == kind)


def test_the_residual_sum_loses_the_mask_and_the_next_attention_leaks():
    model = models.stacked_by_implicit_mask(2)
    report = check_padding(model)
    assert report.mask_loss == MaskLoss(first_operation(model, "Add"), OPERATION)
    assert report.first_leak == "attention_1"


def test_an_add_layer_loses_the_mask_that_attention_deleted():
    ids = models.token_ids()
    x = models.embed(ids)
    for block in range(2):
        heard = models.attention(f"attention_{block}")(x, x)
        x = layers.Add(name=f"sum_{block}")([x, heard])
    report = check_padding(keras.Model(ids, x))
    reason = "`attention_0` deletes the mask of its inputs"
    assert report.mask_loss == MaskLoss("sum_0", reason)
    assert report.first_leak == "attention_1"


def test_a_path_leads_into_nested_models():
    encoder = models.stacked_by_implicit_mask(2)
    report = check_padding(models.nested(encoder))
    path = f"implicit/{first_operation(encoder, 'Add')}"
    assert report.mask_loss == MaskLoss(path, OPERATION)
    assert report.first_leak == "implicit/attention_1"


def test_a_subclassed_model_names_the_layers_around_a_bare_sum():
    model = models.SubclassedEncoder(explicit=False)
    model(IDS)
    report = check_padding(model, IDS)
    assert report.mask_loss == MaskLoss(
        "norm_0",
        "an operation on tensors between `attention_0` and `norm_0` hands no mask on",
    )
    assert report.first_leak == "attention_1"


def test_a_layer_without_masking_support_is_named():
    report = check_padding(models.convolutional())
    reason = "Conv1D does not support masking"
    assert report.mask_loss == MaskLoss("convolution", reason)
    assert report.first_leak == "convolution"


@keras.saving.register_keras_serializable("test_padding_diagnosis")
class Forgetful(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, x):
        return 2 * x

    def compute_mask(self, inputs, previous_mask):
        return None


def test_a_layer_that_computes_no_mask_is_named():
    ids = models.token_ids()
    x = Forgetful(name="forgetful")(models.embed(ids))
    report = check_padding(keras.Model(ids, layers.LSTM(5)(x)))
    reason = "`compute_mask` of Forgetful returned none"
    assert report.mask_loss == MaskLoss("forgetful", reason)


@pytest.mark.parametrize(
    "build",
    [
        models.recurrent,
        models.mean_over_all_positions,
        lambda: models.sequential_of_blocks(1),
    ],
    ids=["last state", "lambda", "pooling"],
)
def test_using_a_mask_up_is_no_loss(build):
    loss = check_padding(build()).mask_loss
    assert loss is None or loss.layer.startswith("encoder_block")  # made good there


MERGES = [
    layers.Add,
    layers.Subtract,
    layers.Multiply,
    layers.Average,
    layers.Maximum,
    layers.Concatenate,
]


def masked_and_unmasked(merge):
    ids = models.token_ids()
    unmasked = layers.Embedding(models.VOCABULARY, models.WIDTH)(ids)
    return ids, merge(name="merge")([models.embed(ids), unmasked])


@pytest.mark.parametrize("merge", [*MERGES, lambda name: lambda xs: xs[0] + xs[1]])
def test_no_mask_is_lost_where_none_is_needed_any_more(merge):
    report = check_padding(keras.Model(*masked_and_unmasked(merge)))
    report.raise_if_failed()
    assert report.mask_loss is None


@pytest.mark.parametrize("merge", MERGES)
def test_a_merge_that_leaves_a_later_layer_without_its_mask_is_named(merge):
    ids, x = masked_and_unmasked(merge)
    report = check_padding(keras.Model(ids, layers.LSTM(5, name="state")(x)))
    returned = "calls padding valid" if merge is layers.Concatenate else "returned none"
    reason = f"`compute_mask` of {merge.__name__} {returned}"
    assert report.mask_loss == MaskLoss("merge", reason)
    assert report.first_leak == "state"


@pytest.mark.parametrize("merge", [layers.Add, layers.Concatenate])
def test_a_merge_of_masked_tensors_hands_their_mask_on(merge):
    ids = models.token_ids()
    x = merge()([models.embed(ids), models.embed(ids)])
    mean = layers.Lambda(lambda x: ops.mean(x, axis=1), name="mean")
    report = check_padding(keras.Model(ids, mean(x)))
    assert report.mask_loss is None
    assert report.first_leak == "mean"


def test_a_consumer_that_ignores_the_mask_is_where_padding_gets_in():
    report = check_padding(models.mean_over_all_positions())
    assert report.mask_loss is None
    assert report.first_leak == "mean"


def test_a_loss_that_the_enclosing_layer_makes_good_comes_after_a_lasting_one():
    ids = models.token_ids()
    x = models.EncoderBlock(name="block")(models.embed(ids))
    x = layers.Conv1D(7, 3, padding="same", name="convolution")(x)
    assert check_padding(keras.Model(ids, x)).mask_loss.layer == "convolution"


class Undoing(layers.Layer):
    """Lets padding in and takes it out again."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.convolution = layers.Conv1D(models.WIDTH, 3, padding="same")

    def build(self, shape):
        self.convolution.build(shape)

    def call(self, x):
        return x + 0.0 * self.convolution(x)


def test_padding_that_an_enclosing_layer_takes_out_again_is_passed_over():
    ids = models.token_ids()
    x = Undoing(name="undoing")(models.embed(ids))
    check_padding(keras.Model(ids, x)).raise_if_failed()
    mean = layers.Lambda(lambda x: ops.mean(x, axis=1), name="mean")
    assert check_padding(keras.Model(ids, mean(x))).first_leak == "mean"


def test_the_cross_attention_without_a_mask_is_where_padding_gets_in():
    report = check_padding(models.encoder_decoder(sound=False))
    assert report.first_leak == "cross_attention"


def test_a_sound_model_has_no_leak_to_name():
    report = check_padding(models.stacked_by_explicit_mask(2))
    assert report.first_leak is None


def test_keras_still_deletes_the_masks_that_attention_is_given():
    """The fact behind this room; when it changes, the docs must."""
    run = Run()
    x = layers.Embedding(20, 6, mask_zero=True)(IDS)
    attention = models.attention()
    with run.recording(attention):
        heard = attention(x, x)
    call = run.calls[-1]
    assert [mask is None for mask in call.masks_before] == [False, False]
    assert [mask is None for mask in call.masks_after] == [True, True]
    assert call.output_masks[0] is not None
    assert getattr(ops.add(x, heard), "_keras_mask", None) is None
