"""The padded inputs of a model, and how they are perturbed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from keras_sinpe.padding.tracing import Trace

Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class PaddedSequence:
    """Inputs that share their length and padding.

    Attributes:
        inputs: names of the inputs.
        valid: which positions hold tokens, of shape `(batch, length)`.
        growth: number of padded positions that the check appends.
    """

    inputs: tuple[str, ...]
    valid: np.ndarray
    growth: int

    @property
    def length(self) -> int:
        """Length before padding is appended."""
        return int(self.valid.shape[1])


def find_sequences(
    feeds: Feeds,
    masks: Iterable[np.ndarray],
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
        if _is_sequence(array):
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


def change_later_tokens(
    feeds: Feeds, sequence: PaddedSequence, position: int, rng: np.random.Generator
) -> Feeds:
    """The same sequences with other tokens after `position`; padding stays."""
    changed = dict(feeds)
    later = sequence.valid & (np.arange(sequence.length) > position)
    for name in sequence.inputs:
        array = feeds[name].copy()
        if array.dtype.kind == "f":
            array[later] += rng.normal(size=array[later].shape).astype(array.dtype)
        elif array.dtype.kind in "iu":
            array[later] = _other_tokens(array, sequence.valid)[later]
        changed[name] = array
    return changed


def padding_values(
    feeds: Feeds, padding_id: Mapping[str, int], trace: Trace
) -> dict[str, float]:
    """What pads each input: its id, `False`, or the value that a `Masking` skips."""
    skipped = [getattr(call.layer, "mask_value", None) for call in trace.calls]
    value = next((float(v) for v in skipped if v is not None), 0.0)
    return {
        name: value if array.dtype.kind == "f" else padding_id.get(name, 0)
        for name, array in feeds.items()
    }


def _is_sequence(array: np.ndarray) -> bool:
    return array.ndim >= (3 if array.dtype.kind == "f" else 2)


def _one_mask_per_shape(
    masks: Iterable[np.ndarray],
) -> dict[tuple[int, ...], np.ndarray]:
    known: dict[tuple[int, ...], np.ndarray] = {}
    for mask in masks:
        if not (known.setdefault(mask.shape, mask) == mask).all():
            raise ValueError(
                "`inputs` must have different lengths where their padding differs, so "
                "that an output tells which one it follows. "
                f"Received: two paddings of shape {mask.shape}"
            )
    return known


def _other_tokens(ids: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Each valid id replaced by the next larger one that occurs."""
    tokens = np.unique(ids[valid])
    following = np.roll(tokens, -1)
    index = np.searchsorted(tokens, ids).clip(max=len(tokens) - 1)
    return np.asarray(following[index], ids.dtype)
