"""64-bit numbers that only `position_scale` brings within range: milliseconds."""

import keras
import numpy as np
import pytest
from exactness import REAL_TOLERANCE, as_float64, assert_exact
from keras import ops
from mpmath import cos, mp, mpf, sin
from position_gradients import gradient_of_sum

import keras_sinpe

DAY = 86_400_000
SCALE = 1 / DAY
MILLISECONDS = [1_700_000_000_123, -1_700_000_000_123, 1_700_000_000_000, 10**12, 5, -7]

pytestmark = pytest.mark.float64


def exact_rows(numbers, width, scale=SCALE, first=0):
    """The encoding of the paper in 60 digits, of numbers and scale as they are."""
    with mp.workdps(60):
        rows = []
        for number in numbers:
            days = (mpf(number) + mpf(first)) * mpf(scale)
            angles = [
                days / mpf(10000) ** (mpf(2 * i) / width) for i in range(width // 2)
            ]
            rows.append([float(wave(a)) for a in angles for wave in (sin, cos)])
        return np.array(rows)


def forms(numbers, dtype):
    array = np.array(numbers, dtype)
    return [array, ops.convert_to_tensor(array), array.tolist()]


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_milliseconds_since_1970_are_encoded_as_days(dtype):
    embedding = keras_sinpe.SinusoidalEmbedding(8, position_scale=SCALE)
    layer = keras_sinpe.SinusoidalPositionalEncoding(position_scale=SCALE)
    rows = exact_rows(MILLISECONDS, 8)
    for numbers in forms(MILLISECONDS, dtype):
        assert_exact(embedding(numbers), rows, REAL_TOLERANCE)
        added = layer(ops.zeros((1, len(rows), 8)), positions=numbers)
        assert_exact(added, rows[None], REAL_TOLERANCE)
    assert_exact(embedding(MILLISECONDS[0]), rows[0], REAL_TOLERANCE)


def test_float64_keeps_its_twelve_digits_far_out():
    layer = keras_sinpe.SinusoidalEmbedding(8, position_scale=SCALE, dtype="float64")
    # 20,000 days in float64.
    assert_exact(layer(MILLISECONDS), exact_rows(MILLISECONDS, 8), 1e-11)


def test_offsets_and_negative_scales_count_far_out_too():
    layer = keras_sinpe.SinusoidalEmbedding(
        8, position_scale=-1e-7, first_position=12345.5
    )
    rows = exact_rows(MILLISECONDS, 8, -1e-7, 12345.5)
    assert_exact(layer(MILLISECONDS), rows, REAL_TOLERANCE)


@pytest.mark.parametrize("scale", [0.5, 1e-9, 1e-12])
def test_the_range_ends_after_the_scale(scale):
    layer = keras_sinpe.SinusoidalEmbedding(4, position_scale=scale)
    last = (2.0**31 - 128) / scale
    numbers = np.array([last, -last, 3.0])
    rows = exact_rows(numbers, 4, scale)
    for each in (numbers, ops.convert_to_tensor(numbers)):
        assert_exact(layer(each), rows, REAL_TOLERANCE)
    beyond = np.array([5 * last, 3.0])
    with pytest.raises(ValueError, match="scaled by `position_scale`"):
        layer(beyond)
    received = as_float64(layer(ops.convert_to_tensor(beyond)))
    assert np.isnan(received[0]).all()
    assert np.isfinite(received[1]).all()


def test_rows_within_int32_are_the_same_bits_in_every_dtype():
    layer = keras_sinpe.SinusoidalEmbedding(8, position_scale=SCALE)
    numbers = [0, 5, -(2**31), 2**31 - 1, 86_400_001]
    expected = as_float64(layer(ops.array(numbers, "int32")))
    received = layer(ops.array(numbers, "int64"))
    np.testing.assert_array_equal(as_float64(received), expected)


def test_gradients_flow_to_numbers_near_and_far():
    layer = keras_sinpe.SinusoidalEmbedding(2, position_scale=SCALE)
    numbers = np.array([1_700_000_000_000.0, 4.0])
    received = gradient_of_sum(layer, numbers)
    expected = SCALE * exact_rows(numbers, 2) @ [-1, 1]
    np.testing.assert_allclose(received, expected, rtol=0, atol=2e-6 * SCALE)


def test_milliseconds_can_be_an_input_of_a_saved_model(tmp_path):
    inputs = keras.Input((None,), dtype="int64")
    embedding = keras_sinpe.SinusoidalEmbedding(8, position_scale=SCALE)
    model = keras.Model(inputs, embedding(inputs))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    numbers = np.array([MILLISECONDS])
    for called in (model, loaded.predict_on_batch):
        rows = exact_rows(MILLISECONDS, 8)[None]
        assert_exact(called(numbers), rows, REAL_TOLERANCE)
