"""What the tensors that enter and leave a Keras model are called."""

import inspect
import keyword
import re
from collections.abc import Callable, Container, Iterable
from typing import Any

import keras

from keras_sinpe.keras_internals import maker_of


def own_name(spec: Any) -> str | None:
    """The name that an input has by itself, if any."""
    # An unnamed input tensor is numbered anew in each process, its layer is not.
    maker = maker_of(spec)
    return maker.name if maker is not None else getattr(spec, "name", None)


def argument_name(model: Any, path: tuple[Any, ...]) -> str:
    """The argument of `call` that takes an input, and the place within it."""
    parameters = list(inspect.signature(model.call).parameters)
    argument = parameters[min(path[0], len(parameters) - 1)]
    return "_".join([argument, *map(str, path[1:])])


def output_layers(model: Any) -> list[str]:
    """The layer that makes each flattened output, where the model has a graph."""
    if not isinstance(model, keras.Function | keras.Sequential):
        return []
    tensors = keras.tree.flatten(model.outputs or [])
    return [maker_of(tensor).name for tensor in tensors]


def path_name(path: tuple[Any, ...]) -> str:
    """Join the path of a leaf from its first dict key on; empty if it has none.

    >>> path_name((0, "scores", 1)), path_name((0, 1))
    ('scores_1', '')
    """
    keyed = [i for i, key in enumerate(path) if isinstance(key, str)]
    return "_".join(map(str, path[keyed[0] :])) if keyed else ""


def numbered(index: int, count: int) -> str:
    """The name of an output that has none."""
    return "output" if count == 1 else f"output_{index}"


def unique_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Replace what TensorFlow allows in no name, then number what repeats.

    >>> unique_names(["a score", "a", "a", "b"], taken=["b"])
    ['a_score', 'a', 'a_1', 'b_1']
    """
    used, found = set(taken), []
    for name in names:
        found.append(_numbered_apart(re.sub(r"[^A-Za-z0-9_.]", "_", name), used))
        used.add(found[-1])
    return found


def unique_arguments(names: Iterable[str]) -> list[str]:
    """Replace what TensorFlow allows in no argument, then number what repeats.

    A SavedModel that is loaded has a Python function for its signature, each input an
    argument of it, and tells upper from lower case in no name of an input.

    >>> unique_arguments(["a.b", "class", "0x", "ids", "Ids"])
    ['a_b', 'arg_class', 'arg_0x', 'ids', 'Ids_1']
    """
    used: set[str] = set()
    found = []
    for name in names:
        found.append(_numbered_apart(_as_argument(name), used, str.lower))
        used.add(found[-1].lower())
    return found


def _as_argument(name: str) -> str:
    argument = re.sub(r"[^A-Za-z0-9_]", "_", name)
    reserved = keyword.iskeyword(argument) or argument == "self"
    return argument if argument[:1].isalpha() and not reserved else f"arg_{argument}"


def _numbered_apart(
    stem: str, used: Container[str], as_compared: Callable[[str], str] = str
) -> str:
    candidate, number = stem, 0
    while as_compared(candidate) in used:
        number += 1
        candidate = f"{stem}_{number}"
    return candidate
