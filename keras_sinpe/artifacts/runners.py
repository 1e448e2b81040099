"""Run an exported artifact on named arrays."""

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from keras_sinpe.arguments import printable, require
from keras_sinpe.artifacts.contents import (
    function_precision,
    onnx_precision,
    read_proto,
)

Arrays = dict[str, np.ndarray[Any, Any]]

ONNX_DTYPES = {"float": "float32", "double": "float64"}


@dataclass(frozen=True)
class Port:
    """A named input or output: a free size is a symbol, or `None` if it has none."""

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: str

    @property
    def axes(self) -> list[str] | None:
        """Every size as it is printed, `?` where it is free and has no symbol."""
        if self.shape is None:
            return None
        return ["?" if size is None else printable(size) for size in self.shape]

    def __str__(self) -> str:
        if self.axes is None:
            return f"{self.dtype} of unknown rank"
        sizes = ", ".join(self.axes)
        return f"{self.dtype} of shape ({sizes})"


class FeedError(ValueError):
    """What was fed is not what the artifact wants."""


class EndpointError(ValueError):
    """A SavedModel has no signature of this name."""


class Runner(Protocol):
    """A loaded artifact that is fed and read by name.

    Attributes:
        inputs: what it wants, by name.
        outputs: what it gives, by name.
        precision: `"float32"`, `"float16"`, `"bfloat16"` or `"int8"`, by what is found
            in its graph; what it says of itself does not count.
    """

    inputs: dict[str, Port]
    outputs: dict[str, Port]

    @property
    def precision(self) -> str:
        """The least precise dtype in the graph."""
        ...

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        ...


class OnnxRunner:
    """An ONNX file in an ONNX Runtime session on the CPU."""

    def __init__(self, filepath: str | os.PathLike[str]) -> None:
        onnxruntime = require("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors are raised anyway
        self._session = onnxruntime.InferenceSession(
            os.fspath(filepath), options, providers=["CPUExecutionProvider"]
        )
        self.inputs = _onnx_ports(self._session.get_inputs())
        self.outputs = _onnx_ports(self._session.get_outputs())
        self._filepath = filepath

    @cached_property
    def precision(self) -> str:
        """The least precise dtype in the graph; the file is read for it."""
        return onnx_precision(read_proto(self._filepath))

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        arrays = check_feeds(self.inputs, feeds)
        results = self._session.run(list(self.outputs), arrays)
        return dict(zip(self.outputs, results, strict=True))


class SavedModelRunner:
    """One signature of a SavedModel."""

    def __init__(
        self, filepath: str | os.PathLike[str], endpoint: str = "serving_default"
    ) -> None:
        tf = require("tensorflow", extra="tensorflow")
        # The signature alone does not keep the variables alive.
        self.loaded = tf.saved_model.load(os.fspath(filepath))
        self.choose(endpoint)

    def signature(self, endpoint: str) -> Self:
        """Another signature of the same SavedModel, which is loaded but once."""
        other = copy.copy(self)
        other.choose(endpoint)
        return other

    def choose(self, endpoint: str) -> None:
        """Run this signature from now on."""
        self.__dict__.pop("precision", None)
        self._function = _signature(self.loaded.signatures, endpoint)
        self.inputs = _saved_model_ports(self._function.structured_input_signature[1])
        self.outputs = _saved_model_ports(self._function.structured_outputs)

    @cached_property
    def precision(self) -> str:
        """The least precise dtype in the graph."""
        return function_precision(self._function)

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        import tensorflow as tf

        arrays = check_feeds(self.inputs, feeds)
        tensors = {name: tf.constant(array) for name, array in arrays.items()}
        outputs = self._function(**tensors)
        return {name: np.asarray(tensor) for name, tensor in outputs.items()}


def open_runner(
    filepath: str | os.PathLike[str], endpoint: str = "serving_default"
) -> OnnxRunner | SavedModelRunner:
    """Load an artifact: a directory is a SavedModel, a file is an ONNX model.

    Args:
        filepath: the artifact.
        endpoint: the signature of a SavedModel to run; an ONNX file has but one.

    Raises:
        FileNotFoundError: nothing is there.
        EndpointError: the SavedModel has no such signature.
        ModuleNotFoundError: the runtime is not installed; the sentence says how to.
        ValueError: what is there is neither.
    """
    path = os.fspath(filepath)
    if not os.path.exists(path):
        raise FileNotFoundError(
            "`filepath` must be a SavedModel directory or an ONNX file. "
            f"Received: filepath={path!r}, which does not exist"
        )
    try:
        if os.path.isdir(path):
            return SavedModelRunner(path, endpoint)
        return OnnxRunner(path)
    except (EndpointError, ModuleNotFoundError):
        raise
    except Exception as error:
        reason = printable(" ".join(str(error).split()), 500)
        raise ValueError(
            "`filepath` must be a SavedModel directory or an ONNX file that loads. "
            f"Received: filepath={path!r}, which fails with: {reason}"
        ) from error


def check_feeds(inputs: Mapping[str, Port], feeds: Mapping[str, Any]) -> Arrays:
    """Check names, dtypes and shapes of `feeds` before a runtime sees them.

    Raises:
        FeedError: A name is missing or unknown, or a dtype, a rank or a fixed size
            differs. The sentence names the input, what it wants and what it got.
    """
    for name, port in inputs.items():
        if name not in feeds:
            raise FeedError(
                f"Input `{printable(name)}` must be fed: {port}. "
                f"Received: {sorted(feeds)}"
            )
    for name in feeds:
        if name not in inputs:
            raise FeedError(
                f"The artifact has no input `{printable(name)}`, "
                f"only {sorted(inputs)}. Received: {sorted(feeds)}"
            )
    arrays = {name: np.asarray(feeds[name]) for name in inputs}
    for name, array in arrays.items():
        found = "string" if array.dtype.kind in "OSU" else str(array.dtype)
        if found != inputs[name].dtype or not _fits(inputs[name], array):
            raise FeedError(
                f"Input `{printable(name)}` must be {inputs[name]}. "
                f"Received: {found} of shape {array.shape}"
            )
    return arrays


def _signature(signatures: Mapping[str, Any], endpoint: str) -> Any:
    if endpoint not in signatures:
        raise EndpointError(
            f"`endpoint` must be one of {sorted(signatures)}. "
            f"Received: endpoint={endpoint!r}"
        )
    return signatures[endpoint]


def _fits(port: Port, array: np.ndarray[Any, Any]) -> bool:
    if port.shape is None:
        return True
    return len(port.shape) == array.ndim and all(
        not isinstance(wanted, int) or wanted == size
        for wanted, size in zip(port.shape, array.shape, strict=True)
    )


def _onnx_ports(values: Any) -> dict[str, Port]:
    ports = {}
    for value in values:
        inner = value.type.removeprefix("tensor(").removesuffix(")")
        dtype = ONNX_DTYPES.get(inner, inner)
        ports[value.name] = Port(value.name, tuple(value.shape), dtype)
    return ports


def _saved_model_ports(specs: Mapping[str, Any]) -> dict[str, Port]:
    ports = {}
    for name, spec in specs.items():
        shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
        ports[name] = Port(name, shape, spec.dtype.name)
    return ports
