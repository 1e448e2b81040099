"""Checks of argument values, and the one wording of the errors they raise."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def refusal(name: str, expected: str, value: object) -> str:
    """The sentence for an argument that is not what was expected."""
    return f"`{name}` must be {expected}. Received: {name}={value!r}"


def finite_number(name: str, value: Any, expected: str = "a finite number") -> float:
    """`value` as a Python float; scalars of NumPy and eager 0-d tensors are welcome."""
    number = _number(name, value, expected)
    if not math.isfinite(number):
        raise ValueError(refusal(name, expected, value))
    return number


def positive_number(name: str, value: Any) -> float:
    """`value` as a Python float above zero."""
    expected = "a finite number above 0"
    number = finite_number(name, value, expected)
    if number <= 0:
        raise ValueError(refusal(name, expected, value))
    return number


def nonzero_number(name: str, value: Any) -> float:
    """`value` as a Python float other than zero."""
    expected = "a finite number other than 0"
    number = finite_number(name, value, expected)
    if number == 0:
        raise ValueError(refusal(name, expected, value))
    return number


def positive_integer(name: str, value: Any) -> int:
    """`value` as a Python integer above zero."""
    return integer_from(1, name, value, "an integer above 0")


def integer_from(
    least: int, name: str, value: Any, expected: str, most: float = math.inf
) -> int:
    """`value` as a Python integer of at least `least`, and at most `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(refusal(name, expected, value))
    if not least <= value <= most:
        raise ValueError(refusal(name, expected, value))
    return int(value)


def boolean(name: str, value: Any) -> bool:
    """`value` as a Python bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(refusal(name, "`True` or `False`", value))
    return bool(value)


def is_word(value: Any, word: str) -> bool:
    """Whether `value` is that string; tensors are not compared, they would object."""
    return isinstance(value, str) and value == word


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """`value`, if it is one of `choices`."""
    expected = "one of " + ", ".join(f'"{known}"' for known in choices)
    if not isinstance(value, str):
        raise TypeError(refusal(name, expected, value))
    if value not in choices:
        raise ValueError(refusal(name, expected, value))
    return value


def _number(name: str, value: Any, expected: str) -> float:
    shape = tuple(getattr(value, "shape", ()))
    if isinstance(value, bool | np.bool_ | str | bytes) or shape != ():
        raise TypeError(refusal(name, expected, value))
    try:
        return float(value)
    except OverflowError:  # an integer beyond the last float
        return math.inf
    except (TypeError, ValueError) as error:
        raise TypeError(refusal(name, expected, value)) from error
