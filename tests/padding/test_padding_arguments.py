"""What the padding check refuses, in whole sentences."""

import keras
import numpy as np
import padding_models as models
import pytest
from keras import layers, ops

from keras_sinpe.padding import check_padding

IDS = np.array([[3, 4, 5, 0, 0, 0, 0], [7, 8, 2, 9, 4, 0, 0]], "int32")


def unmasked():
    ids = models.token_ids()
    return keras.Model(ids, models.embed(ids, mask_zero=False), name="unmasked")


def fixed_length():
    ids = keras.Input((7,), dtype="int32", name="ids")
    return keras.Model(ids, models.embed(ids))


def pooled():
    ids = models.token_ids()
    x = layers.GlobalAveragePooling1D(name="pooled")(models.embed(ids))
    return keras.Model(ids, x)


def two_equal_lengths():
    first, second = models.token_ids("first"), models.token_ids("second")
    return keras.Model([first, second], [models.embed(first), models.embed(second)])


def not_a_number():
    ids = models.token_ids()
    x = layers.GlobalAveragePooling1D()(models.embed(ids))
    return keras.Model(ids, layers.Rescaling(np.nan, name="broken")(x))


def dict_of_inputs():
    ids = {"text": {"ids": models.token_ids()}}
    return keras.Model(ids, models.embed(ids["text"]["ids"]))


def subclassed():
    model = models.SubclassedEncoder(explicit=True)
    model(IDS)
    return model


def random():
    ids = models.token_ids()
    x = layers.Lambda(lambda x: x + keras.random.normal(ops.shape(x)))
    x.supports_masking = True
    return keras.Model(ids, layers.Identity(name="noisy")(x(models.embed(ids))))


def test_a_model_without_any_mask_is_told_what_to_do():
    with pytest.raises(ValueError, match="mark its padding") as raised:
        check_padding(unmasked())
    assert str(raised.value) == (
        "`model` must mark its padding: build its `Embedding` with `mask_zero=True`, "
        "or give `padding_id` if it derives its masks from the ids itself. "
        "Received: model='unmasked', which makes no mask"
    )


REFUSALS = [
    (
        fixed_length,
        {"inputs": np.ones((2, 7), "int32")},
        "`inputs` must hold padding for a model whose length is fixed. "
        "Received: inputs without padding",
    ),
    (
        pooled,
        {"causal": True},
        "`causal` must be `False` for a model without an output that has one row per "
        "token. Received: causal=True and outputs of shapes {'pooled': (3, 12)}",
    ),
    (
        lambda: models.stacked_by_explicit_mask(1, causal=True),
        {"causal": True, "inputs": np.full((2, 7), 4)},
        "`inputs` must hold at least two different tokens to check causality. "
        "Received: inputs without a later token to change",
    ),
    (
        two_equal_lengths,
        {"inputs": [IDS, IDS[:, ::-1]]},
        "`inputs` must have different lengths where their padding differs, so that an "
        "output tells which one it follows. Received: two paddings of shape (2, 7)",
    ),
    (
        two_equal_lengths,
        {"inputs": [IDS]},
        "`inputs` must hold one array for each of ['first', 'second']. "
        "Received: inputs with 1 arrays",
    ),
    (
        pooled,
        {"inputs": {"wrong": IDS}},
        "`inputs` must name the inputs of the model, which are ['ids']. "
        "Received: inputs with ['wrong']",
    ),
    (
        two_equal_lengths,
        {"inputs": {"first": IDS, "third": IDS}},
        "`inputs` must name the inputs of the model, which are ['first', 'second']. "
        "Received: inputs with ['first', 'third']",
    ),
    (
        pooled,
        {"inputs": np.zeros((2, 4), "int32")},
        "`inputs` must hold at least one token in every row. "
        "Received: ['ids'] with tokens in 0 of 2 rows",
    ),
    (
        pooled,
        {"inputs": np.array([[3, 4, 0], [0, 0, 0], [5, 0, 0]])},
        "`inputs` must hold at least one token in every row. "
        "Received: ['ids'] with tokens in 2 of 3 rows",
    ),
    (
        pooled,
        {"inputs": np.zeros((0, 4), "int32")},
        "`inputs` must hold at least one token in every row. "
        "Received: ['ids'] with tokens in 0 of 0 rows",
    ),
    (
        not_a_number,
        {},
        "`model` must put out numbers. "
        "Received: an output 'broken' that is NaN throughout",
    ),
    (
        subclassed,
        {},
        "`inputs` must be given for a model that does not declare its own, such as a "
        "subclassed one. Received: inputs=None",
    ),
    (
        pooled,
        {"padding_id": {"tokens": 0}},
        "`padding_id` must name inputs of the model, which are ['ids']. "
        "Received: padding_id with ['tokens']",
    ),
    (
        random,
        {},
        "`model` must give equal outputs for equal inputs: turn off dropout and reset "
        "kept states. Received: an output 'noisy' that differs between two runs",
    ),
]


@pytest.mark.parametrize(("build", "arguments", "sentence"), REFUSALS)
def test_refusals_are_whole_sentences(build, arguments, sentence):
    with pytest.raises(ValueError, match="Received: ") as raised:
        check_padding(build(), **arguments)
    assert str(raised.value) == sentence


