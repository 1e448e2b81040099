"""How far one rounding of its weights and inputs moves what a model computes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.prepared import PreparedModel
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.tolerances import moved

SEEDS = (1, 2)


def moved_outputs(prepared: PreparedModel) -> list[list[Feeds]]:
    """The outputs of each run with weights and inputs moved, once for each seed.

    The weights are moved in place and put back.
    """
    found: list[list[Feeds]] = [[] for _ in prepared.taken]
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        with _moved_weights(prepared.model, rng):
            for run, outputs in zip(prepared.taken, found, strict=True):
                feeds = {
                    name: moved(array, rng, is_input=True)
                    if array.dtype.kind == "f"
                    else array
                    for name, array in run.feeds.items()
                }
                outputs.append(prepared.compute(prepared.model, feeds))
    return found


@contextmanager
def _moved_weights(model: Any, rng: np.random.Generator) -> Iterator[None]:
    """Move each float weight to a neighbouring number, and put it back."""
    kept = [
        (weight, keras.ops.convert_to_numpy(weight))
        for weight in model.weights
        if "float32" in str(weight.dtype)
    ]
    try:
        for weight, array in kept:
            weight.assign(moved(array, rng, is_input=False))
        yield
    finally:
        for weight, array in kept:
            weight.assign(array)
