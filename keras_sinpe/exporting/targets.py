"""What an export may write to, and what it may replace."""

import os
import re
from pathlib import Path

from keras_sinpe.arguments import refusal

LONGEST_NAME = 240  # bytes: 255 on most disks, less what is added beside the target
LARGEST_ONNX_FILE = 2**31  # bytes: protobuf reads no larger message

# All that a SavedModel is made of; what lies in both folders of assets is its owner's.
SAVED_MODEL_PART = re.compile(
    r"(saved_model\.(pb|pbtxt|cpb)|fingerprint\.pb|keras_metadata\.pb"
    r"|variables(/variables\.(index|data-\d{5}-of-\d{5}))?"
    r"|assets(\.extra)?(/.+)?|debug(/saved_model_debug_info\.pb)?)",
    re.DOTALL,
)

StrPath = str | os.PathLike[str]


def resolve_target(filepath: StrPath) -> Path:
    """The file or folder that is meant; links are followed."""
    if not isinstance(filepath, str | os.PathLike):
        raise TypeError(refusal("filepath", "a path", filepath))
    try:
        target = Path(os.path.realpath(filepath))
        loop, known = target.is_symlink(), target.parent.is_dir()
        target.exists()  # raises where the folder lets nobody look
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        message = sentence("a path", filepath, f", which fails with: {reason}")
        raise OSError(message) from error
    if loop:
        message = "no link that leads back to itself"
        raise OSError(sentence(message, filepath))
    if not os.fspath(filepath) or len(os.fsencode(target.name)) > LONGEST_NAME:
        message = f"a path whose last name has 1 to {LONGEST_NAME} bytes"
        raise OSError(sentence(message, filepath))
    if not known:
        link = f", a link to {str(target)!r}" if os.path.islink(filepath) else ""
        message = sentence("in a folder that exists", filepath, link)
        raise FileNotFoundError(message)
    return target


def check_file(filepath: StrPath, overwrite: bool, target: Path) -> None:
    """Refuse a target that is no file, or not to be replaced by one."""
    if target.is_dir():
        raise IsADirectoryError(sentence("a file", filepath, ", which is a directory"))
    if os.fspath(filepath).endswith(os.sep):
        more = ", which is written like a directory"
        raise IsADirectoryError(sentence("a file", filepath, more))
    _check_new(filepath, overwrite, target)
    if target.exists() and not _is_empty_or_onnx(target):
        expected = "an ONNX file, an empty file or new"
        message = sentence(expected, filepath, ", which holds something else")
        raise FileExistsError(message)


def check_directory(filepath: StrPath, overwrite: bool, target: Path) -> None:
    """Refuse a target that is no directory, or not to be replaced by one."""
    if target.exists() and not target.is_dir():
        message = sentence("a directory or new", filepath, ", which is a file")
        raise NotADirectoryError(message)
    _check_new(filepath, overwrite, target)
    stranger = _stranger_in(target) if target.exists() else None
    if stranger is not None:
        expected = "a SavedModel, an empty directory or new"
        message = sentence(expected, filepath, f", which holds {stranger}")
        raise FileExistsError(message)


def sentence(expected: str, filepath: StrPath, more: str = "") -> str:
    """The sentence for a target that is refused."""
    return f"{refusal('filepath', expected, os.fspath(filepath))}{more}"


def _check_new(filepath: StrPath, overwrite: bool, target: Path) -> None:
    if target.exists() and not overwrite:
        expected = "new unless `overwrite` is true"
        raise FileExistsError(sentence(expected, filepath, ", which exists"))


def _is_empty_or_onnx(target: Path) -> bool:
    if not target.is_file() or target.stat().st_size >= LARGEST_ONNX_FILE:
        return False
    if target.stat().st_size == 0:
        return True
    import onnx

    try:
        proto = onnx.load_model(target, format="protobuf", load_external_data=False)
    except Exception:
        return False
    return bool(proto.ir_version > 0 and proto.HasField("graph"))


def _stranger_in(target: Path) -> str | None:
    """What is in a directory that belongs to no SavedModel, if anything."""
    os.listdir(target)  # raises where a pattern would find nothing
    paths = sorted(target.rglob("*"))
    for path in paths:
        name = path.relative_to(target).as_posix()
        if path.is_symlink() or not SAVED_MODEL_PART.fullmatch(name):
            return f"{name!r}"
    return "no graph that loads" if paths and not _has_graph(target) else None


def _has_graph(target: Path) -> bool:
    import tensorflow as tf

    try:
        proto = tf.__internal__.saved_model.parse_saved_model(os.fspath(target))
    except Exception:
        return False
    return bool(proto.meta_graphs)
