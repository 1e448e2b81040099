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


RANK = "`inputs` must have shape (batch, length, feature_dim). Received: inputs.shape="
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
    "rank 4": (ValueError, inputs(1, 2, 3, 8), RANK + "(1, 2, 3, 8)"),
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


SHAPES = "`positions` must have shape (length,) or (batch, length). Received: "
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
        "`mask` must have shape (batch, length). Received: "
        f"mask.shape={shape} with inputs.shape=(2, 3, 8)"
    )


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
