"""The layer that turns numbers into sinusoidal features."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_sinpe.arguments import positive_integer
from keras_sinpe.engine.waves import WaveParameters
from keras_sinpe.layers.call_arguments import check_numbers
from keras_sinpe.layers.known_values import known_numbers
from keras_sinpe.layers.wave_layer import STORED_ROWS, WaveLayer


@keras.saving.register_keras_serializable(package="keras_sinpe")
class SinusoidalEmbedding(WaveLayer):
    """Embeds numbers as sines and cosines: timesteps, dates, masses, coordinates.

    The encoding that `SinusoidalPositionalEncoding` adds, alone and for any numbers:
    `amplitude * sin(frequency * number + phase)` for each of `output_dim` features.
    Exact like it: within 5e-7 of float64 for int32 integers and within 1e-6 for real
    numbers up to 1e6, under every dtype policy, before one rounding to the output's
    dtype. The layer has no weights and passes the mask of its inputs on.

    Example:
    >>> import keras, keras_sinpe
    >>> timestep = keras_sinpe.SinusoidalEmbedding(
    ...     320, layout="halves", cos_first=True
    ... )
    >>> keras.ops.convert_to_numpy(timestep(keras.ops.array([0, 999]))).shape
    (2, 320)
    >>> days = keras_sinpe.SinusoidalEmbedding(4, position_scale=1 / 86_400_000)
    >>> tuple(days([1_700_000_000_000]).shape)  # milliseconds since 1970
    (1, 4)

    Args:
        output_dim: positive integer, the number of features.
        max_wavelength: as of `SinusoidalPositionalEncoding`, like all that follow.
        min_wavelength: see there.
        frequency_shift: see there.
        layout: see there.
        cos_first: see there.
        odd: see there.
        first_position: number added to every input.
        position_scale: nonzero number that multiplies every input, after
            `first_position` is added.
        output_scale: see there.
        periods: see there.
        stored_rows: see there.
        **kwargs: `name`, `dtype`, `trainable`, as of every Keras layer.

    Call arguments:
        inputs: number, list or tensor of any shape: integers within int32, or real
            numbers (float32 or float64, up to 2**31 - 128 in size) through which
            gradients flow. 64-bit numbers are scaled by a `position_scale` below 1
            before that limit counts. Numbers outside are an error where Python knows
            them, and NaN in tensors. Dates are divided by a unit first.

    Returns:
        Tensor of shape `(*inputs.shape, output_dim)` and the layer's compute dtype.

    Raises:
        TypeError: for an argument of the wrong type or dtype.
        ValueError: for an argument out of range.
    """

    def __init__(
        self,
        output_dim: int,
        *,
        max_wavelength: float = 10000.0,
        min_wavelength: float = 1.0,
        frequency_shift: float = 0.0,
        layout: str = "interleaved",
        cos_first: bool = False,
        odd: str = "ceil",
        first_position: float = 0,
        position_scale: float = 1.0,
        output_scale: float | str = 1.0,
        periods: Sequence[float] | None = None,
        stored_rows: int = STORED_ROWS,
        **kwargs: Any,
    ) -> None:
        parameters = WaveParameters(
            max_wavelength=max_wavelength,
            min_wavelength=min_wavelength,
            frequency_shift=frequency_shift,
            layout=layout,
            cos_first=cos_first,
            odd=odd,
            first_position=first_position,
            position_scale=position_scale,
            output_scale=output_scale,
            periods=periods,
        )
        super().__init__(parameters, stored_rows=stored_rows, **kwargs)
        self.output_dim = positive_integer("output_dim", output_dim)
        self.supports_masking = True
        self.make_tables(self.output_dim)
        self.built = True

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:
        """Looks at what Python knows before Keras makes tensors of it."""
        inputs = known_numbers("inputs", inputs, self.far_bits)
        return super().__call__(inputs, **kwargs)

    def call(self, inputs: Any) -> Any:
        """The features of every number."""
        check_numbers("inputs", inputs)
        return ops.cast(self.encode(inputs), self.compute_dtype)

    def compute_output_spec(self, inputs: Any) -> Any:
        """The symbolic output, after the checks that `call` makes."""
        check_numbers("inputs", inputs)
        return keras.KerasTensor(
            self.compute_output_shape(inputs.shape), dtype=self.compute_dtype
        )

    def compute_output_shape(self, inputs_shape: Any) -> tuple[int | None, ...]:
        """The shape of the inputs and the features."""
        return (*inputs_shape, self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """The configuration from which the layer can be made again, as plain JSON."""
        return {**super().get_config(), "output_dim": self.output_dim}
