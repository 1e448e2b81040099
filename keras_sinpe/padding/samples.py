"""Padded sample inputs for a model that declares its inputs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from keras_sinpe.model.random_inputs import Feeds, draw_values
from keras_sinpe.model.tensor_specs import TensorSpec

# The last one is the size of axes that are neither batch nor length.
BATCH, LENGTH, FREE_SIZE = 3, 11, 5


def sample_inputs(
    specs: Mapping[TensorSpec, float],
    limits: Mapping[str, int],
    run: Callable[[Feeds], Any],
    rng: np.random.Generator,
) -> Feeds:
    """Random inputs of unlike lengths, or of one where the model wants them equal.

    Args:
        specs: the inputs, each with what pads it.
        limits: number of ids that an input may take, where it is known; else two.
        run: runs the model.
        rng: source of the numbers.
    """
    refusal: Exception | None = None
    for step in (2, 0):
        free = [(BATCH, LENGTH + step * i, *[FREE_SIZE] * 9) for i in range(len(specs))]
        shapes = {
            spec: [size or sizes[axis] for axis, size in enumerate(spec.shape)]
            for spec, sizes in zip(specs, free, strict=True)
        }
        kinds = {spec: spec.dtype.replace("bfloat16", "float32") for spec in specs}
        try:
            run({spec.name: np.zeros(shapes[spec], kinds[spec]) for spec in specs})
        except Exception as error:  # runtimes raise errors of many classes
            refusal = refusal or error
        else:
            return {
                spec.name: _draw(spec, shapes[spec], limits, fill, rng)
                for spec, fill in specs.items()
            }
    raise ValueError(
        "`inputs` must be given for a model that refuses sampled ones. "
        "Received: inputs=None"
    ) from refusal


def _draw(
    spec: TensorSpec,
    shape: list[int],
    limits: Mapping[str, int],
    fill: float,
    rng: np.random.Generator,
) -> np.ndarray[Any, Any]:
    """Row 0 whole, row 1 half padded, row 2 with one token left."""
    is_real = "float" in spec.dtype
    if len(shape) < 2 and not is_real:
        return np.zeros(shape, spec.dtype)
    array = draw_values(spec, shape, limits.get(spec.name, 2), rng)
    if len(shape) < (3 if is_real else 2):
        return array
    if spec.dtype == "bool":
        array[:] = True
    elif not is_real:
        array[array == fill] = 0  # which is drawn for no other token
    for row, tokens in enumerate((shape[1], max(shape[1] // 2, 1), 1)[: len(array)]):
        array[row, tokens:] = fill
    return array
