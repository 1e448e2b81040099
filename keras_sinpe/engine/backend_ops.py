"""The few operations that `keras.ops` would do in a costlier way."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray

# Where a TensorFlow graph keeps the tables that it holds already; what has a string for
# its key is saved with a model.
TABLES = ("keras_sinpe", "tables")


def constant(table: NDArray[np.floating]) -> Any:
    """A table as a tensor, once in a TensorFlow graph however many layers use it.

    Branches of a condition share it. No function shares it with the one around: it
    may be called from elsewhere, too.
    """
    if keras.backend.backend() != "tensorflow":
        return ops.convert_to_tensor(table)
    import tensorflow as tf

    if tf.executing_eagerly():
        return tf.convert_to_tensor(table)
    graph = tf.compat.v1.get_default_graph()
    while type(graph).__name__ == "CondBranchFuncGraph":
        graph = graph.outer_graph
    for known, tensor in graph.get_collection(TABLES):
        # A function starts with the collections of the graph around it.
        inside = tensor.graph is graph and known.dtype == table.dtype
        if inside and np.array_equal(known, table):
            return tensor
    with graph.as_default():
        tensor = tf.constant(table)
    graph.add_to_collection(TABLES, (table, tensor))
    return tensor


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


def can_ask_tensors() -> bool:
    """Whether a condition may hang on what a tensor holds.

    Only TensorFlow asks, whose graphs are exported: the others would wait for a device,
    and go both ways under `vmap`.
    """
    return str(keras.backend.backend()) == "tensorflow"


def shortcut(
    holds: bool | Any, short: Callable[[], Any], general: Callable[[], Any]
) -> Any:
    """What `general` computes, by a shorter way where `holds`, a `bool` or a tensor."""
    if isinstance(holds, bool):
        return short() if holds else general()
    return ops.cond(holds, short, general)
