"""What a user would pick: each peer adds its encoding to embeddings.

A peer's `build(case, longest)` returns a function of the embeddings, or of embeddings
and integer positions, that returns embeddings plus encoding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases import Case

Function = Callable[..., Any]
OURS = "keras_sinpe"


@dataclass(frozen=True)
class Peer:
    """One way to add a positional encoding.

    Attributes:
        name: as the tables print it.
        build: from a case and the longest length it must serve to the function.
        any_length: whether one traced function serves every length.
        any_positions: whether it takes a position per token.
        stores_rows: whether it holds a row for every position it serves.
    """

    name: str
    build: Callable[[Case, int], Function]
    any_length: bool = True
    any_positions: bool = True
    stores_rows: bool = False

    def takes(self, case: Case) -> bool:
        """Whether the peer can run `case` at all."""
        return self.any_positions or case.positions == "consecutive"


def _sinpe(case: Case, longest: int) -> Function:
    from keras_sinpe import SinusoidalPositionalEncoding

    layer = SinusoidalPositionalEncoding(dtype=case.policy)
    layer.build((None, None, case.width))
    return lambda x, positions=None: layer(x, positions=positions)


def _installed(module: str) -> ModuleType:
    """A module of the `bench` extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"`{module}` must be installed to be measured: run `make bench`, or "
            f"`pip install -e '.[bench]'`. Received: {error}"
        ) from error


def _keras_hub(case: Case, longest: int) -> Function:
    layers = _installed("keras_hub.layers")
    layer = layers.SinePositionEncoding(dtype=case.policy)
    return lambda x, positions=None: x + layer(x, positions=positions)


def _positional_encodings(case: Case, longest: int) -> Function:
    encodings = _installed("positional_encodings.tf_encodings")
    layer = encodings.TFPositionalEncoding1D(case.width)

    def add(x: Any) -> Any:
        import tensorflow as tf

        # What its `Summer` does, with the cast without which half precision fails.
        return x + tf.cast(layer(x), x.dtype)

    return add


def stored_table(rows: int, width: int) -> np.ndarray:
    """The usual precomputation: float64 angles, one table of float32."""
    angles = np.arange(rows)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(rows, width)


def _stored_table(case: Case, longest: int) -> Function:
    """The usual tutorial layer: a table of the longest length, sliced, added."""
    import keras
    import tensorflow as tf

    table = tf.constant(stored_table(longest, case.width), case.dtype)

    class PositionalEmbedding(keras.layers.Layer):
        def call(self, x: Any, positions: Any = None) -> Any:
            if positions is not None:
                return x + tf.gather(table, positions)
            return x + table[tf.newaxis, : tf.shape(x)[1], :]

    layer = PositionalEmbedding(dtype=case.policy)
    return lambda x, positions=None: layer(x, positions=positions)


def _floor(case: Case, longest: int) -> Function:
    """One addition of a constant of the right length: nothing can be faster."""
    import tensorflow as tf

    table = tf.constant(stored_table(case.length, case.width), case.dtype)
    return lambda x: x + table


PEERS = {
    peer.name: peer
    for peer in (
        Peer(OURS, _sinpe),
        Peer("KerasHub", _keras_hub),
        Peer(
            "positional-encodings",
            _positional_encodings,
            any_length=False,
            any_positions=False,
        ),
        Peer("stored table", _stored_table, stores_rows=True),
        Peer(
            "one addition",
            _floor,
            any_length=False,
            any_positions=False,
            stores_rows=True,
        ),
    )
}
