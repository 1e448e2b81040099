"""The TensorFlow function that an artifact holds: named inputs, named outputs."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.artifacts.runners import Arrays, SavedModelRunner
from keras_sinpe.model.prepared import PreparedModel
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


class ServeRunner:
    """The endpoint `serve`, called as the model is and read by the model's names.

    Args:
        named: a signature of the same SavedModel, with the same inputs and outputs.
        prepared: the model.
    """

    def __init__(self, named: SavedModelRunner, prepared: PreparedModel) -> None:
        self.inputs, self.outputs = named.inputs, named.outputs
        self.precision = named.precision
        self._loaded, self._prepared = named.loaded, prepared

    def run(self, feeds: Mapping[str, Any]) -> Arrays:
        """Compute every output from one array per input name."""
        import tensorflow as tf

        signature = self._prepared.signature
        tensors = {name: tf.constant(array) for name, array in feeds.items()}
        arguments = keras.tree.map_structure(tensors.__getitem__, signature.arguments)
        outputs = self._loaded.serve(*arguments)
        names = name_outputs(self._prepared.model, outputs, signature)
        arrays = (np.asarray(tensor) for tensor in keras.tree.flatten(outputs))
        return dict(zip(names, arrays, strict=True))
