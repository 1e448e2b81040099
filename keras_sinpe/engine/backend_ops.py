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

    It lies in the outermost function: branches of a condition share it.
    """
    if keras.backend.backend() != "tensorflow":
        return ops.convert_to_tensor(table)
    import tensorflow as tf

    if tf.executing_eagerly():
        return tf.convert_to_tensor(table)
    graph = tf.compat.v1.get_default_graph()
    while getattr(getattr(graph, "outer_graph", None), "building_function", False):
        graph = graph.outer_graph
    for known, tensor in graph.get_collection(TABLES):
        if known.dtype == table.dtype and np.array_equal(known, table):
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


def add_in_branches(
    inputs: Any,
    scale: Any | None,
    rows: Callable[..., Any],
    term: Callable[[Any, Any], Any],
) -> Any:
    """`inputs + term(rows(), scale)`, added where a condition makes the rows.

    The term is linear in the scale, a scalar or `None`. On TensorFlow the gradient is
    told: XLA cannot make out the shapes for which that of a condition asks.
    """

    def add(inputs: Any, scale: Any = None) -> Any:
        return rows(lambda made: inputs + term(made, scale))

    given = (inputs,) if scale is None else (inputs, scale)
    if keras.backend.backend() != "tensorflow":
        return add(*given)
    import tensorflow as tf

    if tf.executing_eagerly():
        return add(*given)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def told(*given: Any) -> Any:
        def gradient(up: Any) -> Any:
            if scale is None:
                return up
            return up, tf.reduce_sum(up * term(rows(), None))

        return add(*given), gradient

    return told(*given)
