"""The model under the padding check, its inputs, and its runs."""

from collections.abc import Iterable, Mapping
from typing import Any

import keras
import numpy as np

from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.keras_internals import operations_of
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.signatures import Signature, check_model, read_signature
from keras_sinpe.model.vocabularies import integer_limits
from keras_sinpe.padding.runs import Call, Run
from keras_sinpe.padding.samples import sample_inputs
from keras_sinpe.padding.sequences import (
    PaddedSequence,
    ReplacedPadding,
    append_padding,
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
        require_tensorflow()
        check_model(model)
        self.rng = np.random.default_rng(seed)
        self._model = model
        self._declares = isinstance(model, keras.Function)
        if isinstance(model, keras.Sequential):  # none if its layers defy tracing
            self._declares = bool(getattr(model, "inputs", None))
        self._signature = _signature(model, inputs, self._declares)
        self._padding_id = _ids_by_name(padding_id, self._signature)
        skipped = (getattr(o, "mask_value", None) for o in operations_of(model))
        value = next((float(v) for v in skipped if v is not None), 0.0)
        # What pads each input: its id, `False`, or the value that a `Masking` skips.
        pads = {
            spec: value if "float" in spec.dtype else self._padding_id.get(spec.name, 0)
            for spec in self._signature.inputs
        }
        self._pads = {spec.name: pad for spec, pad in pads.items()}
        if inputs is None:
            limits = integer_limits(model, self._signature)
            self.feeds = sample_inputs(pads, limits, self.run, self.rng)
        else:
            self.feeds = _by_name(inputs, self._signature)

    def run(self, feeds: Feeds, replace: ReplacedPadding | None = None) -> Run:
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
        """A run on padding of another meaning, appended where it can be.

        Where it cannot, real numbers at padded positions become others: those of the
        inputs, or of what a layer puts out that makes its mask from them. It is `grown`
        where nothing stands for padding.
        """
        feeds = changed = self.append_padding(sequences)
        fixed = [s for s in sequences if not s.growth and not s.valid.all()]
        from_numbers = {m.shape for m, maker in base.masks if maker.takes_numbers}
        for sequence in fixed:
            if sequence.valid.shape not in from_numbers:
                changed = change_values(changed, sequence, ~sequence.valid, self.rng)
        padded = [(changed[name], value) for name, value in self._padding_id.items()]
        replace = ReplacedPadding(padded, [s.valid.shape for s in fixed], self.rng)
        run = self.run(changed, replace)
        moved = any(not np.array_equal(changed[name], feeds[name]) for name in feeds)
        return run if moved or replace.used else grown

    def find_sequences(
        self, run: Run, extra_padding: int, unmasked: bool
    ) -> list[PaddedSequence]:
        """The padded inputs, by the masks of a run and by the padding ids."""
        masks = [mask for mask, _ in run.masks]
        masks += [self.feeds[name] != value for name, value in self._padding_id.items()]
        free = {s.name: s.shape[1:2] == (None,) for s in self._signature.inputs}
        sequences = find_sequences(
            self.feeds,
            masks,
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
        return append_padding(self.feeds, sequences, self._pads)

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
    if isinstance(inputs, Mapping) and set(inputs) == set(names):
        return {name: np.asarray(inputs[name]) for name in names}
    leaves = keras.tree.flatten(inputs)
    try:
        if isinstance(inputs, Mapping):
            keras.tree.assert_same_structure([inputs], list(signature.arguments))
    except ValueError as error:
        raise ValueError(
            f"`inputs` must name the inputs of the model, which are {names}. "
            f"Received: inputs with {list(inputs)}"
        ) from error
    if len(leaves) != len(names):
        raise ValueError(
            f"`inputs` must hold one array for each of {names}. "
            f"Received: inputs with {len(leaves)} arrays"
        )
    return dict(zip(names, map(np.asarray, leaves), strict=True))


def _ids_by_name(
    padding_id: int | Mapping[str, int] | None, signature: Signature
) -> dict[str, int]:
    specs = {spec.name: spec for spec in signature.inputs}
    if isinstance(padding_id, int):
        ids = (s.name for s in specs.values() if "int" in s.dtype and len(s.shape) == 2)
        return dict.fromkeys(ids, padding_id)
    if unknown := sorted(set(padding_id or ()) - set(specs)):
        raise ValueError(
            f"`padding_id` must name inputs of the model, which are {list(specs)}. "
            f"Received: padding_id with {unknown}"
        )
    return dict(padding_id or {})
