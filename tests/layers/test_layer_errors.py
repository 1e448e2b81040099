"""Wrong calls: one sentence each, with what was expected and what came."""

import keras
import numpy as np
import pytest
from keras import ops

import keras_sinpe


@pytest.fixture(autouse=True)
def _bare_errors():
    """Keras wraps the errors of calls in a page about the call."""
    keras.config.disable_traceback_filtering()
    yield
    keras.config.enable_traceback_filtering()


def inputs(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


def symbol(*shape, dtype="float32"):
    return keras.KerasTensor(shape, dtype=dtype)


RANK = (
    "`inputs` must have shape (batch, length, feature_dim), or more axes between batch "
    "and length. Received: inputs.shape="
)
WIDTH = "`inputs` must have the width the layer was built for, 8. Received: "
IDS = (
    "`inputs` must be floating point embeddings, not token ids. "
    "Received: inputs.dtype=int32"
)
UNKNOWN = (
    "`inputs` must have a known last dimension, the width of the encoding. "
    "Received: inputs.shape=(None, None, None)"
)

INPUTS = {
    "rank 2": (ValueError, inputs(2, 8), RANK + "(2, 8)"),
    "rank 1": (ValueError, inputs(8), RANK + "(8,)"),
    "symbolic rank 2": (ValueError, symbol(None, 8), RANK + "(None, 8)"),
    "token ids": (TypeError, inputs(2, 3, 8, dtype="int32"), IDS),
    "symbolic token ids": (TypeError, symbol(None, None, 8, dtype="int32"), IDS),
    "unknown width": (ValueError, symbol(None, None, None), UNKNOWN),
}


@pytest.mark.parametrize("case", INPUTS)
def test_inputs_that_are_no_sequence_of_embeddings_are_refused(case):
    error, given, sentence = INPUTS[case]
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("given", [inputs(2, 3, 10), symbol(None, None, 10)])
def test_another_width_than_built_for_is_refused(given):
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    layer(inputs(2, 3, 8))
    with pytest.raises(ValueError, match="width") as caught:
        layer(given)
    assert str(caught.value) == f"{WIDTH}inputs.shape={tuple(given.shape)}"


def test_an_encoding_before_the_build_is_refused():
    layer = keras_sinpe.SinusoidalPositionalEncoding(name="early")
    with pytest.raises(ValueError, match="built") as caught:
        layer.encode(np.arange(3))
    assert str(caught.value) == "Layer `early` must be built before it encodes."


START = (
    "`start_index` must be an integer, or an integer tensor of shape () or (batch,)."
)
RANGE = (
    "`start_index` must keep every position within int32, -2**31 to 2**31 - 1. "
    "Received: start_index="
)
AGAINST = "with inputs.shape=(2, 3, 8)"
SHAPE = f"{START} Received: start_index.shape="
STARTS = {
    "real": (TypeError, 1.5, f"{START} Received: start_index=1.5"),
    "boolean": (TypeError, True, f"{START} Received: start_index=True"),
    "string": (TypeError, "1", f"{START} Received: start_index='1'"),
    "one too many": (ValueError, np.arange(3), f"{SHAPE}(3,) {AGAINST}"),
    "rank 2": (ValueError, np.ones((2, 1), "int32"), f"{SHAPE}(2, 1) {AGAINST}"),
    "beyond int32": (ValueError, 2**31 - 2, f"{RANGE}{2**31 - 2} and length 3"),
    "before int32": (ValueError, -(2**31) - 1, f"{RANGE}{-(2**31) - 1} and length 3"),
}


@pytest.mark.parametrize("case", STARTS)
def test_a_start_index_that_is_no_integer_within_range_is_refused(case):
    error, start_index, sentence = STARTS[case]
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(
            inputs(2, 3, 8), start_index=start_index
        )
    assert str(caught.value) == sentence


def test_a_start_index_of_reals_is_refused():
    start_index = ops.zeros((2,))
    with pytest.raises(TypeError) as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(
            inputs(2, 3, 8), start_index=start_index
        )
    assert str(caught.value) == f"{START} Received: start_index={start_index!r}"


SHAPES = (
    "`positions` must have shape (length,), or that of the inputs without their last "
    "axis. Received: "
)
DTYPES = (
    "`positions` must be integers, float32 or float64: half precision holds no "
    "odd integer beyond 2048. Received: positions.dtype="
)
POSITIONS = {
    "scalar": (ValueError, np.array(3), f"{SHAPES}positions.shape=()"),
    "too long": (ValueError, np.arange(4), f"{SHAPES}positions.shape=(4,)"),
    "too many": (ValueError, np.ones((4, 3)), f"{SHAPES}positions.shape=(4, 3)"),
    "rank 3": (ValueError, np.ones((2, 3, 1)), f"{SHAPES}positions.shape=(2, 3, 1)"),
    "half precision": (TypeError, inputs(3, dtype="float16"), f"{DTYPES}float16"),
    "booleans": (TypeError, inputs(3, dtype="bool"), f"{DTYPES}bool"),
}


@pytest.mark.parametrize("case", POSITIONS)
def test_positions_that_do_not_fit_are_refused(case):
    error, positions, sentence = POSITIONS[case]
    if error is ValueError:
        sentence += f" {AGAINST}"
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(inputs(2, 3, 8), positions=positions)
    assert str(caught.value) == sentence


REACH = (
    "must be integers within int32, or real numbers up to 2**31 - 128 in size; where "
    "the backend holds 64 bits, they are scaled by `position_scale` before that counts."
)
DATES = (
    "must be numbers, not dates or durations: divide by a unit, as in "
    '(dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D").'
)
JOIN = (
    "must be one array or tensor: pad lists of unequal lengths, and join symbolic "
    "tensors with `keras.ops.stack`."
)
DAY = np.datetime64("2024-02-29")
FAR = 2.0**31
NUMBERS = {
    "integers beyond": (ValueError, np.array([1, 2**31, 2]), REACH, f"number {2**31}"),
    "integers before": (ValueError, [-(2**31) - 1, 2, 2**31 - 1], REACH, "-2147483649"),
    "huge integers": (ValueError, np.array([1, 2**63, 2], "uint64"), REACH, f"{2**63}"),
    "reals beyond": (ValueError, [1.5, FAR, np.nan], REACH, f"number {FAR}"),
    "reals before": (ValueError, np.array([-FAR, 1, 1], "float32"), REACH, f"{-FAR}"),
    "infinite": (ValueError, [1, 2, float("-inf")], REACH, "the number -inf"),
    "dates": (TypeError, np.array([DAY] * 3), DATES, "dtype=datetime64[D]"),
    "durations": (TypeError, [DAY - DAY] * 3, DATES, "dtype=timedelta64[D]"),
    "strings": (TypeError, ["1", "2", "3"], "must be integers, float32", "dtype=str"),
    "nothings": (TypeError, [None] * 3, "must be integers, float32", "dtype=object"),
    "a string": (TypeError, "123", "must be a tensor of integers or reals.", "'123'"),
    "ragged lists": (TypeError, [[1, 2, 3], [4, 5]], JOIN, "[[1, 2, 3], [4, 5]]"),
    "symbols": (TypeError, [symbol(3)] * 2, JOIN, "[<KerasTensor"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_known_numbers_that_are_no_positions_are_refused(case):
    error, given, expected, received = NUMBERS[case]
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(inputs(2, 3, 8), positions=given)
    assert str(caught.value).startswith(f"`positions` {expected}")
    assert "Received: positions" in str(caught.value)
    assert received in str(caught.value)
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalEmbedding(8)(given)
    assert str(caught.value).startswith(f"`inputs` {expected}")
    assert received in str(caught.value)


def test_the_sentence_about_numbers_out_of_range_is_whole():
    with pytest.raises(ValueError, match="int32") as caught:
        keras_sinpe.SinusoidalEmbedding(8)(2**31)
    assert str(caught.value) == (
        f"`inputs` {REACH} Received: inputs with the number {2**31}"
    )


@pytest.mark.parametrize("start_index", [1, -1])
def test_start_index_and_positions_exclude_each_other(start_index):
    with pytest.raises(ValueError, match="both") as caught:
        keras_sinpe.SinusoidalPositionalEncoding()(
            inputs(2, 3, 8), start_index=start_index, positions=np.arange(3)
        )
    assert str(caught.value) == (
        "`start_index` and `positions` must not both be given. "
        f"Received: start_index={start_index} with positions"
    )


def test_symbolic_start_index_and_positions_exclude_each_other():
    start_index = symbol(None, dtype="int32")
    with pytest.raises(ValueError, match="must not both be given"):
        keras_sinpe.SinusoidalPositionalEncoding()(
            symbol(None, 3, 8),
            start_index=start_index,
            positions=symbol(3, dtype="int32"),
        )


def test_positions_and_positions_from_mask_exclude_each_other():
    layer = keras_sinpe.SinusoidalPositionalEncoding(positions_from_mask=True)
    with pytest.raises(ValueError, match="positions_from_mask") as caught:
        layer(inputs(2, 3, 8), positions=np.arange(3), mask=np.ones((2, 3), bool))
    assert str(caught.value) == (
        "`positions` must not be given when `positions_from_mask` is set. "
        "Received: positions_from_mask=True with positions"
    )


@pytest.mark.parametrize("name", ["positions_from_mask", "zero_masked"])
@pytest.mark.parametrize("given", [inputs(2, 3, 8), symbol(None, None, 8)])
def test_a_mask_that_is_needed_and_missing_is_asked_for(name, given):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**{name: True})
    with pytest.raises(ValueError, match="mask") as caught:
        layer(given)
    assert str(caught.value) == (
        "`mask` must be given when `positions_from_mask` or `zero_masked` is set: pass "
        "it, or put `Embedding(mask_zero=True)` before the layer. Received: mask=None"
    )


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (3,), (2, 3, 1)])
@pytest.mark.parametrize("parameters", [{}, {"zero_masked": True}], ids=str)
def test_a_mask_of_another_shape_is_refused(shape, parameters):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    with pytest.raises(ValueError, match="mask") as caught:
        layer(inputs(2, 3, 8), mask=np.ones(shape, bool))
    assert str(caught.value) == (
        "`mask` must have the shape of the inputs without their last axis, "
        "(batch, length). Received: "
        f"mask.shape={shape} with inputs.shape=(2, 3, 8)"
    )


