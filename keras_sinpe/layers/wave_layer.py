"""What every layer that computes sinusoidal encodings shares."""

from dataclasses import asdict
from typing import Any

import keras

from keras_sinpe.arguments import integer_from, refusal
from keras_sinpe.engine.digit_tables import MOST_STORED_ROWS, DigitTables
from keras_sinpe.engine.encode import (
    dtype_of,
    encode,
    encode_far,
    far_bits,
    far_tables,
)
from keras_sinpe.engine.waves import WaveParameters

# 1 MB at a width of 512. Twice as many cost twice as much and serve few more calls.
STORED_ROWS = 0


class WaveLayer(keras.layers.Layer):  # type: ignore[misc]
    """A layer with wave parameters; its inputs are never cast behind its back.

    Args:
        parameters: the validated parameters of the encoding.
        stored_rows: integer from 0 to 8192, how many encodings are stored.
        **kwargs: `name`, `dtype` and `trainable`, as of every Keras layer.
    """

    def __init__(
        self, parameters: WaveParameters, *, stored_rows: int, **kwargs: Any
    ) -> None:
        # Autocast would round positions to half precision before `call` sees them.
        super().__init__(autocast=False, **kwargs)
        _ = self.encoding_dtype  # refuses policies of integers
        self.parameters = parameters
        self.stored_rows = integer_from(
            0,
            "stored_rows",
            stored_rows,
            f"an integer from 0 to {MOST_STORED_ROWS}",
            MOST_STORED_ROWS,
        )
        self.far_bits = far_bits(parameters.position_scale)
        self._tables: DigitTables | None = None

    @property
    def encoding_dtype(self) -> str:
        """The dtype of all maths: float64 under a float64 policy, else float32."""
        dtype = str(self.compute_dtype)
        if not dtype.startswith(("float", "bfloat")):
            raise ValueError(refusal("dtype", "a floating point policy", dtype))
        return "float64" if dtype == "float64" else "float32"

    def make_tables(self, feature_dim: int) -> None:
        """Makes the tables for an encoding of `feature_dim` features, on the host."""
        waves = self.parameters.waves(feature_dim)
        self._tables = DigitTables(waves, self.encoding_dtype, self.stored_rows)
        self._far_tables = far_tables(self._tables, self.far_bits)

    @property
    def tables(self) -> DigitTables:
        """The tables of the encoding; they exist once the layer is built."""
        if self._tables is None:
            raise ValueError(f"Layer `{self.name}` must be built before it encodes.")
        if self._tables.dtype != self.encoding_dtype:  # another policy has been set
            self.make_tables(self._tables.waves.feature_dim)
        return self._tables

    def encode(self, positions: Any) -> Any:
        """Encodings of a tensor of positions: `(..., feature_dim)`."""
        tables = self.tables
        if self.far_bits and dtype_of(positions) in ("int64", "uint64", "float64"):
            return encode_far(tables, self._far_tables, self.far_bits, positions)
        return encode(tables, positions)

    def get_config(self) -> dict[str, Any]:
        """The configuration from which the layer can be made again, as plain JSON."""
        return {
            **super().get_config(),
            **asdict(self.parameters),
            "stored_rows": self.stored_rows,
        }
