"""The inputs that a model is checked on: the user's, or sampled ones."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.random_inputs import Feeds, draw_values
from keras_sinpe.model.signatures import Signature
from keras_sinpe.model.sizes import TensorSpec

# The last one is the size of axes that are neither batch nor length.
BATCH, LENGTH, FREE_SIZE = 3, 11, 5


def given_inputs(inputs: Any, signature: Signature) -> Feeds:
    """The user's arrays by name, given so or in the structure of the model."""
    names = [spec.name for spec in signature.inputs]
    if isinstance(inputs, Mapping) and set(inputs) == set(names):
        return {name: np.asarray(inputs[name]) for name in names}
    try:
        if isinstance(inputs, Mapping):
            keras.tree.assert_same_structure([inputs], list(signature.arguments))
    except ValueError as error:
        raise ValueError(
            f"`inputs` must name the inputs of the model, which are {names}. "
            f"Received: inputs with {list(inputs)}"
        ) from error
    leaves = keras.tree.flatten(inputs)
    if len(leaves) != len(names):
        raise ValueError(
            f"`inputs` must hold one array for each of {names}. "
            f"Received: inputs with {len(leaves)} arrays"
        )
    return dict(zip(names, map(np.asarray, leaves), strict=True))


def ids_by_name(
    padding_id: int | Mapping[str, int] | None, signature: Signature
) -> dict[str, int]:
    """The padding id of each input that has one."""
    specs = {spec.name: spec for spec in signature.inputs}
    if isinstance(padding_id, int):
        ids = (s.name for s in specs.values() if "int" in s.dtype and len(s.shape) == 2)
        return dict.fromkeys(ids, padding_id)
    if unknown := sorted(set(padding_id or ()) - set(specs)):
        raise ValueError(
            f"`padding_id` must name inputs of the model, which are {list(specs)}. "
            f"Received: padding_id with {unknown}"
        )
    return dict(padding_id or {})


def sampled_inputs(
    pads: Mapping[TensorSpec, float],
    limits: Mapping[str, int],
    run: Callable[[Feeds], Any],
    rng: np.random.Generator,
) -> Feeds:
    """Random inputs of unlike lengths, or of one where the model wants them equal.

    Args:
        pads: what pads each input.
        limits: number of ids that an input may take, where it is known; else two.
        run: runs the model.
        rng: source of the numbers.
    """
    refusal: Exception | None = None
    kinds = {spec: spec.dtype.replace("bfloat16", "float32") for spec in pads}
    for step in (2, 0):
        shapes = {}
        for index, spec in enumerate(pads):
            free = (BATCH, LENGTH + step * index, *[FREE_SIZE] * len(spec.shape))
            sizes = zip(spec.shape, free, strict=False)
            shapes[spec] = [known if size is None else size for size, known in sizes]
        try:
            run({spec.name: np.zeros(shapes[spec], kinds[spec]) for spec in pads})
        except Exception as error:  # runtimes raise errors of many classes
            refusal = refusal or error
        else:
            drawn = {
                spec: draw_values(spec, shapes[spec], limits.get(spec.name, 2), rng)
                for spec in pads
            }
            return {spec.name: _pad(spec, drawn[spec], pads[spec]) for spec in pads}
    raise ValueError(
        "`inputs` must be given for a model that refuses sampled ones. "
        "Received: inputs=None"
    ) from refusal


def _pad(spec: TensorSpec, array: Any, pad: float) -> Any:
    """Row 0 whole, row 1 half padded, row 2 with one token left."""
    is_real = "float" in spec.dtype
    if array.ndim < (3 if is_real else 2):
        return array if is_real else np.zeros_like(array)
    if spec.dtype == "bool":
        array[:] = True
    elif not is_real:
        array[array == pad] = 0  # which is drawn for no other token
    for row, tokens in enumerate((array.shape[1], max(array.shape[1] // 2, 1), 1)):
        array[row : row + 1, tokens:] = pad
    return array
