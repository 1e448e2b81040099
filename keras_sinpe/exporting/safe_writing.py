"""Write beside the target, then rename: its name never holds a part of anything."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keras_sinpe.exporting.directory_swap import replace_directory

SAVED_MODEL_FILE = "saved_model.pb"
LARGEST_ONNX_FILE = 2**31  # bytes: protobuf reads no larger message


@contextmanager
def staged_file(filepath: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """Offer a new file beside the target that becomes the target at the end.

    Until then the target is untouched, and if the block raises, for good. A process
    that is killed leaves a hidden file `.NAME.*.tmp` beside it. Only an empty file or
    an ONNX file is ever replaced.

    Args:
        filepath: the target. A link is followed.
        overwrite: whether an existing file may be replaced.

    Raises:
        FileExistsError: the target exists and `overwrite` is false, or it is a file of
            something else.
        FileNotFoundError: the folder of the target does not exist.
        IsADirectoryError: the target is a directory.
        PermissionError: the folder cannot be written to.
    """
    target = _target(filepath, overwrite)
    if target.is_dir():
        raise IsADirectoryError(
            f"`filepath` must be a file. Received: filepath={os.fspath(filepath)!r}, "
            "which is a directory"
        )
    if target.exists() and not _is_empty_or_onnx(target):
        raise FileExistsError(
            "`filepath` must be an ONNX file, an empty file or new. Received: "
            f"filepath={os.fspath(filepath)!r}, which holds something else"
        )
    stage = _stage(target)
    with _sentences(filepath):
        stage.touch(exist_ok=False)  # before the work: is the folder writable?
    try:
        yield stage
        _flush(stage)
        os.replace(stage, target)
        _flush(target.parent)
    finally:
        stage.unlink(missing_ok=True)


@contextmanager
def staged_directory(
    filepath: str | os.PathLike[str], overwrite: bool
) -> Iterator[Path]:
    """Offer a new directory beside the target that becomes the target at the end.

    Like `staged_file`. Only an empty directory or a SavedModel is ever replaced.

    Raises:
        FileExistsError: the target exists and `overwrite` is false, or it is a
            directory of something else.
        NotADirectoryError: the target is a file.
    """
    target = _target(filepath, overwrite)
    _check_replaceable(filepath, target)
    stage = _stage(target)
    with _sentences(filepath):
        stage.mkdir()
    try:
        yield stage
        for path in [*stage.rglob("*"), stage]:
            _flush(path)
        replace_directory(stage, target)
        _flush(target.parent)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def disk_failures(
    filepath: str | os.PathLike[str], *failures: type[Exception]
) -> Iterator[None]:
    """Turn `OSError` and `failures` of a writer into an `OSError` in one sentence."""
    caught: tuple[type[Exception], ...] = (OSError, *failures)
    try:
        yield
    except caught as error:
        reason = str(error).split("; ")[-1].split(" [Op:")[0]
        raise OSError(
            "`filepath` must be on a disk that takes the artifact. "
            f"Received: filepath={os.fspath(filepath)!r}, which fails with: {reason}"
        ) from error


def _target(filepath: str | os.PathLike[str], overwrite: bool) -> Path:
    target = Path(os.path.realpath(filepath))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            "`filepath` must be in a folder that exists. "
            f"Received: filepath={os.fspath(filepath)!r}"
        )
    if target.exists() and not overwrite:
        raise FileExistsError(
            "`filepath` must be new unless `overwrite` is true. "
            f"Received: filepath={os.fspath(filepath)!r}, which exists"
        )
    return target


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


def _check_replaceable(filepath: str | os.PathLike[str], target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(
            "`filepath` must be a directory or new. "
            f"Received: filepath={os.fspath(filepath)!r}, which is a file"
        )
    names = set(os.listdir(target)) if target.is_dir() else set()
    if names and SAVED_MODEL_FILE not in names:
        raise FileExistsError(
            "`filepath` must be a SavedModel, an empty directory or new. Received: "
            f"filepath={os.fspath(filepath)!r}, which holds something else"
        )


def _stage(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


@contextmanager
def _sentences(filepath: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise type(error)(
            "`filepath` must be in a folder that can be written to. Received: "
            f"filepath={os.fspath(filepath)!r}, which fails with: {error.strerror}"
        ) from error


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
