"""What the exporters refuse beside what Python's own errors say."""

import math
from typing import Any


class ExportError(RuntimeError):
    """A model cannot be exported rightly, so nothing was written."""


# A protocol buffer ends at 2 GiB; the graph itself needs a part of it.
LIMIT = 2**31 - 2**24
FLOAT32_BYTES = 4


def check_size(model: Any, limit: int = LIMIT) -> None:
    """Raise an `ExportError` if the weights in float32 do not fit into one file."""
    size = sum(FLOAT32_BYTES * math.prod(weight.shape) for weight in model.weights)
    if size > limit:
        raise ExportError(
            f"`model` must have at most {limit:,} bytes of float32 weights to fit into "
            "an ONNX file; a SavedModel has no such limit. "
            f"Received: model={model.name!r} with {size:,} bytes"
        )
