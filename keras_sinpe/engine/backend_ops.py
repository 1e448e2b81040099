"""The few operations that `keras.ops` would do in a costlier way."""

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
