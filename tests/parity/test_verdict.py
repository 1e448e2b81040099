"""Verdicts: appeals, what is unproven, given tolerances, and what is no float."""

import ml_dtypes
import numpy as np
import pytest
from test_tolerance import F32, OFFSETS, flip, judged, normal, rounded, share

from keras_sinpe.model.tolerances import moved
from keras_sinpe.parity import columns


def again(*runs):
    """What an appeal asks for: of each run the output with moved weights."""
    return lambda: zip(*runs, strict=True)


def test_an_appeal_allows_a_hundred_times_the_movement_by_rounding():
    exact = normal(4)
    noise = [F32(3e-5) * x for x in normal(4, seed=2)]
    off = [x + 20 * n for x, n in zip(exact, noise, strict=True)]
    assert judged(exact, off).outcome == "failed"
    rerun = [x + n for x, n in zip(exact, noise, strict=True)]
    verdict = judged(exact, off, moved=again(exact, rerun))
    assert verdict.outcome == "passed"
    assert share(verdict) == pytest.approx(0.2, rel=0.05)


def test_there_is_no_appeal_where_rounding_explains_all_or_nothing_can():
    def never():
        raise AssertionError

    exact = normal(4)
    assert judged(exact, rounded(exact), moved=never).outcome == "passed"
    infinite = [np.full_like(x, np.inf) for x in exact]
    assert judged(exact, infinite, moved=never).outcome == "failed"
    assert judged(exact, [x + 1 for x in exact], tolerance=1e-6, moved=never)


def test_an_appeal_is_lost_where_rounding_moves_too_little():
    exact = normal(4)
    rerun = [x * F32(1 + 1e-7) for x in exact]
    off = [x * F32(1.01) for x in exact]
    verdict = judged(exact, off, moved=again(rerun))
    assert verdict.outcome == "failed"
    assert share(verdict) > 100


def test_a_difference_of_equal_things_is_unproven():
    zeros = [0 * x for x in normal(4)]
    off = [F32(6e-8) * x for x in normal(4)]
    rerun = [F32(6e-8) * x for x in normal(4, seed=2)]
    verdict = judged(zeros, off, moved=again(rerun))
    assert verdict.outcome == "unproven"
    assert verdict.reason == (
        "its error in place 3 of axis 2 is 6.1e-08, and all that the model tells apart "
        "there is 0"
    )


def test_what_rounding_moves_by_more_than_it_tells_apart_is_unproven():
    exact = normal(4)
    off = [x * F32(1.001) for x in exact]
    rerun = [x * F32(1.01) for x in exact]
    verdict = judged(exact, off, moved=again(rerun))
    assert verdict.outcome == "unproven"
    assert verdict.reason.startswith("one rounding of the weights moves it by 0.01 in ")


def test_a_column_that_drowns_in_its_offset_is_unproven_at_best():
    exact = [x + OFFSETS[1] for x in normal(3, scale=0.3)]
    wrong = [x + OFFSETS[1] for x in flip(normal(3, scale=0.3), 2)]
    assert judged(exact, exact).outcome == "passed"
    assert judged(exact, wrong).outcome == "unproven"


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_given_tolerance_is_the_largest_absolute_error_at_any_scale(scale):
    exact = [x.astype("float64") for x in normal(4, scale=scale)]
    for error, outcome in ((0.9e-6, "passed"), (1.1e-6, "failed")):
        verdict = judged(exact, [x + error for x in exact], tolerance=1e-6)
        assert verdict.outcome == outcome
        assert {one.allowed for one in verdict.comparisons} == {1e-6}


def test_a_given_tolerance_goes_by_dtype():
    exact, ids = normal(4), [np.arange(5)]
    off = [x + F32(1e-3) for x in exact]
    assert judged(exact, off, tolerance={"float32": 2e-3}).outcome == "passed"
    assert judged(exact, off, tolerance={"float16": 2e-3}).outcome == "failed"
    assert judged(ids, [np.arange(5) + 1], tolerance=2.0).outcome == "failed"
    assert judged(ids, [np.arange(5) + 1], tolerance={"int64": 1}).outcome == "passed"


def test_a_tolerance_of_zero_asks_for_equality():
    exact = normal(4)
    assert judged(exact, exact, tolerance=0).outcome == "passed"
    assert judged(exact, rounded(exact), tolerance=0).outcome == "failed"


# Relative errors of every number that must pass and fail, as the precision goes.
PRECISIONS = {
    "float64": (1e-15, 1e-12),
    "float32": (5e-7, 3e-4),
    "float16": (1e-2, 0.2),
    "bfloat16": (5e-2, 0.5),
}


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_precision_of_the_graph_decides(precision):
    small, large = PRECISIONS[precision]
    exact = [x.astype("float64") for x in normal(4)]
    exact = exact if precision == "float64" else normal(4)
    near, far = ([x * (1 + error) for x in exact] for error in (small, large))
    assert judged(exact, near, precision=precision).outcome == "passed"
    assert judged(exact, far, precision=precision).outcome == "failed"


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_an_output_of_half_precision_is_measured_as_one(dtype):
    exact = normal(4)
    half = [x.astype(dtype) for x in exact]
    assert judged(half, half).outcome == "passed"
    assert judged(half, [(x * F32(1.002)).astype(dtype) for x in exact]).outcome == (
        "passed"
    )
    assert judged(half, [-x for x in half]).outcome == "failed"


