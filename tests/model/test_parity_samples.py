import keras
import numpy as np
import pytest
from export_models import dense, encoder, encoder_decoder, subclassed, token_input
from keras import layers

from keras_sinpe.exporting import export_onnx
from keras_sinpe.model.prepared import PreparedModel
from keras_sinpe.model.random_inputs import LIMITS, draw
from keras_sinpe.model.samples import BATCH_SIZES, LENGTHS, tie_axes
from keras_sinpe.model.signatures import Signature, read_signature
from keras_sinpe.model.sizes import TensorSpec
from keras_sinpe.model.vocabularies import integer_limits
from keras_sinpe.parity import Case, check_parity


def planned(model, batch_sizes=(1, 3), lengths=(4, 9), **options):
    """The runs of a model."""
    return PreparedModel(
        model, batch_sizes=batch_sizes, lengths=lengths, **options
    ).runs


def test_ids_stay_within_the_vocabulary_of_their_own_input():
    for run in planned(encoder_decoder(), lengths=(50, 60)):
        # The last of each vocabulary is among them, and the first.
        assert run.feeds["source"].max() == 29
        assert run.feeds["target"].max() == 6
        assert run.feeds["source"].min() == run.feeds["target"].min() == 0


def test_the_vocabulary_is_found_in_a_nested_model():
    inner_ids = token_input("inner")
    inner = keras.Model(inner_ids, layers.Embedding(5, 3)(inner_ids))
    ids, other = token_input("ids"), token_input("other")
    vectors = inner(ids), layers.Embedding(17, 3)(other)
    model = keras.Model([ids, other], layers.Concatenate(axis=1)(vectors))
    limits = integer_limits(model, read_signature(model))
    assert limits == {"ids": 5, "other": 17}


def test_a_subclassed_model_counts_its_smallest_vocabulary_for_every_input():
    signature = read_signature(
        subclassed(), [keras.InputSpec(shape=(None, None), dtype="int32")]
    )
    assert integer_limits(subclassed(), signature) == {"ids": 11}


def rows(padded=("ids",)):
    signature = Signature((TensorSpec("ids", (None, None), "int32"),), ("ids",))
    case = Case.of(10, {"ids_length": 20})
    rng = np.random.default_rng(0)
    return draw(signature, case, {"ids": 9}, padded, rng)["ids"][1:] > 0


def test_rows_are_padded_at_the_end_at_the_start_throughout_and_not_at_all():
    found = rows()
    whole, empty = found.all(axis=1), ~found.any(axis=1)
    turns = np.diff(found.astype(int), axis=1)
    assert np.flatnonzero(whole).tolist() == [4]
    assert np.flatnonzero(empty).tolist() == [2, 7]
    # One change from token to padding at most: nothing is padded in between.
    assert (np.abs(turns).sum(axis=1) <= 1).all()
    assert (turns.min(axis=1) == -1).sum() == 4
    assert (turns.max(axis=1) == 1).sum() == 2


def test_inputs_that_no_padding_stands_for_keep_their_rows():
    assert rows(padded=()).all()
    image = keras.Input((8, 8, 3), name="image")
    model = keras.Model(image, layers.Conv2D(2, 3)(image))
    for run in planned(model, batch_sizes=(5, 3), lengths=None):
        assert (run.feeds["image"] != 0).all()


def test_real_numbers_are_padded_where_a_layer_masks_them():
    features = keras.Input((None, 4), name="features")
    masked = layers.LSTM(3)(layers.Masking()(features))
    (run,) = planned(keras.Model(features, masked), (5,), (9,))
    kept = (run.feeds["features"] != 0).any(axis=-1)
    assert kept.all(axis=1).tolist() == [True, False, False, False, False]


def test_integers_that_are_no_ids_go_beyond_65536():
    x = keras.Input((None, 4), name="x")
    start = keras.Input((), dtype="int32", name="start")
    model = keras.Model([x, start], x + keras.ops.cast(start, "float32")[:, None, None])
    drawn = np.concatenate(
        [run.feeds["start"] for run in planned(model, (60,), (2, 3, 4))]
    )
    assert 65_536 < drawn.max() < LIMITS[0]
    assert drawn.min() < 10


def test_each_length_comes_once_and_batch_sizes_take_turns():
    cases = [run.case for run in planned(dense(), BATCH_SIZES, None)]
    assert [case.lengths["features_length"] for case in cases] == list(LENGTHS)
    assert [case.batch for case in cases] == [5, 3, 1, 5, 3, 1]
    cases = [run.case for run in planned(dense(), (1, 2, 3), (4,))]
    assert [case.batch for case in cases] == [1, 2, 3]


class Counting(layers.Layer):
    """Counts how often it is run on values."""

    calls = 0

    def call(self, x):
        if hasattr(x, "numpy"):
            type(self).calls += 1
        return x * 2.0


@pytest.mark.parametrize("inputs", [1, 2])
def test_a_model_is_run_once_for_each_case_and_once_to_probe(tmp_path, inputs):
    xs = [keras.Input((None, 4), name=f"x{i}") for i in range(inputs)]
    Counting.calls = 0
    model = keras.Model(xs, [Counting(name=f"c{i}")(x) for i, x in enumerate(xs)])
    report = export_onnx(model, tmp_path / "model.onnx")
    assert report.passed
    runs = len({str(one.case) for one in report.comparisons})
    assert Counting.calls == inputs * (runs + 1)


