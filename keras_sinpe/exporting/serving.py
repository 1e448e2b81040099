"""The TensorFlow function that an artifact holds: named inputs, named outputs."""

from collections.abc import Callable
from typing import Any

import keras

from keras_sinpe.model.signatures import Signature, name_outputs


def tensor_specs(signature: Signature) -> list[Any]:
    """One `tf.TensorSpec` per input, by its name."""
    import tensorflow as tf

    return [
        tf.TensorSpec(spec.shape, spec.dtype, name=spec.name)
        for spec in signature.inputs
    ]


def structured_specs(signature: Signature) -> list[Any]:
    """The specs of `tensor_specs`, packed as the positional arguments of `call`."""
    by_name = {spec.name: spec for spec in tensor_specs(signature)}
    return list(keras.tree.map_structure(by_name.__getitem__, signature.arguments))


def named_call(model: Any, signature: Signature) -> Callable[..., dict[str, Any]]:
    """The forward pass from one tensor per input name to a dict of outputs."""
    import tensorflow as tf

    names = [spec.name for spec in signature.inputs]

    def call(*tensors: Any) -> dict[str, Any]:
        outputs = signature.call(model, dict(zip(names, tensors, strict=True)))
        # An input that is passed on would otherwise lose its name as an output.
        return {name: tf.identity(tensor) for name, tensor in outputs.items()}

    return call


def structured_call(model: Any, signature: Signature) -> Callable[..., Any]:
    """The forward pass as `call` has it; nested outputs become a dict by name.

    TensorFlow returns from an endpoint a tensor, a sequence or a dict of tensors only.
    """

    def call(*arguments: Any) -> Any:
        outputs = model(*arguments, training=False)
        if not _is_nested(outputs):
            return outputs
        names = name_outputs(model, outputs, signature)
        return dict(zip(names, keras.tree.flatten(outputs), strict=True))

    return call


def _is_nested(outputs: Any) -> bool:
    if not keras.tree.is_nested(outputs):
        return False
    parts = outputs.values() if isinstance(outputs, dict) else outputs
    return any(keras.tree.is_nested(part) for part in parts)
