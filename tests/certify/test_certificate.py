"""What a certificate proves: its oracle, its bound, that it sees a planted error."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from exactness import INTEGER_TOLERANCE, as_float64
from keras import ops

from keras_sinpe import reference
from keras_sinpe.certify import certify, certify_rotations, certify_tables
from keras_sinpe.certify.blocks import block_error, span_rotations
from keras_sinpe.certify.contraction import contracted_block_error
from keras_sinpe.certify.exact import EXACT_TO, exact_block_digits, exact_rotations
from keras_sinpe.certify.sums import contracted_products, product
from keras_sinpe.engine import digit_products
from keras_sinpe.engine.digit_tables import BLOCK, DigitTables
from keras_sinpe.engine.rotation import encode_integers
from keras_sinpe.engine.waves import TURN, WaveParameters

SPAN = 128  # blocks


def tables_of(width, **parameters):
    return DigitTables(WaveParameters(**parameters).waves(width), "float32")


@pytest.fixture(scope="module")
def tables():
    return tables_of(2)


@pytest.fixture(scope="module")
def certificate(tables):
    return certify_tables(tables)


def digits_of(tables, pair=0):
    return [(cosine[:, pair], sine[:, pair]) for cosine, sine in tables.block_digits]


def test_exact_rotations_of_sampled_blocks_are_those_of_mpmath():
    turns = WaveParameters().waves(64).turns[6]
    digits = exact_block_digits(turns)
    spans = span_rotations(digits)
    random = np.random.default_rng(5)
    for span, place, sign in zip(
        [2**18, 0, *random.integers(0, 2**18, 60)],
        [0, 127, *random.integers(0, SPAN, 60)],
        [-1, 1, *random.choice([-1, 1], 60)],
        strict=True,
    ):
        cosine, sine = product(
            tuple(part[place] for part in digits[0]),
            (spans[0][span], sign * spans[1][span]),
        )
        position = BLOCK * (SPAN * sign * int(span) + int(place))
        with mpmath.workdps(60):
            angle = 2 * mpmath.pi * position * turns / TURN
            assert abs(cosine - mpmath.cos(angle)) < EXACT_TO
            assert abs(sine - mpmath.sin(angle)) < EXACT_TO


def test_exact_rotations_of_the_low_digit_are_those_of_mpmath():
    turns, phase = WaveParameters(first_position=0.3).waves(8).turns[2], TURN // 7
    cosines, sines = exact_rotations(turns, range(BLOCK), phase)
    with mpmath.workdps(60):
        for step in (0, 1, 63):
            angle = 2 * mpmath.pi * (turns * step + phase) / TURN
            assert abs(cosines[step] - mpmath.cos(angle)) < EXACT_TO
            assert abs(sines[step] - mpmath.sin(angle)) < EXACT_TO


def test_rotations_are_checked_as_the_engine_makes_them_bit_for_bit(tables):
    random = np.random.default_rng(6)
    spans = random.integers(-(2**18), 2**18, 3000).astype("int32")
    places = random.integers(0, SPAN, 3000).astype("int32")
    cosines, sines = span_rotations(digits_of(tables))
    within = tuple(part[places] for part in digits_of(tables)[0])
    sign = np.sign(spans).astype("float32")
    checked = product(within, (cosines[abs(spans)], sines[abs(spans)] * sign))
    made = digit_products.block_rotation(tables, ops.array(spans), ops.array(places))
    for received, expected in zip(checked, made, strict=True):
        np.testing.assert_array_equal(received, ops.convert_to_numpy(expected)[:, 0])


def test_a_small_encoding_is_proved_below_the_tolerance_of_the_tests(certificate):
    assert certificate.bound < INTEGER_TOLERANCE
    assert certificate.bound <= certificate.contracted_bound < INTEGER_TOLERANCE
    parts = certificate.block + certificate.low_digit + certificate.last_rounding
    assert certificate.bound == pytest.approx(parts, abs=1e-13)


def test_the_bound_holds_for_the_engine_and_is_not_far_above(tables, certificate):
    random = np.random.default_rng(9)
    positions = random.integers(-(2**31), 2**31, 200_000).astype("int32")
    received = as_float64(encode_integers(tables, ops.array(positions)))
    errors = np.abs(received - reference.encode(positions, 2))
    assert certificate.bound / 2 < errors.max() < certificate.contracted_bound


@pytest.mark.parametrize("digit", [0, 1, 2, 3])
def test_one_last_bit_of_one_entry_raises_the_bound(tables, certificate, digit):
    # In the place whose error grows most, away from the exact value.
    exact = exact_block_digits(tables.pairs.frequencies[0])[digit]
    planted = [list(rotation) for rotation in tables.block_digits]
    cosines = planted[digit][0] = planted[digit][0].copy()
    error = cosines[:, 0] - exact[0]
    row = int(np.argmax(np.abs(error) * (np.abs(cosines[:, 0]) > 0.5)))
    away = np.float32(np.copysign(2, error[row]))
    cosines[row] = np.nextafter(cosines[row], away)
    wrong = replace(tables)
    wrong.__dict__["block_digits"] = tuple(tuple(each) for each in planted)
    assert certify_tables(wrong).bound > certificate.bound


def test_one_last_bit_of_the_low_digit_raises_the_bound(tables, certificate):
    wave, quadrature = (table.copy() for table in tables.low_digit)
    wave[7, 0] = np.nextafter(wave[7, 0], np.float32(2)) + np.float32(2.0**-24)
    wrong = replace(tables)
    wrong.__dict__["low_digit"] = (wave, quadrature)
    wrong.__dict__["block_digits"] = tables.block_digits
    known = {}
    certify_tables(tables, known=known)
    assert certify_tables(wrong, known=known).low_digit > certificate.low_digit


def test_suspects_are_all_blocks_that_can_err_most():
    tables = tables_of(2)
    rounded = digits_of(tables)
    exact = exact_block_digits(tables.pairs.frequencies[0])
    largest = contracted_block_error(exact, rounded, block_error(exact, rounded))
    random = np.random.default_rng(11)
    spans = random.integers(0, 2**18, 20_000)
    first, second, third = spans % 64, spans // 64 % 64, spans // 4096

    def row(digits, digit, rows):
        return tuple(part[rows] for part in digits[digit])

    outer = contracted_products(row(rounded, 1, first), row(rounded, 3, third))
    of_span = contracted_products((outer[0][1], outer[1][2]), row(rounded, 2, second))
    expected_span = product(
        product(row(exact, 1, first), row(exact, 3, third)), row(exact, 2, second)
    )
    for place in (0, 5, 127):
        within = row(rounded, 0, np.full(len(spans), place))
        received = contracted_products(within, (of_span[0][2], of_span[1][1]))
        expected = product(row(exact, 0, np.full(len(spans), place)), expected_span)
        for cosine in received[0]:
            for sine in received[1]:
                modulus = np.hypot(cosine - expected[0], sine - expected[1])
                assert modulus.max() <= largest


def test_rotations_without_error_are_bounded_without_being_examined_one_by_one():
    half_turns = certify(2, periods=[2])  # a block is 32 turns
    assert half_turns.block < EXACT_TO
    assert half_turns.contracted_block == 2e-7


def test_the_amplitude_scales_the_bound(certificate):
    half = certify(2, output_scale=0.5)
    assert half.bound == pytest.approx(certificate.bound / 2, abs=1e-13)


def test_a_silent_feature_adds_no_error(certificate):
    padded = certify(3, odd="zero")
    assert padded.bound == pytest.approx(certificate.bound, abs=1e-15)


def test_rotations_alone_are_proved_as_well(certificate):
    frequencies = WaveParameters().waves(2).turns[:1]
    rotations = certify_rotations(frequencies)
    assert rotations.block == certificate.block
    assert rotations.bound < INTEGER_TOLERANCE
