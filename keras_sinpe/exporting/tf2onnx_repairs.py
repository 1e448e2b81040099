"""Everything that `tf2onnx` leaves wrong, unknown or in the way, mended here.

Each repair says what it is for; none knows a layer of this package.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def repair(proto: Any, function: Any) -> None:
    """Mend a converted model in place.

    Args:
        proto: the `onnx.ModelProto`.
        function: the concrete function that it was converted from.
    """
    store_captured_tensors(proto, function)
    fold_constant_shapes(proto.graph)
    copy_passed_on_tensors(proto.graph)
    number_nested_names(proto.graph)


def store_captured_tensors(proto: Any, function: Any) -> None:
    """Make initializers of tensors that the model holds beside its variables.

    The converter makes inputs of them.
    """
    import onnx

    inputs = {value.name: value for value in proto.graph.input}
    for outer, inner in function.graph.captures:
        if inner.name in inputs:
            tensor = onnx.numpy_helper.from_array(outer.numpy(), inner.name)
            proto.graph.initializer.append(tensor)
            proto.graph.input.remove(inputs[inner.name])


def fold_constant_shapes(graph: Any) -> None:
    """Replace the shape of a constant by a constant, and drop constants left unused.

    The converter asks every attention kernel for its shape and keeps a second copy of
    the kernel for it: 17 % of a four-layer encoder of width 256.
    """
    import onnx

    constants = {tensor.name: tensor for tensor in graph.initializer}
    for node in list(graph.node):
        if (
            node.op_type == "Shape"
            and node.input[0] in constants
            and not node.attribute
        ):
            shape = np.array(constants[node.input[0]].dims, np.int64)
            tensor = onnx.numpy_helper.from_array(shape, node.output[0])
            graph.initializer.append(tensor)
            graph.node.remove(node)
    used = set(names_used(graph))
    for name, tensor in constants.items():
        if name not in used:
            graph.initializer.remove(tensor)


def names_used(graph: Any) -> Iterator[str]:
    """Every name that a node or an output takes, in nested graphs too."""
    yield from (value.name for value in graph.output)
    for node in graph.node:
        yield from node.input
        for inner in nested_graphs(node):
            yield from names_used(inner)


def copy_passed_on_tensors(graph: Any) -> None:
    """Put an `Identity` before every output of a nested graph that is its own input.

    The converter passes what a loop never changes, such as weights, from turn to turn.
    ONNX allows that, but OpenVINO 2026 counts such a tensor twice and refuses the file
    of every recurrent layer (issue 35874 of its repository).

    Args:
        graph: the `onnx.GraphProto` of the model, changed in place.
    """
    for node in graph.node:
        for body in nested_graphs(node):
            _copy_own_inputs(body)
            copy_passed_on_tensors(body)


def _copy_own_inputs(body: Any) -> None:
    import onnx

    inputs = {value.name for value in body.input}
    for index, output in enumerate(body.output):
        if output.name in inputs:
            copy = f"{output.name}__passed_on_{index}"
            body.node.append(onnx.helper.make_node("Identity", [output.name], [copy]))
            output.name = copy


def number_nested_names(graph: Any) -> None:
    """Number the values of nested graphs, and take the names of their nodes away.

    The converter strings the names of all scopes together, again for each level: 0.25
    MB for the two conditions of one layer. Nothing outside can ask for these values.
    """
    numbers = (f"nested_{number}" for number in itertools.count())
    for node in graph.node:
        for inner in nested_graphs(node):
            _number(inner, {}, numbers)


def _number(graph: Any, outer: Mapping[str, str], numbers: Iterator[str]) -> None:
    names = dict(outer)
    for value in (*graph.input, *graph.initializer):
        names[value.name] = value.name = next(numbers)
    for node in graph.node:
        node.name = ""
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in nested_graphs(node):
            _number(inner, names, numbers)
        for name in filter(None, node.output):
            names[name] = next(numbers)
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in graph.output:
        value.name = names.get(value.name, value.name)
    del graph.value_info[:]


def nested_graphs(node: Any) -> Iterator[Any]:
    """The graphs that a node holds: the branches of a condition, the body of a loop."""
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.HasField("g") else attribute.graphs


def convert_erfc(graph: Any, node: Any, name: str, arguments: Any) -> None:
    """Replace `Erfc(x)` by `1 - Erf(x)`, which ONNX has.

    The tail keeps an absolute error of one rounding of 1, 6e-8, and `gelu` multiplies
    it by numbers of order one there.

    Args:
        graph: the graph of the converter.
        node: the node to replace.
        name: name of the node.
        arguments: further arguments of the handler; there are none.
    """
    output = node.output[0]
    dtype, shape = graph.get_dtype(output), graph.get_shape(output)
    source = node.input[0]
    graph.remove_node(name)
    erf = graph.make_node("Erf", [source], dtypes=[dtype], shapes=[shape])
    one = graph.make_const(f"{name}_one", np.array(1.0, np.float32)).output[0]
    graph.make_node(
        "Sub",
        [one, erf.output[0]],
        name=name,
        outputs=[output],
        dtypes=[dtype],
        shapes=[shape],
    )


OP_HANDLERS: dict[str, tuple[Any, list[Any]]] = {"Erfc": (convert_erfc, [])}
