"""Padded sample inputs for a model that declares its inputs."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.random_inputs import Feeds, draw_values
from keras_sinpe.model.signatures import Signature
from keras_sinpe.model.tensor_specs import TensorSpec
from keras_sinpe.model.vocabularies import integer_limits
from keras_sinpe.padding.tracing import Trace, tracing

BATCH = 3
LENGTH = 11
FREE_SIZE = 5  # of an axis that is neither batch nor length


def sample_inputs(
    model: Any,
    signature: Signature,
    fill: Mapping[str, float],
    rng: np.random.Generator,
) -> Feeds:
    """Random inputs, each row padded to another extent.

    Inputs get different lengths, unless the model wants them equal. Token ids stay
    within the smallest `Embedding` that reads them; where none does, they are 0 or 1.

    Args:
        model: A built Keras model.
        signature: its inputs.
        fill: what pads each of them.
        rng: source of the numbers.
    """
    refusal: Exception | None = None
    for step in (2, 0):
        shapes = {
            spec.name: _shape(spec, LENGTH + step * index)
            for index, spec in enumerate(signature.inputs)
        }
        try:
            with tracing(model, Trace()):
                signature.call(model, _zeros(signature, shapes))
        except Exception as error:  # runtimes raise errors of many classes
            refusal = refusal or error
        else:
            limits = integer_limits(model, signature)
            return {
                spec.name: _draw(
                    spec, shapes[spec.name], limits.get(spec.name, 2), fill, rng
                )
                for spec in signature.inputs
            }
    raise ValueError(
        "`inputs` must be given for a model that refuses sampled ones. "
        "Received: inputs=None"
    ) from refusal


def _shape(spec: TensorSpec, length: int) -> list[int]:
    free = [BATCH, length] + [FREE_SIZE] * len(spec.shape)
    sizes = zip(spec.shape, free, strict=False)
    return [known if size is None else size for size, known in sizes]


def _zeros(signature: Signature, shapes: Mapping[str, list[int]]) -> dict[str, Any]:
    return {
        spec.name: keras.ops.zeros(shapes[spec.name], dtype=spec.dtype)
        for spec in signature.inputs
    }


def _draw(
    spec: TensorSpec,
    shape: list[int],
    limit: int,
    fill: Mapping[str, float],
    rng: np.random.Generator,
) -> np.ndarray[Any, Any]:
    """Row 0 whole, row 1 half padded, row 2 with one token left."""
    is_real = "float" in spec.dtype
    if not is_real and len(shape) < 2:
        return np.zeros(shape, spec.dtype)
    if spec.dtype == "bool":
        array = np.ones(shape, bool)
    else:
        array = draw_values(spec, shape, limit, rng)
    if len(shape) < (3 if is_real else 2):
        return array
    if not is_real:
        array[array == fill[spec.name]] = 0  # which is drawn only where it pads
    for row, tokens in enumerate((shape[1], max(shape[1] // 2, 1), 1)[: len(array)]):
        array[row, tokens:] = fill[spec.name]
    return array
