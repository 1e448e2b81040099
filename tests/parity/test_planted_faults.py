"""Faults that hide where a careless check does not look; each with siblings."""

import keras
import numpy as np
import onnx
import pytest
from export_models import token_input
from keras import layers, ops

from keras_sinpe.exporting import export_onnx
from keras_sinpe.parity import check_parity

LOWEST = float(np.finfo("float32").min)


def found(tmp_path, right, wrong, **options):
    """The report of a check of `right` against the file of `wrong`."""
    path, names = tmp_path / "model.onnx", {"output_names": ["head"]}
    export_onnx(wrong, path, lengths=(2,), batch_sizes=(2,), **names)
    assert check_parity(wrong, path, **names, **options).passed
    report = check_parity(right, path, **names, **options)
    assert report.outcome == "failed"
    assert {fault.kind for fault in report.all_faults} == {"value"}
    return report


def seeded(make, *arguments, **options):
    keras.utils.set_random_seed(3)
    return make(*arguments, **options)


def apply(tensors, function, name="head"):
    """A model that applies a function of Keras's operations."""
    return keras.Model(tensors, layers.Lambda(function, name=name)(tensors))


def masked_logits(sentinel, bias=0.0):
    ids = token_input()
    dense = layers.Dense(1, bias_initializer=keras.initializers.Constant(bias))
    logits = dense(layers.Embedding(11, 4)(ids))[..., 0]
    hide = layers.Lambda(lambda given: ops.where(given[0] == 0, sentinel, given[1]))
    return keras.Model(ids, hide([ids, logits]))


@pytest.mark.parametrize("sentinel", [-1e9, -1e4, float("-inf"), LOWEST])
@pytest.mark.parametrize("tolerance", [None, 1e-6])
def test_a_sentinel_allows_nothing_beside_it(tmp_path, sentinel, tolerance):
    models = [seeded(masked_logits, sentinel, bias) for bias in (0.0, 1.0)]
    ids = np.array([[3, 4, 5, 0, 0]], "int32")
    report = found(tmp_path, *models, inputs={"ids": ids}, tolerance=tolerance)
    assert report.rows[0].error == pytest.approx(1.0, abs=1e-5)


def classes(count, seed, **options):
    keras.utils.set_random_seed(seed)
    x = keras.Input((4,), name="x")
    return keras.Model(x, layers.Dense(count, **options)(x))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (
            lambda: classes(200_000, 1, activation="softmax"),
            lambda: classes(200_000, 2, activation="softmax"),
        ),
        (
            lambda: classes(50_000, 1),
            lambda: classes(50_000, 1, kernel_initializer="zeros"),
        ),
        (
            lambda: classes(5_000, 1, activation="softmax"),
            lambda: classes(5_000, 1, activation="softmax", kernel_initializer="ones"),
        ),
    ],
    ids=["another seed", "a zeroed kernel", "a softmax that tells nothing"],
)
def test_many_classes_hide_no_other_weights(tmp_path, right, wrong):
    found(tmp_path, right(), wrong())


def offset(sign, bias, scale=1.0):
    keras.utils.set_random_seed(1)
    model = classes(2, 1)
    kernel, _ = model.get_weights()
    model.set_weights([kernel * np.array([1.0, sign]) * scale, np.array(bias)])
    return model


@pytest.mark.parametrize(
    ("bias", "sign", "scale"),
    [((1e6, 0.0), -1.0, 1.0), ((-3e7, 0.0), 1.01, 1.0), ((1e4, 1e-3), -1.0, 1e-3)],
)
def test_a_large_column_hides_no_other(tmp_path, bias, sign, scale):
    report = found(tmp_path, offset(1.0, bias, scale), offset(sign, bias, scale))
    assert report.rows[0].index[-1] == 1


@pytest.mark.parametrize("factor", [-5.0, 0.0, 2.0])
def test_small_outputs_are_outputs(tmp_path, factor):
    right, wrong = (offset(1.0, (0.0, 0.0), 1e-7 * f) for f in (1.0, factor))
    found(tmp_path, right, wrong)


