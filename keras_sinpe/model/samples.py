"""The cases of a check: sizes that a model can take, and the inputs for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from keras_sinpe.model.random_inputs import LIMITS, Array, Feeds, draw
from keras_sinpe.model.signatures import Signature, SignatureError
from keras_sinpe.model.sizes import BATCH, Case, TensorSpec

Accepts = Callable[[Case, Feeds], Exception | None]
Make = Callable[[Case, np.random.Generator], Feeds]
Sample = tuple[Case, Feeds]
Inputs = Make | Feeds | Sequence[Feeds] | None

# They take turns: the longest sequence has a batch of its own.
BATCH_SIZES = (5, 3, 1)
# One and two tokens, both sides of a block edge, and one beyond tables of 1,000.
LENGTHS = (1, 2, 7, 64, 65, 1030)

# Sizes of the free axes in the first run, no two alike and none like a batch size; the
# others are for models that want long inputs, or such as pools and strides divide.
PROBES = (
    (5, 7, 11, 13),
    (67, 71, 73, 79),
    *((32 * n, 32 * n + 32, 32 * n + 64, 32 * n + 96) for n in (2, 1, 3, 4, 5, 6, 7)),
    (256, 224, 192, 160),
)


def free_axes(signature: Signature) -> list[str]:
    """Every free axis of the inputs but the batch, in order."""
    symbols = [axis for spec in signature.inputs for axis in spec.axes]
    named = [axis for axis in symbols if isinstance(axis, str) and axis != BATCH]
    return list(dict.fromkeys(named))


def given_samples(signature: Signature, samples: Sequence[Feeds]) -> list[Sample]:
    """The user's own inputs, one case for each."""
    arrays = [as_declared(signature, feeds) for feeds in samples]
    return [(case_of(signature, feeds), feeds) for feeds in arrays]


class RandomSamples:
    """Cases of a model with inputs for each.

    The model is run once to find sizes that it takes, more often if it refuses the
    first ones or wants some of them equal.

    Args:
        signature: the inputs of the model.
        batch_sizes: batch sizes, which take turns with `lengths`.
        lengths: sizes for every other free axis; by default `LENGTHS`.
        limits: for an integer input, the number of values it may take, if known.
        padded: the inputs whose rows may hold padding.
        accepts: runs the model on a case and returns the exception, or `None`.
        make: makes the inputs of a case; by default they are drawn.
        seed: seed of the inputs.

    Raises:
        ValueError: the model takes none of the inputs that were tried.
    """

    def __init__(
        self,
        signature: Signature,
        batch_sizes: Sequence[int],
        lengths: Sequence[int] | None,
        limits: Mapping[str, int],
        padded: set[str],
        accepts: Accepts,
        make: Make | None = None,
        seed: int = 0,
    ) -> None:
        self._signature = signature
        self._batch_sizes = _batch_sizes(signature, batch_sizes)
        self._limits, self._padded = limits, padded
        self._accepts = accepts
        self._make = make
        self._unknown = LIMITS[0]
        self._seed = seed
        self._axes = free_axes(signature)
        self._groups: list[list[str]] = []
        if not self._axes and batch_sizes is BATCH_SIZES:
            # No length to take turns with: the largest batch and one sample will do.
            self._batch_sizes = _batch_sizes(signature, (max(batch_sizes), 1))
        probe = self._find_probe(set(lengths or ()))
        found = () if probe in (PROBES[0][0], PROBES[1][0]) else (probe, 2 * probe)
        self._lengths = lengths or (*LENGTHS, *found)

    def __iter__(self) -> Iterator[Sample]:
        # One at a time: long inputs need not be held together.
        return ((case, self.feeds(case)) for case in self.cases())

    def cases(self) -> list[Case]:
        """Each length once, with batch sizes that take turns; all sizes are used.

        Axes that need not be equal get unequal lengths: the second the length after
        the first one's, and so on in a circle.
        """
        lengths = self._lengths if self._groups else (1,)
        batches = self._batch_sizes
        pairs = [
            (batches[turn % len(batches)], turn)
            for turn in range(max(len(batches), len(lengths)))
        ]
        if not any(batch * lengths[turn % len(lengths)] for batch, turn in pairs):
            pairs = [(batch, turn) for batch in batches for turn in range(len(lengths))]
        return [Case.of(batch, self._turn(turn, lengths)) for batch, turn in pairs]

    def feeds(self, case: Case) -> Feeds:
        """The inputs of one case, the same whenever they are asked for."""
        rng = np.random.default_rng([self._seed, *case.sizes.values()])
        if self._make is not None:
            return as_declared(self._signature, self._make(case, rng))
        drawn = draw(
            self._signature, case, self._limits, self._padded, rng, self._unknown
        )
        return as_declared(self._signature, drawn)

    def _turn(self, turn: int, lengths: Sequence[int]) -> dict[str, int]:
        return {
            axis: lengths[(turn + group) % len(lengths)]
            for group, axes in enumerate(self._groups)
            for axis in axes
        }

    def _find_probe(self, asked: set[int]) -> int:
        """Find sizes that the model takes and the axes that it wants equal."""
        error: Exception | None = None
        for probe in PROBES:
            # Told apart from those asked for, where nothing hangs on the number.
            sizes = [size + 12 * (size in asked and size < 80) for size in probe]
            for unknown in self._levels():
                self._unknown = unknown
                refusal = self._try_sizes(sizes)
                if refusal is None:
                    return sizes[0]
                error = error or refusal
            if not self._axes:
                break
        raise ValueError(
            "`inputs` must be given, because the model takes none of the random inputs "
            f"that were tried; it says: {error}. Received: inputs=None"
        ) from error

    def _levels(self) -> tuple[int, ...]:
        """Limits for integers of which nothing is known, if there are such."""
        integers = {s.name for s in self._signature.inputs if "int" in s.dtype}
        known = self._make is not None or integers <= set(self._limits)
        return LIMITS[:1] if known else LIMITS

    def _try_sizes(self, sizes: Sequence[int]) -> Exception | None:
        """Unequal sizes first, as one run tells then that all axes are free."""
        axes = self._axes
        unequal = {axis: sizes[i % len(sizes)] for i, axis in enumerate(axes)}
        self._groups = [[axis] for axis in axes]
        refusal = self._refusal(unequal)
        if refusal is None or len(axes) < 2:
            return refusal
        refusal = self._refusal(dict.fromkeys(axes, sizes[0]))
        if refusal is None:
            self._groups = tie_axes(axes, lambda longer: self._fits(sizes, longer))
        return refusal

    def _fits(self, sizes: Sequence[int], longer: Sequence[str]) -> bool:
        changed = dict.fromkeys(longer, sizes[1])
        equal = dict.fromkeys(self._axes, sizes[0])
        return self._refusal(equal | changed) is None

    def _refusal(self, sizes: Mapping[str, int]) -> Exception | None:
        case = Case.of(max(self._batch_sizes), sizes)
        return self._accepts(case, self.feeds(case))


