"""Write beside the target, then rename: its name never holds a part of anything."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from keras_sinpe.exporting.stages import (
    alone_in,
    replace_directory,
    stage_for,
    tidy_up,
)
from keras_sinpe.exporting.targets import (
    StrPath,
    check_directory,
    check_file,
    resolve_target,
    sentence,
)


@contextmanager
def staged_file(filepath: StrPath, overwrite: bool) -> Iterator[Path]:
    """Offer a new file beside the target that becomes the target at the end.

    Until then the target is untouched, and if the block raises, for good. A process
    that is killed leaves a hidden file `.NAME.*.tmp` beside it, which the next export
    to the same target removes. Only an empty file or an ONNX file is ever replaced, and
    its mode is kept.

    Args:
        filepath: the target. A link is followed.
        overwrite: whether an existing file may be replaced.

    Raises:
        FileExistsError: the target exists and `overwrite` is false, or it is a file of
            something else.
        FileNotFoundError: the folder of the target does not exist.
        IsADirectoryError: the target is a directory, or is written like one.
        OSError: no file can have this name.
        PermissionError: the folder cannot be written to.
        TypeError: `filepath` is no path.
    """
    check = partial(check_file, filepath, overwrite)
    with _staged(filepath, check, Path.touch) as (stage, target):
        yield stage
        _finish(filepath, stage, target, check, os.replace)


@contextmanager
def staged_directory(filepath: StrPath, overwrite: bool) -> Iterator[Path]:
    """Offer a new directory beside the target that becomes the target at the end.

    Like `staged_file`. Only an empty directory or a SavedModel is ever replaced, and no
    SavedModel that holds a file or folder of something else. A reader finds the old
    directory or the new one, whole, or, for the instant between two renames, none.

    Raises:
        FileExistsError: the target exists and `overwrite` is false, or it is a
            directory with something else in it.
        NotADirectoryError: the target is a file.
    """
    check = partial(check_directory, filepath, overwrite)
    with _staged(filepath, check, Path.mkdir) as (stage, target):
        yield stage
        _finish(filepath, stage, target, check, replace_directory)


@contextmanager
def disk_failures(filepath: StrPath, *failures: type[Exception]) -> Iterator[None]:
    """Turn `OSError` and `failures` of a writer into an `OSError` in one sentence."""
    caught: tuple[type[Exception], ...] = (OSError, *failures)
    try:
        yield
    except caught as error:
        reason = str(error).split("; ")[-1].split(" [Op:")[0]
        expected = "on a disk that takes the artifact"
        more = f", which fails with: {reason}"
        raise OSError(sentence(expected, filepath, more)) from error


@contextmanager
def _staged(
    filepath: StrPath,
    check: Callable[[Path], None],
    make: Callable[[Path], None],
) -> Iterator[tuple[Path, Path]]:
    """The stage and the target, once that is known to be free or replaceable."""
    target = resolve_target(filepath)
    with _sentences(filepath), alone_in(target.parent):
        tidy_up(target)
    check(target)
    with ExitStack() as stack:
        with _sentences(filepath):  # before the work: is the folder writable?
            stage = stack.enter_context(stage_for(target, make))
            if target.exists():
                stage.chmod(_mode(target) | (0o700 if stage.is_dir() else 0o600))
        yield stage, target


def _finish(
    filepath: StrPath,
    stage: Path,
    target: Path,
    check: Callable[[Path], None],
    rename: Callable[[Path, Path], None],
) -> None:
    with disk_failures(filepath):
        for path in [*stage.rglob("*"), stage]:
            _flush(path)
    with alone_in(target.parent):
        check(target)  # once more: what is there may be new
        with disk_failures(filepath):
            if target.exists():
                stage.chmod(_mode(target))
            rename(stage, target)
            _flush(target.parent)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def _sentences(filepath: StrPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        expected = "in a folder that can be written to"
        more = f", which fails with: {error.strerror}"
        raise type(error)(sentence(expected, filepath, more)) from error


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
