"""Which text of this package is running, so that nothing that one text made is ever taken for what another makes.

It is imported before all the rest: what the files were then is compared, whenever more of them was loaded, with what
they are. Where they differ, somebody is editing them, and which text was loaded nobody can say.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
SUFFIXES = (".py", ".pyc", ".c", ".h", ".so", ".pyd")


def files_of(folder: str | Path) -> str:
    """Name, size and times of each file of a package that can change what it does. Only an edit that sets the
    clock back can leave this as it was: the time of the last change of any kind is part of it."""
    told: list[str] = []
    pending = [str(folder)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending += [] if entry.name == "__pycache__" else [entry.path]
                elif entry.name.endswith(SUFFIXES):
                    now = entry.stat()
                    told.append(f"{entry.path!a} {now.st_size} {now.st_mtime_ns} {now.st_ctime_ns} {now.st_ino}")
    return "\n".join(sorted(told))


def _files_now() -> str:
    try:
        return files_of(PACKAGE)
    except OSError:  # in an archive, say
        return ""


AT_IMPORT = _files_now()


@cache
def revision() -> str:
    """A text that differs between all that this package ever was; '' where that cannot be told of what is loaded so
    far. What it says may have to be asked again when more was loaded."""
    return f"{sys.version} {sys.maxsize}\n{AT_IMPORT}" if _files_now() == AT_IMPORT else ""


def loaded_more() -> bool:
    """To be told of every module that is loaded later than the package: whether all that is loaded is one text. The
    answer is never yes again after a no."""
    if _files_now() == AT_IMPORT:
        return True
    revision.cache_clear()
    return False