def test_lengths_that_only_pools_take_are_found():
    x = keras.Input((None, 3), name="x")
    # Cut into 96 parts, as an image into patches.
    parts = layers.Lambda(
        lambda x: keras.ops.reshape(x, (-1, 96, x.shape[1] // 96, 3)),
        output_shape=(96, None, 3),
    )
    model = keras.Model(x, parts(x))
    taken = [r for r in planned(model, lengths=None) if r.outputs]
    assert [r.case.lengths["x_length"] for r in taken] == [96, 192]


def test_lengths_that_need_not_be_equal_are_not():
    for run in planned(encoder_decoder()):
        assert run.case.lengths["source_length"] != run.case.lengths["target_length"]


def test_lengths_that_must_be_equal_are():
    tokens, segments, memory = (
        token_input(n) for n in ("tokens", "segments", "memory")
    )
    total = layers.Add()([layers.Embedding(9, 4)(x) for x in (tokens, segments)])
    attended = layers.MultiHeadAttention(1, 4)(total, layers.Embedding(9, 4)(memory))
    for run in planned(keras.Model([tokens, segments, memory], attended)):
        assert run.outputs
        lengths = run.case.lengths
        assert lengths["tokens_length"] == lengths["segments_length"]
        assert lengths["memory_length"] != lengths["tokens_length"]


def test_three_axes_that_go_together_are_one_group():
    def fits(longer):
        return set(longer) in (set(), {"a", "b", "c"})

    assert tie_axes(["a", "b", "c"], fits) == [["a", "b", "c"]]


def test_a_batch_size_that_the_model_fixes_is_kept():
    steps = keras.Input(batch_shape=(2, None, 3), name="steps")
    runs = planned(keras.Model(steps, layers.Dense(4)(steps)))
    assert {run.case.batch for run in runs} == {2}


class TwoRows(layers.Layer):
    """A table that is no embedding, so that nothing tells its size."""

    def call(self, x):
        return keras.ops.take(keras.ops.eye(2), x, axis=0)


def test_a_small_range_is_tried_where_the_model_refuses_large_integers():
    flags = keras.Input((), dtype="int32", name="flags")
    (run,) = planned(keras.Model(flags, TwoRows()(flags)), (40,), None)
    assert set(run.feeds["flags"].tolist()) == {0, 1}


def test_inputs_of_one_case_are_the_same_whenever_they_are_drawn():
    first, second = (planned(encoder())[0].feeds["ids"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    model, path = dense(), tmp_path_factory.mktemp("samples") / "model.onnx"
    export_onnx(model, path, lengths=(2,))
    return model, path


def test_the_users_arrays_are_compared(artifact):
    features = np.ones((2, 5, 4), "float32")
    report = check_parity(*artifact, inputs={"features": features})
    (comparison,) = report.comparisons
    assert report.passed
    assert str(comparison.case) == "batch 2, features_length 5"


def test_a_list_of_the_users_arrays_is_compared_one_by_one(artifact):
    samples = [{"features": np.ones((n, 5, 4), "float32")} for n in (1, 2, 3)]
    assert len(check_parity(*artifact, inputs=samples).comparisons) == 3


def test_two_arrays_of_the_same_sizes_are_both_compared(artifact):
    samples = [{"features": np.full((2, 5, 4), n, "float32")} for n in (1, 2)]
    assert len(check_parity(*artifact, inputs=samples).comparisons) == 2


def test_the_users_arrays_are_taken_in_the_declared_dtype(artifact):
    ones = np.ones((2, 5, 4), "int64")
    assert check_parity(*artifact, inputs={"features": ones}).passed


@pytest.mark.parametrize("call", [lambda given: given, lambda given: lambda *_: given])
def test_inputs_of_other_names_are_refused(artifact, call):
    given = {"feature": np.ones((2, 5, 4), "float32")}
    with pytest.raises(ValueError, match="`inputs` must hold") as raised:
        check_parity(*artifact, inputs=call(given))
    assert str(raised.value) == (
        "`inputs` must hold one array for each of ['features']. "
        "Received: inputs for ['feature']"
    )


def test_the_users_function_makes_the_inputs_of_each_case(artifact):
    seen = []

    def inputs(case, rng):
        seen.append(case)
        shape = (case.batch, case.lengths["features_length"], 4)
        return {"features": rng.random(shape, dtype="float32")}

    report = check_parity(*artifact, inputs=inputs, batch_sizes=(2,), lengths=(3, 5))
    assert report.passed
    assert {str(one.case) for one in report.comparisons} <= {str(case) for case in seen}
    assert len(report.comparisons) == 2


def test_a_model_that_takes_no_random_input_asks_for_inputs(tmp_path):
    def fussy(x):
        raise RuntimeError("never happy")

    features = keras.Input((3,), name="features")
    layer = layers.Lambda(fussy, output_shape=(3,))
    model = keras.Model(features, layer(features))
    with pytest.raises(ValueError, match="`inputs` must be given") as raised:
        planned(model)
    assert "never happy" in str(raised.value)
    assert str(raised.value).endswith("Received: inputs=None")
