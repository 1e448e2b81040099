"""Padded sample inputs for a model that declares its inputs."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.signatures import Signature
from keras_sinpe.model.tensor_specs import TensorSpec
from keras_sinpe.padding.sequences import Feeds
from keras_sinpe.padding.tracing import Trace, tracing

BATCH = 3
LENGTH = 11
FREE_SIZE = 5  # of an axis that is neither batch nor length


def sample_feeds(
    model: Any,
    signature: Signature,
    padding_id: Mapping[str, int],
    rng: np.random.Generator,
) -> Feeds:
    """Random inputs, each row padded to another extent.

    Inputs get different lengths, unless the model wants them equal. Token ids stay
    within the smallest `Embedding` that reads a sequence of that length.
    """
    apart = [LENGTH + 2 * index for index in range(len(signature.inputs))]
    together = [LENGTH] * len(signature.inputs)
    try:
        return _sample(model, signature, apart, padding_id, rng)
    except Exception as error:  # runtimes raise errors of many classes
        try:
            return _sample(model, signature, together, padding_id, rng)
        except Exception:
            raise ValueError(
                "`inputs` must be given for a model that refuses sampled ones. "
                "Received: inputs=None"
            ) from error


def _sample(
    model: Any,
    signature: Signature,
    lengths: Iterable[int],
    padding_id: Mapping[str, int],
    rng: np.random.Generator,
) -> Feeds:
    shapes = {
        spec.name: _shape(spec, length)
        for spec, length in zip(signature.inputs, lengths, strict=True)
    }
    trace = Trace()
    with tracing(trace):
        signature.call(model, {s.name: _zeros(s, shapes) for s in signature.inputs})
    vocabularies = _vocabularies(trace)
    return {
        spec.name: _draw(
            spec, shapes[spec.name], vocabularies, padding_id.get(spec.name, 0), rng
        )
        for spec in signature.inputs
    }


def _shape(spec: TensorSpec, length: int) -> tuple[int, ...]:
    free = [BATCH, length] + [FREE_SIZE] * len(spec.shape)
    sizes = zip(spec.shape, free, strict=False)
    return tuple(known if size is None else size for size, known in sizes)


def _zeros(spec: TensorSpec, shapes: Mapping[str, tuple[int, ...]]) -> Any:
    return keras.ops.zeros(shapes[spec.name], dtype=spec.dtype)


def _vocabularies(trace: Trace) -> dict[tuple[int, ...], int]:
    """Per shape of ids, the size of the smallest table that reads them."""
    sizes: dict[tuple[int, ...], int] = {}
    for call in trace.calls:
        if isinstance(call.layer, keras.layers.Embedding) and call.inputs:
            shape = tuple(call.inputs[0].shape)
            size = call.layer.input_dim
            sizes[shape] = min(size, sizes.get(shape, size))
    return sizes


def _draw(
    spec: TensorSpec,
    shape: tuple[int, ...],
    vocabularies: Mapping[tuple[int, ...], int],
    padding_id: int,
    rng: np.random.Generator,
) -> np.ndarray:
    dtype = "float32" if spec.dtype == "bfloat16" else spec.dtype
    if spec.dtype.startswith(("float", "bfloat")):
        array = rng.normal(size=shape).astype(dtype)
        return _pad(array, 0) if len(shape) > 2 else array
    if len(shape) < 2:
        return np.zeros(shape, dtype)
    if spec.dtype == "bool":
        return _pad(np.ones(shape, dtype), False)
    known = np.arange(vocabularies.get(shape, 2))
    tokens = known[known != padding_id]
    return _pad(rng.choice(tokens, size=shape).astype(dtype), padding_id)


def _pad(array: np.ndarray, value: int) -> np.ndarray:
    """Row 0 whole, row 1 half padded, row 2 with one token left."""
    length = array.shape[1]
    for row, tokens in enumerate((length, max(length // 2, 1), 1)[: len(array)]):
        array[row, tokens:] = value
    return array
