"""Every private name of Keras that this package reads, in one place."""

from collections.abc import Iterator
from typing import Any


def layers_of(model: Any) -> list[Any]:
    """The model and every layer inside it, at any depth."""
    return list(model._flatten_layers()) if hasattr(model, "_flatten_layers") else []


def maker_of(tensor: Any) -> Any:
    """The operation that made a symbolic tensor; `None` of anything else."""
    history = getattr(tensor, "_keras_history", None)
    return history.operation if history else None


def calls_of(operation: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """The symbolic inputs and outputs of every call of an operation in a graph."""
    for node in operation._inbound_nodes:
        yield list(node.input_tensors), list(node.output_tensors)


def mask_of(tensor: Any) -> Any:
    """The Keras mask that travels on a tensor, or `None`."""
    return getattr(tensor, "_keras_mask", None)


def set_mask(tensor: Any, mask: Any) -> None:
    """Let a mask travel on a tensor."""
    tensor._keras_mask = mask


def is_of_keras(layer: Any) -> bool:
    """Whether the class of a layer is Keras's own."""
    return type(layer).__module__.startswith("keras.src.layers.")
