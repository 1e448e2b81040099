"""Spare the copy of an encoding that is cut from whole blocks of 64 rows.

The rows of an encoding come in blocks, cut to the length of the sequence by a `Slice`.
Where the blocks are just as long, ONNX Runtime still copies them, on one thread: a
quarter of the time of adding the encoding to 4096 positions of width 512.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from keras_sinpe.exporting.constants import names_used

ELEMENTWISE = ("Add", "Mul", "Sub")


class Cut(NamedTuple):
    """A `Slice` of whole blocks, and what there is around it.

    Attributes:
        node: The `Slice` of the first rows.
        user: The elementwise node that takes the rows.
        dtype: Element type of the rows, as in `onnx.TensorProto`.
    """

    node: Any
    user: Any
    dtype: int


def spare_copies(graph: Any) -> None:
    """Let an `If` pass over every `Slice` of an encoding that would drop no row.

    Args:
        graph: The `onnx.GraphProto` of the model, changed in place.
    """
    for cut in _cuts(graph):
        positions = {node.output[0]: i for i, node in enumerate(graph.node)}
        nodes = list(graph.node)
        place = positions[cut.user.output[0]]
        nodes[place : place + 1] = _choice(cut)
        del nodes[positions[cut.node.output[0]]]
        del graph.node[:]
        graph.node.extend(nodes)


def _cuts(graph: Any) -> list[Cut]:
    constants = {tensor.name: tensor for tensor in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    uses = Counter(names_used(graph))
    cuts: dict[str, Cut] = {}
    for user in graph.node:
        if user.op_type not in ELEMENTWISE:
            continue
        for name in user.input:
            node = makers.get(name)
            dtype = _dtype_of_blocks(node, makers, constants)
            if dtype is not None and uses[name] == 1:
                cuts[user.output[0]] = Cut(node, user, dtype)
    return list(cuts.values())


def _dtype_of_blocks(
    node: Any | None, makers: Mapping[str, Any], constants: Mapping[str, Any]
) -> int | None:
    """The dtype of a `Slice` of the first rows of blocks; `None` of anything else."""
    if (
        node is None
        or node.op_type != "Slice"
        or not _from_the_first_row(node, constants)
    ):
        return None
    sum_of_products = _maker(_maker(node, makers, "Reshape"), makers, "Add")
    product = _maker(sum_of_products, makers, "Mul")
    table = _maker(product, makers, "Slice")
    if table is None or table.input[0] not in constants:
        return None
    return int(constants[table.input[0]].data_type)


def _from_the_first_row(node: Any, constants: Mapping[str, Any]) -> bool:
    import onnx

    if len(node.input) != 5:
        return False
    start, _, axes, step = node.input[1:]
    return all(
        name in constants
        and np.array_equal(onnx.numpy_helper.to_array(constants[name]), [value])
        for name, value in ((start, 0), (axes, 0), (step, 1))
    )


def _maker(node: Any, makers: Mapping[str, Any], operator: str) -> Any:
    """The first node of this operator among those whose outputs `node` takes."""
    found = (makers.get(name) for name in node.input) if node is not None else ()
    return next((n for n in found if n is not None and n.op_type == operator), None)


def _choice(cut: Cut) -> list[Any]:
    """The user of all rows or of those that are cut, whichever there are."""
    import onnx

    blocks, _, end, axes = cut.node.input[:4]
    rows = cut.node.output[0]
    shape, size, length, whole = (
        f"{rows}__{name}" for name in ("shape", "size", "length", "whole")
    )
    output = cut.user.output[0]
    inputs = [blocks if name == rows else name for name in cut.user.input]
    uncut = _branch(cut, f"{output}__whole", inputs, [])
    cut_off = _branch(cut, f"{output}__part", cut.user.input, [cut.node])
    return [
        _node("Shape", [blocks], shape),
        _node("Gather", [shape, axes], size),
        _node("Cast", [end], length, to=onnx.TensorProto.INT64),
        _node("Equal", [size, length], whole),
        _node("If", [whole], output, then_branch=uncut, else_branch=cut_off),
    ]


def _branch(cut: Cut, output: str, inputs: Any, before: list[Any]) -> Any:
    import onnx

    node = _node(cut.user.op_type, list(inputs), output)
    value = onnx.helper.make_tensor_value_info(output, cut.dtype, None)
    return onnx.helper.make_graph([*before, node], output, [], [value])


def _node(operator: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    import onnx

    return onnx.helper.make_node(operator, inputs, [output], name=output, **attributes)
