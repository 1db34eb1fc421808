"""The cache of compiled things: a folder of entries, each named by the sha256 of all that its content depends on.

An entry is a folder with its files and `digest`, the sha256 of each. It is written under another name, flushed to
disk and renamed into place, so that a reader sees all of it or nothing, whoever is killed when. An entry whose
digest does not fit is set aside and made again. Nothing here needs a lock to be right; a lock file only spares two
processes from doing the same work at once. Where the folder cannot be used (read-only, full, not ours to trust)
a private folder, removed when the process ends, takes its place, and one warning says so.

    cache/objects/ab/abcdef.../   entries          cache/work/    unfinished entries and lock files
    cache/aside/                  corrupt entries, and sources that did not compile
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loopwright.errors import warn_once

try:
    import fcntl
except ImportError:  # not POSIX: no lock files, so at worst the same work is done twice
    fcntl = None  # type: ignore[assignment]

DIGEST = "digest"
STALE_WORK_S = 3600.0
STALE_ASIDE_S = 7 * 86400.0
POLL_S = 0.02

_guard = threading.Lock()
_unusable: dict[Path, str] = {}
_cleaned: set[Path] = set()
_private: list[Path] = []


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry: the folder with its files, and whether it was there before."""

    folder: Path
    from_cache: bool


def key_of(parts: Iterable[str]) -> str:
    """The name of an entry whose content depends on exactly these texts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def obtain(cache: Path, key: str, make: Callable[[Path], None], wait_s: float = 150.0) -> Stored:
    """The entry `key`, made by `make(folder)` where it is missing or corrupt.

    `make` writes the entry's files into an empty folder; an exception from it passes through and leaves nothing.
    An OSError of the file system (or from `make`) moves the work to a private folder, once. wait_s: for how long
    to wait at most, in seconds, for another process that is making the same entry. Raises OSError where the
    private folder fails as well."""
    cache = Path(os.path.abspath(cache))
    reason = _why_unusable(cache)
    if not reason:
        found = _load(cache, key)
        if found is not None:
            return Stored(found, True)
    for private in private_folders():
        found = _load(private, key)
        if found is not None:
            return Stored(found, True)
    if not reason and cache not in _unusable:
        try:
            return _make_in(cache, key, make, wait_s)
        except OSError as error:
            reason = str(error)
    _fall_back(cache, reason or _unusable[cache])
    return _make_in_private(key, make)


def find(cache: Path, key: str) -> Path | None:
    """The folder of the entry `key`; None where there is none, or none that may be used."""
    cache = Path(os.path.abspath(cache))
    roots = (*(() if _why_unusable(cache) else (cache,)), *private_folders())
    return next((found for root in roots if (found := _load(root, key)) is not None), None)


def keep(cache: Path, key: str, make: Callable[[Path], None]) -> None:
    """As `obtain`, for what can be done without: where it cannot be written nothing is, and nobody is told. Nor does
    anybody wait for the disk: of what a power cut leaves of it, the digest tells."""
    cache = Path(os.path.abspath(cache))
    if not _why_unusable(cache) and cache not in _unusable:
        with suppress(OSError):
            _make_in(cache, key, make, 0.0, flush=False)


def discard(entry: Path) -> None:
    """Set an entry aside that is whole, but not what it should be."""
    _set_aside(entry.parents[2], entry)


def keep_aside(cache: Path, name: str, text: str) -> Path | None:
    """Write a text that a person should see under cache/aside; None where nothing can be written."""
    for root in (cache, *private_folders()):
        if not (root == cache and (_why_unusable(cache) or cache in _unusable)):
            with suppress(OSError):
                return _write_aside(root, name, text)
    return None


def private_folders() -> tuple[Path, ...]:
    """The private folder in use by this process, if there is one."""
    return tuple(folder for folder in _private if folder.is_dir())


def _write_aside(root: Path, name: str, text: str) -> Path:
    folder = _made(root, "aside")
    path = folder / name
    path.write_text(text)
    return path


# ---- one entry --------------------------------------------------------------------------------------------------


def _entry(root: Path, key: str) -> Path:
    return root / "objects" / key[:2] / key


def _load(root: Path, key: str) -> Path | None:
    """The entry's folder where it is whole; a corrupt one is moved aside."""
    folder = _entry(root, key)
    try:
        wanted = (folder / DIGEST).read_text()
    except FileNotFoundError:
        if not folder.is_dir():
            return None
        wanted = ""
    except (OSError, UnicodeDecodeError):
        wanted = ""
    try:
        if wanted and wanted == _digest(folder):
            return folder
    except OSError:
        pass
    _set_aside(root, folder)
    return None


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.name != DIGEST)
    return json.dumps({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files})


def _set_aside(root: Path, folder: Path) -> None:
    with suppress(OSError):
        aside = _made(root, "aside")
        os.rename(folder, tempfile.mkdtemp(prefix=folder.name + "-", dir=aside))


def _make_in(root: Path, key: str, make: Callable[[Path], None], wait_s: float, flush: bool = True) -> Stored:
    work = _made(root, "work")
    _clean(root)
    with _turn(work / (key + ".lock"), wait_s):
        found = _load(root, key)
        if found is not None:
            return Stored(found, True)
        folder = Path(tempfile.mkdtemp(prefix=key[:16] + "-", dir=work))
        try:
            make(folder)
            (folder / DIGEST).write_text(_digest(folder))
            if flush:
                _flush(folder)
            return Stored(_publish(root, key, folder, flush), False)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _publish(root: Path, key: str, folder: Path, flush: bool) -> Path:
    """Rename the finished folder into place, unless another process was faster: then its entry is the entry."""
    final = _entry(root, key)
    _made(root, "objects", key[:2])
    for _ in range(10):
        try:
            os.rename(folder, final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if _load(root, key) is not None:
                return final
        else:
            if flush:
                _flush_folder(final.parent)
            return final
    raise OSError(errno.EEXIST, "a corrupt entry cannot be moved away", str(final))


def _flush(folder: Path) -> None:
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    _flush_folder(folder)


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot flush a folder; then the rename alone has to do
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---- folders ----------------------------------------------------------------------------------------------------


def _made(root: Path, *names: str) -> Path:
    """root/names..., made where it is missing; whatever is made from root on is for its owner only."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in names:
        root = root / name
        root.mkdir(mode=0o700, exist_ok=True)
    return root


def _why_unusable(cache: Path) -> str:
    """Why nothing may even be read from this folder, or ''. Code found there runs in this process."""
    for folder in (cache, cache / "objects"):
        try:
            status = folder.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            return str(error)
        if not stat.S_ISDIR(status.st_mode):
            return f"{folder} is not a folder"
        if hasattr(os, "getuid") and status.st_uid != os.getuid() and status.st_mode & stat.S_IWOTH:
            return f"{folder} belongs to another user and everybody may write to it"
        with suppress(OSError, AttributeError):
            if os.statvfs(folder).f_flag & os.ST_NOEXEC:
                return f"{folder} is mounted without the right to execute"
    return ""


def _clean(root: Path) -> None:
    """Remove what killed processes left behind long ago; once per process and folder."""
    with _guard:
        if root in _cleaned:
            return
        _cleaned.add(root)
    for name, age_s in (("work", STALE_WORK_S), ("aside", STALE_ASIDE_S)):
        _remove_older(root / name, time.time() - age_s)


def _remove_older(folder: Path, before: float) -> None:
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                if path.lstat().st_mtime < before:
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink()


@contextmanager
def _turn(path: Path, wait_s: float) -> Iterator[None]:
    """Hold this lock file, where locks work and it is free within wait_s; otherwise go on without it."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    held = False
    try:
        held = _locked(descriptor, time.monotonic() + wait_s)
        yield
    finally:
        if held:  # unlock by name too: a process forked meanwhile shares the descriptor
            with suppress(OSError):
                path.unlink()
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _locked(descriptor: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return False
        if time.monotonic() >= until:
            return False
        time.sleep(POLL_S)


# ---- the private folder -----------------------------------------------------------------------------------------


def _fall_back(cache: Path, reason: str) -> None:
    _unusable[cache] = reason
    warn_once(
        f"cache {cache}",
        f"the cache folder {cache} cannot be used ({reason}); compiled code is kept in a temporary folder and lost "
        "when this process ends. Set LOOPWRIGHT_CACHE to a folder of your own that can be written",
    )


def _make_in_private(key: str, make: Callable[[Path], None]) -> Stored:
    """Make the entry in a private folder, trying each place for temporary files until one works."""
    failure: OSError | None = None
    for place in (*private_folders(), *_temporary_places()):
        try:
            folder = place if place in _private else _new_private(place)
            return _make_in(folder, key, make, 0.0)
        except OSError as error:
            failure = error
    raise failure or OSError(errno.ENOSPC, "no folder for temporary files can be written")


def _temporary_places() -> tuple[Path, ...]:
    with suppress(OSError):
        return (Path(tempfile.gettempdir()), Path("/dev/shm"))
    return (Path("/dev/shm"),)


def _new_private(place: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="loopwright-", dir=place))
    with _guard:
        _private.insert(0, folder)
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a forked child: the parent still uses it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder
