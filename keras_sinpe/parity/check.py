"""Run an artifact beside its model on many sizes, and compare by name."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from keras_sinpe.artifacts.record import installed_versions
from keras_sinpe.artifacts.runners import Port, Runner, open_runner
from keras_sinpe.model.float32 import full_precision
from keras_sinpe.model.prepared import KerasRunner, first_line
from keras_sinpe.model.random_inputs import Feeds
from keras_sinpe.model.samples import Run
from keras_sinpe.model.sampling import Inputs, plan_samples
from keras_sinpe.model.signatures import Signature, check_model, read_signature
from keras_sinpe.model.tensor_specs import Case
from keras_sinpe.model.tolerances import TOLERANCES
from keras_sinpe.parity.comparison import Comparison, Fault, compare
from keras_sinpe.parity.interface import input_faults, name_faults
from keras_sinpe.parity.options import check_options
from keras_sinpe.parity.report import ParityReport

BATCH_SIZES = (1, 3)
# One and two tokens, both sides of a block edge, and one far beyond.
LENGTHS = (1, 2, 7, 64, 65, 1000)

Tolerance = float | Mapping[str, float] | None


def check_parity(
    model: Any,
    filepath: str | os.PathLike[str],
    *,
    input_signature: Any = None,
    output_names: Sequence[str] | None = None,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    lengths: Sequence[int] | None = None,
    inputs: Inputs = None,
    tolerance: Tolerance = None,
    seed: int = 0,
    endpoint: str = "serving_default",
    progress: bool = False,
) -> ParityReport:
    """Check that an exported artifact computes what its Keras model computes.

    The model runs eagerly and untraced, the artifact in its own runtime, both fed by
    name with the same arrays: ids within the vocabulary, about half of the rows padded
    with zeros, unequal lengths wherever the model allows them. Names, dtypes, shapes,
    NaN and values are checked apart, and everything is evaluated before the report is
    made.

    Args:
        model: the Keras model. One that is not float32 throughout is rebuilt in
            float32 with the same weights, as the exporters do; a note of the report
            says how far the rebuild is from the original.
        filepath: A SavedModel directory or an ONNX file.
        input_signature: as given to the exporter; only subclassed models need it.
        output_names: as given to the exporter.
        batch_sizes: batch sizes to try, one of them above 0; a batch size that the
            model fixes is kept.
        lengths: lengths to try on every other free axis. By default 1, 2, 7, 64, 65
            and 1000, of which those that the model itself refuses become notes. A
            length given here and refused by the model is a fault.
        inputs: instead of random inputs: arrays by input name, a list of these, or a
            function from a `Case` and a random generator to one.
        tolerance: largest error for outputs within [-1, 1], as a number or by dtype;
            beyond, it grows with the largest magnitude. By default 1e-5 for float32,
            and 1e-2 if the artifact computes in float16.
        seed: seed of the random inputs.
        endpoint: the signature of a SavedModel to check.
        progress: show a progress bar.

    Returns:
        The report; `report.passed` tells, `report.raise_if_failed()` insists.

    Raises:
        FileNotFoundError: there is no artifact.
        ModuleNotFoundError: its runtime is not installed; the sentence says how to.
        TypeError: `model` is not a Keras model, or an option is of another type.
        ValueError: the artifact does not load, the model is not built, no input could
            be made for it, or an option would let the check pass without proving
            anything: no sizes, no inputs, a tolerance that is negative or not finite.

    Example:
    >>> import os, tempfile, keras
    >>> from keras_sinpe.exporting import export_onnx
    >>> model = keras.Sequential([keras.Input((None, 4)), keras.layers.Dense(3)])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> _ = export_onnx(model, path)
    >>> check_parity(model, path, lengths=(1, 5)).passed
    True
    """
    check_model(model)
    check_options(
        output_names=output_names,
        batch_sizes=batch_sizes,
        lengths=lengths,
        inputs=inputs,
        tolerance=tolerance,
        seed=seed,
        endpoint=endpoint,
        progress=progress,
    )
    reference = full_precision(model)
    signature = read_signature(reference, input_signature, output_names)
    strict = lengths is not None or inputs is not None
    runner = open_runner(filepath, endpoint)
    if tolerance is None and runner.precision == "float16":
        tolerance = TOLERANCES["float16"]
    check = _Check(reference, model, signature, runner, tolerance)
    samples = plan_samples(
        check.reference, batch_sizes, lengths or LENGTHS, inputs, seed
    )
    faults = input_faults(signature, runner.inputs)
    if not any(fault.kind == "name" for fault in faults):
        for case, feeds in _shown(samples, progress):
            check.run(case, feeds)
    return check.report(os.fspath(filepath), faults, strict)


class _Check:
    """Collects what every run of a check finds."""

    def __init__(
        self,
        reference: Any,
        original: Any,
        signature: Signature,
        runner: Runner,
        tolerance: Tolerance,
    ) -> None:
        self.reference = KerasRunner(reference, signature)
        self._original = KerasRunner(original, signature)
        self._runner = runner
        self._tolerance = tolerance
        self._comparisons: list[Comparison] = []
        self._faults: list[Fault] = []
        self._refusals: list[Fault] = []
        self._rebuild_error = 0.0

    def run(self, case: Case, feeds: Feeds) -> None:
        """Compare one run; whatever goes wrong is collected."""
        try:
            expected = self.reference.run(feeds)
        except Exception as error:
            message = f"the model itself refuses {case}: {first_line(error)}"
            self._refusals.append(Fault("refused", "", message))
            return
        try:
            received = self._runner.run(_in_dtypes(feeds, self._runner.inputs))
        except Exception as error:
            message = f"the artifact refuses {case}: {first_line(error)}"
            self._faults.append(Fault("refused", "", message))
            return
        self._faults += name_faults("output", expected, received)
        self._comparisons += [
            compare(name, case, expected[name], received[name], self._tolerance)
            for name in expected
            if name in received
        ]
        if self._rebuilt:
            self._measure_rebuild(expected, self._original.run(feeds))

    def report(self, artifact: str, faults: list[Fault], strict: bool) -> ParityReport:
        """Everything that was found; refusals by the model count if `strict`."""
        found = faults + self._faults + (self._refusals if strict else [])
        if self._comparisons and not any(one.compared for one in self._comparisons):
            found.append(Fault("empty", "", "every output of every run is empty"))
        notes = [] if strict else [refusal.message for refusal in self._refusals]
        if self._rebuilt:
            notes.append(
                f"the model has the dtype policy {self._original.policy!r} and was "
                "rebuilt in float32 with the same weights; the rebuild differs from "
                f"it by up to {self._rebuild_error:.2e}"
            )
        return ParityReport(
            artifact,
            tuple(self._comparisons),
            tuple(dict.fromkeys(found)),
            tuple(notes),
            installed_versions(),
        )

    @property
    def _rebuilt(self) -> bool:
        return self.reference.model is not self._original.model

    def _measure_rebuild(self, rebuilt: Feeds, original: Feeds) -> None:
        for name, array in original.items():
            distance = np.abs(array.astype(np.float64) - rebuilt[name])
            largest = float(np.nan_to_num(distance, nan=np.inf).max(initial=0.0))
            self._rebuild_error = max(self._rebuild_error, largest)


def _in_dtypes(feeds: Feeds, ports: Mapping[str, Port]) -> Feeds:
    """A wrong dtype is a fault of its own and must not hide the others."""
    return {name: feed.astype(ports[name].dtype) for name, feed in feeds.items()}


def _shown(runs: Iterable[Run], progress: bool) -> Iterable[Run]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)  # standard output is for the report
    return track(runs, "Checking parity", disable=not progress, console=console)
