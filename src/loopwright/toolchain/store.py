"""The cache of compiled things: a folder of entries, each named by the sha256 of all that its content depends on.

An entry is a folder with its files and `digest`, its key and the sha256 of each file. It is written under another
name, flushed to disk and renamed into place, so that a reader sees all of it or nothing, whoever is killed when. An
entry whose digest does not fit is set aside and made again. Nothing here needs a lock to be right; a lock file only
spares two processes from doing the same work at once.

The digest tells what broke, not what was planted: who writes the one writes the other. That nobody else could have
written any of it is for trust.py to say, of each folder and file when it is open. Where the folder cannot be used
(read-only, full, not ours to trust) a private folder, removed when the process ends, takes its place, and one warning
says so. limit.py keeps it from growing for ever.

    cache/objects/ab/abcdef.../   entries          cache/work/    unfinished entries and lock files
    cache/aside/                  corrupt entries, and sources that did not compile
    cache/size                    how large that is by now, about
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from loopwright.deferred import deferred
from loopwright.errors import is_of_a_handler, warn_once
from loopwright.forks import free_in_child
from loopwright.toolchain.trust import folder_in, trusted_file, trusted_folder

if TYPE_CHECKING:
    from loopwright.toolchain import limit
else:
    limit = deferred("loopwright.toolchain.limit")

try:
    import fcntl
except ImportError:  # not POSIX: no lock files, so at worst the same work is done twice
    fcntl = None  # type: ignore[assignment]

DIGEST = "digest"
USED_AGAIN_S = 86400.0
"""How long the time of an entry's last use may lie behind: so rarely is it written that it costs nothing."""
FOR_NOW = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # these say nothing of the file
STALE_WORK_S = 3600.0
STALE_ASIDE_S = 7 * 86400.0
STALE_PRIVATE_S = 86400.0
PRIVATE = "loopwright-"  # with the number of the process
POLL_S = 0.02

_guard = free_in_child(threading.Lock())
_unusable: dict[Path, str] = {}
_executable: set[Path] = set()
_cleaned: set[Path] = set()
_private: list[Path] = []


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry: the folder with its files, whether it was there before, and what was read of the files when they were
    checked."""

    folder: Path
    from_cache: bool
    contents: Mapping[str, bytes] = field(repr=False, compare=False)


def key_of(parts: Iterable[str]) -> str:
    """The name of an entry whose content depends on exactly these texts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def obtain(
    cache: Path, key: str, make: Callable[[Path], None], wait_s: float = 150.0, most_bytes: int | None = None
) -> Stored:
    """The entry `key`, made by `make(folder)` where it is missing or corrupt.

    `make` writes the entry's files into an empty folder; an exception from it passes through and leaves nothing.
    An OSError of the file system (or from `make`) moves the work to a private folder, once. wait_s: for how long
    to wait at most, in seconds, for another process that is making the same entry. most_bytes: how large the cache may
    become: what was not used for longest then goes. Raises OSError where the private folder fails as well."""
    cache = Path(os.path.abspath(cache))
    reason = _why_unusable(cache)
    for root in (*(() if reason else (cache,)), *private_folders()):
        if (found := _load(root, key)) is not None:
            return found
    if not reason and cache not in _unusable:
        try:
            made = _make_in(cache, key, make, wait_s)
            _count(cache, made, most_bytes)
            return made
        except OSError as error:
            if is_of_a_handler(error):
                raise
            reason = str(error)
    _fall_back(cache, reason or _unusable[cache])
    return _make_in_private(key, make)


def find(cache: Path, key: str) -> Stored | None:
    """The entry `key`; None where there is none, or none that may be used."""
    cache = Path(os.path.abspath(cache))
    roots = (*(() if _why_unusable(cache) else (cache,)), *private_folders())
    return next((found for root in roots if (found := _load(root, key)) is not None), None)


def keep(cache: Path, key: str, make: Callable[[Path], None], most_bytes: int | None = None) -> None:
    """As `obtain`, for what can be done without: where it cannot be written nothing is, and nobody is told. Nor does
    anybody wait for the disk: of what a power cut leaves of it, the digest tells."""
    cache = Path(os.path.abspath(cache))
    if not _why_unusable(cache) and cache not in _unusable:
        try:
            _count(cache, _make_in(cache, key, make, 0.0, flush=False), most_bytes)
        except OSError as error:
            if is_of_a_handler(error):
                raise


