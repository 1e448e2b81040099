"""The padded inputs of a model, and how they are perturbed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from keras_sinpe.model.random_inputs import Feeds

Array = np.ndarray[Any, Any]


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
    *,
    may_grow: Mapping[str, bool],
    extra_padding: int,
    unmasked: bool,
) -> list[PaddedSequence]:
    """Group the inputs by length, each group with the mask of its shape.

    Args:
        feeds: one array per input.
        masks: masks of shape `(batch, length)`, `True` at tokens.
        may_grow: per input, whether the model takes any length.
        extra_padding: growth of the first group. The others grow by one more each, so
            that an output tells by its growth which group it follows.
        unmasked: whether groups without a mask count, as wholly valid ones.
    """
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for name, array in feeds.items():
        if array.ndim >= (3 if array.dtype.kind == "f" else 2):
            by_shape.setdefault(array.shape[:2], []).append(name)
    known = _one_mask_per_shape(masks)
    sequences: list[PaddedSequence] = []
    for shape, names in by_shape.items():
        if shape not in known and not unmasked:
            continue
        grows = shape in known and all(may_grow[name] for name in names)
        growth = extra_padding + len(sequences) if grows and extra_padding else 0
        valid = known.get(shape, np.ones(shape, bool))
        sequences.append(PaddedSequence(tuple(names), valid, growth))
    return sequences


def append_padding(
    feeds: Feeds, sequences: Iterable[PaddedSequence], fill: Mapping[str, float]
) -> Feeds:
    """The same sequences, padded further at the end of axis 1."""
    grown = dict(feeds)
    for sequence in sequences:
        for name in sequence.inputs:
            array = feeds[name]
            widths = [(0, 0), (0, sequence.growth)] + [(0, 0)] * (array.ndim - 2)
            grown[name] = np.pad(array, widths, constant_values=fill[name])
    return grown


def change_padding(
    feeds: Feeds, sequence: PaddedSequence, rng: np.random.Generator
) -> Feeds:
    """The same sequences with other real numbers at their padded positions."""
    return _moved(feeds, sequence, ~sequence.valid, rng)


def change_later_tokens(
    feeds: Feeds, sequence: PaddedSequence, position: int, rng: np.random.Generator
) -> Feeds:
    """The same sequences with other tokens after `position`; padding stays."""
    later = sequence.valid & (np.arange(sequence.length) > position)
    changed = _moved(feeds, sequence, later, rng)
    for name in sequence.inputs:
        if (ids := feeds[name]).dtype.kind in "iu":
            changed[name] = ids.copy()
            changed[name][later] = _other_tokens(ids, sequence.valid)[later]
    return changed


def _moved(
    feeds: Feeds, sequence: PaddedSequence, where: Array, rng: np.random.Generator
) -> Feeds:
    moved = dict(feeds)
    for name in sequence.inputs:
        if (array := feeds[name]).dtype.kind == "f":
            moved[name] = array.copy()
            moved[name][where] += rng.normal(size=array[where].shape).astype(
                array.dtype
            )
    return moved


def _one_mask_per_shape(masks: Iterable[Array]) -> dict[tuple[int, ...], Array]:
    known: dict[tuple[int, ...], Array] = {}
    for mask in masks:
        if not (known.setdefault(mask.shape, mask) == mask).all():
            raise ValueError(
                "`inputs` must have different lengths where their padding differs, so "
                "that an output tells which one it follows. "
                f"Received: two paddings of shape {mask.shape}"
            )
    return known


def _other_tokens(ids: Array, valid: Array) -> Array:
    """Each valid id replaced by the next larger one that occurs."""
    tokens = np.unique(ids[valid])
    following = np.roll(tokens, -1)
    index = np.searchsorted(tokens, ids).clip(max=len(tokens) - 1)
    return np.asarray(following[index], ids.dtype)
