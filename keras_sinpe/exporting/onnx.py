"""Export a Keras model to ONNX, and prove it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keras_sinpe.arguments import require
from keras_sinpe.artifacts.record import describe_export, store_in_onnx
from keras_sinpe.artifacts.runners import open_runner
from keras_sinpe.exporting.converter import convert
from keras_sinpe.exporting.errors import ExportError, check_size
from keras_sinpe.exporting.half_precision import (
    check_positions,
    check_precision,
    in_half_precision,
)
from keras_sinpe.exporting.output_axes import output_axes
from keras_sinpe.exporting.safe_writing import disk_failures, staged_file
from keras_sinpe.model.backend import require_tensorflow
from keras_sinpe.model.prepared import PreparedModel
from keras_sinpe.model.samples import BATCH_SIZES, Inputs
from keras_sinpe.model.signatures import check_model
from keras_sinpe.parity.check import check_artifact
from keras_sinpe.parity.options import check_options
from keras_sinpe.parity.report import ParityReport
from keras_sinpe.parity.verdict import Tolerance
from keras_sinpe.printing import with_progress


def export_onnx(
    model: Any,
    filepath: str | os.PathLike[str],
    *,
    input_signature: Any = None,
    output_names: Sequence[str] | None = None,
    opset_version: int = 17,
    precision: str = "float32",
    overwrite: bool = True,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    lengths: Sequence[int] | None = None,
    inputs: Inputs = None,
    tolerance: Tolerance = None,
    progress: bool = False,
) -> ParityReport:
    """Export any Keras model on TensorFlow to an ONNX file that computes the same.

    The file is written beside its target, checked by `onnx.checker` in full, loaded by
    ONNX Runtime and compared with the model by `check_parity`; only then it takes the
    target's name. If anything fails the target is what it was before.

    Inputs keep the names they have in Keras: dict keys, else the names of the
    `keras.Input` layers, else the arguments of `call`. Outputs are called by dict key,
    else by the layer that makes them. Characters other than letters, digits, `_` and,
    in outputs, `.` become `_`. An input that begins otherwise than with a letter, or is
    called like a keyword of Python or `self`, gets `arg_` in front, and one that
    differs from another by upper and lower case alone a number behind, because no
    SavedModel can hold such names. Free axes are called `batch` and `<input>_length`,
    one symbol per input; an axis of an output carries the symbol of the input axis that
    it follows. Nothing relies on the order of inputs or outputs; it is the model's own.

    Dropout is off. A model that is not float32 throughout is exported as a float32
    rebuild with the same weights, and the report says so.

    Args:
        model: A built Keras model: Functional, Sequential or subclassed.
        filepath: the file to write, with any name, in a folder that exists.
        input_signature: needed for subclassed models only: the list of positional
            arguments of `call`, as for `keras.Model.export`.
        output_names: names for the flattened outputs instead of the model's own.
        opset_version: version of the ONNX operators, 13 to 18.
        precision: `"float32"`, or `"float16"` for weights and activations of half the
            size between float32 inputs and outputs. The report has the error that this
            costs; it may be up to 500 times larger. Real-valued positions need
            float32: float16 holds no integers above 2048 in full.
        overwrite: whether an existing ONNX file may be replaced. A file that holds
            anything else never is.
        batch_sizes: for the check, see `check_parity`.
        lengths: for the check, see `check_parity`.
        inputs: for the check, see `check_parity`.
        tolerance: for the check, see `check_parity`.
        progress: show a progress bar during the check.

    Returns:
        The report of the check, which passed.

    Raises:
        BackendError: the backend is not TensorFlow.
        ExportError: an operator cannot be converted, the
            weights exceed the 2 GB of an ONNX file, or real-valued positions meet
            float16.
        FileExistsError: the file exists and `overwrite` is false, or it is not an ONNX
            file.
        FileNotFoundError: the folder does not exist.
        IsADirectoryError: `filepath` is a directory.
        ModuleNotFoundError: the extra `onnx` is not installed.
        OSError: no file can have the name.
        ParityError: the file does not compute what the model computes.
        PermissionError: the folder cannot be written to.
        TypeError: `model` is not a Keras model, or an option is of another type.
        ValueError: the model is not built, is subclassed and has no `input_signature`,
            `opset_version` or `precision` is unknown, or an option of the check would
            let it prove nothing, see `check_parity`.

    Note:
        Weights of 8 bits are a step after the export. Two dense layers of width 64
        came out within 0.021 of the model; the tolerance says what you accept:

        ```python
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(
            "model.onnx",
            "small.onnx",
            weight_type=QuantType.QUInt8,
            op_types_to_quantize=["MatMul"],
        )
        print(check_parity(model, "small.onnx", tolerance=0.05))
        ```

        Unsigned, because on processors without VNNI ONNX Runtime's sums of signed
        products saturate: the same layers were off by 0.37. Products alone, because
        otherwise the tables of positional encodings are rounded as well.

    Example:
    >>> import os, tempfile, keras, onnxruntime
    >>> ids = keras.Input((None,), dtype="int32", name="ids")
    >>> vectors = keras.layers.Embedding(10, 4, name="vectors")(ids)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> report = export_onnx(keras.Model(ids, vectors), path)
    >>> session = onnxruntime.InferenceSession(path)
    >>> [(value.name, value.shape) for value in session.get_outputs()]
    [('vectors', ['batch', 'ids_length', 4])]
    """
    check_precision(precision)
    check_options(
        output_names=output_names,
        opset_version=opset_version,
        overwrite=overwrite,
        batch_sizes=batch_sizes,
        lengths=lengths,
        inputs=inputs,
        tolerance=tolerance,
        progress=progress,
    )
    require_tensorflow("Export")
    for module in ("onnx", "onnxruntime", "tf2onnx"):
        require(module)
    check_model(model)
    check_size(model)
    with staged_file(filepath, overwrite) as stage:
        prepared = PreparedModel(
            model,
            input_signature=input_signature,
            output_names=output_names,
            batch_sizes=batch_sizes,
            lengths=lengths,
            inputs=inputs,
            progress=with_progress("Running the model", progress),
        )
        axes = output_axes(prepared)
        proto = convert(prepared.model, prepared.signature, opset_version, axes)
        if precision == "float16":
            check_positions(proto.graph)
            proto = in_half_precision(proto)
        _write(proto, stage, filepath)
        runner = open_runner(stage)
        report = check_artifact(
            prepared, runner, filepath, tolerance, progress=progress
        )
        report.raise_if_failed()
        facts = {"format": "onnx", "opset_version": opset_version}
        reports = {"serve": report}
        metadata = describe_export(model, reports, precision=precision, **facts)
        store_in_onnx(proto, metadata)
        _write(proto, stage, filepath)
    return report


def _write(proto: Any, stage: Path, filepath: str | os.PathLike[str]) -> None:
    import onnx

    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise ExportError(
            "`model` must be one that the ONNX converter turns into a valid graph. "
            f"Received: a graph of which the checker says: {reason}"
        ) from error
    with disk_failures(filepath):
        onnx.save_model(proto, os.fspath(stage), format="protobuf")
