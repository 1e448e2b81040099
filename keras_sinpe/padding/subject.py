"""The model under the padding check, its inputs, and its runs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.keras_internals import operations_of
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.signatures import Signature, check_model, read_signature
from keras_sinpe.padding.samples import sample_inputs
from keras_sinpe.padding.sequences import (
    Array,
    PaddedSequence,
    append_padding,
    change_padding,
    find_sequences,
)
from keras_sinpe.padding.tracing import Trace, tracing


@dataclass(frozen=True)
class Run:
    """The named outputs of the model for one set of inputs, and its trace."""

    outputs: dict[str, Array]
    trace: Trace


class Subject:
    """A model that can be run on perturbed inputs.

    Attributes:
        feeds: one array per input name.
        rng: the source of every random value of the check.
    """

    def __init__(
        self,
        model: Any,
        inputs: Any,
        padding_id: int | Mapping[str, int] | None,
        seed: int,
    ) -> None:
        require_tensorflow()
        check_model(model)
        self.rng = np.random.default_rng(seed)
        self._model = model
        self._declares = _declares_inputs(model)
        self._signature = _signature(model, inputs, self._declares)
        self._padding_id = _ids_by_name(padding_id, self._signature)
        self._fill = _padding_values(model, self._signature, self._padding_id)
        self.feeds = (
            sample_inputs(model, self._signature, self._fill, self.rng)
            if inputs is None
            else _by_name(inputs, self._signature)
        )

    def run(
        self,
        feeds: Feeds,
        padding_row: Callable[[int], Array] | None = None,
        fixed: Iterable[PaddedSequence] = (),
    ) -> Run:
        """The outputs for `feeds`; `padding_row` gives the padding another meaning."""
        padded = [(feeds[name], value) for name, value in self._padding_id.items()]
        trace = Trace(padding_row, padded, [s.valid.shape for s in fixed])
        tensors = {n: keras.ops.convert_to_tensor(a) for n, a in feeds.items()}
        try:
            with tracing(self._model, trace):
                outputs = self._signature.call(self._model, tensors)
        except Exception as error:  # runtimes raise errors of many classes
            self._refuse_unknown_ids(trace, error)
            raise
        values = {n: np.asarray(t).astype("float64") for n, t in outputs.items()}
        return Run(values, trace)

    def find_sequences(
        self, trace: Trace, extra_padding: int, unmasked: bool
    ) -> list[PaddedSequence]:
        """The padded inputs, by the masks of `trace` and by the padding ids."""
        masks = [mask for mask, _ in trace.masks]
        ids = [self.feeds[name] != value for name, value in self._padding_id.items()]
        free = {s.name: _has_free_length(s.shape) for s in self._signature.inputs}
        sequences = find_sequences(
            self.feeds,
            [*masks, *ids],
            may_grow={name: free[name] or not self._declares for name in self.feeds},
            extra_padding=extra_padding,
            unmasked=unmasked,
        )
        if not sequences:
            raise ValueError(
                "`model` must mark its padding: build its `Embedding` with "
                "`mask_zero=True`, or give `padding_id` if it derives its masks from "
                f"the ids itself. Received: model={self._model.name!r}, which makes "
                "no mask"
            )
        return sequences

    def append_padding(self, sequences: Iterable[PaddedSequence]) -> Feeds:
        """The inputs, padded further."""
        return append_padding(self.feeds, sequences, self._fill)

    def run_replaced(self, sequences: Iterable[PaddedSequence], base: Run) -> Run:
        """The outputs for padding of another meaning, appended where it can be.

        Where it cannot, real numbers at padded positions become others: those of the
        inputs, or of what the layer puts out that makes its mask from them.
        """
        feeds = self.append_padding(sequences)
        changed = feeds
        fixed = [s for s in sequences if not s.growth and not s.valid.all()]
        from_numbers = {m.shape for m, maker in base.trace.masks if not maker.takes_ids}
        for sequence in fixed:
            if sequence.valid.shape not in from_numbers:
                changed = change_padding(changed, sequence, self.rng)
        # As large as ordinary inputs of a layer: a leak is seen, nothing saturates.
        replaced = self.run(changed, lambda width: self.rng.normal(size=width), fixed)
        replaced.trace.replaced |= any(
            changed[name] is not feeds[name] for name in feeds
        )
        return replaced

    def _refuse_unknown_ids(self, trace: Trace, error: Exception) -> None:
        """Blame `padding_id` if an `Embedding` failed on an id that it alone brings."""
        failed = trace.failed
        if failed is None or not isinstance(failed.layer, keras.layers.Embedding):
            return
        size = failed.layer.input_dim
        ids = {int(i) for t in failed.inputs for i in np.unique(np.asarray(t))}
        unknown = {i for i in ids if not 0 <= i < size}
        if unknown and unknown <= set(self._padding_id.values()):
            raise ValueError(
                f"`padding_id` must be an id that the `Embedding` "
                f"{failed.layer.name!r} knows, from 0 to {size - 1}. "
                f"Received: padding_id={unknown.pop()}"
            ) from error


def _declares_inputs(model: Any) -> bool:
    if isinstance(model, keras.Sequential):
        return bool(getattr(model, "inputs", None))  # none if its layers defy tracing
    return isinstance(model, keras.Function)


def _signature(model: Any, inputs: Any, declared: bool) -> Signature:
    if declared:
        return read_signature(model)
    if inputs is None:
        raise ValueError(
            "`inputs` must be given for a model that does not declare its own, such "
            "as a subclassed one. Received: inputs=None"
        )
    return read_signature(model, keras.tree.map_structure(np.asarray, inputs))


def _by_name(inputs: Any, signature: Signature) -> Feeds:
    names = [spec.name for spec in signature.inputs]
    if isinstance(inputs, Mapping):
        if set(inputs) == set(names):
            return {name: np.asarray(inputs[name]) for name in names}
        _require_structure(inputs, signature)
    leaves = keras.tree.flatten(inputs)
    if len(leaves) != len(names):
        raise ValueError(
            f"`inputs` must hold one array for each of {names}. "
            f"Received: inputs with {len(leaves)} arrays"
        )
    return dict(zip(names, map(np.asarray, leaves), strict=True))


def _require_structure(inputs: Mapping[str, Any], signature: Signature) -> None:
    try:
        keras.tree.assert_same_structure([inputs], list(signature.arguments))
    except ValueError as error:
        names = [spec.name for spec in signature.inputs]
        raise ValueError(
            f"`inputs` must name the inputs of the model, which are {names}. "
            f"Received: inputs with {list(inputs)}"
        ) from error


def _has_free_length(shape: tuple[int | None, ...]) -> bool:
    return len(shape) > 1 and shape[1] is None


def _ids_by_name(
    padding_id: int | Mapping[str, int] | None, signature: Signature
) -> dict[str, int]:
    if padding_id is None:
        return {}
    if isinstance(padding_id, int):
        return {
            spec.name: padding_id
            for spec in signature.inputs
            if "int" in spec.dtype and len(spec.shape) == 2
        }
    names = [spec.name for spec in signature.inputs]
    if unknown := sorted(set(padding_id) - set(names)):
        raise ValueError(
            f"`padding_id` must name inputs of the model, which are {names}. "
            f"Received: padding_id with {unknown}"
        )
    return dict(padding_id)


def _padding_values(
    model: Any, signature: Signature, padding_id: Mapping[str, int]
) -> dict[str, float]:
    """What pads each input: its id, `False`, or the value that a `Masking` skips."""
    skipped = (getattr(o, "mask_value", None) for o in operations_of(model))
    value = next((float(v) for v in skipped if v is not None), 0.0)
    return {
        spec.name: value if "float" in spec.dtype else padding_id.get(spec.name, 0)
        for spec in signature.inputs
    }
