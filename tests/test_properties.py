import keras
import mpmath
import numpy as np
import pytest

from keras_sinpe import properties
from keras_sinpe.properties import (
    coverage,
    dot_product,
    encoding,
    frequencies,
    shift_matrix,
    wavelengths,
)

# A handful of float64 roundings of numbers up to 1.
FLOAT64_ROUNDING = 1e-15
# The same in a product with a matrix of two nonzero entries a row.
PRODUCT_ROUNDING = 4e-15

VARIANTS = [
    {},
    {"cos_first": True},
    {"layout": "halves"},
    {"layout": "halves", "cos_first": True, "frequency_shift": 1},
    {"first_position": 2.5, "position_scale": -0.75, "output_scale": "unit_norm"},
    {"min_wavelength": 0.01, "max_wavelength": 7.0},
    {"periods": [365.2425, 7, 7, 30.5, 1, 90]},  # in no order, one of them twice
]


def textbook(position, feature_dim):
    """Interleaved encoding of one position with 40 digits."""
    with mpmath.workdps(40):
        angles = [
            mpmath.mpf(position)
            / mpmath.mpf(10000) ** (mpmath.mpf(2 * i) / feature_dim)
            for i in range(feature_dim // 2)
        ]
        pairs = [(mpmath.sin(angle), mpmath.cos(angle)) for angle in angles]
    return np.array([float(value) for pair in pairs for value in pair])


# --- encoding


@pytest.mark.parametrize(
    "position", [0, 1, 99, -5, 10**6, 2**31 - 1, 10**12 + 1, 19700.25, -0.1, 1e-9]
)
@pytest.mark.parametrize("feature_dim", [2, 6, 64])
def test_the_encoding_is_the_textbooks_at_every_real_position(position, feature_dim):
    received = encoding(position, feature_dim)
    assert received.dtype == np.float64
    expected = textbook(position, feature_dim)
    np.testing.assert_allclose(received, expected, rtol=0, atol=FLOAT64_ROUNDING)


def test_the_table_of_width_4():
    assert encoding(range(4), 4).round(4).tolist() == [
        [0, 1, 0, 1],
        [0.8415, 0.5403, 0.01, 1],
        [0.9093, -0.4161, 0.02, 0.9998],
        [0.1411, -0.99, 0.03, 0.9996],
    ]


def test_the_table_of_width_6():
    assert encoding(range(4), 6).round(8).tolist() == [
        [0, 1, 0, 1, 0, 1],
        [0.84147098, 0.54030231, 0.04639922, 0.99892298, 0.00215443, 0.99999768],
        [0.90929743, -0.41614684, 0.0926985, 0.99569422, 0.00430886, 0.99999072],
        [0.14112001, -0.9899925, 0.1387981, 0.9903207, 0.00646326, 0.99997911],
    ]


def test_positions_keep_their_shape():
    assert encoding(np.zeros((2, 3)), 5).shape == (2, 3, 5)
    assert encoding(7, 5).shape == (5,)
    assert encoding([], 5).shape == (0, 5)


def test_components_are_bounded_and_rows_distinct():
    rows = encoding(np.arange(-700, 3000), 16)
    assert np.abs(rows).max() <= 1
    assert len(np.unique(rows.round(9), axis=0)) == len(rows)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_encoding_is_what_the_layer_adds(variant):
    from keras_sinpe import SinusoidalPositionalEncoding

    positions = np.array([[0.0, 1.0, 5.0], [-3.0, 2.5, 70001.0]], "float32")
    layer = SinusoidalPositionalEncoding(**variant)
    added = layer(np.zeros((2, 3, 12), "float32"), positions=positions)
    # Float32 products of the layer, beside float64.
    np.testing.assert_allclose(
        encoding(positions, 12, **variant), added, rtol=0, atol=1e-6
    )


# --- wavelengths, frequencies


@pytest.mark.parametrize(
    ("feature_dim", "longest"), [(512, "60,611"), (1024, "61,712")]
)
def test_wavelengths_run_from_a_full_circle_to_almost_ten_thousand(
    feature_dim, longest
):
    periods = wavelengths(feature_dim)
    assert periods.shape == (feature_dim // 2,)
    assert periods.dtype == np.float64
    assert f"{periods[0]:.4f}" == "6.2832"
    assert f"{periods[-1]:,.0f}" == longest


def test_the_often_quoted_longest_wavelength_is_never_reached():
    assert f"{2 * np.pi * 10000:,.0f}" == "62,832"
    assert wavelengths(2048)[-1] < 2 * np.pi * 10000
    assert wavelengths(512, frequency_shift=1)[-1] == pytest.approx(20000 * np.pi)


def test_wavelengths_are_geometric():
    ratios = wavelengths(64)[1:] / wavelengths(64)[:-1]
    np.testing.assert_allclose(ratios, 10000 ** (2 / 64), rtol=1e-14)


def test_periods_of_two_columns_in_a_hundred_positions():
    periods_seen = 100 / wavelengths(64)
    assert f"{periods_seen[0]:.2f}" == "15.92"
    assert f"{wavelengths(64)[15]:.0f}" == "471"
    assert f"{periods_seen[15]:.2f}" == "0.21"


def test_wavelengths_are_sorted_whatever_the_order_of_the_pairs():
    assert wavelengths(6, periods=[365.2425, 7, 30]).tolist() == [7, 30, 365.2425]
    slow_first = wavelengths(6, min_wavelength=100, max_wavelength=1)
    assert (np.diff(slow_first) > 0).all()


@pytest.mark.parametrize(("odd", "count"), [("ceil", 3), ("truncate", 3), ("zero", 2)])
def test_a_sine_without_its_cosine_has_a_wavelength_too(odd, count):
    assert len(wavelengths(5, odd=odd)) == count


def test_a_width_of_one_zero_has_no_wave():
    assert wavelengths(1, odd="zero").tolist() == []
    assert coverage(7, 1, odd="zero") == properties.Coverage(0, 0, 0.0)
    assert dot_product(3, 1, odd="zero") == 0
    assert shift_matrix(3, 1, odd="zero").tolist() == [[1]]


@pytest.mark.parametrize("variant", VARIANTS)
def test_frequencies_are_a_turn_over_the_wavelengths(variant):
    received = frequencies(12, **variant)
    assert received.dtype == np.float64
    assert (received > 0).all()
    np.testing.assert_allclose(
        received * wavelengths(12, **variant), 2 * np.pi, rtol=1e-15
    )


def test_frequencies_of_the_paper():
    expected = [10000 ** (-2 * i / 10) for i in range(5)]
    np.testing.assert_allclose(frequencies(10), expected, rtol=1e-14)


# --- shift matrix


@pytest.mark.parametrize("offset", [0, 1, -13, 0.375, 123456])
@pytest.mark.parametrize("variant", VARIANTS)
def test_one_matrix_shifts_every_position(variant, offset):
    matrix = shift_matrix(offset, 12, **variant)
    assert matrix.dtype == np.float64
    assert matrix.shape == (12, 12)
    positions = np.array([0, 1, -7, 99, 2.25, 40000])
    moved = encoding(positions, 12, **variant) @ matrix.T
    expected = encoding(positions + offset, 12, **variant)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=PRODUCT_ROUNDING)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_shift_matrix_is_orthogonal_and_adds_up(variant):
    matrix = shift_matrix(3, 12, **variant)
    identity = matrix @ matrix.T
    np.testing.assert_allclose(identity, np.eye(12), rtol=0, atol=PRODUCT_ROUNDING)
    two_steps = matrix @ shift_matrix(4, 12, **variant)
    seven = shift_matrix(7, 12, **variant)
    np.testing.assert_allclose(two_steps, seven, rtol=0, atol=PRODUCT_ROUNDING)


def test_the_shift_matrix_of_the_paper_is_block_diagonal():
    angles = [5 / 10000 ** (2 * i / 6) for i in range(3)]
    blocks = [
        [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        for angle in angles
    ]
    expected = np.zeros((6, 6))
    for i, block in enumerate(blocks):
        expected[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    np.testing.assert_allclose(
        shift_matrix(5, 6), expected, rtol=0, atol=FLOAT64_ROUNDING
    )


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_a_feature_of_zeros_is_left_as_it_is(layout):
    matrix = shift_matrix(2, 7, odd="zero", layout=layout)
    assert matrix[-1].tolist() == matrix[:, -1].tolist() == [0] * 6 + [1]
    moved = matrix @ encoding(9, 7, odd="zero", layout=layout)
    expected = encoding(11, 7, odd="zero", layout=layout)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=PRODUCT_ROUNDING)


@pytest.mark.parametrize("function", [shift_matrix, dot_product])
@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("odd", ["ceil", "truncate"])
def test_a_sine_without_its_cosine_has_no_shift(function, layout, odd):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared
        function(1, 5, layout=layout, odd=odd)
    assert str(caught.value) == (
        '`feature_dim` must be even, or odd with odd="zero": a sine without its cosine '
        "does not tell how it moves. Received: feature_dim=5"
    )


def test_no_matrix_moves_a_sine_without_its_cosine():
    rows = encoding(np.arange(40), 5, max_wavelength=10)
    _, residual, _, _ = np.linalg.lstsq(rows[:-1], rows[1:], rcond=None)
    assert residual[:4].max() < 1e-25  # the complete pairs can be continued
    assert residual[4] > 0.01


# --- dot product


@pytest.mark.parametrize(
    ("distance", "product"),
    [
        (0, "256.0000"),
        (1, "249.1021"),
        (2, "231.7336"),
        (10, "173.7897"),
        (100, "111.9502"),
        (1000, "44.9716"),
        (2000, "22.5245"),
    ],
)
def test_dot_products_of_width_512(distance, product):
    received = dot_product(distance, 512)
    assert isinstance(received, np.float64)
    assert f"{received:.4f}" == product


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_dot_product_depends_on_the_distance_alone(variant):
    distances = np.array([0, 1, 10, -10, 2.5])
    expected = dot_product(distances, 12, **variant)
    assert expected.shape == (5,)
    for position in (0, 17, 3000.5):
        row = encoding(position, 12, **variant)
        products = encoding(position + distances, 12, **variant) @ row
        np.testing.assert_allclose(
            products, expected, rtol=0, atol=12 * PRODUCT_ROUNDING
        )


def test_the_dot_product_is_even_and_largest_at_zero():
    distances = np.arange(1, 3000, 7)
    products = dot_product(distances, 512)
    backwards = dot_product(-distances, 512)
    np.testing.assert_allclose(products, backwards, rtol=0, atol=256 * FLOAT64_ROUNDING)
    assert products.max() < dot_product(0, 512) == 256


def test_the_dot_product_falls_but_not_monotonically():
    steps = np.diff(dot_product(np.arange(200), 512))
    assert (steps[:4] < 0).all()
    assert (steps > 0).any()
    far, near = (
        dot_product(np.arange(1000, 1100), 512),
        dot_product(np.arange(100), 512),
    )
    assert far.max() < near.min()


def test_unit_norm_gives_rows_of_norm_one():
    assert dot_product(0, 10, output_scale="unit_norm") == pytest.approx(1, abs=1e-15)


def test_random_projections_break_the_property_of_distance_alone():
    draw = np.random.default_rng(0)
    query, key = draw.standard_normal((2, 12, 8))
    between = query @ key.T
    matrix = shift_matrix(5, 12)
    assert np.abs(matrix.T @ between @ matrix - between).max() > 1
    positions = np.arange(50)
    scores = np.einsum(
        "pi,ij,pj->p", encoding(positions, 12), between, encoding(positions + 3, 12)
    )
    assert scores.max() - scores.min() > 10


# --- coverage


@pytest.mark.parametrize(
    ("feature_dim", "complete", "incomplete", "degrees"),
    [(512, 123, 133, "3.04"), (1024, 245, 267, "2.99")],
)
def test_coverage_of_a_training_length_of_512(
    feature_dim, complete, incomplete, degrees
):
    seen = coverage(512, feature_dim)
    assert (seen.complete, seen.incomplete) == (complete, incomplete)
    assert f"{seen.slowest_degrees:.2f}" == degrees


def test_coverage_counts_a_period_that_just_fits():
    assert coverage(7, 6, periods=[7, 7.5, 365.2425]) == properties.Coverage(
        complete=1, incomplete=2, slowest_degrees=pytest.approx(360 * 7 / 365.2425)
    )


def test_coverage_is_frozen():
    with pytest.raises(AttributeError):
        coverage(512, 64).complete = 1


# --- attention


@pytest.fixture(scope="module")
def attention():
    keras.utils.set_random_seed(0)
    layer = keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    layer.build((None, None, 8), (None, None, 8))
    return layer


# Sums in another order: roundings of float32 of numbers of order one.
SHUFFLED_SUMS = 1e-5


def test_attention_alone_is_permutation_equivariant(attention):
    draw = np.random.default_rng(1)
    tokens = draw.standard_normal((3, 5, 8)).astype("float32")
    order = np.array([3, 0, 4, 1, 2])
    shuffled = attention(tokens[:, order], tokens[:, order])
    plain = np.asarray(attention(tokens, tokens))
    assert np.abs(plain).max() > 0.1
    np.testing.assert_allclose(shuffled, plain[:, order], rtol=0, atol=SHUFFLED_SUMS)


def test_attention_with_the_encoding_is_not(attention):
    draw = np.random.default_rng(1)
    tokens = draw.standard_normal((3, 5, 8))
    order = np.array([3, 0, 4, 1, 2])
    placed = (tokens + encoding(np.arange(5), 8)).astype("float32")
    moved = (tokens[:, order] + encoding(np.arange(5), 8)).astype("float32")
    plain, shuffled = attention(placed, placed), attention(moved, moved)
    assert np.abs(np.asarray(shuffled) - np.asarray(plain)[:, order]).max() > 0.1


# --- misuse


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (
            lambda: encoding([0, np.nan], 4),
            ValueError,
            "`positions` must be finite. Received: positions=[0, nan]",
        ),
        (
            lambda: encoding("seven", 4),
            TypeError,
            "`positions` must be numbers. Received: positions='seven'",
        ),
        (
            lambda: dot_product(np.inf, 4),
            ValueError,
            "`distance` must be finite. Received: distance=inf",
        ),
        (
            lambda: shift_matrix([1, 2], 4),
            TypeError,
            "`offset` must be a finite number. Received: offset=[1, 2]",
        ),
        (
            lambda: coverage(0, 4),
            ValueError,
            "`training_length` must be a finite number above 0. "
            "Received: training_length=0",
        ),
        (
            lambda: wavelengths(4.0),
            TypeError,
            "`feature_dim` must be an integer above 0. Received: feature_dim=4.0",
        ),
    ],
)
def test_misuse_is_answered_in_a_sentence(call, kind, sentence):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == sentence