COUNTS = (
    "`mask` must be boolean, or integers 0 and 1, true for the tokens that count. "
    "Received: mask with the number "
)
NO_MASK = (
    "`mask` must be boolean, true for the tokens that count; a mask of floats to add "
    "to scores is none. Received: mask.dtype="
)
MASKS = {
    "ids": (ValueError, np.array([[0, 3, 4]], "int32"), f"{COUNTS}3"),
    "bytes": (ValueError, np.array([[255, 0, 1]], "uint8"), f"{COUNTS}255"),
    "a list of ids": (ValueError, [[3, 4, 5]], f"{COUNTS}3"),
    "a tensor of ids": (ValueError, ops.array([[-1, 0, 1]], "int32"), f"{COUNTS}-1"),
    "scores": (TypeError, inputs(1, 3), f"{NO_MASK}float32"),
    "a tensor of scores": (TypeError, ops.zeros((1, 3)), f"{NO_MASK}float32"),
    "nothings": (TypeError, [[None] * 3], f"{NO_MASK}object"),
}


@pytest.mark.parametrize("case", MASKS)
@pytest.mark.parametrize("parameters", [{}, {"positions_from_mask": True}], ids=str)
def test_a_mask_that_says_more_than_yes_and_no_is_refused(case, parameters):
    error, mask, sentence = MASKS[case]
    layer = keras_sinpe.SinusoidalPositionalEncoding(**parameters)
    with pytest.raises(error) as caught:
        layer(inputs(1, 3, 8), mask=mask)
    assert str(caught.value) == sentence


