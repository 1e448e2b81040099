"""Compare what an artifact computed with what the model computed, fault by fault."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from keras_sinpe.model.sizes import Case
from keras_sinpe.model.tolerances import is_float
from keras_sinpe.parity.columns import blocks, unfolded

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]
# How far each number of a block may be off; on appeal with how far rounding moves it.
Allowance = Callable[..., Array]


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
class Pair:
    """One output of one run, as the model and as the artifact computed it."""

    case: Case
    expected: Array
    received: Array

    @property
    def comparable(self) -> bool:
        """Whether every number of the one has its number in the other."""
        return bool(self.expected.shape == self.received.shape)

    @property
    def numbers(self) -> tuple[Array, Array]:
        """Two arrays whose difference is the error: 0 and 1 for unequal strings."""
        wanted, got = self.expected, self.received
        if is_float(wanted.dtype) and is_float(got.dtype):
            return wanted, got
        if {wanted.dtype.kind, got.dtype.kind} & set("OSU"):
            unequal = _text(wanted) != _text(got)
            return np.zeros(wanted.shape), np.asarray(unequal).astype(np.float64)
        # Integers beyond 2**53 that differ may be equal in float64.
        distance = np.abs(wanted.astype(np.float64) - got.astype(np.float64))
        distance = np.where(wanted != got, np.maximum(distance, 1.0), 0.0)
        return np.zeros(wanted.shape), distance


@dataclass(frozen=True)
class Comparison:
    """One output of one run.

    Attributes:
        output: its name.
        case: the sizes of the run.
        shape: the shape that the model computed.
        dtype: the dtype that the model computed.
        error: of the absolute differences the one with the largest share; infinity
            where the two cannot be compared.
        allowed: what that difference may be at most.
        index: where it is; `None` where there is none.
        faults: everything that differs.
    """

    output: str
    case: Case
    shape: Index
    dtype: str
    error: float
    allowed: float
    index: Index | None
    faults: tuple[Fault, ...]

    @property
    def compared(self) -> int:
        """How many numbers the model computed."""
        return math.prod(self.shape)

    @property
    def share(self) -> float:
        """The error as a part of what is allowed; above 1 it is a fault."""
        return _share(self.error, self.allowed)


def compare(
    output: str,
    pair: Pair,
    allowance: Allowance,
    axis: int | None = None,
    movement: Sequence[Array] = (),
) -> Comparison:
    """Compare dtype, shape, NaN and values of one output, each on its own.

    Args:
        output: its name.
        pair: what the model and the artifact computed.
        allowance: the largest error of every number in a block of what the model
            and the artifact computed; it gets the blocks of `movement` too.
        axis: the axis of the columns; see `blocks`.
        movement: of every number, how far one rounding of the weights moves it.

    Returns:
        The comparison, with one fault for each thing that differs.
    """
    faults = [fault(output, pair) for fault in (_dtype, _shape, _nan)]
    error, allowed, index = float("inf"), 0.0, None
    if pair.comparable:
        error, allowed, index = _worst(pair, allowance, axis, movement)
        faults.append(_value(output, pair, error, allowed, index))
        lone = _lone_nan(pair)
        if lone.any():
            error, index = float("inf"), first_place(lone)
    found = tuple(fault for fault in faults if fault is not None)
    shape, dtype = pair.expected.shape, str(pair.expected.dtype)
    return Comparison(output, pair.case, shape, dtype, error, allowed, index, found)


def is_nan(array: Array) -> Array:
    """Where a float array is NaN."""
    if is_float(array.dtype):
        return np.asarray(np.isnan(array))
    return np.zeros(array.shape, bool)


def first_place(where: Array) -> Index:
    """The index of the first place that is true."""
    return tuple(int(place) for place in np.argwhere(where)[0])


def _lone_nan(pair: Pair) -> Array:
    """NaN on one side only: NaN on both is no difference."""
    if pair.comparable:
        return is_nan(pair.expected) ^ is_nan(pair.received)
    return is_nan(pair.received)


def _text(array: Array) -> Array:
    """Strings as `str`: TensorFlow gives bytes, ONNX Runtime does not."""
    flat = [s.decode() if isinstance(s, bytes) else s for s in array.ravel().tolist()]
    return np.array([*flat, None], object)[:-1].reshape(array.shape)


def _dtype(output: str, pair: Pair) -> Fault | None:
    wanted, got = pair.expected.dtype, pair.received.dtype
    if wanted == got or (wanted.kind in "OSU" and got.kind in "OSU"):
        return None
    return Fault("dtype", output, f"is {got}, the model's is {wanted}")


def _shape(output: str, pair: Pair) -> Fault | None:
    if pair.comparable:
        return None
    wanted, got = pair.expected.shape, pair.received.shape
    message = f"has shape {got}, the model's is {wanted} at {pair.case}"
    return Fault("shape", output, message)


def _nan(output: str, pair: Pair) -> Fault | None:
    lone = _lone_nan(pair)
    if not lone.any():
        return None
    index = first_place(lone)
    ours = pair.comparable and is_nan(pair.expected)[index]
    owner = "model" if ours else "artifact"
    message = f"the {owner} alone gives NaN at {list(index)} of {pair.case}"
    return Fault("nan", output, message)


def _value(
    output: str, pair: Pair, error: float, allowed: float, index: Index | None
) -> Fault | None:
    share = _share(error, allowed)
    if index is None or share <= 1:
        return None
    got, wanted = pair.received[index], pair.expected[index]
    message = (
        f"differs by {error:.3g} at {list(index)} of {pair.case}: {got!s:.40} instead "
        f"of {wanted!s:.40}, {share:.3g} times what is allowed ({allowed:.3g})"
    )
    return Fault("value", output, message)


def _worst(
    pair: Pair, allowance: Allowance, axis: int | None, movement: Sequence[Array]
) -> tuple[float, float, Index | None]:
    """The error with the largest share, what it may be, and where it is."""
    worst = -1.0
    found: tuple[float, float, Index | None] = 0.0, 0.0, None
    for corner, (x, y, *more) in blocks(axis, *pair.numbers, *movement):
        error, allowed = _errors(x, y), allowance(x, y, *more)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(error > 0, error / allowed, 0.0)
        at = np.unravel_index(int(np.argmax(shares)), shares.shape)
        place = tuple(int(step) for step in at)
        if shares[place] > worst:
            worst = shares[place]
            index = unfolded(pair.expected.shape, axis, corner, place)
            found = float(error[place]), float(allowed[place]), index
    return found


def _errors(x: Array, y: Array) -> Array:
    """Absolute differences: infinities of one sign are equal, NaN is not judged."""
    with np.errstate(invalid="ignore"):
        return np.where(
            x == y, 0.0, np.nan_to_num(np.abs(x - y), nan=0.0, posinf=np.inf)
        )


def _share(error: float, allowed: float) -> float:
    if error == 0:
        return 0.0
    return error / allowed if allowed else float("inf")
