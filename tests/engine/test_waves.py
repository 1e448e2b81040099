"""Parameters turned into waves: frequencies, phases, amplitudes, and refusals."""

import decimal
import json
from dataclasses import asdict

import mpmath
import numpy as np
import pytest
from conventions import CONVENTIONS
from keras import ops

import keras_sinpe
from keras_sinpe import reference
from keras_sinpe.engine.waves import MOST_FEATURES, TURN, WaveParameters

# Frequency, its factor 2 pi, product and sum each round an angle to 53 bits.
ANGLE_ROUNDINGS = 4 * 2.0**-53
# Turns are rounded once, to 2**-129; the rest is slack for their 80 digits.
TURN_TOLERANCE = 2.0**-126


@pytest.mark.parametrize("width", [1, 2, 5, 6, 9, 10])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_waves_are_the_reference_written_as_sines(convention, width):
    parameters = CONVENTIONS[convention]
    if width < 3 and parameters.get("frequency_shift", 0) > 0:
        parameters = {**parameters, "frequency_shift": 0.25}
    if width == 1 and parameters.get("odd") == "zero":
        parameters = {**parameters, "odd": "ceil"}
    waves = WaveParameters(**parameters).waves(width)
    positions = np.arange(-2, 21)
    angles = waves.frequency * positions[:, None] + waves.phase
    np.testing.assert_allclose(
        waves.amplitude * np.sin(angles),
        reference.encode(positions, width, **parameters),
        rtol=0,
        atol=ANGLE_ROUNDINGS * np.abs(angles).max(),
    )


@pytest.mark.parametrize("digits", [3, 28])
def test_frequencies_are_exact_in_any_decimal_context(digits):
    with decimal.localcontext(prec=digits):
        turns = WaveParameters(
            min_wavelength=0.3, frequency_shift=0.1, position_scale=0.7
        ).waves(12)
    with mpmath.workdps(60):
        shortest, scale, steps = mpmath.mpf(0.3), mpmath.mpf(0.7), 6 - mpmath.mpf(0.1)
        for i, received in enumerate(turns.turns[::2]):
            wavelength = shortest * (10000 / shortest) ** (i / steps)
            expected = scale / (2 * mpmath.pi * wavelength)
            assert abs(mpmath.mpf(received) / TURN - expected) < TURN_TOLERANCE


