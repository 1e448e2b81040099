"""What every layer that computes sinusoidal encodings shares."""

from dataclasses import asdict
from typing import Any

import keras
from keras import ops

from keras_sinpe.digit_tables import DigitTables
from keras_sinpe.layers.call_arguments import INTEGER_POSITIONS, WIDE_INTEGERS, dtype_of
from keras_sinpe.rotation import encode_integers, encode_range, encode_reals
from keras_sinpe.waves import WaveParameters


class WaveLayer(keras.layers.Layer):  # type: ignore[misc]
    """A layer with wave parameters; its inputs are never cast behind its back.

    Args:
        parameters: the validated parameters of the encoding.
        **kwargs: `name`, `dtype` and `trainable`, as of every Keras layer.
    """

    def __init__(self, parameters: WaveParameters, **kwargs: Any) -> None:
        # Autocast would round positions to half precision before `call` sees them.
        super().__init__(autocast=False, **kwargs)
        self.parameters = parameters
        self._tables: DigitTables | None = None

    @property
    def encoding_dtype(self) -> str:
        """The dtype of all maths: float64 under a float64 policy, else float32."""
        return "float64" if self.compute_dtype == "float64" else "float32"

    def make_tables(self, feature_dim: int) -> None:
        """Makes the tables for an encoding of `feature_dim` features, on the host."""
        self._tables = DigitTables(
            self.parameters.waves(feature_dim), self.encoding_dtype
        )

    @property
    def tables(self) -> DigitTables:
        """The tables of the encoding; they exist once the layer is built."""
        if self._tables is None:
            raise ValueError(f"Layer `{self.name}` must be built before it encodes.")
        if self._tables.dtype != self.encoding_dtype:
            # `dtype_policy` was set since.
            self.make_tables(self._tables.waves.feature_dim)
        return self._tables

    def encode_sequence(self, start_index: Any, length: Any) -> Any:
        """Encodings of `length` positions from `start_index` on.

        `(length, feature_dim)`, or `(batch, length, feature_dim)` for a start each.
        """
        start_index, dtype = counting_start(start_index)
        if dtype == "int32" and len(getattr(start_index, "shape", ())) == 0:
            return encode_range(self.tables, start_index, length)
        return self.encode(column(start_index) + ops.arange(length, dtype=dtype))

    def encode(self, positions: Any) -> Any:
        """Encodings of a tensor of positions: `(..., feature_dim)`."""
        dtype = dtype_of(positions)
        if dtype not in INTEGER_POSITIONS:
            return encode_reals(self.tables, positions)
        as_int32 = ops.cast(positions, "int32")
        encoding = encode_integers(self.tables, as_int32)
        if dtype not in WIDE_INTEGERS:
            return encoding
        in_range = ops.cast(as_int32, dtype) == positions
        if dtype.startswith("u"):
            # These wrap around and back: only the sign tells.
            in_range = ops.logical_and(in_range, as_int32 >= 0)
        return ops.where(ops.expand_dims(in_range, -1), encoding, float("nan"))

    def get_config(self) -> dict[str, Any]:
        """The configuration from which the layer can be made again, as plain JSON."""
        return {**super().get_config(), **asdict(self.parameters)}


def counting_start(start_index: Any) -> tuple[Any, str]:
    """`start_index`, and the dtype to count on from it without wrapping around.

    Starts of 64 bits may lie beyond int32: their positions are looked at singly.
    """
    if isinstance(start_index, int):
        return start_index, "int32"
    given = dtype_of(start_index)
    dtype = given if given in WIDE_INTEGERS else "int32"
    return ops.cast(start_index, dtype), dtype


def column(start_index: Any) -> Any:
    """A `(batch,)` start as `(batch, 1)`; scalars as they are."""
    if isinstance(start_index, int) or len(start_index.shape) == 0:
        return start_index
    return ops.expand_dims(start_index, -1)
