"""What the columns of an output are like, and what that allows each of its numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from keras_sinpe.model import tolerances
from keras_sinpe.model.tolerances import Rounding

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]

# Fewer numbers have no spread to speak of: the output is one column then.
FEWEST = 8
SENTINEL = 1000.0
# Masks that are added up to eight times are sentinels of one kind.
SENTINEL_SPAN = 8.0
BLOCK = 2**17  # numbers that are float64 at a time: 1 MiB


def column_axis(shapes: Sequence[Index]) -> int | None:
    """The axis of the columns, or `None` where the whole output is one.

    It is the last axis behind the batch that keeps its size in every run.

    >>> column_axis([(4, 2, 5), (4, 9, 5)]), column_axis([(4, 3, 2), (4, 3, 9)])
    (2, 1)
    >>> column_axis([(4, 2), (4, 9)]), column_axis([(3, 1000)])
    (None, None)
    """
    numbers = sum(math.prod(shape) for shape in shapes)
    rank = len(shapes[0])
    if any(len(shape) != rank for shape in shapes):
        return None
    for axis in range(rank - 1, 0, -1):
        size = shapes[0][axis]
        if size and all(shape[axis] == size for shape in shapes):
            return axis if numbers >= FEWEST * size else None
    return None


def folded(shape: Index, axis: int | None) -> Index:
    """The shape as (before, columns, behind) the axis of the columns."""
    if axis is None:
        return 1, 1, math.prod(shape)
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def unfolded(shape: Index, axis: int | None, corner: Index, place: Index) -> Index:
    """The index in an array of this shape of a place in one of its blocks."""
    inside = [start + step for start, step in zip(corner, place, strict=True)]
    flat = np.ravel_multi_index(inside, folded(shape, axis))
    return tuple(int(index) for index in np.unravel_index(int(flat), shape))


def blocks(axis: int | None, *arrays: Array) -> Iterator[tuple[Index, list[Array]]]:
    """Parts of equal arrays, in float64 and of shape (before, columns, behind).

    Yields:
        The corner of each part, which `unfolded` takes, and the parts.
    """
    if not arrays[0].size:
        return
    shape = folded(arrays[0].shape, axis)
    _, columns, behind = shape
    views = [array.reshape(shape) for array in arrays]
    wide = max(1, min(behind, BLOCK // columns))
    tall = max(1, BLOCK // (columns * wide))
    for top in range(0, len(views[0]), tall):
        for left in range(0, behind, wide):
            part = np.s_[top : top + tall, :, left : left + wide]
            yield (top, 0, left), [view[part].astype(np.float64) for view in views]


@dataclass(frozen=True)
class Columns:
    """What the columns of an output are like, over all runs of a check.

    Attributes:
        axis: see `column_axis`.
        cut: magnitude above which a number is a sentinel; of shape (columns, 1), as
            are all that follow.
        mean: mean of the others.
        spread: their RMS deviation from it.
        error: RMS error of the artifact there.
        rounding: what the artifact's precision explains.
        noise: RMS movement by one rounding of the weights; 0 before the appeal.
    """

    axis: int | None
    cut: Array
    mean: Array
    spread: Array
    error: Array
    rounding: Rounding
    noise: Array

    @classmethod
    def of(cls, pairs: Sequence[tuple[Array, Array]], rounding: Rounding) -> Self:
        """Measure expected and received arrays of equal shapes, one pair per run."""
        axis = column_axis([expected.shape for expected, _ in pairs])
        cut = _cut(axis, [expected for expected, _ in pairs])
        mean = _average(axis, cut, pairs, lambda x, _: x)
        spread = _average(axis, cut, pairs, lambda x, _: (x - mean) ** 2)
        error = _average(axis, cut, pairs, lambda x, y: (x - y) ** 2)
        roots = np.sqrt(spread), np.sqrt(error)
        return cls(axis, cut, mean, *roots, rounding, np.zeros_like(mean))

    @cached_property
    def scale(self) -> Array:
        """What a column tells apart: its spread, or the size of a constant."""
        size = np.abs(self.mean)
        constant = np.maximum(2 * self.rounding.eps * size, self.rounding.tiny)
        return np.where(self.spread <= constant, size, self.spread)

    @property
    def proven(self) -> Array:
        """Whether the error of a column is small beside what it tells apart."""
        return np.asarray(self.error <= tolerances.PROVEN * self.scale)

    @property
    def noisy(self) -> Array:
        """Whether what the appeal allows hides what a column tells apart."""
        return np.asarray(
            self.rounding.appeal * self.noise > tolerances.PROVEN * self.scale
        )

    @property
    def doubt(self) -> str:
        """Why numbers that may all err as they do prove nothing, or empty."""
        if not self.proven.all():
            worst = int(np.argmax(np.where(self.proven, 0.0, self.error)))
            return (
                f"its error{self._of(worst)} is {self.error[worst, 0]:.2g}, and all "
                f"that the model tells apart there is {self.scale[worst, 0]:.2g}"
            )
        if self.noisy.mean() < 0.5:
            return ""
        worst = int(np.argmax(np.where(self.noisy, self.noise, 0)))
        return (
            f"one rounding of the weights moves it by {self.noise[worst, 0]:.2g}"
            f"{self._of(worst)}, and all that the model tells apart there is "
            f"{self.scale[worst, 0]:.2g}"
        )

    def _of(self, column: int) -> str:
        return "" if self.axis is None else f" in place {column} of axis {self.axis}"

    def with_noise(self, expected: Sequence[Array], movements: Sequence[Array]) -> Self:
        """The columns on appeal: `movements` is how far each number moved."""
        pairs = list(zip(expected, movements, strict=True))
        noise = _average(self.axis, self.cut, pairs, lambda _, y: y**2)
        return replace(self, noise=np.sqrt(noise))

    def allowed(self, x: Array, y: Array, movement: Array | None = None) -> Array:
        """The largest error of each number in a block of `x`.

        Args:
            x: what the model computed, of shape (before, columns, behind).
            y: what the artifact computed.
            movement: how far one rounding of the weights moves it; on appeal only.
        """
        size: Array = np.where(np.isfinite(x), np.abs(x), 0.0)
        ordinary = np.abs(x) <= self.cut
        distance = np.where(ordinary, np.abs(x - self.mean), 0.0)
        allowed: Array = np.maximum(distance, self.spread) + tolerances.OFFSET * size
        allowed = self.rounding.unit * allowed + self.rounding.tiny
        forgiving = self.error <= tolerances.FORGIVING * self.scale
        forgiven = self.rounding.forgiven * (forgiving | _of_sigmoid(x, y))
        allowed = np.maximum(allowed, forgiven)
        if movement is None:
            return allowed
        noise = np.maximum(np.maximum(self.noise, movement), tolerances.HALF_ULP * size)
        appealed: Array = np.maximum(allowed, self.rounding.appeal * noise)
        return appealed


def _of_sigmoid(x: Array, y: Array) -> Array:
    """Whether a number may be from the sigmoid of ONNX Runtime."""
    steps = np.minimum(y, 2.0) / tolerances.SIGMOID_STEP
    return np.asarray((x >= 0) & (x <= 1) & (y >= 0) & (steps == np.rint(steps)))


def _cut(axis: int | None, arrays: Sequence[Array]) -> Array:
    """The magnitude above which the numbers of each column are sentinels."""
    cut = np.full((_columns(axis, arrays), 1), np.finfo(np.float64).max)
    largest = _largest(axis, arrays, cut)
    for _ in range(3):
        if not (largest >= SENTINEL).any():
            break
        below = largest / SENTINEL_SPAN
        rest = _largest(axis, arrays, below)
        parted = (largest >= SENTINEL) & (rest >= 0) & (rest * SENTINEL < largest)
        cut = np.where(parted, below, cut)
        largest = np.where(parted, rest, -1.0)
    return cut


def _largest(axis: int | None, arrays: Sequence[Array], limit: Array) -> Array:
    """The largest magnitude up to `limit` in each column; -1 where there is none."""
    found = np.full(limit.shape, -1.0)
    for array in arrays:
        for _, (x,) in blocks(axis, array):
            size = np.abs(x)
            inside = np.where(size <= limit, size, -1.0)
            found = np.maximum(found, inside.max(axis=(0, 2))[:, None])
    return found


def _average(
    axis: int | None,
    cut: Array,
    pairs: Sequence[tuple[Array, Array]],
    number: Callable[[Array, Array], Array],
) -> Array:
    """The mean of a number over the ordinary places of each column."""
    total, count = np.zeros_like(cut), np.zeros_like(cut)
    for pair in pairs:
        for _, (x, y) in blocks(axis, *pair):
            ordinary = np.abs(x) <= cut
            with np.errstate(over="ignore", invalid="ignore"):  # what is not ordinary
                found = np.where(ordinary, number(x, y), 0.0)
            total += found.sum(axis=(0, 2))[:, None]
            count += ordinary.sum(axis=(0, 2))[:, None]
    return total / np.maximum(count, 1.0)


def _columns(axis: int | None, arrays: Sequence[Array]) -> int:
    return 1 if axis is None else arrays[0].shape[axis]
