"""Convert `Erfc`, which the converter does not know.

TensorFlow 2.19 and later emit it for the exact `gelu`.
"""

from typing import Any

import numpy as np


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
