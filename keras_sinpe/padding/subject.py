"""The model under the padding check, and its runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.keras_internals import mask_of, operations_of, set_mask
from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.signatures import check_model, read_signature
from keras_sinpe.model.vocabularies import integer_limits
from keras_sinpe.padding.inputs import given_inputs, ids_by_name, sampled_inputs
from keras_sinpe.padding.runs import Array, Call, Replace, Run
from keras_sinpe.padding.sequences import (
    PaddedSequence,
    change_values,
    find_sequences,
)


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
        check_model(model)
        self.rng = np.random.default_rng(seed)
        self._model = model
        self._declares = isinstance(model, keras.Function)
        if isinstance(model, keras.Sequential):  # none if its layers defy tracing
            self._declares = bool(getattr(model, "inputs", None))
        if not self._declares and inputs is None:
            raise ValueError(
                "`inputs` must be given for a model that does not declare its own, "
                "such as a subclassed one. Received: inputs=None"
            )
        arrays = (
            None if self._declares else keras.tree.map_structure(np.asarray, inputs)
        )
        self._signature = read_signature(model, arrays)
        self._padding_id = ids_by_name(padding_id, self._signature)
        skipped = (getattr(o, "mask_value", None) for o in operations_of(model))
        value = next((float(v) for v in skipped if v is not None), 0.0)
        # What pads each input: its id, `False`, or the value that a `Masking` skips.
        self._pads = {
            spec: value if "float" in spec.dtype else self._padding_id.get(spec.name, 0)
            for spec in self._signature.inputs
        }
        if inputs is None:
            limits = integer_limits(model, self._signature)
            self.feeds = sampled_inputs(self._pads, limits, self.run, self.rng)
        else:
            self.feeds = given_inputs(inputs, self._signature)

    def run(self, feeds: Feeds, replace: Replace | None = None) -> Run:
        """Run the model; `replace` gives the padding another meaning."""
        run = Run(replace)
        tensors = {n: keras.ops.convert_to_tensor(a) for n, a in feeds.items()}
        try:
            with run.recording(self._model):
                outputs = self._signature.call(self._model, tensors)
        except Exception as error:  # runtimes raise errors of many classes
            self._refuse_unknown_ids(run.failed, error)
            raise
        run.outputs = {n: np.asarray(t).astype("float64") for n, t in outputs.items()}
        return run

    def run_replaced(
        self, base: Run, grown: Run, sequences: Iterable[PaddedSequence]
    ) -> Run:
        """A run on padding of another meaning; `grown` where nothing stands for it.

        Where none can be appended, real numbers at padded positions become others: of
        the inputs, or of what a layer puts out that makes its mask from them. Outputs
        of an `Embedding` are replaced, not its weight: a table that is tied to the
        logits would change them for a reason that is no leak.
        """
        feeds = changed = self.append_padding(sequences)
        fixed = [s for s in sequences if not s.growth and not s.valid.all()]
        from_numbers = {m.shape for m, maker in base.masks if maker.takes_numbers}
        for sequence in fixed:
            if sequence.valid.shape not in from_numbers:
                changed = change_values(changed, sequence, ~sequence.valid, self.rng)
        shapes = {sequence.valid.shape for sequence in fixed}
        replaced = any(not np.array_equal(changed[name], feeds[name]) for name in feeds)

        def replace(call: Call, outputs: Any, mask: Array | None) -> Any:
            nonlocal replaced
            padded = None
            if isinstance(call.layer, keras.layers.Embedding):
                padded = self._padded_ids(call, changed)
            elif mask is not None and mask.shape in shapes and call.takes_numbers:
                padded = ~mask
            if padded is None or not padded.any() or not keras.ops.is_tensor(outputs):
                return outputs
            replaced = True
            # As large as ordinary inputs of a layer: a leak is seen, nothing saturates.
            row = self.rng.normal(size=outputs.shape[-1])
            row = keras.ops.cast(row, outputs.dtype)
            new = keras.ops.where(padded[..., None], row, outputs)
            set_mask(new, mask_of(outputs))
            return new

        run = self.run(changed, replace)
        return run if replaced else grown

    def find_sequences(
        self, run: Run, extra_padding: int, unmasked: bool
    ) -> list[PaddedSequence]:
        """The padded inputs, by the masks of a run and by the padding ids."""
        masks = [mask for mask, _ in run.masks]
        masks += [self.feeds[name] != value for name, value in self._padding_id.items()]
        free = {s.name for s in self._signature.inputs if s.shape[1:2] == (None,)}
        may_grow = free if self._declares else set(self.feeds)
        sequences = find_sequences(self.feeds, masks, may_grow, extra_padding, unmasked)
        if not sequences:
            raise ValueError(
                "`model` must mark its padding: build its `Embedding` with "
                "`mask_zero=True`, or give `padding_id` if it derives its masks from "
                f"the ids itself. Received: model={self._model.name!r}, which makes "
                "no mask"
            )
        return sequences

    def append_padding(self, sequences: Iterable[PaddedSequence]) -> Feeds:
        """The inputs, padded further at the end of axis 1."""
        pads = {spec.name: pad for spec, pad in self._pads.items()}
        grown = dict(self.feeds)
        for sequence in sequences:
            for name in sequence.inputs:
                widths = [(0, 0)] * grown[name].ndim
                widths[1] = (0, sequence.growth)
                grown[name] = np.pad(grown[name], widths, constant_values=pads[name])
        return grown

    def _padded_ids(self, call: Call, feeds: Feeds) -> Array | None:
        ids = np.asarray(call.inputs[0]) if call.inputs else None
        if ids is not None and call.layer.mask_zero:
            return np.asarray(ids == 0)
        for name, padding_id in self._padding_id.items():
            if ids is not None and np.array_equal(feeds[name], ids):
                return np.asarray(ids == padding_id)
        return None

    def _refuse_unknown_ids(self, failed: Call | None, error: Exception) -> None:
        """Blame `padding_id` if an `Embedding` failed on an id that it alone brings."""
        if failed is None or not isinstance(failed.layer, keras.layers.Embedding):
            return
        size = failed.layer.input_dim
        ids = {int(i) for tensor in failed.inputs for i in np.unique(tensor)}
        unknown = {i for i in ids if not 0 <= i < size}
        if unknown and unknown <= set(self._padding_id.values()):
            raise ValueError(
                "`padding_id` must be an id that the `Embedding` "
                f"{failed.layer.name!r} knows, from 0 to {size - 1}. "
                f"Received: padding_id={unknown.pop()}"
            ) from error
