"""One run of a model, with every call inside it and its masks written down."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from keras_sinpe.keras_internals import is_of_keras, mask_of, recording_calls

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
    def takes_numbers(self) -> bool:
        """Whether all that it took are real numbers, as what a `Masking` takes."""
        return all("float" in tensor.dtype.name for tensor in self.inputs)


Replace = Callable[[Call, Any, Array | None], Any]


@dataclass
class Run:
    """One run of a model.

    Attributes:
        replace: takes a finished call, its outputs and the mask that it made, if any;
            returns the outputs to go on with. `None` leaves all as it is.
        outputs: the named outputs.
        calls: the finished calls, in the order in which they returned.
        masks: the masks that layers made from unmasked inputs, each with its maker.
        failed: the innermost call that raised an error, or `None`.
    """

    replace: Replace | None = None
    outputs: Mapping[str, Array] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    masks: list[tuple[Array, Call]] = field(default_factory=list)
    failed: Call | None = None
    _open: list[Call] = field(default_factory=list)

    @contextmanager
    def recording(self, model: Any) -> Iterator[None]:
        """Write down every call that this thread makes inside `model`."""
        with warnings.catch_warnings(), recording_calls(model, self._record):
            # The report names the layer that this warning is about.
            warnings.filterwarnings("ignore", "Layer .* was passed an input with a ma")
            yield

    def _record(self, make: Callable[..., Any], layer: Any, args: Any, kw: Any) -> Any:
        """Make one call; what Keras's own layers do inside is their own affair."""
        parent = self._open[-1] if self._open else None
        if parent and is_of_keras(parent.layer):
            return make(layer, *args, **kw)
        path = "/".join([call.layer.name for call in self._open[1:]] + [layer.name])
        inputs = _eager_tensors((args, kw))
        call = Call(layer, path, parent, inputs, [mask_of(t) for t in inputs])
        self._open.append(call)
        try:
            outputs = make(layer, *args, **kw)
        except Exception:
            self.failed = self.failed or call
            raise
        finally:
            self._open.pop()
        mask = None if kw.get("mask") is not None else self._new_mask(call, outputs)
        if self.replace is not None:
            outputs = self.replace(call, outputs, mask)
        if mask is not None:
            self.masks.append((mask, call))
        call.masks_after = [mask_of(tensor) for tensor in inputs]
        call.outputs = _eager_tensors(outputs)
        call.output_masks = [mask_of(tensor) for tensor in call.outputs]
        self.calls.append(call)
        return outputs

    def _new_mask(self, call: Call, outputs: Any) -> Array | None:
        """The mask of shape `(batch, length)` that a call itself makes, if any."""
        handed_in = any(mask is not None for mask in call.masks_before)
        if handed_in or any(call in maker.ancestors() for _, maker in self.masks):
            return None
        masks = (mask_of(tensor) for tensor in _eager_tensors(outputs))
        made = (m for m in masks if hasattr(m, "numpy") and len(m.shape) == 2)
        return next((np.asarray(mask, bool) for mask in made), None)


def _eager_tensors(structure: Any) -> list[Any]:
    """The tensors with values in a nested structure."""
    leaves = keras.tree.flatten(structure)
    return [t for t in leaves if keras.ops.is_tensor(t) and hasattr(t, "numpy")]
