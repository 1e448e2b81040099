"""What a layer is called with where Python knows it: looked at before a graph hides it.

Numbers, lists, NumPy's arrays and whatever else NumPy reads are known. Tensors are not
looked into: a device would have to be waited for, and in a graph nothing is there yet.
"""

from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

from keras_sinpe.arguments import refusal
from keras_sinpe.engine.blocks import LAST_FLOAT_POSITION
from keras_sinpe.engine.encode import (
    FIRST_POSITION,
    LAST_POSITION,
    REAL_POSITIONS,
    dtype_of,
)
from keras_sinpe.layers.call_arguments import (
    START,
    check_numbers,
    check_reach,
    inexact_dtype,
    no_mask,
    refuse_counts,
)


def known_start(start_index: Any, length: int | None) -> Any:
    """A known number as `int`, known numbers as an int32 tensor, a tensor as it is."""
    if isinstance(start_index, int) and not isinstance(start_index, bool):
        return start_index
    starts = _known("start_index", start_index)
    if starts is None:
        return start_index
    if starts.dtype.kind not in "iu":
        raise TypeError(refusal("start_index", START, start_index))
    if starts.ndim == 0:
        return int(starts)
    if starts.size:
        check_reach(start_index, int(starts.min()), int(starts.max()), length)
    return ops.convert_to_tensor(starts.astype("int32"))


def known_numbers(name: str, given: Any, far_bits: int) -> Any:
    """Known positions as a tensor, if they lie within range; a tensor as it is.

    Args:
        name: the argument's name.
        given: what was passed.
        far_bits: how many times the range of 64-bit numbers doubles.

    Returns:
        Tensor: int32 where that holds known integers, float64 where it does not.
    """
    numbers = _known(name, given)
    if numbers is None:
        if given is not None and not isinstance(given, list | tuple):
            check_numbers(name, given)  # before Keras asks for a keyword
        return given
    if numbers.dtype.kind in "mM":
        raise TypeError(
            f"`{name}` must be numbers, not dates or durations: divide by a unit, as "
            'in (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D"). '
            f"Received: {name}.dtype={numbers.dtype}"
        )
    whole = numbers.dtype.kind in "iu"
    if not whole and numbers.dtype.name not in REAL_POSITIONS:
        raise inexact_dtype(name, numbers.dtype.name)
    first = FIRST_POSITION if whole else -LAST_FLOAT_POSITION
    last = LAST_POSITION if whole else LAST_FLOAT_POSITION
    worst = _worst(numbers, first, last)
    if first <= worst <= last or worst != worst:  # NaN stays NaN
        return ops.convert_to_tensor(numbers.astype("int32") if whole else numbers)
    doubles = ops.convert_to_tensor(numbers.astype("float64"))
    reach = LAST_FLOAT_POSITION * 2.0**far_bits
    if far_bits and abs(worst) <= reach and dtype_of(doubles) == "float64":
        return doubles
    raise ValueError(
        f"`{name}` must be integers within int32, or real numbers up to 2**31 - 128 in "
        "size; where the backend holds 64 bits, they are scaled by `position_scale` "
        f"before that counts. Received: {name} with the number {worst}"
    )


def known_mask(mask: Any) -> Any:
    """A known mask as booleans, if it holds nothing else; a tensor as it is."""
    values = None if mask is None else _known("mask", mask)
    if values is None:
        return mask
    if values.dtype.kind not in "biu":
        raise no_mask(values.dtype.name)
    if values.dtype.kind in "iu":
        refuse_counts(values)
    return ops.convert_to_tensor(values.astype(bool))


def _known(name: str, given: Any) -> NDArray[Any] | None:
    """What was given as an array, or `None` for tensors."""
    if ops.is_tensor(given) or isinstance(given, keras.KerasTensor):
        return None
    if not isinstance(given, bool | int | float | list | tuple) and not hasattr(
        given, "__array__"
    ):
        return None
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        if _are_traced(given):
            return None
        expected = (
            "one array or tensor: pad lists of unequal lengths, and join symbolic "
            "tensors with `keras.ops.stack`"
        )
        raise TypeError(refusal(name, expected, given)) from error


def _are_traced(given: Any) -> bool:
    """Whether a list holds tensors of a graph, which the backend can stack."""
    parts = keras.tree.flatten(given)
    symbolic = any(isinstance(part, keras.KerasTensor) for part in parts)
    return not symbolic and any(map(ops.is_tensor, parts))


def _worst(numbers: NDArray[Any], first: float, last: float) -> Any:
    """The number that lies farthest out; NaN only where there is nothing else."""
    if not numbers.size:
        return first
    ends = [end.reduce(numbers, axis=None).item() for end in (np.fmin, np.fmax)]
    return max(ends, key=lambda end: max(end - last, first - end))
