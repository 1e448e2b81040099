"""What an artifact says of itself: written, read and printed here.

A record is JSON: in an ONNX file one entry of its metadata, in a SavedModel a file in
the folder that is reserved for files of others. It holds a digest of what computes, so
that it speaks for no other file. It is no signature: who changes the file can write a
new record as well.
"""

import inspect
import json
import math
import os
import platform
from collections.abc import Mapping
from importlib import metadata as packages
from pathlib import Path
from typing import Any

import keras

from keras_sinpe.artifacts.contents import (
    onnx_digest,
    read_proto,
    saved_model_digest,
)
from keras_sinpe.keras_internals import layers_of
from keras_sinpe.version import __version__

PACKAGE = "keras_sinpe"
SAVED_MODEL_RECORD = os.path.join("assets.extra", "keras_sinpe.json")
LARGEST_RECORD = 2**22  # bytes or characters; one layer or output takes about 1,000

# TensorFlow is the same package under two names, whichever is installed.
VERSIONS_OF = (
    *("keras", "numpy", "onnx", "onnxruntime", "tf2onnx"),
    *("tensorflow", "tensorflow-cpu"),
)

# What must be in a record, and of which type, for it to be read: lists of any length,
# dicts with at least these keys or, under `ANY`, with any.
ANY = "*"
REPORT = {
    "passed": bool,
    "runs": int,
    "outputs": [{"output": str, "error": int | float | str}],
    "notes": [str],
}
LAYER = {"name": str, "class": str, "config": {ANY: object}}
RECORD = {
    "model": str,
    "dtype_policy": str,
    "layers": [LAYER],
    "parity": {ANY: REPORT},
    "versions": {ANY: str},
}


def installed_versions() -> dict[str, str]:
    """Version of Python and of every installed package that takes part in an export.

    >>> "python" in installed_versions()
    True
    """
    versions = {"python": platform.python_version(), PACKAGE: __version__}
    for package in VERSIONS_OF:
        try:
            found = packages.version(package)
        except packages.PackageNotFoundError:
            continue
        versions[package.removesuffix("-cpu")] = found
    return versions


def describe_export(
    model: Any, reports: Mapping[str, Any], **facts: Any
) -> dict[str, Any]:
    """Gather what goes into the record of an artifact, all but the digest.

    Args:
        model: the model as the user gave it.
        reports: the report of the check of each endpoint; each has `to_dict`.
        **facts: what else is to be known, as JSON has it.

    Returns:
        Plain data: versions, the model's name and dtype policy, the configuration of
        every layer of this package, the reports, and `facts`.
    """
    data = {
        **facts,
        "model": model.name,
        "dtype_policy": model.dtype_policy.name,
        "layers": [_layer_data(layer) for layer in layers_of(model) if _is_ours(layer)],
        "parity": {name: report.to_dict() for name, report in reports.items()},
        "versions": installed_versions(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def store_in_onnx(proto: Any, metadata: Mapping[str, Any]) -> None:
    """Put the record into one entry of an ONNX model, in place of an older one."""
    record = {**metadata, "digest": onnx_digest(proto, PACKAGE)}
    for entry in [e for e in proto.metadata_props if e.key == PACKAGE]:
        proto.metadata_props.remove(entry)
    proto.metadata_props.add(key=PACKAGE, value=json.dumps(record))


def store_in_saved_model(path: Path, metadata: Mapping[str, Any]) -> None:
    """Put the record into the folder that a SavedModel reserves for such files."""
    file = path / SAVED_MODEL_RECORD
    file.parent.mkdir(exist_ok=True)
    record = {**metadata, "digest": saved_model_digest(path)}
    file.write_text(json.dumps(record, indent=2), encoding="utf-8")


def read_record(filepath: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """What an artifact that loads says of itself, and which of `PROOFS` that is."""
    proto = None if os.path.isdir(filepath) else read_proto(filepath)
    try:
        text = _saved_model_text(filepath) if proto is None else _onnx_text(proto)
        if text is None:
            return "none", {}
        record = _parsed(text)
    except (OSError, ValueError, RecursionError):
        return "unreadable", {}
    if "digest" not in record:
        return "unbound", record
    found = (
        saved_model_digest(filepath) if proto is None else onnx_digest(proto, PACKAGE)
    )
    return "bound" if record["digest"] == found else "changed", record


def _is_ours(layer: Any) -> bool:
    name: str = keras.saving.get_registered_name(type(layer))
    return name.startswith(f"{PACKAGE}>")


def _layer_data(layer: Any) -> dict[str, Any]:
    """The whole configuration, and those options that are not the layer's defaults."""
    config = layer.get_config()
    parameters = inspect.signature(type(layer).__init__).parameters
    options = {
        name: value
        for name, value in config.items()
        if name in parameters and parameters[name].default != value
    }
    kind = type(layer).__name__
    return {"name": layer.name, "class": kind, "config": config, "options": options}


def _onnx_text(proto: Any) -> str | None:
    texts: list[str] = [e.value for e in proto.metadata_props if e.key == PACKAGE]
    return texts[-1] if texts else None


def _saved_model_text(path: str | os.PathLike[str]) -> str | None:
    file = os.path.join(path, SAVED_MODEL_RECORD)
    if not os.path.lexists(file):
        return None
    with open(file, encoding="utf-8") as stream:
        return stream.read(LARGEST_RECORD + 1)


def _parsed(text: str) -> dict[str, Any]:
    """The record in a text; a `ValueError` if there is none."""
    if len(text) > LARGEST_RECORD:
        raise ValueError("longer than any record")
    found = json.loads(text, parse_float=_finite, parse_constant=_finite)
    if not _has_shape(found, RECORD):
        raise ValueError("not of the shape of a record")
    record: dict[str, Any] = found
    return record


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("JSON has finite numbers only")
    return number


def _has_shape(value: Any, shape: Any) -> bool:
    if isinstance(shape, list):
        (each,) = shape
        return isinstance(value, list) and all(_has_shape(one, each) for one in value)
    if not isinstance(shape, dict):
        return isinstance(value, shape)
    if not isinstance(value, dict):
        return False
    if ANY in shape:
        return all(_has_shape(one, shape[ANY]) for one in value.values())
    return all(key in value and _has_shape(value[key], shape[key]) for key in shape)
