"""The model under the padding check, its inputs, and its runs."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.signatures import Signature, check_model, read_signature
from keras_sinpe.padding.comparison import Run
from keras_sinpe.padding.refusals import refuse_unknown_ids
from keras_sinpe.padding.samples import sample_feeds
from keras_sinpe.padding.sequences import (
    Feeds,
    PaddedSequence,
    append_padding,
    find_sequences,
    padding_values,
)
from keras_sinpe.padding.tracing import Trace, tracing


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
        require_tensorflow("A padding check")
        self.rng = np.random.default_rng(seed)
        check_model(model)
        self._model = model
        self._declares = _declares_inputs(model)
        self._signature = _signature(model, inputs, self._declares)
        self._padding_id = _ids_by_name(padding_id, self._signature)
        self.feeds = self._feeds(inputs)

    def run(
        self, feeds: Feeds, padding_row: Callable[[int], np.ndarray] | None = None
    ) -> Run:
        """The outputs for `feeds`; `padding_row` gives the padding another meaning."""
        padded = [(feeds[name], value) for name, value in self._padding_id.items()]
        trace = Trace(padding_row=padding_row, padded_ids=padded)
        tensors = {n: keras.ops.convert_to_tensor(a) for n, a in feeds.items()}
        try:
            with tracing(trace):
                outputs = self._signature.call(self._model, tensors)
        except Exception as error:  # runtimes raise errors of many classes
            refuse_unknown_ids(trace.failed, self._padding_id, error)
            raise
        values = {n: np.asarray(t).astype("float64") for n, t in outputs.items()}
        return Run(values, trace)

    def find_sequences(
        self, trace: Trace, extra_padding: int, unmasked: bool
    ) -> list[PaddedSequence]:
        """The padded inputs, by the masks of `trace` and by the padding ids."""
        ids = [self.feeds[name] != value for name, value in self._padding_id.items()]
        free = {s.name: _has_free_length(s.shape) for s in self._signature.inputs}
        sequences = find_sequences(
            self.feeds,
            [*trace.masks, *ids],
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

    def append_padding(self, sequences: list[PaddedSequence], trace: Trace) -> Feeds:
        """The inputs, padded further."""
        fill = padding_values(self.feeds, self._padding_id, trace)
        return append_padding(self.feeds, sequences, fill)

    def _feeds(self, inputs: Any) -> Feeds:
        names = [spec.name for spec in self._signature.inputs]
        if inputs is None:
            return sample_feeds(
                self._model, self._signature, self._padding_id, self.rng
            )
        if isinstance(inputs, Mapping):
            if set(inputs) == set(names):
                return {name: np.asarray(inputs[name]) for name in names}
            _require_structure(inputs, self._signature)
        leaves = keras.tree.flatten(inputs)
        if len(leaves) != len(names):
            raise ValueError(
                f"`inputs` must hold one array for each of {names}. "
                f"Received: inputs with {len(leaves)} arrays"
            )
        return dict(zip(names, map(np.asarray, leaves), strict=True))


def _declares_inputs(model: Any) -> bool:
    if isinstance(model, keras.Sequential):
        return bool(getattr(model, "inputs", None))  # none if its layers defy tracing
    return isinstance(model, keras.Function)


def _require_structure(inputs: Mapping[str, Any], signature: Signature) -> None:
    try:
        keras.tree.assert_same_structure([inputs], list(signature.arguments))
    except ValueError as error:
        names = [spec.name for spec in signature.inputs]
        raise ValueError(
            f"`inputs` must name the inputs of the model, which are {names}. "
            f"Received: inputs with {list(inputs)}"
        ) from error


def _signature(model: Any, inputs: Any, declared: bool) -> Signature:
    if declared:
        return read_signature(model)
    if inputs is None:
        raise ValueError(
            "`inputs` must be given for a model that does not declare its own, such "
            "as a subclassed one. Received: inputs=None"
        )
    return read_signature(model, keras.tree.map_structure(np.asarray, inputs))


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
