"""What is found in an artifact's graph and weights, whatever it says of itself."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keras_sinpe.arguments import require

# Half of a name, as in `QLinearConv` or `MatMulInteger`, tells operators on 8 bits.
INT8_OPERATORS = ("QLinear", "DynamicQuantize", "QuantizeLinear", "Integer", "NBits")
HALVES = ("bfloat16", "float16")

# What a SavedModel is loaded from. The rest says something of it: a fingerprint,
# debugging information, files of others.
LOADED = ("saved_model.*", "variables/**/*", "assets/**/*")


def read_proto(filepath: str | os.PathLike[str]) -> Any:
    """An ONNX file as `onnx.ModelProto`: empty if it is in ONNX Runtime's own format.

    Weights in files beside it are not read.
    """
    onnx = require("onnx")
    from google.protobuf.message import DecodeError

    try:
        return onnx.load_model(
            os.fspath(filepath), format="protobuf", load_external_data=False
        )
    except DecodeError:
        return onnx.ModelProto()


def onnx_digest(proto: Any, record: str) -> str:
    """SHA-256 of an `onnx.ModelProto` without the metadata entry called `record`."""
    bare = type(proto)()
    bare.CopyFrom(proto)
    for entry in [e for e in bare.metadata_props if e.key == record]:
        bare.metadata_props.remove(entry)
    data = bare.SerializeToString(deterministic=True)
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def saved_model_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the names and contents of all files that a SavedModel is loaded from.

    Graph, variables and assets are; fingerprint and files of others are not.
    """
    digest = hashlib.sha256()
    found = {file for pattern in LOADED for file in Path(path).glob(pattern)}
    for file in sorted(file for file in found if file.is_file()):
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        name = os.fsencode(file.relative_to(path).as_posix())
        digest.update(name + f"\0{content}\n".encode())
    return f"sha256:{digest.hexdigest()}"


def onnx_precision(proto: Any) -> str:
    """The least precise dtype in which an `onnx.ModelProto` computes its outputs.

    `"int8"` if an operator works on 8-bit weights or activations, else `"bfloat16"` or
    `"float16"` if a tensor is stored in it or cast to it, else `"float32"`. What leads
    to no output does not count.
    """
    import onnx

    nodes, stored = _used(proto)
    if any(part in node.op_type for node in nodes for part in INT8_OPERATORS):
        return "int8"
    attributes = [(node, a) for node in nodes for a in node.attribute]
    found = {tensor.data_type for tensor in stored}
    found |= {a.t.data_type for _, a in attributes if a.HasField("t")}
    found |= {a.i for node, a in attributes if (node.op_type, a.name) == ("Cast", "to")}
    names = {onnx.TensorProto.DataType.Name(dtype).lower() for dtype in found}
    return next((half for half in HALVES if half in names), "float32")


def function_precision(function: Any) -> str:
    """The least precise float dtype of any tensor in a function of TensorFlow."""
    import tensorflow as tf

    definition = function.graph.as_graph_def()
    bodies = [
        definition.node,
        *(inner.node_def for inner in definition.library.function),
    ]
    attributes = [a for nodes in bodies for node in nodes for a in node.attr.values()]
    found = {a.type for a in attributes} | {d for a in attributes for d in a.list.type}
    halves = (half for half in HALVES if tf.as_dtype(half).as_datatype_enum in found)
    return next(halves, "float32")


def _used(proto: Any) -> tuple[list[Any], list[Any]]:
    """The nodes and the stored tensors that lead to an output, at any depth."""
    names = {value.name for value in proto.graph.output}
    bodies = {function.name: function for function in proto.functions}
    nodes, graphs = [], [proto.graph]
    for node in reversed(proto.graph.node):  # sorted: a node comes after what it uses
        if names.isdisjoint(node.output):
            continue
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            nodes.append(inner)
            names.update(inner.input)
            nested = list(_graphs_in(inner))
            graphs += nested
            called = [bodies.pop(inner.op_type)] if inner.op_type in bodies else []
            for body in [*nested, *called]:
                waiting += body.node
            for graph in nested:
                names.update(value.name for value in graph.output)
    stored = [t for graph in graphs for t in graph.initializer if t.name in names]
    return nodes, stored


def _graphs_in(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        yield from attribute.graphs
        if attribute.HasField("g"):
            yield attribute.g
