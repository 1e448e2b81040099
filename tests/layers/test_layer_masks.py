"""Masks: passed on, counted by, and silencing what they cover."""

import keras
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, as_float64, assert_exact
from keras import layers, ops

import keras_sinpe
from keras_sinpe import reference

# Sums of a few float32 numbers of order one, in another order.
SUM_TOLERANCE = 1e-6

# Left, right, inner padding, none, and nothing but padding.
MASK = np.array(
    [
        [0, 0, 1, 1, 1],
        [1, 1, 1, 0, 0],
        [1, 0, 1, 1, 0],
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
    ],
    bool,
)
# Masked tokens get the position of the token before them, or the first.
COUNTED = np.array(
    [
        [0, 0, 0, 1, 2],
        [0, 1, 2, 2, 2],
        [0, 0, 1, 2, 2],
        [0, 1, 2, 3, 4],
        [0, 0, 0, 0, 0],
    ]
)


def pooled_model(**parameters):
    keras.utils.set_random_seed(3)
    return keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            layers.Embedding(9, 6, mask_zero=True),
            keras_sinpe.SinusoidalPositionalEncoding(**parameters),
            layers.GlobalAveragePooling1D(),
        ]
    )


@pytest.mark.parametrize(
    "parameters",
    [{}, {"positions_from_mask": True}, {"zero_masked": True}, {"learned_scale": True}],
    ids=str,
)
def test_padding_on_the_right_changes_nothing(parameters, tmp_path):
    model = pooled_model(**parameters)
    model.save(tmp_path / "model.keras")
    for each in (model, keras.saving.load_model(tmp_path / "model.keras")):
        padded = each(np.array([[3, 4, 5, 0, 0, 0]]))
        plain = each(np.array([[3, 4, 5]]))
        assert_exact(padded, as_float64(plain), SUM_TOLERANCE)


def test_padding_on_the_left_changes_nothing_where_positions_count_tokens():
    model = pooled_model(positions_from_mask=True)
    padded = model(np.array([[0, 0, 3, 4, 5]]))
    plain = model(np.array([[3, 4, 5]]))
    assert_exact(padded, as_float64(plain), SUM_TOLERANCE)
    moved = pooled_model()(np.array([[0, 0, 3, 4, 5]]))
    assert np.abs(as_float64(moved) - as_float64(plain)).max() > 0.1


def test_the_mask_comes_out_with_the_sequence_whatever_else_goes_in():
    ids = keras.Input((None,), dtype="int32")
    start = keras.Input((), dtype="int32")
    positions = keras.Input((None,), dtype="int32")
    x = layers.Embedding(9, 6, mask_zero=True)(ids)
    encoding = keras_sinpe.SinusoidalPositionalEncoding()
    pool = layers.GlobalAveragePooling1D()
    calls = {"start_index": start, "positions": positions}
    for name, given in calls.items():
        model = keras.Model([ids, given], pool(encoding(x, **{name: given})))
        starts = np.zeros(1, "int32")
        padded = starts if name == "start_index" else np.array([[0, 1, 2, 9, 9]])
        plain = starts if name == "start_index" else np.array([[0, 1, 2]])
        assert_exact(
            model([np.array([[3, 4, 5, 0, 0]]), padded]),
            as_float64(model([np.array([[3, 4, 5]]), plain])),
            SUM_TOLERANCE,
        )


def test_positions_are_plain_indices_by_default_even_under_a_mask():
    layer = keras_sinpe.SinusoidalPositionalEncoding()
    received = layer(np.zeros((5, 5, 4), "float32"), mask=MASK)
    expected = np.stack([reference.encode(np.arange(5), 4)] * 5)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("start", [0, 70000, np.array([3, 0, 9, -4, 7], "int32")])
