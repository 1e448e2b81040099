"""Put a finished directory in the place of another one."""

import ctypes
import os
import shutil
from pathlib import Path

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def replace_directory(new: Path, target: Path) -> None:
    """Give `new` the name `target`; whatever had it before is removed.

    Linux exchanges two names in one step, so a reader finds the old directory or the
    new one, whole. Where it cannot, the old one steps aside first, as
    `.NAME.old`, and comes back if the second rename fails; a process killed between the
    two leaves both, whole, beside the target.

    Args:
        new: the finished directory, on the same file system.
        target: A directory, or nothing.
    """
    if not target.exists():
        os.rename(new, target)
    elif _exchange(new, target):
        shutil.rmtree(new)
    else:
        _step_aside(new, target)


def _exchange(left: Path, right: Path) -> bool:
    """Swap two names in one step; false where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    code = rename(
        AT_FDCWD, os.fsencode(left), AT_FDCWD, os.fsencode(right), RENAME_EXCHANGE
    )
    return bool(code == 0)


def _step_aside(new: Path, target: Path) -> None:
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    os.rename(target, old)
    try:
        os.rename(new, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old)
