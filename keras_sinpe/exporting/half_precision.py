"""Weights and activations of an ONNX graph in half precision."""

import warnings
from collections.abc import Iterator
from typing import Any

from keras_sinpe.exporting.errors import ExportError

PRECISIONS = ("float32", "float16")

# What may stand between a rounded number and the cast that makes it an integer.
ELEMENTWISE = {"Abs", "Add", "Cast", "Clip", "Identity", "Mul", "Neg", "Sub", "Where"}


def check_precision(precision: Any) -> None:
    """Refuse what is not one of `PRECISIONS` with a `ValueError`."""
    if precision not in PRECISIONS:
        raise ValueError(
            '`precision` must be "float32" or "float16". '
            f"Received: precision={precision!r}"
        )


def check_positions(graph: Any) -> None:
    """Refuse a float32 graph that takes integers from rounded real numbers.

    The encoding does so with real-valued positions. Float16 would turn position 2049
    into 2048 and 70001 into NaN, unseen by a check on small random positions.

    Raises:
        ExportError: A result of `Round` is cast to an integer.
    """
    for inner in _graphs(graph):
        if any(_becomes_integer(inner, n) for n in inner.node if n.op_type == "Round"):
            raise ExportError(
                '`precision` must be "float32" for a model with real-valued '
                "positions, whose integer parts float16 cannot hold above 2048; "
                "integer positions work in both. Received: precision='float16'"
            )


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph and those nested in it, such as the bodies of loops."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.HasField("g") else attribute.graphs
            for nested in inner:
                yield from _graphs(nested)


def _becomes_integer(graph: Any, rounded: Any) -> bool:
    """Whether elementwise operators lead from a node to a cast to an integer."""
    reached = set(rounded.output)
    for node in graph.node:  # sorted: a node comes after those that it uses
        if node.op_type in ELEMENTWISE and not reached.isdisjoint(node.input):
            if node.op_type == "Cast" and _to_integer(node):
                return True
            reached.update(node.output)
    return False


def _to_integer(cast: Any) -> bool:
    from onnx import TensorProto

    integers = (TensorProto.INT32, TensorProto.INT64)
    return any(a.name == "to" and a.i in integers for a in cast.attribute)


def in_half_precision(proto: Any) -> Any:
    """Convert a float32 graph to float16, except for its inputs and outputs.

    Numbers beyond the range of float16, as in attention masks, become its largest.

    Args:
        proto: the model in float32.

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
