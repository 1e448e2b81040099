"""Judge one output over all runs of a check: passed, failed or unproven."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from keras_sinpe.model.tolerances import Rounding, is_float, rounding_of
from keras_sinpe.parity.columns import Array, Columns
from keras_sinpe.parity.comparison import (
    Allowance,
    Comparison,
    Pair,
    compare,
    first_place,
    is_nan,
)

Tolerance = float | Mapping[str, float] | None
# What an appeal asks for: of each run, in their order, what the output is with weights
# and inputs moved by one rounding, once or more.
Moved = Callable[[], Iterable[Sequence[Array]]]


@dataclass(frozen=True)
class Verdict:
    """One output over all runs of a check.

    Attributes:
        output: its name.
        outcome: "passed", "failed" or "unproven".
        reason: why it is unproven, else empty.
        comparisons: one per run.
        notes: what a reader should know, such as NaN on both sides.
    """

    output: str
    outcome: str
    reason: str
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]


def judge(
    output: str,
    pairs: Sequence[Pair],
    *,
    precision: str = "float32",
    tolerance: Tolerance = None,
    moved: Moved | None = None,
) -> Verdict:
    """Judge one output over all runs of a check.

    Args:
        output: its name.
        pairs: what the model and the artifact computed, one pair per run.
        precision: the coarsest float of the artifact's graph.
        tolerance: the largest absolute error of any number, or one by dtype of the
            output. By default what rounding explains; see `tolerances`. Integers,
            booleans and strings must be equal unless an error is given by dtype.
        moved: what an appeal asks for; called only if there is one.

    Returns:
        The verdict; only a float output without a given tolerance can be unproven.
    """
    dtype = pairs[0].expected.dtype
    comparable = [pair for pair in pairs if pair.comparable]
    limit = _given(tolerance, str(dtype)) if comparable else 0.0
    if limit is None:
        rounding = rounding_of(precision, dtype)
        pairs = [_within(pair, rounding) for pair in pairs]
        numbers = [_within(pair, rounding).numbers for pair in comparable]
        columns = Columns.of(numbers, rounding)
        found = [compare(output, pair, columns.allowed, columns.axis) for pair in pairs]
        if moved and _appealable(found):
            found, columns = _appeal(output, pairs, columns, moved())
        doubt = columns.doubt
    else:
        found = [compare(output, pair, _constant(limit)) for pair in pairs]
        doubt = ""
    if all(is_nan(pair.expected).all() for pair in pairs):
        doubt = "no run gave a number to compare"
    return _verdict(output, found, doubt, _nan_notes(pairs))


def _given(tolerance: Tolerance, dtype: str) -> float | None:
    """The absolute error that the user allows; `None` where rounding decides."""
    if isinstance(tolerance, Mapping):
        tolerance = tolerance.get(dtype)
    elif not is_float(dtype):
        tolerance = 0.0
    return 0.0 if tolerance is None and not is_float(dtype) else tolerance


def _constant(limit: float) -> Allowance:
    return lambda x, *_: np.full(x.shape, limit)


def _within(pair: Pair, rounding: Rounding) -> Pair:
    """The pair with what the model computed cut to the range of the precision."""
    wanted = pair.expected
    beyond = np.isfinite(wanted) & (np.abs(wanted) > rounding.largest)
    if not beyond.any():
        return pair
    cut = np.where(beyond, np.copysign(rounding.largest, wanted), wanted)
    return replace(pair, expected=cut.astype(wanted.dtype))


def _appealable(found: Sequence[Comparison]) -> bool:
    """Whether all that fails are values, and finite ones."""
    kinds = {fault.kind for one in found for fault in one.faults}
    return kinds == {"value"} and all(np.isfinite(one.error) for one in found)


def _appeal(
    output: str,
    pairs: Sequence[Pair],
    columns: Columns,
    again: Iterable[Sequence[Array]],
) -> tuple[list[Comparison], Columns]:
    """Compare again, with what one rounding of the weights explains."""
    movements = [
        np.max([_movement(pair.expected, one) for one in runs], axis=0)
        for pair, runs in zip(pairs, again, strict=True)
    ]
    columns = columns.with_noise([pair.expected for pair in pairs], movements)
    found = [
        compare(output, pair, columns.allowed, columns.axis, [movement])
        for pair, movement in zip(pairs, movements, strict=True)
    ]
    return found, columns


def _movement(wanted: Array, moved: Array) -> Array:
    """How far each number moved; what is not finite moves nothing."""
    with np.errstate(invalid="ignore"):
        movement = np.abs(moved - wanted)
    return np.where(np.isfinite(movement), movement, 0)


def _verdict(
    output: str, found: Sequence[Comparison], doubt: str, notes: Sequence[str]
) -> Verdict:
    if any(one.faults for one in found):
        outcome, doubt = "failed", ""
    else:
        outcome = "unproven" if doubt else "passed"
    return Verdict(output, outcome, doubt, tuple(found), tuple(notes))


def _nan_notes(pairs: Sequence[Pair]) -> list[str]:
    """One note for all places where both sides give NaN."""
    for pair in pairs:
        if pair.comparable:
            both = is_nan(pair.expected) & is_nan(pair.received)
            if both.any():
                place = f"{list(first_place(both))} of {pair.case}"
                return [f"the model itself gives NaN, as does the artifact: {place}"]
    return []