def test_a_model_that_refuses_sampled_inputs_asks_for_real_ones():
    ids = models.token_ids()

    def refuse_three_rows(x):
        if x.shape[0] == 3:
            raise RuntimeError("not three")
        return x

    layer = layers.Lambda(refuse_three_rows)
    layer.supports_masking = True
    model = keras.Model(ids, layer(models.embed(ids)))
    with pytest.raises(ValueError, match="refuses sampled ones") as raised:
        check_padding(model)
    assert str(raised.value) == (
        "`inputs` must be given for a model that refuses sampled ones. "
        "Received: inputs=None"
    )
    assert "not three" in str(raised.value.__cause__)
    check_padding(model, IDS).raise_if_failed()


def test_inputs_that_must_share_a_length_are_sampled_with_one():
    ids, kinds = models.token_ids(), models.token_ids("kinds")
    x = models.embed(ids) + layers.Embedding(2, models.WIDTH)(kinds)
    check_padding(keras.Model([ids, kinds], x)).raise_if_failed()


def test_sampled_ids_stay_within_the_vocabulary():
    ids = models.token_ids()
    seen = []

    def remember(x):
        if hasattr(x, "numpy"):
            seen.append(x.numpy())
        return x

    table = layers.Embedding(4, models.WIDTH, mask_zero=True)
    check_padding(keras.Model(ids, table(layers.Lambda(remember)(ids))))
    assert set(np.unique(np.concatenate(seen, axis=None))) == {0, 1, 2, 3}


NO_LENGTH = "`extra_padding` must be an integer of at least 0. Received: extra_padding="
NO_TOLERANCE = "`tolerance` must be a finite number of at least 0. Received: tolerance="
NUMBERS = [
    ("extra_padding", -1, ValueError, NO_LENGTH + "-1"),
    ("extra_padding", True, TypeError, NO_LENGTH + "True"),
    ("extra_padding", 1.5, TypeError, NO_LENGTH + "1.5"),
    ("extra_padding", "3", TypeError, NO_LENGTH + "'3'"),
    ("tolerance", float("nan"), ValueError, NO_TOLERANCE + "nan"),
    ("tolerance", float("inf"), ValueError, NO_TOLERANCE + "inf"),
    ("tolerance", -1, ValueError, NO_TOLERANCE + "-1"),
    ("tolerance", "1e-5", TypeError, NO_TOLERANCE + "'1e-5'"),
    ("tolerance", True, TypeError, NO_TOLERANCE + "True"),
]


@pytest.mark.parametrize(("name", "value", "error", "sentence"), NUMBERS)
def test_numbers_out_of_range_or_of_another_type_are_refused(
    name, value, error, sentence
):
    with pytest.raises(error, match="Received: ") as raised:
        check_padding(pooled(), **{name: value})
    assert str(raised.value) == sentence


def test_numbers_may_be_those_of_numpy():
    report = check_padding(
        pooled(), IDS, extra_padding=np.int64(2), tolerance=np.float32(0.5)
    )
    assert report.passed


@pytest.mark.parametrize(
    ("build", "inputs"),
    [
        (pooled, {"ids": IDS}),
        (two_equal_lengths, {"second": IDS, "first": IDS}),
        (dict_of_inputs, {"text": {"ids": IDS}}),
        (subclassed, IDS),
    ],
)
def test_inputs_go_by_name_or_by_the_structure_of_the_model(build, inputs):
    check_padding(build(), inputs).raise_if_failed()


def test_sampled_sequences_of_length_one_hold_a_token():
    ids, kind = models.token_ids(), keras.Input((1,), dtype="int32", name="kind")
    outputs = [models.embed(ids), layers.Embedding(9, 5, mask_zero=True)(kind)]
    check_padding(keras.Model([ids, kind], outputs)).raise_if_failed()


def vocabulary(shift=0):
    ids = models.token_ids()
    known = layers.Lambda(lambda ids: ids + shift)(ids)
    return keras.Model(ids, layers.Embedding(30, 6, name="table")(known))


@pytest.mark.parametrize("inputs", [None, IDS, np.array([[3, 4, 99], [5, 99, 99]])])
@pytest.mark.parametrize("padding_id", [99, {"ids": 99}])
def test_a_padding_id_outside_the_vocabulary_is_refused(inputs, padding_id):
    with pytest.raises(ValueError, match="`padding_id` must") as raised:
        check_padding(vocabulary(), inputs, padding_id=padding_id)
    assert str(raised.value) == (
        "`padding_id` must be an id that the `Embedding` 'table' knows, from 0 to 29. "
        "Received: padding_id=99"
    )


def test_a_padding_id_that_the_model_translates_is_welcome():
    check_padding(vocabulary(shift=1), IDS - 1, padding_id=-1).raise_if_failed()


def test_other_ids_outside_the_vocabulary_are_left_to_the_layer():
    with pytest.raises(Exception, match="= 30 is not in") as raised:
        check_padding(vocabulary(), IDS * 10, padding_id=0)
    assert "padding_id" not in str(raised.value)
