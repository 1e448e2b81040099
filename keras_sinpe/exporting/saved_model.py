"""Export a Keras model to a TensorFlow SavedModel, and prove it."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import keras

from keras_sinpe.artifacts.record import describe_export, store_in_saved_model
from keras_sinpe.exporting.safe_writing import disk_failures, staged_directory
from keras_sinpe.exporting.serving import (
    named_call,
    structured_call,
    structured_specs,
    tensor_specs,
)
from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.float32 import full_precision
from keras_sinpe.model.sampling import Inputs
from keras_sinpe.model.signatures import Signature, check_model, read_signature
from keras_sinpe.parity.check import BATCH_SIZES, Tolerance, check_parity
from keras_sinpe.parity.options import check_options
from keras_sinpe.parity.report import ParityReport


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
    the target is what it was before. On Linux an old SavedModel and the new one
    exchange their names in one step.

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
        overwrite: whether an existing SavedModel may be replaced. A directory that
            holds anything else never is.
        batch_sizes: for the check, see `check_parity`.
        lengths: for the check, see `check_parity`.
        inputs: for the check, see `check_parity`.
        tolerance: for the check, see `check_parity`.
        progress: show a progress bar during the check.

    Returns:
        The report of the check, which passed.

    Raises:
        BackendError: the backend is not TensorFlow.
        FileExistsError: the directory exists and `overwrite` is false, or it is not a
            SavedModel.
        FileNotFoundError: the folder does not exist.
        NotADirectoryError: `filepath` is a file.
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
        batch_sizes=batch_sizes, lengths=lengths, inputs=inputs, tolerance=tolerance
    )
    require_tensorflow("Export")
    import tensorflow as tf

    check_model(model)
    with staged_directory(filepath, overwrite) as stage:
        reference = full_precision(model)
        signature = read_signature(reference, input_signature, output_names)
        archive = _archive(reference, signature, endpoints or {})
        with disk_failures(filepath, tf.errors.OpError):
            archive.write_out(os.fspath(stage), verbose=False)
        report = check_parity(
            model,
            stage,
            input_signature=input_signature,
            output_names=output_names,
            batch_sizes=batch_sizes,
            lengths=lengths,
            inputs=inputs,
            tolerance=tolerance,
            progress=progress,
        )
        report = dataclasses.replace(report, artifact=os.fspath(filepath))
        report.raise_if_failed()
        reports = {"serve": report}
        for name, step in (endpoints or {}).items():
            found = check_parity(step, stage, endpoint=name, progress=progress)
            reports[name] = dataclasses.replace(found, artifact=os.fspath(filepath))
            reports[name].raise_if_failed()
        with disk_failures(filepath):
            metadata = describe_export(model, reports, format="saved_model")
            store_in_saved_model(stage, metadata)
    return report


def _archive(model: Any, signature: Signature, endpoints: Mapping[str, Any]) -> Any:
    archive = keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint(
        "serve", structured_call(model, signature), structured_specs(signature)
    )
    archive.add_endpoint(
        "serving_default", named_call(model, signature), tensor_specs(signature)
    )
    for name, step in endpoints.items():
        inputs = read_signature(step)
        archive.track(step)
        archive.add_endpoint(name, named_call(step, inputs), tensor_specs(inputs))
    return archive
