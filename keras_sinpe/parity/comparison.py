"""Compare what an artifact computed with what the model computed, fault by fault."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from keras_sinpe.model.tensor_specs import Case
from keras_sinpe.model.tolerances import tolerance_for

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Fault:
    """One way in which an artifact is not its model.

    Attributes:
        kind: "name", "dtype", "shape", "nan", "value", "refused" or "empty".
        output: the output, the input, or empty where the whole run is concerned.
        message: what differs, and where.
    """

    kind: str
    output: str
    message: str


@dataclass(frozen=True)
class Comparison:
    """One output of one run.

    Attributes:
        output: its name.
        case: the sizes of the run.
        shape: the shape that the model computed.
        dtype: the dtype that the model computed.
        error: largest absolute difference; infinity where the two cannot be compared.
        index: where the largest difference is; `None` where there is none.
        tolerance: what `error` may be at most.
        faults: everything that differs.
    """

    output: str
    case: Case
    shape: tuple[int, ...]
    dtype: str
    error: float
    index: tuple[int, ...] | None
    tolerance: float
    faults: tuple[Fault, ...]

    @property
    def compared(self) -> int:
        """How many numbers the model computed."""
        return math.prod(self.shape)


def compare(
    output: str,
    case: Case,
    expected: Array,
    received: Array,
    tolerance: float | Mapping[str, float] | None = None,
) -> Comparison:
    """Compare dtype, shape, NaN and values of one output, each on its own.

    Args:
        output: its name.
        case: the sizes of the run, for the messages.
        expected: what the model computed.
        received: what the artifact computed.
        tolerance: see `tolerance_for`.

    Returns:
        The comparison, with one fault for each thing that differs.
    """
    limit = tolerance_for(str(expected.dtype), _magnitude(expected), tolerance)
    checks = [_dtype_fault, _shape_fault, _nan_fault]
    faults = [check(output, case, expected, received) for check in checks]
    error, index = float("inf"), None
    if expected.shape == received.shape:
        error, index = _largest_error(expected, received)
        if error > limit:
            faults.append(
                Fault(
                    "value",
                    output,
                    f"differs by {error:.3g} (tolerance {limit:.3g}) "
                    f"at {list(index or ())} of {case}",
                )
            )
    found = tuple(fault for fault in faults if fault is not None)
    return Comparison(
        output, case, expected.shape, str(expected.dtype), error, index, limit, found
    )


def _dtype_fault(output: str, case: Case, wanted: Array, got: Array) -> Fault | None:
    if wanted.dtype == got.dtype:
        return None
    return Fault("dtype", output, f"is {got.dtype}, the model's is {wanted.dtype}")


def _shape_fault(output: str, case: Case, wanted: Array, got: Array) -> Fault | None:
    if wanted.shape == got.shape:
        return None
    message = f"has shape {got.shape}, the model's is {wanted.shape} at {case}"
    return Fault("shape", output, message)


def _nan_fault(output: str, case: Case, wanted: Array, got: Array) -> Fault | None:
    for owner, array in (("the model", wanted), ("the artifact", got)):
        if array.dtype.kind == "f" and np.isnan(array).any():
            first = [int(place[0]) for place in np.nonzero(np.isnan(array))]
            return Fault("nan", output, f"{owner} gives NaN at {first} of {case}")
    return None


def _magnitude(array: Array) -> float:
    if array.dtype.kind != "f":
        return 0.0
    finite = np.abs(array[np.isfinite(array)], dtype=np.float64)
    return float(finite.max(initial=0.0))


def _largest_error(wanted: Array, got: Array) -> tuple[float, tuple[int, ...] | None]:
    """The largest difference of finite numbers; NaN and unequal infinities count."""
    if wanted.size == 0:
        return 0.0, None
    left, right = wanted.astype(np.float64), got.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.abs(left - right))
    distance = np.where(np.isnan(distance), np.inf, distance)
    index = np.unravel_index(int(np.argmax(distance)), distance.shape)
    return float(distance[index]), tuple(int(place) for place in index)
