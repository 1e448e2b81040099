"""How far an artifact may be from its model, and why.

A tolerance is absolute while the outputs stay within [-1, 1] and grows with their
largest magnitude beyond: rounding errors scale with the numbers that are rounded.
"""

from collections.abc import Mapping

import numpy as np

TOLERANCES: dict[str, float] = {
    # Sums in another order: 84 roundings of float32. Encoders of this project
    # differ by up to 1.6e-6 between TensorFlow and ONNX Runtime.
    "float32": 1e-5,
    # The same number of roundings in float64.
    "float64": 2e-14,
    # Twenty roundings of float16 (4.9e-4 each) or bfloat16 (3.9e-3 each). Models of
    # this project differ by up to 3.4e-3 of their magnitude in float16; where a
    # normalisation divides by a small spread it magnifies what was rounded before.
    "float16": 1e-2,
    "bfloat16": 8e-2,
}


def tolerance_for(
    dtype: str, magnitude: float, given: float | Mapping[str, float] | None = None
) -> float:
    """The largest error that passes in an output of this dtype and magnitude.

    Args:
        dtype: name of the output's dtype. Integers and booleans must be equal.
        magnitude: the largest absolute value that the model computed.
        given: the user's own tolerance for outputs within [-1, 1], or one per dtype.

    >>> tolerance_for("float32", 0.5), tolerance_for("float32", 200.0)
    (1e-05, 0.002)
    >>> tolerance_for("int64", 7.0)
    0.0
    """
    if isinstance(given, Mapping):
        unit = given.get(dtype, TOLERANCES.get(dtype, 0.0))
    elif given is not None:
        unit = float(given)
    else:
        unit = TOLERANCES.get(dtype, 0.0)
    return unit * max(1.0, magnitude) if np.isfinite(magnitude) else unit
