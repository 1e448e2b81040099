"""How far the values at valid positions moved between two runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keras_sinpe.padding.report import Change
from keras_sinpe.padding.sequences import PaddedSequence
from keras_sinpe.padding.tracing import Call, Trace

# Per unit of the largest magnitude compared. Longer sequences are summed in another
# order, and every layer rounds again: at most 2e-15, 8.5e-7, 1.9e-3 and 1.6e-2 in sound
# encoders of 2 to 12 blocks, up to 60 positions longer. Leaks measure 1e-3 to 3.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}


# For each output the sequence that its rows belong to; `None` has no row per token.
Follows = Mapping[str, PaddedSequence | None]


@dataclass(frozen=True)
class Run:
    """The named outputs of one run, and its trace."""

    outputs: dict[str, np.ndarray]
    trace: Trace


@dataclass(frozen=True)
class Probe:
    """Two runs whose valid outputs must be equal.

    Attributes:
        name: what was perturbed.
        before: the run without the perturbation.
        after: the run with it.
        changed: the sequence whose later tokens were changed; `None` if padding was.
        last: last position of `changed` that must not change.
    """

    name: str
    before: Run
    after: Run
    changed: PaddedSequence | None = None
    last: int | None = None

    def must_stay(self, sequence: PaddedSequence | None) -> np.ndarray | None:
        """The positions of `sequence` to compare; `None` stands for everything."""
        if sequence is None or self.last is None:
            return None if sequence is None else sequence.valid
        return sequence.valid & (np.arange(sequence.length) <= self.last)


def coarsest_tolerance(trace: Trace) -> float:
    """The tolerance of the coarsest dtype that any layer puts out."""
    dtypes = {str(t.dtype.name) for call in trace.calls for t in call.outputs}
    return max((TOLERANCE.get(dtype, 0.0) for dtype in dtypes), default=0.0)


def compare_outputs(probe: Probe, follows: Follows, tolerance: float) -> list[Change]:
    """One entry per output; one that follows no sequence is compared whole.

    Where later tokens were changed, only outputs that follow them have a say.
    """
    changes = []
    for name, sequence in follows.items():
        if probe.changed is not None and sequence is not probe.changed:
            continue
        before, after = probe.before.outputs[name], probe.after.outputs[name]
        valid = probe.must_stay(sequence)
        largest, where, magnitude = _largest_change(before, after, valid)
        allowed = tolerance * max(1.0, magnitude)
        changes.append(Change(name, probe.name, largest, where, allowed))
    return changes


def find_first_leak(
    probe: Probe, sequences: Sequence[PaddedSequence], tolerance: float
) -> str | None:
    """Path of the first layer whose valid outputs moved, and moved what encloses it.

    A layer inside one that keeps still is passed over: there the change is undone.
    """
    moved: dict[int, bool | None] = {}
    pairs = list(zip(probe.before.trace.calls, probe.after.trace.calls, strict=False))
    for before, after in pairs:
        if before.path != after.path:
            break  # a loop over the length: what follows has no counterpart
        moved[id(before)] = _moved(probe, before, after, sequences, tolerance)
    for call, _ in pairs:
        outer = (moved.get(id(enclosing)) for enclosing in call.ancestors())
        if moved.get(id(call)) and False not in outer:
            return call.path
    return None


def _moved(
    probe: Probe,
    before: Call,
    after: Call,
    sequences: Iterable[PaddedSequence],
    tolerance: float,
) -> bool | None:
    """Whether the valid outputs of a layer moved; `None` where that is unknown."""
    verdict: bool | None = None
    for left, right in zip(before.outputs, after.outputs, strict=False):
        sequence = _shaped_like(left.shape, right.shape, sequences)
        if probe.changed is not None and sequence is not probe.changed:
            continue
        if sequence is None and not _is_pooled(left, right):
            continue
        largest, _, magnitude = _largest_change(
            _values(left), _values(right), probe.must_stay(sequence)
        )
        verdict = bool(verdict) or not largest <= tolerance * max(1.0, magnitude)
    return verdict


def _shaped_like(
    left: Sequence[int], right: Sequence[int], sequences: Iterable[PaddedSequence]
) -> PaddedSequence | None:
    for sequence in sequences:
        batch, length = sequence.valid.shape
        lengths = (length, length + sequence.growth)
        if all(
            len(shape) > 1 and shape[0] == batch and shape[1] in lengths
            for shape in (left, right)
        ):
            return sequence
    return None


def _is_pooled(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether no position is left: heads before lengths, say, cannot be judged."""
    return tuple(left.shape) == tuple(right.shape) and len(left.shape) == 2


def _largest_change(
    before: np.ndarray, after: np.ndarray, valid: np.ndarray | None
) -> tuple[float, tuple[int, ...] | None, float]:
    """Largest change, its index, and the largest finite magnitude compared."""
    if valid is not None:
        before, after = before[:, : valid.shape[1]], after[:, : valid.shape[1]]
        wide = valid.reshape(valid.shape + (1,) * (before.ndim - 2))
        before, after = np.where(wide, before, 0.0), np.where(wide, after, 0.0)
    if before.shape != after.shape:
        return float("inf"), None, 0.0
    if before.size == 0:
        return 0.0, None, 0.0
    with np.errstate(invalid="ignore"):
        difference = np.abs(after - before)
    # NaN and infinity that stay as they were have no difference, yet have not moved.
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    difference = np.where(same, 0.0, difference)
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    largest = float(difference[where])
    index = None if largest == 0 else tuple(int(axis) for axis in where)
    magnitudes = np.abs(before[np.isfinite(before)])
    return largest, index, float(magnitudes.max(initial=0.0))


def _values(tensor: object) -> np.ndarray:
    return np.asarray(tensor).astype("float64")
