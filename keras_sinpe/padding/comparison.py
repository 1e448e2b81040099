"""How far the values at valid positions moved between two runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keras_sinpe.padding.report import Change
from keras_sinpe.padding.sequences import Array, PaddedSequence
from keras_sinpe.padding.subject import Run
from keras_sinpe.padding.tracing import Trace

# Per unit of the largest magnitude compared. Longer sequences are summed in another
# order, and every layer rounds again: at most 2e-15, 8.5e-7, 1.9e-3 and 1.6e-2 in sound
# encoders of 2 to 12 blocks, up to 60 positions longer. Leaks measure 1e-3 to 3.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}

# For each axis of a tensor the sequence whose positions it counts, or `None`.
Follows = tuple[PaddedSequence | None, ...]


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
    last: int = -1

    def judges(self, follows: Follows) -> bool:
        """Whether a tensor has a say: where tokens changed, if it follows them."""
        return self.changed is None or self.changed in follows

    def must_stay(self, sequence: PaddedSequence) -> Array:
        """The positions of `sequence` to compare."""
        if sequence is not self.changed:
            return sequence.valid
        return sequence.valid & (np.arange(sequence.length) <= self.last)


def coarsest_tolerance(trace: Trace) -> float:
    """The tolerance of the coarsest dtype that any layer puts out."""
    dtypes = {str(t.dtype.name) for call in trace.calls for t in call.outputs}
    return max((TOLERANCE.get(dtype, 0.0) for dtype in dtypes), default=0.0)


def follow(
    base: Sequence[int], grown: Sequence[int], sequences: Iterable[PaddedSequence]
) -> Follows:
    """What each axis of a tensor follows, by its shapes before and after appending.

    >>> valid = np.ones((3, 11), bool)
    >>> ids = PaddedSequence(("ids",), valid, growth=2)
    >>> follow((3, 8, 11, 11), (3, 8, 13, 13), [ids]) == (None, None, ids, ids)
    True
    """
    found: list[PaddedSequence | None] = [None] * len(base)
    for sequence in sequences:
        batch, length = sequence.valid.shape
        if base and len(base) == len(grown) and base[0] == batch:
            for axis in range(1, len(base)):
                if (base[axis], grown[axis]) == (length, length + sequence.growth):
                    found[axis] = sequence
    return tuple(found)


def compare_outputs(
    probe: Probe, followed: Mapping[str, Follows], tolerance: float
) -> list[Change]:
    """One entry per output that has a say."""
    changes = []
    for name, follows in followed.items():
        if probe.judges(follows):
            before, after = probe.before.outputs[name], probe.after.outputs[name]
            largest, where, size = _largest_change(before, after, follows, probe)
            allowed = tolerance * max(1.0, size)
            changes.append(Change(name, probe.name, largest, where, allowed))
    return changes


def find_first_leak(
    probe: Probe,
    base: Run,
    grown: Run,
    sequences: Sequence[PaddedSequence],
    tolerance: float,
) -> str | None:
    """Path of the first layer whose valid outputs moved, and moved what encloses it.

    A layer inside one that keeps still is passed over: there the change is undone.
    """
    moved: dict[int, bool | None] = {}
    runs = (base, grown, probe.before, probe.after)
    for calls in zip(*(run.trace.calls for run in runs), strict=False):
        if len({call.path for call in calls}) > 1:
            break  # a loop over the length: what follows has no counterpart
        verdicts = [
            not largest <= tolerance * max(1.0, size)
            for tensors in zip(*(call.outputs for call in calls), strict=False)
            for largest, size in _change_inside(probe, sequences, *tensors)
        ]
        moved[id(calls[2])] = any(verdicts) if verdicts else None
    for call in probe.before.trace.calls:
        outer = (moved.get(id(enclosing)) for enclosing in call.ancestors())
        if moved.get(id(call)) and False not in outer:
            return call.path
    return None


def _change_inside(
    probe: Probe,
    sequences: Sequence[PaddedSequence],
    base: Array,
    grown: Array,
    before: Array,
    after: Array,
) -> list[tuple[float, float]]:
    """The largest change of a tensor and its magnitude; none where it has no say.

    Without positions only what is pooled can be judged: rows of several sequences in
    one axis, say, hold padding too.
    """
    follows = follow(base.shape, grown.shape, sequences)
    is_pooled = tuple(before.shape) == tuple(after.shape) and len(before.shape) == 2
    if not probe.judges(follows) or not (any(follows) or is_pooled):
        return []
    values = (np.asarray(tensor).astype("float64") for tensor in (before, after))
    largest, _, size = _largest_change(*values, follows, probe)
    return [(largest, size)]


def _largest_change(
    before: Array, after: Array, follows: Follows, probe: Probe
) -> tuple[float, tuple[int, ...] | None, float]:
    """Largest change, its index, and the largest finite magnitude compared.

    The change is infinite where a shape depends on the padding.
    """
    known = tuple(slice(None if s is None else s.length) for s in follows)
    if before.ndim != after.ndim or before[known].shape != after[known].shape:
        return float("inf"), None, 0.0
    before, after = before[known], after[known]
    if before.size == 0:
        return 0.0, None, 0.0
    stays = np.ones(before.shape, bool)
    for axis, sequence in enumerate(follows):
        if sequence is not None:
            positions = probe.must_stay(sequence)
            shape = [len(positions)] + [1] * (before.ndim - 1)
            shape[axis] = sequence.length
            stays &= positions.reshape(shape)
    with np.errstate(invalid="ignore"):
        difference = np.abs(after - before)
    # NaN and infinity that stay as they were have no difference, yet have not moved.
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    difference = np.where(same | ~stays, 0.0, difference)
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    largest = float(difference[where])
    index = None if largest == 0 else tuple(int(place) for place in where)
    magnitudes = np.abs(before[stays & np.isfinite(before)])
    return largest, index, float(magnitudes.max(initial=0.0))
