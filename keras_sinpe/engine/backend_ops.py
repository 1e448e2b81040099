"""The few operations that `keras.ops` would do in a costlier way."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops


def take_rows(table: Any, rows: Any) -> Any:
    """Rows of a table by non-negative index: `(n, width)`.

    On TensorFlow `ops.take` also mends negative indices, seven ONNX nodes a look-up: 40
    of the 100 nodes of an exported encoding.
    """
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.gather(table, rows)
    return ops.take(table, rows, axis=0)


def cosine_and_sine(angles: Any) -> tuple[Any, Any]:
    """Cosine and sine in the dtype of the angles.

    On JAX `ops.cos` and `ops.sin` round float64 to float32 even where it is enabled.
    """
    if keras.backend.backend() == "jax":
        import jax.numpy as jnp

        return jnp.cos(angles), jnp.sin(angles)
    return ops.cos(angles), ops.sin(angles)


def shortcut(
    holds: bool | Any, short: Callable[[], Any], general: Callable[[], Any]
) -> Any:
    """What `general` computes, by a shorter way where `holds`, a `bool` or a tensor.

    Only TensorFlow, whose graphs are exported, asks a tensor: on the others it would
    wait for a device, and go both ways under `vmap`.
    """
    if isinstance(holds, bool):
        return short() if holds else general()
    if keras.backend.backend() == "tensorflow":
        return ops.cond(holds, short, general)
    return general()