@pytest.mark.parametrize("zero_masked", [False, True])
@pytest.mark.parametrize("first_position", [0, 2])
def test_positions_from_mask_count_the_tokens_that_are_kept(
    start, zero_masked, first_position
):
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        positions_from_mask=True, zero_masked=zero_masked, first_position=first_position
    )
    received = layer(np.zeros((5, 5, 4), "float32"), start_index=start, mask=MASK)
    positions = COUNTED + np.reshape(start, (-1, 1)) + first_position
    expected = reference.encode(positions, 4)
    if zero_masked:
        expected = np.where(MASK[..., None], expected, 0)
    assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize(
    "call",
    [{}, {"start_index": 5}, {"positions": np.array([5, 6, 7, 8, 9])}],
    ids=["default", "start_index", "positions"],
)
def test_zero_masked_silences_the_encoding_and_nothing_else(call):
    inputs = np.random.default_rng(1).normal(size=(5, 5, 4)).astype("float32")
    layer = keras_sinpe.SinusoidalPositionalEncoding(zero_masked=True)
    start = 5 if call else 0
    rows = reference.encode(start + np.arange(5), 4)
    expected = inputs + np.where(MASK[..., None], rows, 0)
    # One rounding of sums below 4.
    assert_exact(layer(inputs, mask=MASK, **call), expected, 2.0**-22)


@pytest.mark.parametrize("name", ["positions_from_mask", "zero_masked"])
def test_the_mask_of_an_embedding_is_found(name):
    inputs = layers.Embedding(9, 4, mask_zero=True)(np.array([[0, 0, 3], [4, 5, 0]]))
    mask = np.array([[0, 0, 1], [1, 1, 0]], bool)
    layer = keras_sinpe.SinusoidalPositionalEncoding(**{name: True})
    explicit = as_float64(layer(ops.copy(inputs), mask=mask))
    np.testing.assert_array_equal(as_float64(layer(inputs)), explicit)
    if name == "zero_masked":
        received = layer(inputs, positions=np.array([[0, 1, 2]] * 2))
        np.testing.assert_array_equal(as_float64(received), explicit)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_empty_masks_will_do(shape):
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        positions_from_mask=True, zero_masked=True
    )
    received = layer(np.zeros((*shape, 4), "float32"), mask=np.zeros(shape, bool))
    assert tuple(received.shape) == (*shape, 4)


def attention_blocks(blocks=2):
    """Residual attention with the padding kept out by an explicit mask."""
    ids = keras.Input((None,), dtype="int32")
    attention_mask = ops.not_equal(ids, 0)[:, None, :]
    embedding = layers.Embedding(9, 6, mask_zero=True, name="tokens")
    x = keras_sinpe.SinusoidalPositionalEncoding()(embedding(ids))
    for _ in range(blocks):
        attended = layers.MultiHeadAttention(2, 3)(x, x, attention_mask=attention_mask)
        x = layers.Add()([x, attended])
    return keras.Model(ids, x)


def test_stacked_attention_with_an_explicit_mask_never_reads_padding():
    keras.utils.set_random_seed(8)
    model = attention_blocks()
    ids = np.array([[3, 4, 5, 0, 0, 0]])
    before = as_float64(model(ids))
    embedding = model.get_layer("tokens")
    table = embedding.get_weights()[0]
    table[0] += 5
    embedding.set_weights([table])
    after = as_float64(model(ids))
    assert_exact(after[:, :3], before[:, :3], SUM_TOLERANCE)
    assert np.abs(after - before)[:, 3:].max() > 1


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "int8"])
def test_a_mask_may_hold_booleans_or_zeros_and_ones_in_any_form(dtype):
    layer = keras_sinpe.SinusoidalPositionalEncoding(
        zero_masked=True, positions_from_mask=True
    )
    expected = np.where(MASK[..., None], reference.encode(COUNTED, 4), 0)
    array = MASK.astype(dtype)
    for mask in (array, array.tolist(), ops.convert_to_tensor(array)):
        received = layer(np.zeros((5, 5, 4), "float32"), mask=mask)
        assert_exact(received, expected, INTEGER_TOLERANCE)


@pytest.mark.parametrize("name", ["input_scale", "output_scale"])
def test_a_scale_may_be_a_tensor(name):
    layer = keras_sinpe.SinusoidalPositionalEncoding(**{name: ops.array(0.5)})
    assert layer.get_config()[name] == 0.5
