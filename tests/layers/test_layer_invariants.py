"""What holds for every convention, width and position, tried on many of them."""

import numpy as np
from exactness import INTEGER_TOLERANCE, as_float64, encode
from hypothesis import given
from hypothesis import strategies as st

from keras_sinpe.engine.waves import WaveParameters

INT32 = st.integers(-(2**31), 2**31 - 1)
WIDTHS = st.one_of(st.integers(1, 64), st.just(512))
EVEN_WIDTHS = st.integers(1, 32).map(lambda pairs: 2 * pairs) | st.just(512)
SHIFTS = st.integers(-1000, 1000)

# Whatever the width, a shift below a quarter leaves the series of one step its room.
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "max_wavelength": st.floats(10, 1e6),
        "min_wavelength": st.floats(0.05, 5),
        "frequency_shift": st.sampled_from([-1.0, 0.0, 0.2]),
        "layout": st.sampled_from(["interleaved", "halves"]),
        "cos_first": st.booleans(),
        "odd": st.sampled_from(["ceil", "truncate", "zero"]),
        "first_position": st.integers(-5, 5) | st.floats(-5, 5),
        "position_scale": st.sampled_from([1.0, -1.0, 0.5, 7.25]),
    },
)


def rows_at(positions, width, parameters):
    positions = np.array([positions], "int32")
    return as_float64(encode(positions, width=width, **parameters))[0]


def within_int32(positions):
    return all(-(2**31) <= position < 2**31 for position in positions)


@given(PARAMETERS, EVEN_WIDTHS, INT32, SHIFTS)
def test_a_shift_of_position_is_a_rotation(parameters, width, position, shift):
    if not within_int32([position + shift]):
        shift = -shift
    here, there = rows_at([position, position + shift], width, parameters)
    waves = WaveParameters(**parameters).waves(width)
    partner = partners(waves)
    # The partner is a quarter turn ahead, or behind.
    ahead = np.sin(waves.phase[partner] - waves.phase) * here[partner]
    angle = waves.frequency * shift
    rotated = here * np.cos(angle) + ahead * np.sin(angle)
    # Two float32 rows, and float64 angles up to 1000 times 1000.
    np.testing.assert_allclose(there, rotated, rtol=0, atol=4 * INTEGER_TOLERANCE)


def partners(waves):
    """For each feature, the other one of the same pair."""
    features = np.arange(waves.feature_dim)
    if waves.turns[0] == waves.turns[1]:
        return features ^ 1  # side by side
    return (features + len(features) // 2) % len(features)


@given(PARAMETERS, EVEN_WIDTHS, INT32)
def test_the_squared_norm_of_a_row_is_half_the_width(parameters, width, position):
    (row,) = rows_at([position], width, parameters)
    tolerance = width * 2 * INTEGER_TOLERANCE
    np.testing.assert_allclose((row**2).sum(), width / 2, rtol=0, atol=tolerance)


@given(PARAMETERS, EVEN_WIDTHS, st.tuples(INT32, INT32), SHIFTS)
def test_dot_products_depend_on_the_distance_alone(parameters, width, places, shift):
    if not within_int32(place + shift for place in places):
        shift = -shift
    if not within_int32(place + shift for place in places):
        shift = 0
    shifted = [place + shift for place in places]
    rows = rows_at([*places, *shifted], width, parameters)
    products = (rows[:2] * rows[2:]).sum(axis=-1)
    tolerance = width * 4 * INTEGER_TOLERANCE
    np.testing.assert_allclose(products[0], products[1], rtol=0, atol=tolerance)


@given(PARAMETERS, WIDTHS, st.integers(-(2**31) + 1, 2**31 - 1))
def test_opposite_positions_share_their_cosines_and_oppose_their_sines(
    parameters, width, position
):
    parameters = {**parameters, "first_position": 0}
    forward, backward = rows_at([position, -position], width, parameters)
    phase = WaveParameters(**parameters).waves(width).phase
    sign = np.where(np.sin(phase) > 0.5, 1, -1)
    np.testing.assert_allclose(
        backward, sign * forward, rtol=0, atol=2 * INTEGER_TOLERANCE
    )


@given(PARAMETERS, WIDTHS, INT32, st.integers(1, 4), st.integers(0, 140))
def test_a_row_knows_nothing_of_batch_length_and_start(
    parameters, width, position, batch, before
):
    before = min(before, position + 2**31)
    (alone,) = rows_at([position], width, parameters)
    in_company = encode(
        width=width,
        batch=batch,
        length=before + 1,
        start_index=position - before,
        **parameters,
    )
    received = as_float64(in_company)[:, -1]
    np.testing.assert_array_equal(received, np.stack([alone] * batch))


@given(PARAMETERS, EVEN_WIDTHS, INT32, st.booleans())
def test_layouts_are_permutations_of_each_other(parameters, width, position, cos_first):
    pairs = width // 2
    kept = {"cos_first": cos_first}
    interleaved, halves = (
        rows_at([position], width, {**parameters, **kept, "layout": layout})[0]
        for layout in ("interleaved", "halves")
    )
    np.testing.assert_array_equal(interleaved.reshape(pairs, 2).T.ravel(), halves)


@given(PARAMETERS, WIDTHS, INT32)
def test_an_encoding_never_leaves_the_unit_interval(parameters, width, position):
    (row,) = rows_at([position], width, parameters)
    assert np.abs(row).max() <= 1 + INTEGER_TOLERANCE