LAYERS = [
    keras_sinpe.SinusoidalPositionalEncoding,
    lambda **kwargs: keras_sinpe.SinusoidalEmbedding(8, **kwargs),
]


@pytest.mark.parametrize("policy", ["int32", "uint8", "bool"])
@pytest.mark.parametrize("make", LAYERS)
def test_a_policy_that_is_no_float_is_refused(make, policy):
    sentence = f"`dtype` must be a floating point policy. Received: dtype={policy!r}"
    with pytest.raises(ValueError, match="policy") as caught:
        make(dtype=policy)
    assert str(caught.value) == sentence
    layer = make()
    layer.dtype_policy = policy
    with pytest.raises(ValueError, match="policy") as caught:
        layer(inputs(2, 3, 8))
    assert str(caught.value) == sentence


CONSTRUCTION = [
    (ValueError, "max_wavelength", 0, "a finite number above 0"),
    (TypeError, "max_wavelength", "long", "a finite number above 0"),
    (ValueError, "layout", "blocks", 'one of "interleaved", "halves"'),
    (ValueError, "odd", "floor", 'one of "ceil", "truncate", "zero"'),
    (TypeError, "input_scale", "sqrt", 'a finite number or "sqrt_dim"'),
    (ValueError, "input_scale", float("inf"), 'a finite number or "sqrt_dim"'),
    (TypeError, "learned_scale", 1, "`True` or `False`"),
    (TypeError, "positions_from_mask", "yes", "`True` or `False`"),
    (TypeError, "zero_masked", None, "`True` or `False`"),
]


@pytest.mark.parametrize(("error", "name", "value", "expected"), CONSTRUCTION)
def test_arguments_are_checked_at_construction(error, name, value, expected):
    with pytest.raises(error) as caught:
        keras_sinpe.SinusoidalPositionalEncoding(**{name: value})
    assert str(caught.value) == (
        f"`{name}` must be {expected}. Received: {name}={value!r}"
    )


def test_arguments_are_keyword_only():
    with pytest.raises(TypeError, match="positional argument"):
        keras_sinpe.SinusoidalPositionalEncoding(10000.0)
