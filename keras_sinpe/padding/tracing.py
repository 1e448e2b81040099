"""One run of a model with every layer call written down, masks included."""

import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.keras_internals import mask_of, recording_calls, set_mask

Array = np.ndarray[Any, Any]


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
        return type(self.layer).__module__.startswith("keras.src.layers.")

    @property
    def takes_ids(self) -> bool:
        """Whether it took anything but real numbers, which a `Masking` takes alone."""
        return not all("float" in tensor.dtype.name for tensor in self.inputs)


@dataclass
class Trace:
    """The finished calls of one run, in the order in which they returned.

    Attributes:
        padding_row: given a width, the vector that stands for padding; `None` keeps
            what the layers put out.
        padded_ids: arrays of token ids, each with the id that pads it.
        fixed: `(batch, length)` of the sequences to which no padding can be appended.
        masks: the masks that layers made from unmasked inputs, each with its maker.
        calls: the finished calls.
        failed: the innermost call that raised an error, or `None`.
        replaced: whether `padding_row` was used.
    """

    padding_row: Callable[[int], Array] | None = None
    padded_ids: list[tuple[Array, int]] = field(default_factory=list)
    fixed: Container[tuple[int, ...]] = ()
    masks: list[tuple[Array, Call]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    failed: Call | None = None
    replaced: bool = False
    _open: list[Call] = field(default_factory=list)

    def record(self, make: Callable[..., Any], layer: Any, args: Any, kw: Any) -> Any:
        """Make one call and write it down."""
        if self._open and self._open[-1].is_opaque:
            return make(layer, *args, **kw)
        call = self._enter(layer, args, kw)
        self._open.append(call)
        try:
            outputs = make(layer, *args, **kw)
        except Exception:
            self.failed = self.failed or call
            raise
        finally:
            self._open.pop()
        mask = _new_mask(call, outputs, kw)
        if self.padding_row is not None:
            outputs = self._replace_padding(call, outputs, mask, self.padding_row)
        if mask is not None:
            self.masks.append((mask, call))
        call.masks_after = [mask_of(tensor) for tensor in call.inputs]
        call.outputs = eager_tensors(outputs)
        call.output_masks = [mask_of(tensor) for tensor in call.outputs]
        self.calls.append(call)
        return outputs

    def _enter(self, layer: Any, args: Any, kwargs: Any) -> Call:
        parent = self._open[-1] if self._open else None
        names = [call.layer.name for call in self._open[1:]]
        inputs = eager_tensors((args, kwargs))
        masks = [mask_of(tensor) for tensor in inputs]
        return Call(layer, "/".join([*names, layer.name]), parent, inputs, masks)

    def _replace_padding(
        self, call: Call, outputs: Any, mask: Array | None, row: Callable[[int], Array]
    ) -> Any:
        """Change what a layer that marks the padding puts out for it.

        For an `Embedding`, as another table of weights would. The output is replaced,
        not the weight: a table that is tied to the logits would change them for a
        reason that is no leak, and nothing needs restoring.
        """
        padded = self._padded(call, mask)
        if padded is None or not padded.any() or not keras.ops.is_tensor(outputs):
            return outputs
        self.replaced = True
        values = keras.ops.cast(row(outputs.shape[-1]), outputs.dtype)
        replaced = keras.ops.where(padded[..., None], values, outputs)
        set_mask(replaced, mask_of(outputs))
        return replaced

    def _padded(self, call: Call, mask: Array | None) -> Array | None:
        if isinstance(call.layer, keras.layers.Embedding) and call.inputs:
            return self._padded_ids(call.layer, np.asarray(call.inputs[0]))
        if mask is None or mask.shape not in self.fixed or call.takes_ids:
            return None
        inside = any(call in maker.ancestors() for _, maker in self.masks)
        return None if inside else ~mask

    def _padded_ids(self, layer: Any, ids: Array) -> Array | None:
        if layer.mask_zero:
            return np.asarray(ids == 0)
        for known, padding_id in self.padded_ids:
            if known.shape == ids.shape and (known == ids).all():
                return np.asarray(ids == padding_id)
        return None


def _new_mask(call: Call, outputs: Any, kwargs: Mapping[str, Any]) -> Array | None:
    """The mask of shape `(batch, length)` that a layer made from unmasked inputs."""
    handed_in = any(mask is not None for mask in call.masks_before)
    if handed_in or kwargs.get("mask") is not None:
        return None
    masks = [mask_of(tensor) for tensor in eager_tensors(outputs)]
    made = (m for m in masks if m is not None and len(m.shape) == 2)
    return next((np.asarray(m, bool) for m in made if hasattr(m, "numpy")), None)


def eager_tensors(structure: Any) -> list[Any]:
    """The tensors with values in a nested structure."""
    leaves = keras.tree.flatten(structure)
    return [t for t in leaves if keras.ops.is_tensor(t) and hasattr(t, "numpy")]


@contextmanager
def tracing(model: Any, trace: Trace) -> Iterator[None]:
    """Write down every call that this thread makes inside `model`."""
    with warnings.catch_warnings(), recording_calls(model, trace.record):
        # The report names the layer that this warning is about.
        warnings.filterwarnings("ignore", "Layer .* was passed an input with a mask")
        yield
