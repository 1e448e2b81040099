"""The rule that measures each number by its own column, on arrays alone."""

import numpy as np
import pytest

from keras_sinpe.model.sizes import Case
from keras_sinpe.parity.comparison import Pair
from keras_sinpe.parity.verdict import judge

F32 = np.float32
SHAPES = ((1, 1), (3, 7), (5, 64))


def judged(expected, received, **options):
    """The verdict on a list of arrays, one for each run."""
    pairs = [
        Pair(Case.of(len(wanted), {}), np.asarray(wanted), np.asarray(got))
        for wanted, got in zip(expected, received, strict=True)
    ]
    return judge("y", pairs, **options)


def share(verdict):
    return max(one.share for one in verdict.comparisons)


def normal(*tail, scale=1.0, mean=0.0, seed=0):
    """Three runs of features with these columns."""
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((*shape, *tail)) * scale + mean).astype("float32")
        for shape in SHAPES
    ]


def rounded(arrays, seed=1):
    """The same numbers, each off by up to four roundings."""
    rng = np.random.default_rng(seed)
    factors = [1 + rng.uniform(-2.4e-7, 2.4e-7, x.shape) for x in arrays]
    pairs = zip(arrays, factors, strict=True)
    return [np.where(np.abs(x) < 1e38, x * f, x).astype(x.dtype) for x, f in pairs]


def softmax(arrays):
    exponentials = [np.exp(x.astype("float64")) for x in arrays]
    return [(e / e.sum(-1, keepdims=True)).astype("float32") for e in exponentials]


def sigmoid_of_onnx_runtime(x):
    """As far off as measured, and on its grid of 2**-25."""
    exact = 1 / (1 + np.exp(-x.astype("float64")))
    return F32(np.maximum(np.rint(exact * 2**25 + np.cos(9e5 * x)), 0) / 2**25)


def masked(arrays, value):
    return [
        np.where(np.arange(x.shape[1])[:, None] % 4 == 3, F32(value), x) for x in arrays
    ]


OFFSETS = [F32([1e6, 0.0, -300.0]), F32([1e6, 1e6, 1e6]), F32([0, 0, 3e4])]
INNOCENT = {
    "features": normal(4),
    "one column": normal(1),
    "near zero": normal(4, scale=1e-7),
    "softmax over 20,000": softmax(normal(20_000)),
    "offsets": [x + OFFSETS[0] for x in normal(3)],
    "masked by -1e9": masked(normal(4), -1e9),
    "masked by -inf": masked(normal(4), -np.inf),
    "masked by the lowest": masked(normal(4), np.finfo("float32").min),
    "masks added up": [x + x for x in masked(normal(4), -1e9)],
    "a constant": [np.full((*shape, 2), F32(0.3)) for shape in SHAPES],
    "zeros": [np.zeros((*shape, 2), F32) for shape in SHAPES],
    "three rows": [x[0, :3] for x in normal(10)[2:]],
    "one number": [F32([[0.7]])],
    "a length as last axis": [x[..., 0] for x in normal(1)],
    "columns before the length": [np.moveaxis(x, 1, 2) for x in normal(3, mean=9.0)],
    "numbers that are huge": normal(2, scale=1e30),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_rounding_explains_passes_without_an_appeal(name):
    verdict = judged(INNOCENT[name], rounded(INNOCENT[name]))
    assert (verdict.outcome, verdict.reason, verdict.notes) == ("passed", "", ())
    assert share(verdict) < 0.4


@pytest.mark.parametrize("logit", [0, -8, -12])
def test_the_sigmoid_of_onnx_runtime_passes(logit):
    logits = normal(3, mean=logit)
    exact = [F32(1 / (1 + np.exp(-x.astype("float64")))) for x in logits]
    assert judged(exact, map(sigmoid_of_onnx_runtime, logits)).outcome == "passed"


def test_a_sigmoid_that_is_all_error_is_unproven():
    logits = normal(3, mean=-17)
    exact = [F32(1 / (1 + np.exp(-x.astype("float64")))) for x in logits]
    verdict = judged(exact, map(sigmoid_of_onnx_runtime, logits))
    assert verdict.outcome == "unproven"
    assert verdict.reason.startswith("its error in place ")


def flip(arrays, column):
    signs = np.ones(arrays[0].shape[-1], "float32")
    signs[column] = -1
    return [x * signs for x in arrays]


def other_row(arrays):
    """One row of the last run holds another row's numbers."""
    return [*arrays[:-1], np.concatenate([arrays[-1][1:2], arrays[-1][1:]])]


FAULTS = {
    # The bias of a head is 1.0 larger beside masked logits.
    "beside -1e9": (masked(normal(4), -1e9), masked([x + 1 for x in normal(4)], -1e9)),
    "beside -inf": (
        masked(normal(4), -np.inf),
        masked([x + 1 for x in normal(4)], -np.inf),
    ),
    "beside -1e4, in one column": (
        [x[..., 0] for x in masked(normal(1), -1e4)],
        [x[..., 0] for x in masked([x + 1 for x in normal(1)], -1e4)],
    ),
    "a mask of another size": (masked(normal(4), -1e9), masked(normal(4), -1e8)),
    "a softmax of other weights": (
        softmax(normal(20_000)),
        softmax(normal(20_000, seed=2)),
    ),
    "a softmax of weights times 1.01": (
        softmax(normal(20_000, scale=0.1)),
        softmax(normal(20_000, scale=0.101)),
    ),
    "a kernel of zeros": (normal(500), [0 * x for x in normal(500)]),
    "a column with another sign": (normal(9), flip(normal(9), 4)),
    "the same beside an offset": (
        [x + OFFSETS[0] for x in normal(3)],
        [x + OFFSETS[0] for x in flip(normal(3), 1)],
    ),
    "the same beside a huge feature": (
        [x * F32([1e6, 1]) for x in normal(2)],
        flip([x * F32([1e6, 1]) for x in normal(2)], 1),
    ),
    "the same before the length": (
        [np.moveaxis(x + OFFSETS[2], 1, 2) for x in normal(3)],
        [np.moveaxis(x + OFFSETS[2], 1, 2) for x in flip(normal(3), 0)],
    ),
    "near zero, times -5": (
        normal(4, scale=1e-7),
        [-5 * x for x in normal(4, scale=1e-7)],
    ),
    "near zero, times 1.01": (
        normal(4, scale=1e-7),
        [F32(1.01) * x for x in normal(4, scale=1e-7)],
    ),
    "near zero, all zero": (
        normal(4, scale=1e-9),
        [0 * x for x in normal(4, scale=1e-9)],
    ),
    "columns shifted by one": (normal(5), [np.roll(x, 1, -1) for x in normal(5)]),
    "one row of another sample": (normal(4), other_row(normal(4))),
    "rows of a batch times 1.01": (
        normal(4),
        [np.concatenate([x[:3], x[3:] * F32(1.01)]) for x in normal(4)],
    ),
    "a constant that is another": (
        [np.full((9, 2), F32(0.3))],
        [np.full((9, 2), F32(0.4))],
    ),
    "an infinity of the other sign": ([F32([[np.inf]])], [F32([[-np.inf]])]),
    "an infinity against a number": ([F32([[-np.inf]])], [F32([[-1e9]])]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_fails_by_far(name):
    verdict = judged(*FAULTS[name])
    assert verdict.outcome == "failed"
    assert share(verdict) > 100
