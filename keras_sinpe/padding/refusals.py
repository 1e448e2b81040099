"""What the padding check refuses before it compares anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from keras_sinpe.arguments import finite_number, refusal
from keras_sinpe.padding.comparison import Run
from keras_sinpe.padding.sequences import PaddedSequence


def known_length(name: str, value: Any) -> int:
    """`value` as a Python integer of at least 0."""
    expected = "an integer of at least 0"
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(refusal(name, expected, value))
    if value < 0:
        raise ValueError(refusal(name, expected, value))
    return int(value)


def known_tolerance(name: str, value: Any) -> float:
    """`value` as a finite Python float of at least 0."""
    expected = "a finite number of at least 0"
    number = finite_number(name, value, expected)
    if number < 0:
        raise ValueError(refusal(name, expected, value))
    return number


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
