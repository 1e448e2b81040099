"""Refuse options that would let a check pass without proving anything."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keras_sinpe.arguments import finite_number, refusal

TOLERANCE = "a finite number of at least 0, or one by dtype"
SIZES = "a non-empty sequence of integers of at least 0"
INPUTS = "arrays by input name, a non-empty list of these, or a function to them"


def check_options(
    *, batch_sizes: Any, lengths: Any = None, inputs: Any = None, tolerance: Any = None
) -> None:
    """Check what `check_parity` and the exporters take, before any work.

    Raises:
        TypeError: an argument is of another type than documented.
        ValueError: A tolerance is negative or not finite, a size is negative, there
            are no sizes or inputs, or every batch would be empty.
    """
    _check_sizes("batch_sizes", batch_sizes)
    if not any(batch_sizes):
        expected = "sizes of which one is above 0"
        raise ValueError(refusal("batch_sizes", expected, batch_sizes))
    if lengths is not None:
        _check_sizes("lengths", lengths)
    _check_inputs(inputs)
    _check_tolerance(tolerance)


def _check_sizes(name: str, sizes: Any) -> None:
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Sequence):
        raise TypeError(refusal(name, SIZES, sizes))
    if not all(_is_integer(size) for size in sizes):
        raise TypeError(refusal(name, SIZES, sizes))
    if not sizes or min(sizes) < 0:
        raise ValueError(refusal(name, SIZES, sizes))


def _is_integer(size: Any) -> bool:
    return isinstance(size, int | np.integer) and not isinstance(size, bool)


def _check_inputs(inputs: Any) -> None:
    if inputs is None or callable(inputs) or isinstance(inputs, Mapping):
        return
    if not isinstance(inputs, Sequence):
        raise TypeError(refusal("inputs", INPUTS, inputs))
    if not all(isinstance(sample, Mapping) for sample in inputs):
        raise TypeError(refusal("inputs", INPUTS, inputs))
    if not inputs:
        raise ValueError(refusal("inputs", INPUTS, inputs))


def _check_tolerance(tolerance: Any) -> None:
    if tolerance is None:
        return
    units = tolerance.values() if isinstance(tolerance, Mapping) else [tolerance]
    for unit in units:
        try:
            negative = finite_number("tolerance", unit) < 0
        except (TypeError, ValueError) as error:
            raise type(error)(refusal("tolerance", TOLERANCE, tolerance)) from error
        if negative:
            raise ValueError(refusal("tolerance", TOLERANCE, tolerance))