def discard(entry: Stored) -> None:
    """Set an entry aside that is whole, but not what it should be."""
    _set_aside(entry.folder.parents[2], entry.folder)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of a file of an entry, found in the same way and checked like the entry. Raises FileNotFoundError
    where the entry was removed meanwhile, and OSError where it is not to be trusted."""
    *_, first, second, third, name = path.parts
    with (
        _open_folder(path.parents[3], first, second, third) as folder,
        trusted_file(folder, name, str(path)) as (file, _),
    ):
        yield file


def why_unusable(cache: Path) -> str:
    """Why nothing may even be read from this folder, or ''. Code found there runs in this process."""
    cache = Path(os.path.abspath(cache))
    _executable.discard(cache)  # it is asked anew
    return _why_unusable(cache)


def keep_aside(cache: Path, name: str, text: str) -> Path | None:
    """Write a text that a person should see under cache/aside; None where nothing can be written."""
    cache = Path(os.path.abspath(cache))
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


def _load(root: Path, key: str) -> Stored | None:
    """The entry where it is whole; a corrupt one, and one that others may have written, is moved aside."""
    folder = _entry(root, key)
    try:
        with _open_folder(root, "objects", key[:2], key) as entry:
            where = str(folder)
            contents = {name: _content(entry, name, where) for name in os.listdir(entry)}
        if contents.pop(DIGEST, b"").decode() == _digest(key, contents):
            return Stored(folder, True, contents)
    except OSError as error:
        if error.errno in FOR_NOW or not os.path.lexists(folder):
            return None
    except UnicodeDecodeError:
        pass
    _set_aside(root, folder)
    return None


def _content(entry: int, name: str, where: str) -> bytes:
    with trusted_file(entry, name, f"{where}/{name}") as (file, status):
        if name == DIGEST and time.time() - status.st_mtime > USED_AGAIN_S:
            with suppress(OSError, TypeError):
                os.utime(file)
        content = os.read(file, status.st_size + 1)
        while more := os.read(file, 1 << 20):
            content += more
        return content


def _digest(key: str, contents: Mapping[str, bytes]) -> str:
    told = {name: hashlib.sha256(contents[name]).hexdigest() for name in sorted(contents)}
    return json.dumps({"key": key, "files": told})


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
            return found
        folder = Path(tempfile.mkdtemp(prefix=key[:16] + "-", dir=work))
        try:
            _filled(folder, make)
            contents = {path.name: path.read_bytes() for path in folder.iterdir()}
            (folder / DIGEST).write_text(_digest(key, contents))
            _close_to_others(folder)
            if flush:
                _flush(folder)
            return _publish(root, key, folder, contents, flush)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _filled(folder: Path, make: Callable[[Path], None]) -> None:
    """An error in writing names no file: then the folder."""
    try:
        make(folder)
    except OSError as error:
        if error.errno and error.filename is None:
            raise OSError(error.errno, os.strerror(error.errno), str(folder)) from error
        raise


def _close_to_others(folder: Path) -> None:
    """Whatever the umask and the compiler say."""
    for path in folder.iterdir():
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            path.chmod(mode & ~(stat.S_IWGRP | stat.S_IWOTH))


def _publish(root: Path, key: str, folder: Path, contents: Mapping[str, bytes], flush: bool) -> Stored:
    """Rename the finished folder into place, unless another process was faster: then its entry is the entry."""
    final = _entry(root, key)
    _made(root, "objects", key[:2])
    for _ in range(10):
        try:
            os.rename(folder, final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if (found := _load(root, key)) is not None:
                return found
        else:
            if flush:
                _flush_folder(final.parent)
            return Stored(final, False, contents)
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


@contextmanager
def _open_folder(root: Path, *names: str, make: bool = False) -> Iterator[int]:
    """A descriptor of root/names..., each of which is checked when it is open."""
    where = str(root)
    with ExitStack() as stack:
        folder = stack.enter_context(trusted_folder(where, make))
        for name in names:
            where = f"{where}/{name}"
            folder = stack.enter_context(folder_in(folder, name, where, make))
        yield folder


def _made(root: Path, *names: str) -> Path:
    """root/names..., made where it is missing; whatever is made is for its owner only."""
    with _open_folder(root, *names, make=True):
        return root.joinpath(*names)


def _why_unusable(cache: Path) -> str:
    if cache in _executable:  # who opens what is in it asks whether it is still to be trusted
        return ""
    try:
        with trusted_folder(str(cache)):
            if reason := _why_not_executable(cache):
                return reason
            _executable.add(cache)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return str(error)
    return ""


def _why_not_executable(folder: Path) -> str:
    with suppress(OSError, AttributeError):
        if os.statvfs(folder).f_flag & os.ST_NOEXEC:
            return f"{folder} is mounted without the right to execute"
    return ""


def _count(root: Path, made: Stored, most_bytes: int | None) -> None:
    """Tell of a new entry, and make room for it where that is due. It is no reason to fail."""
    if most_bytes is not None and not made.from_cache:
        with suppress(OSError):
            limit.count(root, made.contents.values(), most_bytes)


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
        held = locked(descriptor, time.monotonic() + wait_s)
        yield
    finally:
        if held:  # unlock by name too: a process forked meanwhile shares the descriptor
            with suppress(OSError):
                path.unlink()
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def locked(descriptor: int, until: float) -> bool:
    """Whether this open file is ours alone now; waits for that until a time of the monotonic clock."""
    if fcntl is None:
        return True
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
            if is_of_a_handler(error):
                raise
            failure = error
    raise failure or OSError(errno.ENOSPC, "no folder for temporary files can be written")


def _temporary_places() -> tuple[Path, ...]:
    places = [Path(name) for name in ("/tmp", "/var/tmp", "/dev/shm")]
    with suppress(OSError):
        places.insert(0, Path(tempfile.gettempdir()))
    return tuple(dict.fromkeys(places))


def _remove_deserted(place: Path) -> None:
    """Private folders of processes that were killed, after a day: one that only seems to be gone, in a container of its
    own, will make another."""
    with suppress(OSError):
        for path in place.glob(PRIVATE + "*-*"):
            with suppress(OSError, ValueError, AttributeError):
                status = path.lstat()
                mine = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
                if mine and time.time() - status.st_mtime > STALE_PRIVATE_S and not _runs(int(path.name.split("-")[1])):
                    shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _new_private(place: Path) -> Path:
    _remove_deserted(place)
    folder = Path(tempfile.mkdtemp(prefix=f"{PRIVATE}{os.getpid()}-", dir=place))
    try:
        with trusted_folder(str(folder)):
            pass
        if reason := _why_not_executable(folder):
            raise OSError(reason)
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        raise
    with _guard:
        _private.insert(0, folder)
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not in a forked child: the parent still uses it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder
