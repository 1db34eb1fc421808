"""How large the cache is, and that it does not grow for ever: what was not used for longest goes first.

A process that has made an entry adds its size to a number in the file `size`. Only where that is more than the limit
does anybody look at the whole cache: then entries are removed until there is room for many more, so that it is rare.
The number may be wrong, where a process was killed or somebody has removed files: whoever looks puts it right, and
somebody looks once a week. When an entry was used last is the time of its `digest` (store.py writes it once a day).

An entry is renamed before it is removed: who finds it finds all of it. A process that has loaded it already keeps it,
and one that was just about to makes it again.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loopwright.forks import free_in_child
from loopwright.toolchain.store import DIGEST, STALE_WORK_S, locked
from loopwright.toolchain.trust import NO_LINK, folder_in, trusted_folder

SIZE = "size"
FORM = re.compile(rb"(\d{20}) (\d{12})\n")
BLOCK_BYTES = 4096
AIM = 0.8
"""How full the cache is after room was made."""
SPARED_S = 60.0
"""What was made or used so lately stays: somebody is about to load it."""
LOOK_AGAIN_S = 7 * 86400.0
WAIT_S = 0.05

# What kind of entry it is, by a file in it.
KINDS = {
    "kernel.cpp": "code for the emulated GPU",
    "kernel.cubin": "code for GPUs",
    "kernel.so": "code for CPUs",
    "remembered.json": "results of passes",
    "abilities.json": "what compilers can do",
    "version.txt": "what compilers can do",
    "nvdisasm.out": "instructions of GPU code",
}
OTHER, ASIDE, WORK = "other", "set aside", "unfinished"

_uncounted: dict[Path, int] = {}  # made while another process held the file
_adding = free_in_child(threading.Lock())


@dataclass(frozen=True, slots=True)
class CacheItem:
    """An entry, or what else there is in the cache. used: when it was used last, in seconds since 1970."""

    path: Path
    kind: str
    size_bytes: int
    used: float


def size_of(sizes: Iterable[int]) -> int:
    """What files of these sizes take on the disk, in a folder of their own with a digest."""
    return sum(-(-size // BLOCK_BYTES) * BLOCK_BYTES for size in sizes) + 2 * BLOCK_BYTES


def count(root: Path, contents: Iterable[bytes], most_bytes: int) -> None:
    """Tell that an entry was added to the cache; where that is too much, make room."""
    added = size_of(map(len, contents))
    with _adding:
        added += _uncounted.pop(root, 0)
    with _numbers(root) as descriptor:
        if descriptor is None:
            with _adding:
                _uncounted[root] = _uncounted.get(root, 0) + added
            return
        total, looked = _read(descriptor)
        if total + added <= most_bytes and 0 <= time.time() - looked < LOOK_AGAIN_S:
            _write(descriptor, total + added, looked)
        else:
            _make_room(root, descriptor, most_bytes, time.time())


def trim(root: Path, most_bytes: int) -> tuple[int, int]:
    """Remove what was not used for longest, until there is room; how many entries, and bytes, that were. Raises
    OSError."""
    with _numbers(root) as descriptor:
        return _make_room(root, descriptor, most_bytes, time.time())


def clear(root: Path) -> tuple[int, int]:
    """Remove everything that is finished, or was left unfinished; how many entries, and bytes, that were. What another
    process is just making stays. Raises OSError."""
    with _numbers(root) as descriptor:
        found = items(root)
        gone = [item for item in found if _may_go(item, time.time()) and _remove(root, item)]
        if descriptor is not None:
            _write(descriptor, sum(item.size_bytes for item in found) - sum(item.size_bytes for item in gone))
    return len(gone), sum(item.size_bytes for item in gone)


def items(root: Path) -> list[CacheItem]:
    """All that is in the cache, without measurements. What cannot be read is left out."""
    found = [_entry(path, set(names), names) for path in _folders(root) if (names := _sizes(path)) is not None]
    for name, kind in (("aside", ASIDE), ("work", WORK)):
        for path in _listed(root / name):
            with suppress(OSError):
                status = path.lstat()
                sizes = _sizes(path) if path.is_dir() and not path.is_symlink() else {"": status.st_size}
                found.append(CacheItem(path, kind, size_of((sizes or {}).values()), status.st_mtime))
    return found


# ---- looking ----------------------------------------------------------------------------------------------------


def _entry(path: Path, names: set[str], sizes: dict[str, int]) -> CacheItem:
    kind = next((kind for name, kind in KINDS.items() if name in names), OTHER)
    used = 0.0
    for told in (path / DIGEST, path):
        with suppress(OSError):
            used = told.lstat().st_mtime
            break
    return CacheItem(path, kind, size_of(size for name, size in sizes.items() if name != DIGEST), used)


def _folders(root: Path) -> Iterator[Path]:
    for folder in _listed(root / "objects"):
        if not folder.is_symlink():
            yield from _listed(folder)


def _listed(folder: Path) -> list[Path]:
    try:
        return [Path(one.path) for one in os.scandir(folder)]
    except OSError:
        return []


def _sizes(folder: Path) -> dict[str, int] | None:
    """The sizes of the files in an entry; None where it is none any more."""
    try:
        with os.scandir(folder) as files:
            return {file.name: file.stat(follow_symlinks=False).st_size for file in files}
    except OSError:
        return None


# ---- removing ---------------------------------------------------------------------------------------------------


def _make_room(root: Path, descriptor: int | None, most_bytes: int, now: float) -> tuple[int, int]:
    found = sorted((item for item in items(root) if item.kind != WORK), key=lambda item: item.used)
    total, gone = sum(item.size_bytes for item in found), []
    if total > most_bytes:
        for item in found:
            if total <= AIM * most_bytes:
                break
            if now - item.used >= SPARED_S and _remove(root, item):
                total -= item.size_bytes
                gone.append(item)
    if descriptor is not None:
        _write(descriptor, total, now)
    return len(gone), sum(item.size_bytes for item in gone)


def _may_go(item: CacheItem, now: float) -> bool:
    return item.kind != WORK or now - item.used > STALE_WORK_S


def _remove(root: Path, item: CacheItem) -> bool:
    """Whether it is gone. Nobody sees half of it; what a kill leaves is unfinished work, and removed as such."""
    try:
        if item.path.is_dir() and not item.path.is_symlink():
            out_of_sight = tempfile.mkdtemp(prefix="gone-", dir=root / "work")
            os.rename(item.path, out_of_sight)
            shutil.rmtree(out_of_sight, ignore_errors=True)
        else:
            item.path.unlink()
    except OSError:
        return False
    return True


# ---- the number -------------------------------------------------------------------------------------------------


@contextmanager
def _numbers(root: Path) -> Iterator[int | None]:
    """The open file `size`, which nobody else reads or writes meanwhile; None where somebody has it for too long."""
    with trusted_folder(str(root)) as folder, folder_in(folder, "work", str(root / "work"), make=True):
        descriptor = os.open(SIZE, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600, dir_fd=folder)
    try:
        yield descriptor if locked(descriptor, time.monotonic() + WAIT_S) else None
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> tuple[int, float]:
    """The size of the cache, about, and when somebody looked. Where no number is, that was long ago."""
    found = FORM.fullmatch(os.pread(descriptor, 100, 0))
    return (int(found[1]), float(found[2])) if found else (0, 0.0)


def _write(descriptor: int, total: int, looked: float | None = None) -> None:
    """In one go, and always as long: a kill does not leave half a number."""
    looked = _read(descriptor)[1] if looked is None else looked
    os.pwrite(descriptor, b"%020d %012d\n" % (max(total, 0), int(looked)), 0)
