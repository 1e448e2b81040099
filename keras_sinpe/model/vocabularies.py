"""How large an id may be: the embeddings that an integer input runs into."""

from typing import Any

import keras

from keras_sinpe.keras_internals import calls_of, layers_of
from keras_sinpe.model.signatures import Signature


def integer_limits(model: Any, signature: Signature) -> dict[str, int]:
    """The number of ids that each integer input may take, where the model tells.

    In a Functional model the input is followed to the first embedding on every path,
    through nested models too. Elsewhere nothing tells which embedding an input feeds,
    so the smallest one counts for all.

    Args:
        model: A Keras model.
        signature: its inputs.

    Returns:
        The smallest `input_dim` for each input that reaches an embedding.
    """
    integers = [spec.name for spec in signature.inputs if "int" in spec.dtype]
    if not isinstance(model, keras.Function):
        smallest = min(_vocabularies(model), default=None)
        return {} if smallest is None else dict.fromkeys(integers, smallest)
    limits = {}
    names = keras.tree.flatten(signature.arguments)
    tensors = keras.tree.flatten(model.inputs)
    for name, tensor in zip(names, tensors, strict=True):
        reached = _reached(model, [tensor])
        if name in integers and reached:
            limits[name] = min(reached)
    return limits


def _vocabularies(layer: Any) -> list[int]:
    return [
        s.input_dim for s in layers_of(layer) if isinstance(s, keras.layers.Embedding)
    ]


def _reached(model: Any, sources: list[Any]) -> list[int]:
    """Walk the graph of `model` from `sources`, and into the models it calls."""
    carried, sizes = {id(tensor) for tensor in sources}, []
    for operation in model.operations:
        for sources, results in calls_of(operation):
            taken = [i for i, t in enumerate(sources) if id(t) in carried]
            if not taken:
                continue
            if isinstance(operation, keras.Function):
                # A mask that goes in follows the inputs.
                own = range(len(operation.inputs))
                inner = [operation.inputs[i] for i in taken if i in own]
                found = _reached(operation, inner)
            else:
                found = _vocabularies(operation)
            sizes += found
            if not found:
                carried |= {id(tensor) for tensor in results}
    return sizes


def padded_inputs(model: Any, signature: Signature) -> set[str]:
    """The inputs whose rows may hold padding.

    Integers and booleans with a length may: ids, and the masks that go with them. Real
    numbers may where a layer makes a mask from them; elsewhere, as in images, zeroed
    rows are no padding, and a normalisation divides by their spread of nothing.
    """
    reals = any(_makes_masks(layer) for layer in layers_of(model))
    return {
        spec.name
        for spec in signature.inputs
        if len(spec.shape) > 1 and ("float" not in spec.dtype or reals)
    }


def _makes_masks(layer: Any) -> bool:
    return isinstance(layer, keras.layers.Masking)
