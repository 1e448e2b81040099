"""Names, shapes and dtypes of what goes into a Keras model and comes out of it.

Exporters and the parity check share this room, so that a tensor has one name in the
Keras model, in the SavedModel and in the ONNX file, and nothing relies on an order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.names import (
    argument_name,
    numbered,
    output_layers,
    own_name,
    path_name,
    unique_arguments,
    unique_names,
)
from keras_sinpe.model.sizes import TensorSpec


class SignatureError(ValueError):
    """Names that do not fit the model, whatever it is fed."""


@dataclass(frozen=True)
class Signature:
    """The named inputs of a model, and how its `call` wants them packed.

    Attributes:
        inputs: one spec per input, in the order of the model's own structure.
        arguments: the positional arguments of `call`, with a name in each leaf.
        output_names: names given by the user, in the order of the flattened outputs;
            `None` where the model's own are used.
    """

    inputs: tuple[TensorSpec, ...]
    arguments: tuple[Any, ...]
    output_names: tuple[str, ...] | None = None

    def call(self, model: Any, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Run `model` on named inputs and return its named outputs.

        Args:
            model: A Keras model.
            feeds: one array or tensor per input name.

        Returns:
            One backend tensor per output name.
        """
        arguments = keras.tree.map_structure(feeds.__getitem__, self.arguments)
        outputs = model(*arguments, training=False)
        names = name_outputs(model, outputs, self)
        return dict(zip(names, keras.tree.flatten(outputs), strict=True))


def read_signature(
    model: Any,
    input_signature: Any = None,
    output_names: Sequence[str] | None = None,
) -> Signature:
    """Find the names, shapes and dtypes of a model's inputs.

    Args:
        model: A built Keras model.
        input_signature: what Keras's own exporters accept: the list of positional
            arguments of `call`, each a `keras.InputSpec`, `tf.TensorSpec`,
            `KerasTensor` or array, or a list, tuple or dict of them; a single spec or
            a single dict stands for a list of one. `None` reads it from a Functional
            or Sequential model.
        output_names: names for the outputs, in the order of the flattened outputs.

    Returns:
        The signature. An input is called by its dict key, else by its own name, else
        by the argument of `call` that takes it, as far as a SavedModel can name it so.

    Raises:
        TypeError: `model` is not a Keras model.
        ValueError: the model is not built, or is subclassed and `input_signature` is
            missing, or the signature does not fit the model.
    """
    check_model(model)
    if input_signature is None:
        arguments = _declared_arguments(model)
    else:
        arguments = _given_arguments(model, input_signature)
    paths = keras.tree.flatten_with_path(arguments)
    names = unique_arguments(_input_names(model, arguments, paths))
    specs = tuple(
        TensorSpec(name, _shape(spec), keras.backend.standardize_dtype(spec.dtype))
        for name, (_, spec) in zip(names, paths, strict=True)
    )
    packed = keras.tree.pack_sequence_as(arguments, names)
    given = None if output_names is None else tuple(unique_names(output_names))
    return Signature(specs, tuple(packed), given)


def name_outputs(model: Any, outputs: Any, signature: Signature) -> list[str]:
    """Name the flattened `outputs`: the user's names, dict keys, or layer names."""
    paths = keras.tree.flatten_with_path(outputs)
    if signature.output_names is not None:
        if len(signature.output_names) != len(paths):
            raise SignatureError(
                f"`output_names` must hold one name per output, here {len(paths)}. "
                f"Received: output_names={list(signature.output_names)}"
            )
        names = list(signature.output_names)
    else:
        layers = output_layers(model)
        names = [
            path_name(path) or (layers[i] if layers else numbered(i, len(paths)))
            for i, (path, _) in enumerate(paths)
        ]
    return unique_names(names, taken=[spec.name for spec in signature.inputs])


def check_model(model: Any) -> None:
    """Refuse what is not a built Keras model, with a `TypeError` or `ValueError`."""
    if not isinstance(model, keras.Model):
        raise TypeError(
            "`model` must be a `keras.Model`. "
            f"Received: model={model!r} of type {type(model).__name__}"
        )
    if not model.built:
        raise ValueError(
            "`model` must be built: call it once on data, or give it a `keras.Input`. "
            f"Received: model={model.name!r}, which is not built"
        )


def _is_functional(model: Any) -> bool:
    return isinstance(model, keras.Function)


def _declared_arguments(model: Any) -> list[Any]:
    if isinstance(model, keras.Sequential) and model.inputs:
        return list(model.inputs)
    if _is_functional(model):
        return [model.input]
    raise ValueError(
        "`input_signature` must be given for a subclassed model, for example "
        '`[keras.InputSpec(shape=(None, None), dtype="int32", name="ids")]`: the '
        "model knows neither its dtypes nor which sizes are free. "
        "Received: input_signature=None"
    )


def _given_arguments(model: Any, input_signature: Any) -> list[Any]:
    packed = isinstance(input_signature, list | tuple)
    arguments = list(input_signature) if packed else [input_signature]
    for spec in keras.tree.flatten(arguments):
        if getattr(spec, "shape", None) is None or getattr(spec, "dtype", None) is None:
            raise ValueError(
                "`input_signature` must hold specs with a shape and a dtype. "
                f"Received: input_signature={input_signature!r}"
            )
    if not _is_functional(model) or _same_structure(arguments, [model.input]):
        return arguments
    if _same_structure(arguments, model.input):
        return [arguments]
    raise ValueError(
        "`input_signature` must be structured like the inputs of the model, "
        f"{keras.tree.map_structure(own_name, model.input)!r}. "
        f"Received: input_signature={input_signature!r}"
    )


def _same_structure(left: Any, right: Any) -> bool:
    try:
        keras.tree.assert_same_structure(left, right)
    except ValueError:
        return False
    return True


def _shape(spec: Any) -> tuple[int | None, ...]:
    shape = tuple(None if size is None else int(size) for size in spec.shape)
    if isinstance(spec, np.ndarray) or keras.ops.is_tensor(spec):
        return (None, *shape[1:])  # a sample: its batch size is an accident
    return shape


def _input_names(
    model: Any, arguments: list[Any], paths: list[tuple[tuple[Any, ...], Any]]
) -> list[str]:
    declared = _declared_names(model, arguments)
    names = []
    for index, (path, spec) in enumerate(paths):
        own = own_name(spec) or (declared[index] if declared else None)
        names.append(path_name(path) or own or argument_name(model, path))
    return names


def _declared_names(model: Any, arguments: list[Any]) -> list[str]:
    if not _is_functional(model) or not _same_structure(arguments, [model.input]):
        return []
    return [own_name(tensor) or "" for tensor in keras.tree.flatten(model.input)]
