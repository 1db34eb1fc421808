"""A folder for the arguments of calls that are tried, gone when it is no longer needed: at the end of the block, or,
where the process was killed in it, when the next one is made. It refuses nothing: what cannot be removed stays.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on POSIX
    fcntl = None  # type: ignore[assignment]

PREFIX = "loopwright-tuning-"
LOCK = "lock"
"""Held as long as the folder is in use, by its process: the system lets go of it whatever ends that."""

UNSURE_S = 3600.0
"""A folder without a lock is one that is being made, or was when its process was killed. So old it is the latter."""


@contextmanager
def working_folder() -> Iterator[Path]:
    """A new folder, for the block. Raises OSError where none can be made."""
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks: such folders are never swept
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder
        finally:
            os.close(lock)


def _sweep(place: Path) -> None:
    """Remove what processes of ours have left behind that were killed."""
    with suppress(OSError):
        for folder in place.glob(f"{PREFIX}*"):
            with suppress(OSError):
                if _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    told = folder.lstat()
    if fcntl is None or folder.is_symlink() or told.st_uid != os.getuid():
        return False
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return time.time() - told.st_mtime > UNSURE_S
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
