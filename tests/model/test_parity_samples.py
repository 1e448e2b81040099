import keras
import numpy as np
import pytest
from export_models import dense, encoder, encoder_decoder, subclassed, token_input
from keras import layers

from keras_sinpe.exporting import export_onnx
from keras_sinpe.model.prepared import KerasRunner
from keras_sinpe.model.random_inputs import draw
from keras_sinpe.model.sampling import plan_samples
from keras_sinpe.model.signatures import Signature, read_signature
from keras_sinpe.model.tensor_specs import TensorSpec
from keras_sinpe.model.tied_axes import tie_axes
from keras_sinpe.model.vocabularies import integer_limits
from keras_sinpe.parity import Case, check_parity


def planned(model, batch_sizes=(1, 3), lengths=(4, 9), signature=None):
    signature = read_signature(model, signature)
    return plan_samples(KerasRunner(model, signature), batch_sizes, lengths)


def test_ids_stay_within_the_vocabulary_of_their_own_input():
    samples = planned(encoder_decoder(), lengths=(50, 60))
    for case in samples.cases():
        feeds = samples.feeds(case)
        assert feeds["source"].max() < 30
        assert feeds["target"].max() < 7
    assert feeds["source"].max() > 7


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


def test_about_half_of_the_rows_are_padded_and_none_is_empty():
    signature = Signature((TensorSpec("ids", (None, None), "int32"),), ("ids",))
    rng = np.random.default_rng(0)
    ids = draw(signature, Case.of(8, {"ids_length": 20}), {"ids": 9}, rng)["ids"]
    assert (ids[:, 0] > 0).all()
    assert (ids[:, -1] == 0).sum() == 4
    for row in ids:
        valid = np.count_nonzero(row)
        assert (row[:valid] > 0).all()
        assert (row[valid:] == 0).all()


def test_lengths_that_need_not_be_equal_are_not():
    samples = planned(encoder_decoder())
    for case in samples.cases():
        assert case.lengths["source_length"] != case.lengths["target_length"]


def test_lengths_that_must_be_equal_are():
    tokens, segments, memory = (
        token_input(n) for n in ("tokens", "segments", "memory")
    )
    total = layers.Add()([layers.Embedding(9, 4)(x) for x in (tokens, segments)])
    attended = layers.MultiHeadAttention(1, 4)(total, layers.Embedding(9, 4)(memory))
    samples = planned(keras.Model([tokens, segments, memory], attended))
    for case in samples.cases():
        assert case.lengths["tokens_length"] == case.lengths["segments_length"]
        assert case.lengths["memory_length"] != case.lengths["tokens_length"]


def test_three_axes_that_go_together_are_one_group():
    def fits(longer):
        return set(longer) in (set(), {"a", "b", "c"})

    assert tie_axes(["a", "b", "c"], fits) == [["a", "b", "c"]]


def test_a_batch_size_that_the_model_fixes_is_kept():
    steps = keras.Input(batch_shape=(2, None, 3), name="steps")
    samples = planned(keras.Model(steps, layers.Dense(4)(steps)))
    assert {case.batch for case in samples.cases()} == {2}


class TwoRows(layers.Layer):
    """A table that is no embedding, so that nothing tells its size."""

    def call(self, x):
        return keras.ops.take(keras.ops.eye(2), x, axis=0)


def test_a_small_range_is_tried_where_the_model_refuses_large_integers():
    flags = keras.Input((), dtype="int32", name="flags")
    samples = planned(keras.Model(flags, TwoRows()(flags)))
    assert samples.feeds(Case.of(40, {}))["flags"].max() < 2


def test_inputs_of_one_case_are_the_same_whenever_they_are_drawn():
    samples = planned(encoder())
    case = samples.cases()[0]
    np.testing.assert_array_equal(
        samples.feeds(case)["ids"], samples.feeds(case)["ids"]
    )


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
