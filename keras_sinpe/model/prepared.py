"""A model made ready once: in float32, with named inputs, and run on its samples.

Exporters, every endpoint and the check take what stands here, so that a model is
rebuilt once and run once for each case, however many artifacts it is compared with.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import keras
import numpy as np

from keras_sinpe.keras_internals import layers_in_training, layers_of
from keras_sinpe.model.float32 import full_precision
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.samples import (
    BATCH_SIZES,
    Inputs,
    RandomSamples,
    Sample,
    given_samples,
)
from keras_sinpe.model.signatures import (
    SignatureError,
    check_model,
    read_signature,
)
from keras_sinpe.model.sizes import Case
from keras_sinpe.model.vocabularies import integer_limits, padded_inputs

Shapes = tuple[Mapping[str, int], Mapping[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Run:
    """One execution of the model: what it was fed, and what it computed or raised.

    Attributes:
        case: the sizes.
        feeds: one array per input.
        outputs: one array per output; empty if the model raised an error.
        refusal: what it said then.
    """

    case: Case
    feeds: Feeds
    outputs: Feeds
    refusal: str = ""


class PreparedModel:
    """A model that is exported and checked.

    Args:
        model: the model as the user gave it.
        input_signature: see `read_signature`.
        output_names: see `read_signature`.
        batch_sizes: see `RandomSamples`.
        lengths: see `RandomSamples`.
        inputs: the user's arrays by name, a list of these, or a function from a `Case`
            and a random generator to one; `None` draws them at random.
        seed: seed of the inputs.
        progress: shows the runs as they go on; see `runs`.

    Attributes:
        original: the model as the user gave it.
        model: the model, or its rebuild in float32.
        signature: its named inputs.
        shapes: of each run that the model took, the first one included, the sizes of
            the inputs and the shapes of the outputs.

    Raises:
        TypeError: `model` is not a Keras model.
        ValueError: the model is not built, keeps a state between calls, cannot be
            rebuilt in float32, or is subclassed and has no `input_signature`.
    """

    def __init__(
        self,
        model: Any,
        *,
        input_signature: Any = None,
        output_names: Sequence[str] | None = None,
        batch_sizes: Sequence[int] = BATCH_SIZES,
        lengths: Sequence[int] | None = None,
        inputs: Inputs = None,
        seed: int = 0,
        progress: Callable[[list[Sample]], Any] = iter,
    ) -> None:
        check_model(model)
        _refuse_states(model)
        self.original = model
        self.model = full_precision(model)
        self.signature = read_signature(self.model, input_signature, output_names)
        self.shapes: list[Shapes] = []
        self.strict = lengths is not None or inputs is not None
        self._options = batch_sizes, lengths, inputs, seed
        self._progress = progress
        self._rebuild_error = 0.0
        self._probed: Run | None = None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The model on every case, each computed once."""
        return tuple(self._run(*sample) for sample in self._progress(self._samples()))

    @property
    def is_rebuilt(self) -> bool:
        """Whether the model is a rebuild of the original."""
        return self.model is not self.original

    @property
    def notes(self) -> list[str]:
        """What a reader of a report should know of the model."""
        notes = [] if self.strict else [run.refusal for run in self.runs if run.refusal]
        if self.is_rebuilt:
            notes.append(
                f"the model has the dtype policy {self.original.dtype_policy.name!r} "
                "and was rebuilt in float32 with the same weights; the rebuild differs "
                f"from it by up to {self._rebuild_error:.2e}"
            )
        notes += [
            f"the layer {name!r} is called with training=True in the model's graph; "
            "the artifact calls it with training=False, as `predict` does"
            for name in layers_in_training(self.model)
        ]
        return notes

    def is_random(self) -> bool:
        """Whether the model itself gives different outputs for equal inputs."""
        run = next(iter(self.taken))
        again = self.compute(self.model, run.feeds)
        return any(
            not np.array_equal(array, again[name], equal_nan=array.dtype.kind == "f")
            for name, array in run.outputs.items()
        )

    @property
    def taken(self) -> list[Run]:
        """The runs on which the model computed something."""
        return [run for run in self.runs if run.outputs]

    def _samples(self) -> list[Sample]:
        batch_sizes, lengths, inputs, seed = self._options
        if inputs is not None and not callable(inputs):
            given = [inputs] if isinstance(inputs, Mapping) else list(inputs)
            return given_samples(self.signature, given)
        samples = RandomSamples(
            self.signature,
            batch_sizes,
            lengths,
            integer_limits(self.model, self.signature),
            padded_inputs(self.model, self.signature),
            self._probe,
            inputs,
            seed,
        )
        return list(samples)

    def _probe(self, case: Case, feeds: Feeds) -> Exception | None:
        """What the model raises on these inputs, if anything."""
        try:
            outputs = self.compute(self.model, feeds)
        except SignatureError:
            raise
        except Exception as error:
            return error
        self._note_shapes(case, outputs)
        self._probed = Run(case, feeds, outputs)
        return None

    def _run(self, case: Case, feeds: Feeds) -> Run:
        try:
            outputs = self._known(case, feeds) or self.compute(self.model, feeds)
        except Exception as error:
            sentence = f"the model itself refuses {case}: {first_line(error)}"
            return Run(case, feeds, {}, sentence)
        self._note_shapes(case, outputs)
        if self.is_rebuilt:
            self._measure_rebuild(outputs, self.compute(self.original, feeds))
        return Run(case, feeds, outputs)

    def _known(self, case: Case, feeds: Feeds) -> Feeds | None:
        """What the run that probed the model computed, if it was on this case."""
        probed = self._probed
        if probed is None or probed.case != case:
            return None
        same = all(np.array_equal(probed.feeds[name], feeds[name]) for name in feeds)
        return probed.outputs if same else None

    def _note_shapes(self, case: Case, outputs: Feeds) -> None:
        shapes = {name: array.shape for name, array in outputs.items()}
        self.shapes.append((case.sizes, shapes))

    def compute(self, model: Any, feeds: Feeds) -> Feeds:
        """Run eagerly and untraced, so that no trace can bake a size."""
        tensors = {name: keras.ops.convert_to_tensor(a) for name, a in feeds.items()}
        outputs = self.signature.call(model, tensors)
        return {name: keras.ops.convert_to_numpy(t) for name, t in outputs.items()}

    def _measure_rebuild(self, rebuilt: Feeds, original: Feeds) -> None:
        for name, array in original.items():
            distance = np.abs(array.astype(np.float64) - rebuilt[name])
            largest = float(np.nan_to_num(distance, nan=np.inf).max(initial=0.0))
            self._rebuild_error = max(self._rebuild_error, largest)


def _refuse_states(model: Any) -> None:
    """Refuse layers that carry a state from call to call, before one is changed."""
    for layer in layers_of(model):
        if getattr(layer, "stateful", False) is True:
            raise ValueError(
                "`model` must carry no state from one call to the next, which an "
                "artifact would lose: make the state an input and an output. "
                f"Received: model={model.name!r} with the layer {layer.name!r} and "
                "stateful=True"
            )


def first_line(error: Exception) -> str:
    """The type of an error and its first line, short enough for a table."""
    plain = re.sub(r"\x1b\[\d*m", "", str(error))  # Keras prints in bold
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    # Keras puts this before what the error says.
    telling = [line for line in lines if not line.startswith("Exception encountered")]
    return f"{type(error).__name__}: {' '.join(telling[:1])}"[:200]