def test_float16_holds_a_mask_at_the_end_of_its_range():
    exact = [np.where(x > 1, F32(-1e9), x) for x in normal(4)]
    cut = [np.maximum(x, -65504) for x in exact]
    assert judged(exact, cut, precision="float16").outcome == "passed"
    assert judged(exact, cut).outcome == "failed"
    overflown = [np.where(x > 1, F32(-np.inf), x) for x in normal(4)]
    assert judged(exact, overflown, precision="float16").outcome == "failed"


EXACT = {
    "integers": (np.int64([2**60, 7]), np.int64([2**60 + 1, 7])),
    "bytes": (np.uint8([0, 255]), np.uint8([255, 255])),
    "booleans": (np.array([True, False]), np.array([False, False])),
    "strings": (np.array([b"a", b"b"], object), np.array(["z", "b"], object)),
}


@pytest.mark.parametrize("name", EXACT)
def test_what_is_no_float_must_be_equal(name):
    wanted, got = EXACT[name]
    assert judged([wanted], [wanted.copy()]).outcome == "passed"
    verdict = judged([wanted], [got])
    (comparison,) = verdict.comparisons
    assert verdict.outcome == "failed"
    assert (comparison.index, comparison.allowed) == ((0,), 0.0)
    assert [fault.kind for fault in comparison.faults] == ["value"]


def test_strings_of_tensorflow_equal_those_of_onnx_runtime():
    wanted, got = np.array([["é".encode()]], object), np.array([["é"]])
    assert judged([wanted], [got]).outcome == "passed"


def test_nan_on_both_sides_is_a_note():
    exact = normal(4)
    exact[1][2, 0, 3] = np.nan
    verdict = judged(exact, rounded(exact))
    assert verdict.outcome == "passed"
    assert verdict.notes == (
        "the model itself gives NaN, as does the artifact: [2, 0, 3] of batch 3",
    )


@pytest.mark.parametrize("owner", ["model", "artifact"])
def test_nan_on_one_side_is_a_fault_and_hides_no_other(owner):
    exact, off = normal(4), [x + (x > 2) for x in normal(4)]
    (exact if owner == "model" else off)[2][0, 0, 0] = np.nan
    verdict = judged(exact, off)
    assert verdict.outcome == "failed"
    kinds = [[f.kind for f in one.faults] for one in verdict.comparisons]
    assert kinds[2] == ["nan", "value"]
    message = verdict.comparisons[2].faults[0].message
    assert message == f"the {owner} alone gives NaN at [0, 0, 0] of batch 5"
    assert verdict.comparisons[2].error == float("inf")


def test_nothing_but_nan_or_no_number_at_all_is_unproven():
    nothing = [np.full((3, 4), np.nan, F32)]
    assert judged(nothing, nothing).reason == "no run gave a number to compare"
    empty = [np.zeros((0, 4), F32)]
    assert judged(empty, empty).outcome == "unproven"


@pytest.mark.parametrize("block", [1, 6, 100])
def test_the_worst_number_is_found_wherever_the_blocks_end(monkeypatch, block):
    monkeypatch.setattr(columns, "BLOCK", block)
    for tail in ((4,), (3, 5)):
        exact = normal(*tail)
        off = rounded(exact)
        index = (1, 4, *(size - 2 for size in tail))
        off[1][index] += 2
        worst = judged(exact, off).comparisons[1]
        assert (worst.index, worst.error) == (index, pytest.approx(2))


def test_a_value_fault_says_what_it_saw():
    exact = [np.zeros((3, 7, 5), F32), np.ones((5, 7, 5), F32)]
    off = [exact[0].copy(), exact[1]]
    off[0][1, 4, 2] = -0.75
    (fault,) = judged(exact, off).comparisons[0].faults
    assert fault.message == (
        "differs by 0.75 at [1, 4, 2] of batch 3: -0.75 instead of 0.0, 4e+04 times "
        "what is allowed (1.88e-05)"
    )


def test_one_rounding_moves_weights_but_no_zeros_nor_whole_inputs():
    array, rng = F32([0, 1, -2, 0.3]), np.random.default_rng(0)
    steps = np.abs(moved(array, rng, is_input=False) - array) / np.spacing(
        np.abs(array)
    )
    assert steps[0] == 0
    assert set(steps[1:]) <= {0.5, 1.0}
    kept = moved(array, rng, is_input=True)
    assert list(kept[:3]) == [0, 1, -2]
    assert kept[3] != array[3]