def positions(place):
    """Adds to each row the sine of what `place` makes of its position."""
    x = keras.Input((None, 2), name="x")

    def added(x):
        row = place(ops.arange(ops.shape(x)[1]))
        return x + ops.sin(ops.cast(row, "float32"))[:, None]

    return apply(x, added)


@pytest.mark.parametrize(
    "place",
    [
        lambda p: ops.where(p >= 1000, p + 1, p),
        lambda p: ops.where(p >= 1001, p + 1, p),
        lambda p: ops.minimum(p, 999),
        lambda p: ops.where(p == 64, 0, p),
        lambda p: p % 1024,
    ],
    ids=["from 1000", "from 1001", "a table of 1000", "a block edge", "modulo 1024"],
)
def test_positions_are_right_beyond_a_thousand(tmp_path, place):
    found(tmp_path, positions(lambda p: p), positions(place))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: ops.where(ops.arange(ops.shape(x)[0])[:, None] >= 3, 1.01 * x, x),
        lambda x: ops.where(ops.arange(ops.shape(x)[0])[:, None] == 1, -x, x),
        lambda x: ops.zeros_like(x) + x[:1],
    ],
    ids=["from row 3", "row 1", "the first for all"],
)
def test_every_row_of_a_batch_counts(tmp_path, wrong):
    x = keras.Input((2,), name="x")
    found(tmp_path, apply(x, lambda x: x * 1.0), apply(x, wrong))


def started(place):
    x = keras.Input((None, 2), name="x")
    start = keras.Input((), dtype="int32", name="start_index")
    return apply(
        [x, start],
        lambda given: (
            given[0] + ops.sin(ops.cast(place(given[1]), "float32"))[:, None, None]
        ),
    )


@pytest.mark.parametrize(
    "place",
    [lambda s: s % 1024, lambda s: ops.minimum(s, 65_535), lambda s: s % 65_536],
    ids=["modulo 1024", "at most 65,535", "16 bits"],
)
def test_starts_are_right_beyond_16_bits(tmp_path, place):
    found(tmp_path, started(lambda s: s), started(place))


def counted(valid):
    """The mean of the embeddings that `valid` keeps."""
    ids = token_input()
    vectors = layers.Embedding(11, 4)(ids)

    def mean(given):
        ids, vectors = given
        kept = ops.cast(valid(ids), "float32")[..., None]
        return ops.sum(vectors * kept, 1) / (ops.sum(kept, 1) + 1.0)

    return keras.Model(ids, layers.Lambda(mean)([ids, vectors]))


def by_count(ids):
    number = ops.sum(ops.cast(ids != 0, "int32"), axis=1)
    return ops.arange(ops.shape(ids)[1]) < number[:, None]


def all_where_none(ids):
    some = ops.any(ids != 0, axis=1, keepdims=True)
    return ops.logical_or(ids != 0, ops.logical_not(some))


@pytest.mark.parametrize(
    "valid",
    [by_count, all_where_none, lambda ids: ops.ones_like(ids)],
    ids=["the number of tokens", "all where there are none", "everything"],
)
def test_masks_are_right_however_rows_are_padded(tmp_path, valid):
    models = seeded(counted, lambda ids: ids != 0), seeded(counted, valid)
    found(tmp_path, *models)


def vocabulary(row):
    keras.utils.set_random_seed(1)
    ids = token_input()
    model = keras.Model(ids, layers.Embedding(30_000, 2)(ids))
    (table,) = model.get_weights()
    table[row] = 0.0
    model.set_weights([table])
    return model


@pytest.mark.parametrize("row", [29_999, 0])
def test_the_ends_of_a_vocabulary_are_looked_up(tmp_path, row):
    found(tmp_path, vocabulary([]), vocabulary(row))


def test_a_file_does_not_choose_its_own_tolerance(tmp_path):
    path = tmp_path / "model.onnx"
    model = classes(3, 1)
    export_onnx(model, path)
    proto = onnx.load(path)
    del proto.metadata_props[:]
    proto.metadata_props.add(key="keras_sinpe", value='{"precision": "float16"}')
    proto.metadata_props.add(key="precision", value="float16")
    onnx.save(proto, path)
    assert check_parity(model, path).passed
    model.set_weights([1.003 * weight for weight in model.get_weights()])
    assert check_parity(model, path).outcome == "failed"
