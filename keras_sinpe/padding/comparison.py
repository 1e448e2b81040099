"""How far the values at valid positions moved between two runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keras_sinpe.model.tolerances import LONGER
from keras_sinpe.padding.report import Change
from keras_sinpe.padding.runs import Array, Run
from keras_sinpe.padding.sequences import PaddedSequence

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

    def largest_change(
        self, before: Array, after: Array, follows: Follows, tolerance: float
    ) -> tuple[float, tuple[int, ...] | None, float]:
        """The largest change, its index, and what rounding explains.

        The change is infinite where a shape depends on the padding.
        """
        known = tuple(slice(None if s is None else s.length) for s in follows)
        if before.ndim != after.ndim or before[known].shape != after[known].shape:
            return float("inf"), None, tolerance
        before, after = (np.asarray(a[known], "float64") for a in (before, after))
        stays = np.ones(before.shape, bool)
        for axis, sequence in enumerate(follows):
            if sequence is not None:
                shape = [len(sequence.valid)] + [1] * (before.ndim - 1)
                shape[axis] = sequence.length
                stays &= self._must_stay(sequence).reshape(shape)
        with np.errstate(invalid="ignore"):
            moved = np.abs(after - before)
        # NaN and infinity that stay as they were have no difference, yet stand still.
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        moved = np.where(same | ~stays, 0.0, moved)
        magnitude = np.abs(before[stays & np.isfinite(before)]).max(initial=1.0)
        allowed = tolerance * float(magnitude)
        if not moved.any():
            return 0.0, None, allowed
        index = np.unravel_index(int(np.argmax(moved)), moved.shape)
        return float(moved[index]), tuple(int(place) for place in index), allowed

    def _must_stay(self, sequence: PaddedSequence) -> Array:
        if sequence is not self.changed:
            return sequence.valid
        return sequence.valid & (np.arange(sequence.length) <= self.last)


@dataclass(frozen=True)
class Comparison:
    """What must stay, and how still.

    Attributes:
        base: the run on the inputs as they are.
        grown: the run on inputs with more padding.
        sequences: the padded inputs.
        tolerance: largest change per unit; `None` for that of the coarsest dtype that
            any layer puts out.
    """

    base: Run
    grown: Run
    sequences: Sequence[PaddedSequence]
    tolerance: float | None

    @property
    def followed(self) -> dict[str, Follows]:
        """What each axis of each output follows."""
        grown = self.grown.outputs
        return {n: self._follow(a, grown[n]) for n, a in self.base.outputs.items()}

    def changes(self, probe: Probe) -> list[Change]:
        """One entry per output that has a say."""
        found = []
        for name, follows in self.followed.items():
            if probe.judges(follows):
                pair = probe.before.outputs[name], probe.after.outputs[name]
                change = probe.largest_change(*pair, follows, self._unit)
                found.append(Change(name, probe.name, *change))
        return found

    def first_leak(self, probe: Probe) -> str | None:
        """Path of the first layer whose valid outputs, and those around it, moved.

        A layer inside one that keeps still is passed over: there the change is undone.
        """
        moved: dict[int, bool | None] = {}
        runs = (self.base, self.grown, probe.before, probe.after)
        for calls in zip(*(run.calls for run in runs), strict=False):
            if len({call.path for call in calls}) > 1:
                break  # a loop over the length: what follows has no counterpart
            tensors = zip(*(call.outputs for call in calls), strict=False)
            verdicts = [self._moved(probe, *four) for four in tensors]
            known = [verdict for verdict in verdicts if verdict is not None]
            moved[id(calls[2])] = any(known) if known else None
        for call in probe.before.calls:
            outer = (moved.get(id(enclosing)) for enclosing in call.ancestors())
            if moved.get(id(call)) and False not in outer:
                return call.path
        return None

    def _moved(
        self, probe: Probe, base: Array, grown: Array, before: Array, after: Array
    ) -> bool | None:
        """Whether a tensor moved; `None` where that is unknown.

        Without positions only what is pooled can be judged: rows of several sequences
        in one axis, say, hold padding too.
        """
        follows = self._follow(base, grown)
        pooled = tuple(before.shape) == tuple(after.shape) and len(before.shape) == 2
        if not probe.judges(follows) or not (any(follows) or pooled):
            return None
        pair = np.asarray(before), np.asarray(after)
        largest, _, allowed = probe.largest_change(*pair, follows, self._unit)
        return not largest <= allowed

    def _follow(self, base: Array, grown: Array) -> Follows:
        """What each axis of a tensor follows, by its growth where padding is added."""
        if len(base.shape) != len(grown.shape):
            return (None,) * len(base.shape)
        found: list[PaddedSequence | None] = [None] * len(base.shape)
        for axis, sizes in enumerate(zip(base.shape, grown.shape, strict=True)):
            for sequence in self.sequences if axis else ():
                batch, length = sequence.valid.shape
                if base.shape[0] == batch and sizes == (
                    length,
                    length + sequence.growth,
                ):
                    found[axis] = sequence
        return tuple(found)

    @property
    def _unit(self) -> float:
        if self.tolerance is not None:
            return self.tolerance
        dtypes = {t.dtype.name for call in self.base.calls for t in call.outputs}
        return max((LONGER.get(dtype, 0.0) for dtype in dtypes), default=0.0)