@pytest.mark.parametrize(("shortest", "longest"), [(1, 1e4), (1e4, 0.5), (1e-9, 1e300)])
def test_frequencies_are_exact_at_the_far_end_of_the_longest_series(shortest, longest):
    width = MOST_FEATURES
    parameters = WaveParameters(min_wavelength=shortest, max_wavelength=longest)
    turns = parameters.waves(width).turns[::2]
    with mpmath.workdps(80):
        shortest, longest = mpmath.mpf(shortest), mpmath.mpf(longest)
        for i in (1, width // 4, width // 2 - 1):
            wavelength = shortest * (longest / shortest) ** (mpmath.mpf(2 * i) / width)
            expected = 1 / (2 * mpmath.pi * wavelength)
            assert abs(mpmath.mpf(turns[i]) / TURN - expected) < TURN_TOLERANCE


def test_series_with_a_shift_of_one_reaches_the_longest_wavelength():
    parameters = WaveParameters(min_wavelength=2, frequency_shift=1)
    frequency = parameters.waves(8).frequency[::2]
    np.testing.assert_allclose(frequency, [0.5, 0.02924, 0.00171, 0.0001], rtol=1e-3)
    np.testing.assert_allclose(frequency[[0, -1]], [0.5, 0.0001], rtol=1e-15)


@pytest.mark.parametrize("shift", [-1, 0, 0.3, 0.5, 1, 2, 17.5])
@pytest.mark.parametrize("width", [1, 2])
def test_a_single_pair_takes_any_shift(width, shift):
    waves = WaveParameters(frequency_shift=shift).waves(width)
    np.testing.assert_array_equal(waves.frequency, np.ones(width))


def test_periods_are_true_periods_in_positions():
    waves = WaveParameters(periods=(7, 24, 365.25), layout="halves").waves(6)
    expected = np.tile(2 * np.pi / np.array([7, 24, 365.25]), 2)
    np.testing.assert_allclose(waves.frequency, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("width", "odd", "pairs"),
    [(6, "ceil", 3), (5, "ceil", 3), (5, "truncate", 3), (5, "zero", 2)],
)
def test_periods_number_as_many_as_pairs(width, odd, pairs):
    WaveParameters(periods=range(1, pairs + 1), odd=odd).waves(width)
    for wrong in (pairs - 1, pairs + 1):
        parameters = WaveParameters(periods=range(1, wrong + 1), odd=odd)
        with pytest.raises(ValueError, match="one period per pair") as caught:
            parameters.waves(width)
        assert str(caught.value) == (
            f"`periods` must hold one period per pair, {pairs} for feature_dim={width}."
            f" Received: periods={tuple(map(float, range(1, wrong + 1)))}"
        )


def test_the_padding_feature_of_odd_widths_is_silent():
    waves = WaveParameters(odd="zero", output_scale=3).waves(5)
    np.testing.assert_array_equal(waves.amplitude, [3, 3, 3, 3, 0])


@pytest.mark.parametrize("width", [2, 6, 8192])
def test_unit_norm_makes_rows_of_norm_one(width):
    amplitude = WaveParameters(output_scale="unit_norm").waves(width).amplitude
    assert (amplitude**2).sum() / 2 == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "number",
    [10000, 1e4, np.float32(1e4), np.int64(10000), np.array(1e4), ops.array(1e4)],
    ids=lambda number: type(number).__name__,
)
def test_scalars_of_every_kind_become_plain_numbers(number):
    parameters = WaveParameters(max_wavelength=number, first_position=number)
    assert parameters == WaveParameters(max_wavelength=1e4, first_position=1e4)
    assert json.loads(json.dumps(asdict(parameters)))["max_wavelength"] == 10000.0


@pytest.mark.parametrize("periods", [[1, 2], (1.0, 2.0), np.array([1, 2])])
def test_sequences_of_every_kind_become_tuples(periods):
    assert WaveParameters(periods=periods).periods == (1.0, 2.0)


POSITIVE = "a finite number above 0"
FINITE = "a finite number"
REFUSED = [
    (ValueError, "max_wavelength", 0, POSITIVE),
    (ValueError, "max_wavelength", -1.0, POSITIVE),
    (ValueError, "max_wavelength", float("nan"), POSITIVE),
    (ValueError, "max_wavelength", float("inf"), POSITIVE),
    (ValueError, "max_wavelength", 10**310, POSITIVE),
    (TypeError, "max_wavelength", "10000", POSITIVE),
    (TypeError, "max_wavelength", None, POSITIVE),
    (TypeError, "max_wavelength", True, POSITIVE),
    (TypeError, "max_wavelength", [1.0], POSITIVE),
    (TypeError, "max_wavelength", 1j, POSITIVE),
    (ValueError, "min_wavelength", 0.0, POSITIVE),
    (TypeError, "min_wavelength", b"1", POSITIVE),
    (ValueError, "frequency_shift", float("inf"), FINITE),
    (ValueError, "first_position", float("nan"), FINITE),
    (TypeError, "first_position", "0", FINITE),
    (ValueError, "position_scale", 0, "a finite number other than 0"),
    (ValueError, "output_scale", float("nan"), 'a finite number or "unit_norm"'),
    (TypeError, "output_scale", "norm", 'a finite number or "unit_norm"'),
    (ValueError, "layout", "blocks", 'one of "interleaved", "halves"'),
    (TypeError, "layout", None, 'one of "interleaved", "halves"'),
    (ValueError, "odd", "floor", 'one of "ceil", "truncate", "zero"'),
    (TypeError, "odd", 1, 'one of "ceil", "truncate", "zero"'),
    (TypeError, "cos_first", 1, "`True` or `False`"),
    (TypeError, "periods", 7, "a sequence of finite numbers above 0"),
    (TypeError, "periods", "week", "a sequence of finite numbers above 0"),
]


