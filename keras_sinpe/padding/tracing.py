"""One run of a model with every layer call written down, masks included."""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from keras_sinpe.keras_internals import is_of_keras, mask_of, set_mask


@dataclass(eq=False)
class Call:
    """What one call of a layer or operation took and gave.

    Masks are read at the time: `MultiHeadAttention` deletes those of its inputs.
    """

    layer: Any
    path: str
    parent: "Call | None"
    inputs: list[Any]
    masks_before: list[Any]
    masks_after: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    output_masks: list[Any] = field(default_factory=list)

    def ancestors(self) -> Iterator["Call"]:
        """The calls that enclose this one, innermost first."""
        call = self.parent
        while call is not None:
            yield call
            call = call.parent

    @property
    def is_opaque(self) -> bool:
        """Whether the layer is Keras's own: what it does inside is its own affair."""
        return is_of_keras(self.layer)


@dataclass
class Trace:
    """The finished calls of one run, in the order in which they returned.

    Attributes:
        padding_row: given the width of an `Embedding`, the vector that stands for
            padding; `None` keeps the layer's own.
        padded_ids: arrays of token ids, each with the id that pads it.
        masks: the masks that layers made from unmasked inputs.
        calls: the finished calls.
        failed: the innermost call that raised an error, or `None`.
        replaced: whether `padding_row` was used.
    """

    padding_row: Callable[[int], np.ndarray] | None = None
    padded_ids: list[tuple[np.ndarray, int]] = field(default_factory=list)
    masks: list[np.ndarray] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    failed: Call | None = None
    replaced: bool = False
    _open: list[Call] = field(default_factory=list)

    def record(self, run: Any, layer: Any, args: Any, kwargs: Any) -> Any:
        """Run one call and write it down."""
        if self._open and self._open[-1].is_opaque:
            return run(layer, *args, **kwargs)
        call = self._enter(layer, args, kwargs)
        self._open.append(call)
        try:
            outputs = run(layer, *args, **kwargs)
        except Exception:
            self.failed = self.failed or call
            raise
        finally:
            self._open.pop()
        outputs = self._replace_padding(call, outputs)
        call.masks_after = [mask_of(tensor) for tensor in call.inputs]
        call.outputs = eager_tensors(outputs)
        call.output_masks = [mask_of(tensor) for tensor in call.outputs]
        self._note_new_masks(call, kwargs)
        self.calls.append(call)
        return outputs

    def _enter(self, layer: Any, args: Any, kwargs: Any) -> Call:
        parent = self._open[-1] if self._open else None
        names = [call.layer.name for call in self._open[1:]]
        inputs = eager_tensors((args, kwargs))
        masks = [mask_of(tensor) for tensor in inputs]
        return Call(layer, "/".join([*names, layer.name]), parent, inputs, masks)

    def _replace_padding(self, call: Call, outputs: Any) -> Any:
        """Change what the padding id stands for, as another table of weights would.

        The output is replaced, not the weight: a table that is tied to the logits
        would change them for a reason that is no leak, and nothing needs restoring.
        """
        is_table = isinstance(call.layer, keras.layers.Embedding)
        if self.padding_row is None or not is_table or not call.inputs:
            return outputs
        padded = self._padded(call.layer, np.asarray(call.inputs[0]))
        if padded is None or not padded.any():
            return outputs
        self.replaced = True
        row = keras.ops.cast(self.padding_row(outputs.shape[-1]), outputs.dtype)
        replaced = keras.ops.where(padded[..., None], row, outputs)
        set_mask(replaced, mask_of(outputs))
        return replaced

    def _padded(self, layer: Any, ids: np.ndarray) -> np.ndarray | None:
        if layer.mask_zero:
            return np.asarray(ids == 0)
        for known, padding_id in self.padded_ids:
            if known.shape == ids.shape and (known == ids).all():
                return np.asarray(ids == padding_id)
        return None

    def _note_new_masks(self, call: Call, kwargs: Mapping[str, Any]) -> None:
        handed_in = any(mask is not None for mask in call.masks_before)
        if handed_in or kwargs.get("mask") is not None:
            return
        for mask in call.output_masks:
            if mask is not None and len(mask.shape) == 2 and hasattr(mask, "numpy"):
                self.masks.append(np.asarray(mask, bool))


def eager_tensors(structure: Any) -> list[Any]:
    """The tensors with values in a nested structure."""
    leaves = keras.tree.flatten(structure)
    return [t for t in leaves if keras.ops.is_tensor(t) and hasattr(t, "numpy")]


@contextmanager
def tracing(trace: Trace) -> Iterator[None]:
    """Write down every call that this thread makes inside the block."""
    from unittest import mock

    layer_call, operation_call = keras.Layer.__call__, keras.Operation.__call__
    thread = threading.get_ident()

    def call_layer(layer: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return layer_call(layer, *args, **kwargs)
        return trace.record(layer_call, layer, args, kwargs)

    def call_operation(operation: Any, *args: Any, **kwargs: Any) -> Any:
        is_layer = isinstance(operation, keras.Layer)  # already written down
        if is_layer or threading.get_ident() != thread:
            return operation_call(operation, *args, **kwargs)
        return trace.record(operation_call, operation, args, kwargs)

    with (
        mock.patch.object(keras.Layer, "__call__", call_layer),
        mock.patch.object(keras.Operation, "__call__", call_operation),
        _running_eagerly(),
    ):
        yield


@contextmanager
def _running_eagerly() -> Iterator[None]:
    """Let a `tf.function` inside the model run its Python, which is traced."""
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        with warnings.catch_warnings():
            # The report names the layer that this warning is about.
            warnings.filterwarnings(
                "ignore", "Layer .* was passed an input with a mask"
            )
            yield
    finally:
        tf.config.run_functions_eagerly(before)