def tie_axes(
    axes: Sequence[str], fits: Callable[[Sequence[str]], bool]
) -> list[list[str]]:
    """Group the axes whose lengths the model wants equal.

    Args:
        axes: the free axes.
        fits: whether the model runs when only these axes are made longer.

    >>> tied = {"ids_length", "mask_length"}
    >>> tie_axes(
    ...     ["ids_length", "mask_length", "memory_length"],
    ...     lambda longer: not tied & set(longer) or tied <= set(longer),
    ... )
    [['memory_length'], ['ids_length', 'mask_length']]
    """
    free = [axis for axis in axes if fits([axis])]
    groups = [[axis] for axis in free]
    tied = [axis for axis in axes if axis not in free]
    while tied:
        first, *others = tied
        partners = [other for other in others if fits([first, other])]
        # Neither alone nor in a pair: three or more that go together.
        group = [first, *(partners[:1] or others)]
        groups.append(group)
        tied = [axis for axis in others if axis not in group]
    return groups


def as_declared(signature: Signature, feeds: Mapping[str, Any]) -> Feeds:
    """Arrays of the declared dtypes, one per input.

    Raises:
        SignatureError: an input is missing, unknown or no array.
    """
    names = [spec.name for spec in signature.inputs]
    if not isinstance(feeds, Mapping):  # of a function of the user's
        raise SignatureError(
            f"`inputs` must hold one array for each of {sorted(names)}. "
            f"Received: {feeds!r}"
        )
    if set(feeds) != set(names):
        raise SignatureError(
            f"`inputs` must hold one array for each of {sorted(names)}. "
            f"Received: inputs for {sorted(feeds)}"
        )
    return {spec.name: _as_array(feeds[spec.name], spec) for spec in signature.inputs}


def _as_array(value: Any, spec: TensorSpec) -> Array:
    dtypes: dict[str, Any] = {"string": object, "bfloat16": "float32"}
    try:
        return np.asarray(value, dtypes.get(spec.dtype, spec.dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise SignatureError(
            f"`inputs` must hold an array of {spec.dtype} for `{spec.name}`. "
            f"Received: {value!r}"
        ) from error


def case_of(signature: Signature, feeds: Feeds) -> Case:
    """The sizes of given arrays, as far as they fit the signature."""
    sizes: dict[str, int] = {}
    for spec in signature.inputs:
        shape = np.shape(feeds.get(spec.name, ()))
        for axis, size in zip(spec.axes, shape, strict=False):
            if isinstance(axis, str):
                sizes.setdefault(axis, size)
    return Case.of(sizes.pop(BATCH, 0), sizes)


def _batch_sizes(signature: Signature, batch_sizes: Sequence[int]) -> Sequence[int]:
    """A batch size that the model fixes replaces those asked for."""
    fixed = [spec.axes[0] for spec in signature.inputs if spec.axes]
    sizes = [size for size in fixed if isinstance(size, int)]
    return sizes[:1] or batch_sizes
