"""Weights and activations of an ONNX graph in half precision."""

from __future__ import annotations

import warnings
from typing import Any

PRECISIONS = ("float32", "float16")


def check_precision(precision: Any) -> None:
    """Refuse what is not one of `PRECISIONS` with a `ValueError`."""
    if precision not in PRECISIONS:
        raise ValueError(
            '`precision` must be "float32" or "float16". '
            f"Received: precision={precision!r}"
        )


def in_half_precision(proto: Any) -> Any:
    """Convert a float32 graph to float16, except for its inputs and outputs.

    Numbers beyond the range of float16, as in attention masks, become its largest.

    Args:
        proto: The model in float32.

    Returns:
        The model in float16; the names and dtypes of inputs and outputs are the same.
    """
    from onnxruntime.transformers.float16 import convert_float_to_float16

    with warnings.catch_warnings():
        # One for every number that float16 cannot hold: the check measures the effect.
        warnings.simplefilter("ignore")
        half = convert_float_to_float16(proto, keep_io_types=True)
    _casts_of_inputs_first(half.graph)
    return half


def _casts_of_inputs_first(graph: Any) -> None:
    """Put the casts of float inputs before the nodes that use them, loops included."""
    inputs = {value.name for value in graph.input}
    nodes = sorted(
        graph.node,
        key=lambda node: node.op_type != "Cast" or not inputs.issuperset(node.input),
    )
    del graph.node[:]
    graph.node.extend(nodes)
