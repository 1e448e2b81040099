"""What an artifact says about itself: who made it, of what, and how it was proved."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras

from keras_sinpe.artifacts.runners import METADATA_FILE, METADATA_KEY
from keras_sinpe.artifacts.versions import installed_versions
from keras_sinpe.keras_internals import layers_of

PACKAGE = "keras_sinpe>"


def describe_export(
    model: Any, reports: Mapping[str, Any], **facts: Any
) -> dict[str, Any]:
    """Gather what goes into the metadata of an artifact.

    Args:
        model: the model as the user gave it.
        reports: the report of the check of each endpoint.
        **facts: what else is to be known, as JSON has it.

    Returns:
        Plain data: versions, the model's name and dtype policy, the configuration of
        every layer of this package, the reports, and `facts`.
    """
    data = {
        **facts,
        "model": model.name,
        "dtype_policy": model.dtype_policy.name,
        "layers": [
            {"name": layer.name, "class": type(layer).__name__, "config": config}
            for layer in layers_of(model)
            if _is_ours(layer) and (config := layer.get_config())
        ],
        "parity": {name: report.to_dict() for name, report in reports.items()},
        "versions": installed_versions(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain


def _is_ours(layer: Any) -> bool:
    name: str = keras.saving.get_registered_name(type(layer))
    return name.startswith(PACKAGE)


def store_in_onnx(proto: Any, metadata: Mapping[str, Any]) -> None:
    """Put the metadata into one entry of an ONNX model, in place of an older one."""
    for entry in [e for e in proto.metadata_props if e.key == METADATA_KEY]:
        proto.metadata_props.remove(entry)
    proto.metadata_props.add(key=METADATA_KEY, value=json.dumps(metadata))


def store_in_saved_model(path: Path, metadata: Mapping[str, Any]) -> None:
    """Put the metadata into the folder that a SavedModel reserves for such files."""
    file = path / METADATA_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(metadata, indent=2), encoding="utf-8")
