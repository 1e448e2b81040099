"""Let no tensor be an input and an output of a loop's body at once."""

from typing import Any


def copy_passed_on_tensors(graph: Any) -> None:
    """Put an `Identity` before every output of a nested graph that is its own input.

    The converter passes what a loop never changes, such as weights, from turn to turn.
    ONNX allows that, but OpenVINO 2026 counts such a tensor twice and refuses the file
    of every recurrent layer (issue 35874 of its repository).

    Args:
        graph: the `onnx.GraphProto` of the model, changed in place.
    """
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
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