@pytest.mark.parametrize(("error", "name", "value", "expected"), REFUSED)
def test_parameters_out_of_range_are_refused_by_name(error, name, value, expected):
    with pytest.raises(error) as caught:
        WaveParameters(**{name: value})
    assert str(caught.value) == (
        f"`{name}` must be {expected}. Received: {name}={value!r}"
    )


@pytest.mark.parametrize(
    ("error", "period"), [(ValueError, 0), (ValueError, np.inf), (TypeError, [1, 2])]
)
def test_a_wrong_period_is_named_by_its_place(error, period):
    with pytest.raises(error) as caught:
        WaveParameters(periods=[1, period])
    assert str(caught.value) == (
        f"`periods[1]` must be a finite number above 0. Received: periods[1]={period!r}"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_wavelength", 100.0), ("min_wavelength", 2.0), ("frequency_shift", 1.0)],
)
def test_periods_exclude_the_parameters_of_the_series(name, value):
    with pytest.raises(ValueError, match="periods") as caught:
        WaveParameters(periods=[1, 2], **{name: value})
    assert str(caught.value) == (
        f"`{name}` must be left at its default when `periods` are given. "
        f"Received: {name}={value}"
    )


@pytest.mark.parametrize(
    ("width", "odd", "shift", "half"),
    [(4, "ceil", 2.0, "2"), (5, "ceil", 2.5, "2.5"), (5, "truncate", 3.0, "3")],
)
def test_a_shift_that_leaves_no_series_is_refused(width, odd, shift, half):
    with pytest.raises(ValueError, match="half the width") as caught:
        WaveParameters(frequency_shift=shift, odd=odd).waves(width)
    assert str(caught.value) == (
        f"`frequency_shift` must be less than half the width, {half}. "
        f"Received: frequency_shift={shift}"
    )


@pytest.mark.parametrize(
    ("parameters", "turns"),
    [
        ({"min_wavelength": 1e-10}, "1.59e+09"),
        ({"position_scale": -1e12}, "1.59e+11"),
        ({"periods": [1, 1e-300]}, "1e+300"),
    ],
    ids=str,
)
def test_waves_too_fast_to_be_exact_are_refused(parameters, turns):
    with pytest.raises(ValueError, match="turns per position") as caught:
        WaveParameters(**parameters).waves(4)
    assert str(caught.value) == (
        "Wavelengths, `periods` and `position_scale` must give at most 1e9 turns per "
        f"position. Received: {turns} turns per position"
    )


@pytest.mark.parametrize(
    ("error", "width"), [(ValueError, 0), (ValueError, -2), (TypeError, 4.0)]
)
def test_a_width_that_is_no_count_is_refused(error, width):
    with pytest.raises(error) as caught:
        WaveParameters().waves(width)
    assert str(caught.value) == (
        f"`feature_dim` must be an integer above 0. Received: feature_dim={width}"
    )


@pytest.mark.parametrize("width", [2**18 + 1, 3_000_000, 10**30])
def test_a_width_that_no_memory_holds_is_refused_before_it_is_tried(width):
    with pytest.raises(ValueError, match="at most") as caught:
        WaveParameters().waves(width)
    assert str(caught.value) == (
        f"`feature_dim` must be at most 262144. Received: feature_dim={width}"
    )


def test_an_embedding_names_its_own_argument_for_the_width():
    with pytest.raises(ValueError, match="at most") as caught:
        keras_sinpe.SinusoidalEmbedding(3_000_000)
    assert str(caught.value) == (
        "`output_dim` must be at most 262144. Received: output_dim=3000000"
    )
