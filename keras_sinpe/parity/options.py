"""Refuse options that no work should begin with, or that would prove nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from keras_sinpe.arguments import boolean, finite_number, integer_from, refusal

OPSETS = range(13, 19)

TOLERANCE = "a finite number of at least 0, or one by dtype"
SIZES = "a non-empty sequence of integers of at least 0"
LARGEST_SIZE = 2**31 - 1  # positions are int32
INPUTS = "arrays by input name, a non-empty list of these, or a function to them"
NAMES = "a sequence of names"
ENDPOINTS = "models by name, other than `serve` and `serving_default`"


def check_options(**options: Any) -> None:
    """Check what `check_parity` and the exporters take, before any work.

    Args:
        **options: any of the arguments of these functions that `CHECKS` has.

    Raises:
        TypeError: an option is of another type than documented.
        ValueError: A tolerance is negative or not finite, a size is negative or beyond
            int32, there are no sizes, names or inputs, every batch would be empty, or
            a version or an endpoint is none that can be.

    Example:
    >>> check_options(overwrite="no")
    Traceback (most recent call last):
    TypeError: `overwrite` must be `True` or `False`. Received: overwrite='no'
    """
    for name, value in options.items():
        CHECKS[name](name, value)


def _check_batch_sizes(name: str, sizes: Any) -> None:
    _check_sizes(name, sizes)
    if not any(sizes):
        raise ValueError(refusal(name, "sizes of which one is above 0", sizes))


def _check_lengths(name: str, sizes: Any) -> None:
    if sizes is not None:
        _check_sizes(name, sizes)


def _check_sizes(name: str, sizes: Any) -> None:
    if isinstance(sizes, str | bytes) or not isinstance(sizes, Sequence):
        raise TypeError(refusal(name, SIZES, sizes))
    if not all(_is_integer(size) for size in sizes):
        raise TypeError(refusal(name, SIZES, sizes))
    if not sizes or min(sizes) < 0:
        raise ValueError(refusal(name, SIZES, sizes))
    if max(sizes) > LARGEST_SIZE:
        raise ValueError(refusal(name, f"sizes of at most {LARGEST_SIZE}", sizes))


def _is_integer(size: Any) -> bool:
    return isinstance(size, int | np.integer) and not isinstance(size, bool)


def _check_inputs(name: str, inputs: Any) -> None:
    if inputs is None or callable(inputs) or isinstance(inputs, Mapping):
        return
    if not isinstance(inputs, Sequence):
        raise TypeError(refusal(name, INPUTS, inputs))
    if not all(isinstance(sample, Mapping) for sample in inputs):
        raise TypeError(refusal(name, INPUTS, inputs))
    if not inputs:
        raise ValueError(refusal(name, INPUTS, inputs))


def _check_tolerance(name: str, tolerance: Any) -> None:
    if tolerance is None:
        return
    units = tolerance.values() if isinstance(tolerance, Mapping) else [tolerance]
    for unit in units:
        try:
            negative = finite_number(name, unit) < 0
        except (TypeError, ValueError) as error:
            raise type(error)(refusal(name, TOLERANCE, tolerance)) from error
        if negative:
            raise ValueError(refusal(name, TOLERANCE, tolerance))


def _check_names(name: str, names: Any) -> None:
    if names is None:
        return
    if isinstance(names, str | bytes) or not isinstance(names, Sequence):
        raise TypeError(refusal(name, NAMES, names))
    if not all(isinstance(one, str) for one in names):
        raise TypeError(refusal(name, NAMES, names))
    if not all(names):
        raise ValueError(refusal(name, NAMES, names))


def _check_endpoints(name: str, endpoints: Any) -> None:
    if endpoints is None:
        return
    if not isinstance(endpoints, Mapping):
        raise TypeError(refusal(name, ENDPOINTS, endpoints))
    if not all(isinstance(one, str) for one in endpoints):
        raise TypeError(refusal(name, ENDPOINTS, endpoints))
    if {"", "serve", "serving_default"} & set(endpoints):
        raise ValueError(refusal(name, ENDPOINTS, endpoints))


def _check_opset(name: str, version: Any) -> None:
    if not _is_integer(version) or version not in OPSETS:
        raise ValueError(refusal(name, f"{OPSETS[0]} to {OPSETS[-1]}", version))


def _check_seed(name: str, seed: Any) -> None:
    integer_from(0, name, seed, "an integer of at least 0")


def _check_endpoint(name: str, endpoint: Any) -> None:
    if not isinstance(endpoint, str):
        raise TypeError(refusal(name, "the name of a signature", endpoint))


CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    "batch_sizes": _check_batch_sizes,
    "endpoint": _check_endpoint,
    "endpoints": _check_endpoints,
    "inputs": _check_inputs,
    "lengths": _check_lengths,
    "opset_version": _check_opset,
    "output_names": _check_names,
    "overwrite": boolean,
    "progress": boolean,
    "seed": _check_seed,
    "tolerance": _check_tolerance,
}
