"""What lies beside a target while it is written, and what killed exports left there.

A finished artifact takes the place of an old one by a rename. A file does so in one
step. A directory cannot: the old one steps aside as `.NAME.*.old` first, and a process
killed between the two renames leaves both, whole; the next export to the target puts
the old one back. Whatever is unfinished is called `.NAME.*.tmp` and locked by the
process that works on it, so that the next export knows which of them to remove. A disk
without locks keeps them.
"""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED, ASIDE = ".tmp", ".old"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Look at a folder and rename in it while no other export does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def stage_for(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A new name beside the target that is removed at the end, if it is still there."""
    stage = _beside(target, UNFINISHED)
    with alone_in(target.parent):
        make(stage)
        descriptor = os.open(stage, os.O_RDONLY)
        _lock(descriptor, wait=False)
    try:
        yield stage
    finally:
        _remove(stage)
        os.close(descriptor)


def tidy_up(target: Path) -> None:
    """Put back what stood aside for nothing, and remove what dead exports left."""
    left = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}(\.tmp|\.old)")
    for path in [path for path in target.parent.iterdir() if left.fullmatch(path.name)]:
        if path.suffix == ASIDE and not target.exists():
            path.rename(target)
        elif path.suffix == ASIDE or _is_abandoned(path):
            _remove(path)


def replace_directory(new: Path, target: Path) -> None:
    """Give `new` the name `target`; whatever had it before is removed."""
    if not target.exists():
        os.rename(new, target)
        return
    old = _beside(target, ASIDE)
    os.rename(target, old)
    try:
        os.rename(new, target)
    except BaseException:
        os.rename(old, target)
        raise
    # What is called `.old` is whole, so that it can be put back.
    _remove(old.rename(_beside(target, UNFINISHED)))


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}{suffix}")


def _is_abandoned(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _lock(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file or directory until it is closed or the process ends, if possible."""
    import fcntl  # not on Windows, where nothing is exported

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)
