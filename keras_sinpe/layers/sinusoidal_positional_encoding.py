"""The layer that adds a sinusoidal positional encoding to embeddings."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import keras
from keras import ops

from keras_sinpe.arguments import boolean, finite_number, is_word
from keras_sinpe.engine.backend_ops import add_in_branches
from keras_sinpe.engine.encode import dtype_of, encode_offsets, encode_sequence
from keras_sinpe.engine.waves import WaveParameters
from keras_sinpe.layers.call_arguments import (
    as_tensor,
    check_mask,
    check_positions,
    check_sequence,
    check_sequence_shape,
    check_start_index,
)
from keras_sinpe.layers.known_values import known_mask, known_numbers, known_start
from keras_sinpe.layers.wave_layer import STORED_ROWS, WaveLayer


@keras.saving.register_keras_serializable(package="keras_sinpe")
class SinusoidalPositionalEncoding(WaveLayer):
    """Adds the sinusoidal positional encoding to a sequence of embeddings.

    Row `p`, feature `2i` gets `sin(p / max_wavelength ** (2i / feature_dim))`, feature
    `2i + 1` the cosine of the same angle, as in [Attention Is All You Need](
    https://arxiv.org/abs/1706.03762); the other arguments give every other common
    variant. The encoding is computed in the graph, so any length works, and it is
    exact: within 5e-7 of float64 at every int32 position, whatever the dtype policy,
    before one rounding to the output's dtype. The layer has no weights and passes the
    mask of its inputs on.

    Example:
    >>> import keras, keras_sinpe
    >>> model = keras.Sequential([
    ...     keras.layers.Embedding(1000, 64, mask_zero=True),
    ...     keras_sinpe.SinusoidalPositionalEncoding(input_scale="sqrt_dim"),
    ... ])
    >>> tuple(model(keras.ops.array([[3, 4, 5, 0], [6, 7, 0, 0]])).shape)
    (2, 4, 64)

    Args:
        max_wavelength: positive number, the angular wavelength that the geometric
            series of wavelengths approaches (the true period is `2 * pi` times it).
        min_wavelength: positive number, the shortest angular wavelength.
        frequency_shift: number. Pair `i` has the wavelength
            `min * (max / min) ** (i / (feature_dim / 2 - frequency_shift))`: 0 as in
            the paper, 1 as in tensor2tensor.
        layout: `"interleaved"` (sine and cosine side by side) or `"halves"` (all
            sines, then all cosines).
        cos_first: whether cosines come first.
        odd: what an odd width means: `"ceil"` (the last sine has no cosine),
            `"truncate"` (the next even width without its last feature) or `"zero"`
            (the even width below and a feature of zeros).
        first_position: number added to every position.
        position_scale: nonzero number that multiplies every position, after
            `first_position` is added.
        output_scale: number that multiplies the encoding, or `"unit_norm"` for
            `sqrt(2 / feature_dim)`.
        periods: sequence of true periods in positions, one per pair, in place of the
            geometric series; or `None`.
        input_scale: number that multiplies the embeddings, or `"sqrt_dim"` for
            `sqrt(feature_dim)`, as in the paper.
        learned_scale: whether a trainable scalar, 1 at first, multiplies the encoding.
        positions_from_mask: whether positions count the tokens that the mask keeps:
            `start_index` at the first of them, however the batch is padded. Masked
            tokens get the position of the token before them, or `start_index`. When
            decoding, `start_index` is the number of tokens kept so far.
        zero_masked: whether masked tokens get an encoding of zeros.
        stored_rows: integer from 0 to 8192. The encodings of as many positions from 0
            on are stored, 4 bytes a number, and looked up where a call needs no other:
            the same numbers, and half the time or less. Graphs choose by one
            condition; 0 leaves it out, for runtimes without control flow.
        **kwargs: `name`, `dtype`, `trainable`, as of every Keras layer.

    Call arguments:
        inputs: float tensor of shape `(batch, length, feature_dim)`, or with more axes
            between batch and length.
        start_index: the position of the first token: integer, or integer tensor of
            shape `()` or `(batch,)`. To decode step by step, pass the step. Positions
            that leave int32 are an error where Python knows them (numbers, lists,
            NumPy), and NaN where a tensor or a free length hides them.
        positions: the positions themselves, of shape `(length,)` or `(batch, length)`,
            or of the inputs' shape without its last axis: integers within int32, or
            real numbers (float32 or float64, up to 2**31 - 128 in size) through which
            gradients flow. 64-bit numbers are scaled by a `position_scale` below 1
            before that limit counts. Values outside are an error where Python knows
            them, and NaN in tensors. Excludes `start_index`.
        mask: boolean tensor of the inputs' shape without its last axis, or integers 0
            and 1; by default the inputs' own. In a graph any integer but 0 counts.

    Returns:
        Tensor of the inputs' shape and the layer's compute dtype.

    Raises:
        TypeError: for an argument of the wrong type or dtype.
        ValueError: for an argument out of range or of the wrong shape, for both
            `start_index` and `positions`, or where a mask is needed and missing.
    """

    def __init__(
        self,
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
        input_scale: float | str = 1.0,
        learned_scale: bool = False,
        positions_from_mask: bool = False,
        zero_masked: bool = False,
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
        if not is_word(input_scale, "sqrt_dim"):
            expected = 'a finite number or "sqrt_dim"'
            input_scale = finite_number("input_scale", input_scale, expected)
        self.input_scale = input_scale
        self.learned_scale = boolean("learned_scale", learned_scale)
        self.positions_from_mask = boolean("positions_from_mask", positions_from_mask)
        self.zero_masked = boolean("zero_masked", zero_masked)
        self.supports_masking = True

    def build(self, inputs_shape: Any) -> None:
        """Makes the tables for the width of the inputs."""
        check_sequence_shape(inputs_shape)
        self.make_tables(inputs_shape[-1])
        if self.learned_scale:
            # Autocast of a surrounding model would round the scale to half precision.
            self.scale = self.add_weight(
                name="scale", shape=(), initializer="ones", autocast=False
            )
        self.built = True

    def __call__(
        self,
        inputs: Any,
        start_index: Any = 0,
        positions: Any = None,
        mask: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Looks at what Python knows before Keras makes tensors of it."""
        shape = tuple(getattr(inputs, "shape", ()))
        length = shape[-2] if len(shape) > 2 else None
        given = {
            "start_index": known_start(start_index, length),
            "positions": known_numbers("positions", positions, self.far_bits),
            "mask": known_mask(mask),
        }
        # Keras saves with a model what a call was given.
        for name, value in given.items():
            if value is not None and not (isinstance(value, int) and value == 0):
                kwargs[name] = value
        return super().__call__(inputs, **kwargs)

    def call(
        self,
        inputs: Any,
        start_index: Any = 0,
        positions: Any = None,
        mask: Any = None,
    ) -> Any:
        """The inputs, scaled, plus the encoding of their positions."""
        positions, mask = self._check_call(inputs, start_index, positions, mask)
        dtype = self.encoding_dtype
        scaled = ops.cast(inputs, dtype)
        if self.input_scale != 1.0:
            scaled = scaled * self._input_factor()

        scale = ops.cast(self.scale, dtype) if self.learned_scale else None

        def term(encoding: Any, scale: Any) -> Any:
            if self.zero_masked:
                encoding = ops.where(ops.expand_dims(mask, -1), encoding, 0.0)
            return encoding if scale is None else encoding * scale

        start = _leading(start_index, len(inputs.shape) - 1)
        if positions is not None:
            added = scaled + term(self.encode(positions), scale)
        elif self.positions_from_mask:
            counted = ops.cumsum(ops.cast(mask, "int32"), axis=-1) - 1
            offsets = ops.maximum(counted, 0)
            encoding = encode_offsets(self.tables, start, offsets)
            added = scaled + term(encoding, scale)
        else:
            rows = partial(encode_sequence, self.tables, start, ops.shape(inputs)[-2])
            added = add_in_branches(scaled, scale, rows, term)
        return ops.cast(added, self.compute_dtype)

    def _input_factor(self) -> float:
        if self.input_scale == "sqrt_dim":
            return math.sqrt(self.tables.waves.feature_dim)
        return float(self.input_scale)

    def _check_call(
        self, inputs: Any, start_index: Any, positions: Any, mask: Any
    ) -> tuple[Any, Any]:
        check_sequence(inputs, self.tables.waves.feature_dim)
        check_start_index(start_index, inputs)
        if positions is not None:
            self._refuse_two_positions(start_index)
            positions = as_tensor(positions)
            check_positions(positions, inputs)
        if mask is None:
            mask = getattr(inputs, "_keras_mask", None)
        if mask is not None:
            mask = as_tensor(mask)
            check_mask(mask, inputs)
            if dtype_of(mask) != "bool":
                mask = ops.not_equal(mask, 0)
        if mask is None and (self.positions_from_mask or self.zero_masked):
            raise ValueError(
                "`mask` must be given when `positions_from_mask` or `zero_masked` is "
                "set: pass it, or put `Embedding(mask_zero=True)` before the layer. "
                "Received: mask=None"
            )
        return positions, mask

    def _refuse_two_positions(self, start_index: Any) -> None:
        if not isinstance(start_index, int) or start_index != 0:
            raise ValueError(
                "`start_index` and `positions` must not both be given. "
                f"Received: start_index={start_index} with positions"
            )
        if self.positions_from_mask:
            raise ValueError(
                "`positions` must not be given when `positions_from_mask` is set. "
                "Received: positions_from_mask=True with positions"
            )

    def compute_output_spec(
        self,
        inputs: Any,
        start_index: Any = 0,
        positions: Any = None,
        mask: Any = None,
    ) -> Any:
        """The symbolic output, after the checks that `call` makes."""
        self._check_call(inputs, start_index, positions, mask)
        return keras.KerasTensor(inputs.shape, dtype=self.compute_dtype)

    def compute_output_shape(self, inputs_shape: Any) -> tuple[int | None, ...]:
        """The shape of the inputs."""
        return tuple(inputs_shape)

    def get_config(self) -> dict[str, Any]:
        """The configuration from which the layer can be made again, as plain JSON."""
        own = ("input_scale", "learned_scale", "positions_from_mask", "zero_masked")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


def _leading(start_index: Any, rank: int) -> Any:
    """A `(batch,)` start with as many axes as the positions; scalars as they are."""
    if isinstance(start_index, int) or len(start_index.shape) == 0:
        return start_index
    return ops.reshape(start_index, (-1, *[1] * (rank - 1)))
