"""Export a Keras model to a TensorFlow SavedModel, and prove it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from keras_sinpe.artifacts.record import describe_export, store_in_saved_model
from keras_sinpe.artifacts.runners import Runner, SavedModelRunner
from keras_sinpe.exporting.safe_writing import disk_failures, staged_directory
from keras_sinpe.exporting.serving import (
    ServeRunner,
    named_call,
    structured_call,
    structured_specs,
    tensor_specs,
)
from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.prepared import PreparedModel
from keras_sinpe.model.samples import BATCH_SIZES, Inputs
from keras_sinpe.model.signatures import check_model
from keras_sinpe.parity.check import check_artifact
from keras_sinpe.parity.options import check_options
from keras_sinpe.parity.report import ParityError, ParityReport
from keras_sinpe.parity.verdict import Tolerance
from keras_sinpe.printing import with_progress


def export_saved_model(
    model: Any,
    filepath: str | os.PathLike[str],
    *,
    input_signature: Any = None,
    output_names: Sequence[str] | None = None,
    endpoints: Mapping[str, Any] | None = None,
    overwrite: bool = True,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    lengths: Sequence[int] | None = None,
    inputs: Inputs = None,
    tolerance: Tolerance = None,
    progress: bool = False,
) -> ParityReport:
    """Export any Keras model on TensorFlow to a SavedModel that computes the same.

    The directory is written beside its target, loaded by TensorFlow and compared with
    the model by `check_parity`; only then it takes the target's name. If anything fails
    the target is what it was before. A reader finds the old SavedModel or the new one,
    whole, or, for the instant between two renames, none; if the process is killed in
    it, the next export to the target puts the old one back.

    The endpoint `serve` takes and returns what the model does, as Keras's own export
    has it; nested outputs, which TensorFlow refuses there, become a dict by name. The
    signature `serving_default`, for servers, has the named inputs and
    outputs of `export_onnx`.

    Args:
        model: A built Keras model: Functional, Sequential or subclassed.
        filepath: the directory to write, in a folder that exists.
        input_signature: needed for subclassed models only: the list of positional
            arguments of `call`, as for `keras.Model.export`.
        output_names: names for the flattened outputs instead of the model's own.
        endpoints: further models to serve under a name each, such as a `step` that
            decodes one token; variables that they share with `model` are stored once.
            Each must be Functional or Sequential, and is checked with random inputs of
            its own.
        overwrite: whether an existing SavedModel may be replaced; its mode is kept. A
            directory that holds anything else, be it beside a SavedModel, never is.
        batch_sizes: for the check, see `check_parity`.
        lengths: for the check, see `check_parity`.
        inputs: for the check, see `check_parity`.
        tolerance: for the check, see `check_parity`.
        progress: show a progress bar during the check.

    Returns:
        The report of the check, which passed.

    Raises:
        BackendError: the backend is not TensorFlow.
        FileExistsError: the directory exists and `overwrite` is false, or something in
            it is no part of a SavedModel.
        FileNotFoundError: the folder does not exist.
        NotADirectoryError: `filepath` is a file.
        OSError: no directory can have the name.
        ParityError: the SavedModel does not compute what a model computes.
        PermissionError: the folder cannot be written to.
        TypeError: `model` is not a Keras model, or an option is of another type.
        ValueError: the model is not built, is subclassed and has no `input_signature`,
            or an option of the check would let it prove nothing, see `check_parity`.

    Example:
    >>> import os, tempfile, keras, numpy as np, tensorflow as tf
    >>> ids = keras.Input((None,), dtype="int32", name="ids")
    >>> vectors = keras.layers.Embedding(10, 4, name="vectors")(ids)
    >>> path = os.path.join(tempfile.mkdtemp(), "model")
    >>> report = export_saved_model(keras.Model(ids, vectors), path)
    >>> loaded = tf.saved_model.load(path)
    >>> tokens = np.array([[1, 2, 3]], np.int32)
    >>> loaded.serve(tokens).shape.as_list()
    [1, 3, 4]
    >>> list(loaded.signatures["serving_default"](ids=tf.constant(tokens)))
    ['vectors']
    """
    check_options(
        output_names=output_names,
        endpoints=endpoints,
        overwrite=overwrite,
        batch_sizes=batch_sizes,
        lengths=lengths,
        inputs=inputs,
        tolerance=tolerance,
        progress=progress,
    )
    require_tensorflow("Export")
    import tensorflow as tf

    check_model(model)
    with staged_directory(filepath, overwrite) as stage:
        prepared = PreparedModel(
            model,
            input_signature=input_signature,
            output_names=output_names,
            batch_sizes=batch_sizes,
            lengths=lengths,
            inputs=inputs,
            progress=with_progress("Running the model", progress),
        )
        steps = {name: PreparedModel(step) for name, step in (endpoints or {}).items()}
        archive = _archive(prepared, steps)
        with disk_failures(filepath, tf.errors.OpError):
            archive.write_out(os.fspath(stage), verbose=False)
        reports = {}
        for name, runner, subject in _endpoints(stage, prepared, steps):
            allowed = tolerance if subject is prepared else None
            reports[name] = check_artifact(
                subject, runner, filepath, allowed, progress=progress
            )
            if not reports[name].passed:
                raise ParityError(reports[name], endpoint=name)
        with disk_failures(filepath):
            metadata = describe_export(model, reports, format="saved_model")
            store_in_saved_model(stage, metadata)
    return reports["serving_default"]


def _archive(prepared: PreparedModel, steps: Mapping[str, PreparedModel]) -> Any:
    model, signature = prepared.model, prepared.signature
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint(
        "serve", structured_call(model, signature), structured_specs(signature)
    )
    for name, step in {"serving_default": prepared, **steps}.items():
        if step is not prepared:
            archive.track(step.model)
        call = named_call(step.model, step.signature)
        archive.add_endpoint(name, call, tensor_specs(step.signature))
    return archive


def _endpoints(
    stage: Path, prepared: PreparedModel, steps: Mapping[str, PreparedModel]
) -> Iterator[tuple[str, Runner, PreparedModel]]:
    """Every endpoint of a SavedModel, as it is run, with the model that it serves."""
    named = SavedModelRunner(stage)
    yield "serving_default", named, prepared
    yield "serve", ServeRunner(named, prepared), prepared
    for name, step in steps.items():
        yield name, named.signature(name), step
