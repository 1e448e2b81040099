"""What the padding check refuses before it compares anything."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.arguments import finite_number, integer_from, refusal
from keras_sinpe.padding.comparison import Run
from keras_sinpe.padding.sequences import PaddedSequence
from keras_sinpe.padding.tracing import Call


def known_length(name: str, value: Any) -> int:
    """`value` as a Python integer of at least 0."""
    return integer_from(0, name, value, "an integer of at least 0")


def known_tolerance(name: str, value: Any) -> float:
    """`value` as a finite Python float of at least 0."""
    expected = "a finite number of at least 0"
    number = finite_number(name, value, expected)
    if number < 0:
        raise ValueError(refusal(name, expected, value))
    return number


def refuse_unknown_ids(
    failed: Call | None, padding_id: Mapping[str, int], error: Exception
) -> None:
    """Blame `padding_id` if an `Embedding` failed on an id that only it brings in."""
    if failed is None or not isinstance(failed.layer, keras.layers.Embedding):
        return
    size = failed.layer.input_dim
    ids = {int(i) for tensor in failed.inputs for i in np.unique(np.asarray(tensor))}
    unknown = {i for i in ids if not 0 <= i < size}
    if unknown and unknown <= set(padding_id.values()):
        raise ValueError(
            f"`padding_id` must be an id that the `Embedding` {failed.layer.name!r} "
            f"knows, from 0 to {size - 1}. Received: padding_id={unknown.pop()}"
        ) from error


def require_tokens(sequences: Iterable[PaddedSequence]) -> None:
    """Refuse rows of padding alone: what a model makes of them has no right value."""
    for sequence in sequences:
        rows = len(sequence.valid)
        filled = int(sequence.valid.any(axis=1).sum())
        if filled < max(rows, 1):
            raise ValueError(
                "`inputs` must hold at least one token in every row. "
                f"Received: {list(sequence.inputs)} with tokens in {filled} of "
                f"{rows} rows"
            )


def require_numbers(run: Run) -> None:
    """Refuse an output of NaN alone, which no perturbation can change."""
    for name, values in run.outputs.items():
        if values.size and np.isnan(values).all():
            raise ValueError(
                "`model` must put out numbers. "
                f"Received: an output {name!r} that is NaN throughout"
            )


def require_equal(first: Run, second: Run) -> None:
    """Refuse a model whose two runs on the same inputs differ."""
    for name, values in first.outputs.items():
        if not np.array_equal(values, second.outputs[name], equal_nan=True):
            raise ValueError(
                "`model` must give equal outputs for equal inputs: turn off dropout "
                "and reset kept states. "
                f"Received: an output {name!r} that differs between two runs"
            )
