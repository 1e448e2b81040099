"""The padded inputs of a model, and how they are perturbed."""

from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np

from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.padding.runs import Array


@dataclass(frozen=True, eq=False)
class PaddedSequence:
    """Inputs that share their length and padding.

    Attributes:
        inputs: names of the inputs.
        valid: which positions hold tokens, of shape `(batch, length)`.
        growth: number of padded positions that the check appends.
    """

    inputs: tuple[str, ...]
    valid: Array
    growth: int

    @property
    def length(self) -> int:
        """Length before padding is appended."""
        return int(self.valid.shape[1])


def find_sequences(
    feeds: Feeds,
    masks: Iterable[Array],
    may_grow: Container[str],
    extra_padding: int,
    unmasked: bool,
) -> list[PaddedSequence]:
    """Group the inputs by length, each group with the mask of its shape.

    Args:
        feeds: one array per input.
        masks: masks of shape `(batch, length)`, `True` at tokens.
        may_grow: names of the inputs that the model takes at any length.
        extra_padding: growth of the first group. The others grow by one more each, so
            that an output tells by its growth which group it follows.
        unmasked: whether groups without a mask count, as wholly valid ones.
    """
    known: dict[tuple[int, ...], Array] = {}
    for mask in masks:
        if not (known.setdefault(mask.shape, mask) == mask).all():
            raise ValueError(
                "`inputs` must have different lengths where their padding differs, so "
                "that an output tells which one it follows. "
                f"Received: two paddings of shape {mask.shape}"
            )
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for name, array in feeds.items():
        if array.ndim >= (3 if array.dtype.kind == "f" else 2):
            by_shape.setdefault(array.shape[:2], []).append(name)
    sequences: list[PaddedSequence] = []
    for shape, names in by_shape.items():
        if shape in known or unmasked:
            grows = shape in known and all(name in may_grow for name in names)
            growth = extra_padding + len(sequences) if grows and extra_padding else 0
            valid = known.get(shape, np.ones(shape, bool))
            sequences.append(PaddedSequence(tuple(names), valid, growth))
    return sequences


def change_values(
    feeds: Feeds,
    sequence: PaddedSequence,
    where: Array,
    rng: np.random.Generator,
    ids: bool = False,
) -> Feeds:
    """The same sequences with other real numbers, and other ids, at some positions."""
    changed = dict(feeds)
    for name in sequence.inputs:
        array = changed[name] = feeds[name].copy()
        if array.dtype.kind == "f":
            array[where] += rng.normal(size=array[where].shape).astype(array.dtype)
        elif ids and array.dtype.kind in "iu":
            # The next larger one that occurs.
            tokens = np.unique(array[sequence.valid])
            index = np.searchsorted(tokens, array[where])
            array[where] = np.roll(tokens, -1)[index]
    return changed
