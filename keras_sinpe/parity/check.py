"""Run an artifact beside its model on many sizes, and compare by name."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from keras_sinpe.artifacts.record import installed_versions
from keras_sinpe.artifacts.runners import Port, Runner, open_runner
from keras_sinpe.model.movements import moved_outputs
from keras_sinpe.model.prepared import PreparedModel, Run, first_line
from keras_sinpe.model.random_inputs import Array, Feeds
from keras_sinpe.model.samples import BATCH_SIZES, Inputs
from keras_sinpe.parity.comparison import Fault, Pair
from keras_sinpe.parity.declared import (
    RenamedRunner,
    input_faults,
    name_faults,
    output_faults,
)
from keras_sinpe.parity.options import check_options
from keras_sinpe.parity.report import ParityReport
from keras_sinpe.parity.verdict import Tolerance, Verdict, judge
from keras_sinpe.printing import with_progress


def check_parity(
    model: Any,
    filepath: str | os.PathLike[str],
    *,
    input_signature: Any = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    input_names: Mapping[str, str] | None = None,
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
    name with the same arrays: ids within the vocabulary, rows padded at the end, at the
    start or throughout, other integers up to 131,072, and unequal lengths wherever the
    model allows them. Names, dtypes, axes, shapes, NaN and values are checked apart,
    and everything is evaluated before the report is made. Outputs that one rounding
    of the weights explains as well as what they tell apart are not passed but
    unproven; a `tolerance` decides there.

    Args:
        model: the Keras model. One that is not float32 throughout is rebuilt in
            float32 with the same weights, as the exporters do; a note of the report
            says how far the rebuild is from the original.
        filepath: A SavedModel directory or an ONNX file.
        input_signature: as given to the exporter; only subclassed models need it.
        output_names: as given to the exporter; or, for a file of another exporter, the
            name there of each output of the model, such as `{"label": "Identity:0"}`.
        input_names: likewise, the name there of each input.
        batch_sizes: batch sizes to try, one of them above 0, which take turns with the
            lengths; a batch size that the model fixes is kept.
        lengths: lengths to try on every other free axis, each once. By default 1, 2, 7,
            64, 65 and 1030, of which those that the model itself refuses become notes.
            A length given here and refused by the model is a fault.
        inputs: instead of random inputs: arrays by input name, a list of these, or a
            function from a `Case` and a random generator to one.
        tolerance: the largest absolute error that any float of any output may have,
            as a number or by dtype of the output. It is taken as it stands: 1e-6 is
            1e-6, be the outputs 1e-9 or 1e9. Integers, booleans and strings must be
            equal unless their dtype is given. By default each number may err as far
            as its rounding explains; see `keras_sinpe.model.tolerances`.
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
    check_options(
        output_names=None if isinstance(output_names, Mapping) else output_names,
        batch_sizes=batch_sizes,
        lengths=lengths,
        inputs=inputs,
        tolerance=tolerance,
        seed=seed,
        endpoint=endpoint,
        progress=progress,
    )
    own_names = None if isinstance(output_names, Mapping) else output_names
    prepared = PreparedModel(
        model,
        input_signature=input_signature,
        output_names=own_names,
        batch_sizes=batch_sizes,
        lengths=lengths,
        inputs=inputs,
        seed=seed,
        progress=with_progress("Running the model", progress),
    )
    runner: Runner = open_runner(filepath, endpoint)
    if input_names or isinstance(output_names, Mapping):
        theirs = output_names if isinstance(output_names, Mapping) else {}
        runner = RenamedRunner(runner, input_names or {}, theirs)
    return check_artifact(prepared, runner, filepath, tolerance, progress=progress)


def check_artifact(
    prepared: PreparedModel,
    runner: Runner,
    filepath: str | os.PathLike[str],
    tolerance: Tolerance = None,
    *,
    progress: bool = False,
) -> ParityReport:
    """Compare a loaded artifact with a prepared model, whose runs are made but once.

    Args:
        prepared: the model.
        runner: the artifact.
        filepath: what the report calls it.
        tolerance: see `check_parity`.
        progress: show a progress bar.
    """
    faults = input_faults(prepared.signature, runner.inputs)
    pairs: dict[str, list[Pair]] = {}
    if not any(fault.kind == "name" for fault in faults):
        taken = [run for run in prepared.runs if run.outputs]
        for run in with_progress("Checking parity", progress)(taken):
            faults += _run_beside(run, runner, pairs)
        faults += output_faults(prepared.shapes, runner.outputs)
    movements = cache(partial(moved_outputs, prepared))  # once, if any appeals
    verdicts = [
        judge(
            name,
            found,
            precision=runner.precision,
            tolerance=tolerance,
            moved=partial(_moved, movements, name),
        )
        for name, found in pairs.items()
    ]
    return _report(prepared, verdicts, faults, os.fspath(filepath))


def _run_beside(run: Run, runner: Runner, pairs: dict[str, list[Pair]]) -> list[Fault]:
    """Run the artifact on the inputs of one run, and pair the outputs by name."""
    try:
        received = runner.run(_in_dtypes(run.feeds, runner.inputs))
    except Exception as error:
        message = f"the artifact refuses {run.case}: {first_line(error)}"
        return [Fault("refused", "", message)]
    for name, expected in run.outputs.items():
        if name in received:
            pair = Pair(run.case, expected, received[name])
            pairs.setdefault(name, []).append(pair)
    return name_faults("output", run.outputs, received)


def _moved(movements: Callable[[], list[list[Feeds]]], name: str) -> list[list[Array]]:
    return [[outputs[name] for outputs in runs] for runs in movements()]


def _report(
    prepared: PreparedModel, verdicts: list[Verdict], faults: list[Fault], artifact: str
) -> ParityReport:
    """Everything that was found; what the model refuses counts if it was asked for."""
    comparisons = tuple(one for each in verdicts for one in each.comparisons)
    if prepared.strict:
        refusals = [run.refusal for run in prepared.runs if run.refusal]
        faults += [Fault("refused", "", refusal) for refusal in refusals]
    if comparisons and not any(one.compared for one in comparisons):
        faults.append(Fault("empty", "", "every output of every run is empty"))
    doubtful = any(each.outcome != "passed" for each in verdicts)
    if doubtful and prepared.is_random():
        sentence = "the model itself gives different outputs for equal inputs"
        faults.insert(0, Fault("random", "", sentence))
    return ParityReport(
        artifact,
        comparisons,
        tuple(dict.fromkeys(faults)),
        (*prepared.notes, *(note for each in verdicts for note in each.notes)),
        installed_versions(),
        {each.output: each.reason for each in verdicts if each.outcome == "unproven"},
    )


def _in_dtypes(feeds: Feeds, ports: Mapping[str, Port]) -> Feeds:
    """A wrong dtype is a fault of its own and must not hide the others."""
    return {
        name: feed if feed.dtype == object else feed.astype(ports[name].dtype)
        for name, feed in feeds.items()
    }
