"""The runs of a check: sizes that a model can take, and the inputs for each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from keras_sinpe.model.random_inputs import NARROW, WIDE, Feeds, draw
from keras_sinpe.model.signatures import Signature, SignatureError
from keras_sinpe.model.tensor_specs import BATCH, Case, TensorSpec
from keras_sinpe.model.tied_axes import tie_axes

Accepts = Callable[[Feeds], Exception | None]
Make = Callable[[Case, np.random.Generator], Feeds]
Run = tuple[Case, Feeds]

# A short run first; convolutions and patches may need a long one.
PROBE_LENGTHS = (4, 64)


def free_axes(signature: Signature) -> list[str]:
    """Every free axis of the inputs but the batch, in order."""
    symbols = [axis for spec in signature.inputs for axis in spec.axes]
    named = [axis for axis in symbols if isinstance(axis, str) and axis != BATCH]
    return list(dict.fromkeys(named))


class GivenSamples:
    """The user's own inputs, one case for each."""

    def __init__(self, signature: Signature, samples: Sequence[Feeds]) -> None:
        arrays = [as_declared(signature, feeds) for feeds in samples]
        self._runs = [(case_of(signature, feeds), feeds) for feeds in arrays]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)


class RandomSamples:
    """Cases of a model with random inputs for each.

    Args:
        signature: the inputs of the model.
        batch_sizes: batch sizes to combine with `lengths`.
        lengths: sizes for every other free axis.
        limits: for an integer input, the number of values it may take, if known.
        accepts: runs the model on inputs and returns the exception, or `None`.
        make: makes the inputs of a case; by default they are drawn.
        seed: seed of the inputs.

    Raises:
        ValueError: the model takes none of the inputs that were tried.
    """

    def __init__(
        self,
        signature: Signature,
        batch_sizes: Sequence[int],
        lengths: Sequence[int],
        limits: Mapping[str, int],
        accepts: Accepts,
        make: Make | None = None,
        seed: int = 0,
    ) -> None:
        self._signature = signature
        self._batch_sizes = _batch_sizes(signature, batch_sizes)
        self._lengths = lengths
        self._accepts = accepts
        self._make = make or self._draw
        self._seed = seed
        self._limits = limits
        probe = self._find_probe(limits)
        self._groups = tie_axes(
            free_axes(signature),
            lambda axes: self._refusal(dict.fromkeys(axes, probe + 1), probe) is None,
        )

    def __len__(self) -> int:
        return len(self.cases())

    def __iter__(self) -> Iterator[Run]:
        # One at a time: long inputs need not be held together.
        return ((case, self.feeds(case)) for case in self.cases())

    def cases(self) -> list[Case]:
        """Every batch size with every length.

        Axes that need not be equal get unequal lengths: the second the length after
        the first one's, and so on in a circle.
        """
        turns = range(len(self._lengths)) if self._groups else range(1)
        return [
            Case.of(batch, self._turn(turn))
            for batch in self._batch_sizes
            for turn in turns
        ]

    def feeds(self, case: Case) -> Feeds:
        """The inputs of one case, the same whenever they are asked for."""
        rng = np.random.default_rng([self._seed, *case.sizes.values()])
        return as_declared(self._signature, self._make(case, rng))

    def _draw(self, case: Case, rng: np.random.Generator) -> Feeds:
        return draw(self._signature, case, self._limits, rng)

    def _turn(self, turn: int) -> dict[str, int]:
        return {
            axis: self._lengths[(turn + group) % len(self._lengths)]
            for group, axes in enumerate(self._groups)
            for axis in axes
        }

    def _find_probe(self, known: Mapping[str, int]) -> int:
        """A length that the model takes; narrows the unknown integers if need be."""
        integers = [s.name for s in self._signature.inputs if "int" in s.dtype]
        error: Exception | None = None
        for length in PROBE_LENGTHS:
            for unknown in (WIDE, NARROW):
                self._limits = {name: known.get(name, unknown) for name in integers}
                refusal = self._refusal({}, length)
                if refusal is None:
                    return length
                error = error or refusal
        raise ValueError(
            "`inputs` must be given, because the model takes none of the random inputs "
            f"that were tried; it says: {error}. Received: inputs=None"
        ) from error

    def _refusal(self, changed: Mapping[str, int], length: int) -> Exception | None:
        sizes = dict.fromkeys(free_axes(self._signature), length) | dict(changed)
        return self._accepts(self.feeds(Case.of(max(self._batch_sizes), sizes)))


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


def _as_array(value: Any, spec: TensorSpec) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(value, spec.dtype)
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
