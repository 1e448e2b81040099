"""The layer that rotates queries and keys by their positions."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_sinpe.arguments import choice, refusal
from keras_sinpe.layers.call_arguments import (
    check_places,
    check_sequence,
    check_sequence_shape,
)
from keras_sinpe.layers.wave_layer import WaveLayer
from keras_sinpe.waves import LAYOUTS, WaveParameters

# The shapes of inputs by their rank, for each place of the sequence.
_SHAPES: dict[int, Mapping[int, str]] = {
    1: {
        3: "(batch, length, feature_dim)",
        4: "(batch, length, heads, feature_dim)",
    },
    2: {4: "(batch, heads, length, feature_dim)"},
}

# What a rotation leaves no room for: sines and cosines come apart, unscaled.
_FIXED = ("frequency_shift", "cos_first", "odd", "output_scale")


@keras.saving.register_keras_serializable(package="keras_sinpe")
class RotaryPositionalEncoding(WaveLayer):
    """Rotates queries or keys by their positions, so that attention sees distances.

    Pair `i` of the features, `(a, b)`, at position `p` becomes
    `(a * cos(t) - b * sin(t), b * cos(t) + a * sin(t))` with the angle
    `t = p / max_wavelength ** (2i / feature_dim)`, as in [RoFormer](
    https://arxiv.org/abs/2104.09864). The dot product of a rotated query and a rotated
    key then depends on their contents and their distance alone. Call it on both,
    never on values. Sines and cosines are those of `SinusoidalPositionalEncoding`:
    within 5e-7 of the pair's length of float64 at every int32 position, whatever the
    dtype policy, before one rounding to the output's dtype. The layer has no weights,
    works at any length and passes the mask of its inputs on.

    Example:
    >>> import keras, keras_sinpe
    >>> rotate = keras_sinpe.RotaryPositionalEncoding()
    >>> queries = keras.ops.ones((2, 10, 4, 16))  # (batch, length, heads, head_dim)
    >>> keys = keras.ops.ones((2, 10, 4, 16))
    >>> tuple(keras.ops.einsum("bqhd,bkhd->bhqk", rotate(queries), rotate(keys)).shape)
    (2, 4, 10, 10)

    Args:
        max_wavelength: positive number, the angular wavelength that the geometric
            series of wavelengths approaches; elsewhere `rope_theta` or base.
        min_wavelength: positive number, the shortest angular wavelength.
        layout: which features form a pair: `"halves"` (feature `i` and feature
            `feature_dim / 2 + i`) or `"interleaved"` (features `2i` and `2i + 1`).
            Halves are the default because weights mostly come so: KerasHub's
            `RotaryEmbedding`, GPT-NeoX, Llama in Hugging Face's form. Interleaved are
            the paper, GPT-J and Llama in Meta's form. They give the same attention
            only if the columns of the projections are permuted too.
        first_position: number added to every position.
        position_scale: nonzero number that multiplies every position, after
            `first_position` is added. `1 / k` stretches a trained context `k` times
            (position interpolation, KerasHub's `scaling_factor=k`); -1 rotates back.
        periods: sequence of true periods in positions, one per pair, in place of the
            geometric series; or `None`. Any other scaling of the frequencies (NTK,
            YaRN, Llama 3) can be given so.
        rotary_dim: how many features, the first ones, are rotated (GPT-J, GPT-NeoX);
            the others come out as they are. An even integer, which takes the place of
            `feature_dim` in the formulas above; or `None` for all.
        sequence_axis: 1, or 2 for `(batch, heads, length, feature_dim)`.
        **kwargs: `name`, `dtype`, `trainable`, as of every Keras layer.

    Call arguments:
        inputs: float tensor of shape `(batch, length, feature_dim)`,
            `(batch, length, heads, feature_dim)` or, with `sequence_axis=2`,
            `(batch, heads, length, feature_dim)`. The rotated width is even.
        start_index: the position of the first token: integer, or integer tensor of
            shape `()` or `(batch,)`. To decode with a cache of rotated keys, pass the
            number of tokens in the cache. An int64 start whose positions leave int32
            gives NaN there.
        positions: the positions themselves, of shape `(length,)` or
            `(batch, length)`: integers within int32, or real numbers (float32 or
            float64, up to 2**31 - 128 in size) through which gradients flow. Values
            outside give NaN. Excludes `start_index`.

    Returns:
        Tensor of the inputs' shape and the layer's compute dtype.

    Raises:
        TypeError: for an argument of the wrong type or dtype.
        ValueError: for an argument out of range or of the wrong shape, or for both
            `start_index` and `positions`.
    """

    def __init__(
        self,
        *,
        max_wavelength: float = 10000.0,
        min_wavelength: float = 1.0,
        layout: str = "halves",
        first_position: float = 0,
        position_scale: float = 1.0,
        periods: Sequence[float] | None = None,
        rotary_dim: int | None = None,
        sequence_axis: int = 1,
        **kwargs: Any,
    ) -> None:
        parameters = WaveParameters(
            max_wavelength=max_wavelength,
            min_wavelength=min_wavelength,
            layout="halves",  # of the encoding: all sines, then all cosines
            first_position=first_position,
            position_scale=position_scale,
            periods=periods,
        )
        super().__init__(parameters, **kwargs)
        self.layout = choice("layout", layout, LAYOUTS)
        self.rotary_dim = _even_width(rotary_dim)
        self.sequence_axis = _sequence_axis(sequence_axis)
        self.supports_masking = True

    def build(self, inputs_shape: Any) -> None:
        """Makes the tables for the rotated width of the inputs."""
        check_sequence_shape(inputs_shape, _SHAPES[self.sequence_axis])
        self.feature_dim = inputs_shape[-1]
        self._check_width(inputs_shape)
        self.make_tables(self.rotary_dim or self.feature_dim)
        self.built = True

    def _check_width(self, inputs_shape: Any) -> None:
        width, shape = inputs_shape[-1], tuple(inputs_shape)
        if self.rotary_dim is None and (width % 2 or not width):
            raise ValueError(
                "`inputs` must have an even width above 0, as features turn in "
                f"pairs; `rotary_dim` leaves some out. Received: inputs.shape={shape}"
            )
        if self.rotary_dim is not None and self.rotary_dim > width:
            raise ValueError(
                "`rotary_dim` must not exceed the width of the inputs. Received: "
                f"rotary_dim={self.rotary_dim} with inputs.shape={shape}"
            )

    def call(self, inputs: Any, start_index: Any = 0, positions: Any = None) -> Any:
        """The inputs, rotated by their positions."""
        positions = self._check_call(inputs, start_index, positions)
        cosines, sines = self._cosines_and_sines(inputs, start_index, positions)
        features = ops.cast(inputs, self.encoding_dtype)
        turn = _turn_halves if self.layout == "halves" else _turn_neighbours
        if self.rotary_dim in (None, self.feature_dim):
            rotated = turn(features, cosines, sines)
        else:
            turning = features[..., : self.rotary_dim]
            rest = features[..., self.rotary_dim :]
            rotated = ops.concatenate([turn(turning, cosines, sines), rest], axis=-1)
        return ops.cast(rotated, self.compute_dtype)

    def _cosines_and_sines(
        self, inputs: Any, start_index: Any, positions: Any
    ) -> tuple[Any, Any]:
        """Both in a shape that goes with the inputs', one column per pair."""
        if positions is not None:
            encoding = self.encode(positions)
        else:
            length = ops.shape(inputs)[self.sequence_axis]
            encoding = self.encode_sequence(start_index, length)
        pairs = self.tables.waves.feature_dim // 2
        sines, cosines = encoding[..., :pairs], encoding[..., pairs:]
        if len(inputs.shape) == 3:
            return cosines, sines
        heads_axis = -2 if self.sequence_axis == 1 else -3
        return ops.expand_dims(cosines, heads_axis), ops.expand_dims(sines, heads_axis)

    def _check_call(self, inputs: Any, start_index: Any, positions: Any) -> Any:
        check_sequence(inputs, self.feature_dim, _SHAPES[self.sequence_axis])
        return check_places(start_index, positions, inputs, self.sequence_axis)

    def compute_output_spec(
        self, inputs: Any, start_index: Any = 0, positions: Any = None
    ) -> Any:
        """The symbolic output, after the checks that `call` makes."""
        self._check_call(inputs, start_index, positions)
        return keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)

    def compute_output_shape(self, inputs_shape: Any) -> tuple[int | None, ...]:
        """The shape of the inputs."""
        return tuple(inputs_shape)

    def get_config(self) -> dict[str, Any]:
        """The configuration from which the layer can be made again, as plain JSON."""
        config = super().get_config()
        shared = {name: config[name] for name in config if name not in _FIXED}
        own = ("layout", "rotary_dim", "sequence_axis")
        return {**shared, **{name: getattr(self, name) for name in own}}


def _turn_halves(features: Any, cosines: Any, sines: Any) -> Any:
    first, second = ops.split(features, 2, axis=-1)
    turned = first * cosines - second * sines, second * cosines + first * sines
    return ops.concatenate(turned, axis=-1)


def _turn_neighbours(features: Any, cosines: Any, sines: Any) -> Any:
    pairs = ops.reshape(
        features, (*ops.shape(features)[:-1], features.shape[-1] // 2, 2)
    )
    first, second = pairs[..., 0], pairs[..., 1]
    turned = first * cosines - second * sines, second * cosines + first * sines
    return ops.reshape(ops.stack(turned, axis=-1), ops.shape(features))


def _even_width(rotary_dim: Any) -> int | None:
    if rotary_dim is None:
        return None
    expected = "an even integer above 0, or `None`"
    if isinstance(rotary_dim, bool) or not isinstance(rotary_dim, int | np.integer):
        raise TypeError(refusal("rotary_dim", expected, rotary_dim))
    if rotary_dim < 1 or rotary_dim % 2:
        raise ValueError(refusal("rotary_dim", expected, rotary_dim))
    return int(rotary_dim)


def _sequence_axis(sequence_axis: Any) -> int:
    expected = "1 or 2, the place of the length in the inputs' shape"
    if isinstance(sequence_axis, bool) or not isinstance(
        sequence_axis, int | np.integer
    ):
        raise TypeError(refusal("sequence_axis", expected, sequence_axis))
    if sequence_axis not in _SHAPES:
        raise ValueError(refusal("sequence_axis", expected, sequence_axis))
    return int(sequence_axis)
