"""What only Keras's private names tell: each of them is used in this file alone."""

import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import keras

# Two threads that exchange the classes of one model would restore them crosswise.
_ONE_AT_A_TIME = threading.RLock()


def layers_of(model: Any) -> list[Any]:
    """The model and every layer inside it, at any depth."""
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []


def maker_of(tensor: Any) -> Any:
    """The operation that made a symbolic tensor; `None` of anything else."""
    history = getattr(tensor, "_keras_history", None)
    return history.operation if history else None


def nodes_of(operation: Any) -> list[Any]:
    """The calls of an operation in the graphs of models."""
    return list(operation._inbound_nodes)


def calls_of(operation: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """The symbolic inputs and outputs of every call of an operation in a graph."""
    for node in nodes_of(operation):
        yield list(node.input_tensors), list(node.output_tensors)


def layers_in_training(model: Any) -> list[str]:
    """Names of layers that a graph calls with `training=True`, whatever is asked."""
    functions = [m for m in layers_of(model) if isinstance(m, keras.Function)]
    return [
        operation.name
        for function in functions
        for operation in function.operations
        if any(n.arguments.kwargs.get("training") is True for n in nodes_of(operation))
    ]


def is_of_keras(layer: Any) -> bool:
    """Whether the class of a layer is Keras's own."""
    return type(layer).__module__.startswith("keras.src.layers.")


def mask_of(tensor: Any) -> Any:
    """The Keras mask that travels on `tensor`, or `None`."""
    return getattr(tensor, "_keras_mask", None)


def set_mask(tensor: Any, mask: Any) -> None:
    """Let `mask` travel on `tensor`."""
    tensor._keras_mask = mask


def operations_of(model: Any) -> list[Any]:
    """The model, its layers and the operations of its graph, through nested models."""
    found: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        operation = waiting.pop()
        if id(operation) not in found:
            found[id(operation)] = operation
            if isinstance(operation, keras.Layer):
                waiting += operation._flatten_layers(include_self=False)
            if isinstance(operation, keras.Function):
                waiting += operation.operations
    return list(found.values())


@contextmanager
def recording_calls(
    model: Any, record: Callable[[Callable[..., Any], Any, Any, Any], Any]
) -> Iterator[None]:
    """Hand every call that this thread makes inside `model` to `record`.

    Each layer gets a class of its own for the time, so that calls of other models and
    other threads take their usual way. A layer that `model` does not track, such as one
    in the closure of a `Lambda`, is not seen. The layers' own `tf.function` run as the
    Python that they were made of, so that there are values to see.

    Args:
        model: A layer or model.
        record: takes the call, the layer, its `args` and its `kwargs`, and returns what
            the call returns.
    """
    thread = threading.get_ident()

    def recording(kind: type) -> type:
        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != thread:
                return kind.__call__(layer, *args, **kwargs)
            return record(kind.__call__, layer, args, kwargs)

        names = {name: getattr(kind, name) for name in ("__module__", "__qualname__")}
        own = {n: v for base in reversed(kind.__mro__) for n, v in vars(base).items()}
        body = {**names, **_python_of(own), "__call__": call}
        return types.new_class(
            kind.__name__, (_Unregistered, kind), exec_body=lambda ns: ns.update(body)
        )

    with _ONE_AT_A_TIME:
        before = [(o, type(o), _compiled(vars(o))) for o in operations_of(model)]
        classes = {kind: recording(kind) for kind in {kind for _, kind, _ in before}}
        try:
            for operation, kind, compiled in before:
                vars(operation).update(_python_of(compiled))
                object.__setattr__(operation, "__class__", classes[kind])
            yield
        finally:
            for operation, kind, compiled in before:
                object.__setattr__(operation, "__class__", kind)
                vars(operation).update(compiled)


class _Unregistered:
    """Keeps passing classes from the `__init_subclass__` of a user's class."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Do nothing."""


def _compiled(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The user's own `tf.function` among some attributes."""
    from tensorflow.types.experimental import PolymorphicFunction

    return {
        name: value
        for name, value in attributes.items()
        if isinstance(value, PolymorphicFunction)
        and not value.python_function.__module__.startswith(("tensorflow.", "keras."))
    }


def _python_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {n: f.python_function for n, f in _compiled(attributes).items()}
