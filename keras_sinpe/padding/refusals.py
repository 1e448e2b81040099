"""What the padding check refuses before it compares anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from keras_sinpe.arguments import finite_number, refusal


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
