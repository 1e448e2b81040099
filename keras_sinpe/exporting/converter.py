"""From a Keras model to an ONNX graph with names that mean something."""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from keras_sinpe.exporting.converter_log import converter_complaints, raise_complaints
from keras_sinpe.exporting.errors import ExportError
from keras_sinpe.exporting.serving import named_call, tensor_specs
from keras_sinpe.exporting.tf2onnx_repairs import OP_HANDLERS, repair
from keras_sinpe.model.signatures import Signature

COPIES_OFF = "TF2ONNX_CATCH_ERRORS"

# The converter reads the environment and writes to one log, so one runs at a time.
ONE_AT_A_TIME = threading.Lock()

Axes = Mapping[str, Sequence[int | str]]


def convert(
    model: Any,
    signature: Signature,
    opset_version: int,
    axes: Axes,
) -> Any:
    """Convert a float32 model to an `onnx.ModelProto`.

    Args:
        model: the Keras model.
        signature: its inputs.
        opset_version: version of the ONNX operators.
        axes: one size or symbol per axis of every output.

    Raises:
        ExportError: the converter failed or complained, or lost a name on the way.
    """
    import tensorflow as tf
    import tf2onnx

    specs = tensor_specs(signature)
    function = tf.function(
        named_call(model, signature), input_signature=specs, autograph=False
    )
    with ONE_AT_A_TIME, converter_complaints() as complaints, _no_copies():
        try:
            proto, _ = tf2onnx.convert.from_function(
                function,
                input_signature=specs,
                opset=opset_version,
                custom_op_handlers=dict(OP_HANDLERS),
            )
        except Exception as error:
            complaints.append(f"{type(error).__name__}: {error}")
    raise_complaints(model, complaints)
    repair(proto, function.get_concrete_function())
    _declare_interface(proto, signature, axes)
    return proto


@contextmanager
def _no_copies() -> Iterator[None]:
    """Keep the converter from copying the graph, weights and all, some fifty times.

    It does so to go back where one of its optimizers fails; here that is an error.
    Four layers of width 256: 9.1 s of processor time instead of 12.7 s.
    """
    before = os.environ.get(COPIES_OFF)
    os.environ[COPIES_OFF] = "FALSE"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(COPIES_OFF, None)
        else:
            os.environ[COPIES_OFF] = before


def _declare_interface(proto: Any, signature: Signature, axes: Axes) -> None:
    """State every input and output anew, with its name, dtype and named axes."""
    import onnx

    graph = proto.graph
    inputs = {spec.name: spec for spec in signature.inputs}
    outputs = {value.name: value.type.tensor_type for value in graph.output}
    _check_names("inputs", inputs, [value.name for value in graph.input])
    _check_names("outputs", axes, outputs)
    declared = {name: _static_first(outputs[name], axes[name]) for name in axes}
    dtypes = {name: output.elem_type for name, output in outputs.items()}
    del graph.input[:], graph.output[:], graph.value_info[:]
    value_info = onnx.helper.make_tensor_value_info
    for name, spec in inputs.items():
        dtype = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(spec.dtype))
        graph.input.append(value_info(name, dtype, list(spec.axes)))
    for name, sizes in declared.items():
        graph.output.append(value_info(name, dtypes[name], sizes))


def _static_first(output: Any, axes: Sequence[int | str]) -> list[int | str]:
    """Sizes that TensorFlow knows to be fixed, else what the runs have shown."""
    known = [size.dim_value for size in output.shape.dim]
    if len(known) != len(axes):
        return list(axes)
    return [size or axis for size, axis in zip(known, axes, strict=True)]


def _check_names(role: str, wanted: Iterable[str], found: Iterable[str]) -> None:
    if set(wanted) != set(found):
        raise ExportError(
            f"The ONNX converter must keep the {role} {sorted(wanted)}. "
            f"Received: {sorted(found)}"
        )
