"""The file of the store of measurements: opening it in the right version, and what to do where that is not possible.

A file is opened as it is, made anew, brought from an older version, or refused and left untouched: one of a newer
version, or of another program. SQLite is imported when the first file is opened. What is in it is profile/store.py's.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loopwright.errors import StoreError, StoreFault, warn_once

if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 1
APPLICATION = 0x4C575354  # "LWST", in the file's header
HERE = Path(__file__).parent
MIGRATIONS = ("from_0.sql",)  # the script at n brings version n to n + 1
COLUMNS_0 = (
    "kernel", "machine", "variant", "sizes", "outcome", "time_ns", "spread", "runs", "made_at", "reason",
)  # fmt: skip
SUFFIXES = (".sqlite3", ".sqlite", ".db")  # of files that are set aside where they are damaged
OLDEST_SQLITE = (3, 25, 0)  # has upserts and window functions
ELSEWHERE = "another file for measurements (LOOPWRIGHT_STORE=path), or none (LOOPWRIGHT_STORE=off)"

# Result codes of SQLite (sqlite.org/rescode.html), without what the extended ones add.
BUSY, LOCKED, READ_ONLY, CORRUPT, FULL, CANNOT_OPEN, NO_DATABASE = 5, 6, 8, 11, 13, 14, 26


@functools.cache
def sqlite() -> Any:
    """Python's sqlite3. Raises StoreError where this Python has none, or a very old one."""
    try:
        module = importlib.import_module("sqlite3")
    except ImportError as error:
        raise StoreError(f"this Python has no SQLite ({error}): measurements cannot be kept") from error
    if module.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"SQLite {module.sqlite_version} is too old to keep measurements: 3.25 or newer is needed")
    return module


def connect(path: Path, busy_s: float, readonly: bool = False) -> Connection:
    """An open store. Without `readonly` a missing or empty file is made. From a folder that cannot be written it is
    read as it is, and writing then fails. An older file that is only read is brought to our version in memory.

    busy_s: how long to wait for other processes. Raises StoreError for a newer version and for what is not ours, and
    sqlite3.Error, for `explained`."""
    if not readonly:
        _make_folder(path)
    try:
        return _checked(_opened(path, busy_s, "mode=ro" if readonly else "mode=rwc"), path, readonly)
    except sqlite().OperationalError as error:
        if code_of(error) not in (CANNOT_OPEN, READ_ONLY) or not _at_rest(path):
            raise
    # SQLite would keep an index of its log beside the file. Nobody writes to it here, so it can do without.
    return _checked(_opened(path, busy_s, "mode=ro&immutable=1"), path, readonly=True)


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """All that is written in a `with` block, or nothing, whatever ends it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself where the disk is full
            connection.execute("ROLLBACK")
        raise


def code_of(error: Exception) -> int:
    """SQLite's primary result code; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: Exception) -> bool:
    """Whether it says that the file is not, or not any more, a database."""
    return code_of(error) in (CORRUPT, NO_DATABASE)


def explained(error: Exception, path: Path, busy_s: float) -> StoreError:
    """An error of SQLite, for people."""
    code = code_of(error)
    fault: StoreFault = "other"
    what, remedy = f"the store of measurements {path} fails: {error}", ELSEWHERE
    if code in (BUSY, LOCKED):
        fault, what = "locked", f"the store of measurements {path} was locked by another process for {busy_s:g} s"
        remedy = f"end that process (fuser {path} names it), or {ELSEWHERE}"
    elif code == FULL:
        fault, what = "full", f"there is no room to write to the store of measurements {path}: {error}"
        remedy = f"make room (loopwright db prune makes it smaller), or {ELSEWHERE}"
    elif code in (READ_ONLY, CANNOT_OPEN):
        can_be_read = code == READ_ONLY
        fault, what = "read-only", f"the store of measurements {path} cannot be written: {error}"
        if not can_be_read:
            what = f"the store of measurements {path} cannot be opened: {error}"
    elif is_damage(error):
        fault, what = "damaged", f"{path} is no store of measurements, or is damaged: {error}"
    return StoreError(what, remedy, fault)


def set_aside(path: Path, inode: int, trouble: str) -> Path | None:
    """Rename a damaged file, with its log, and warn once; None where another process was faster: there is another
    file now. inode: of the file that was found to be damaged. Raises StoreError where it cannot be renamed, and for a
    file that does not even have the name of a database: it may be anybody's."""
    if inode_of(path) != inode:
        return None
    if path.suffix not in SUFFIXES:
        raise StoreError(f"{path} is no store of measurements: {trouble}; it is left as it is", ELSEWHERE, "foreign")
    day = f"{path.name}.corrupt-{time.strftime('%Y-%m-%d')}"
    names = itertools.chain([day], (f"{day}-{n}" for n in itertools.count(2)))
    aside = next(there for name in names if not (there := path.with_name(name)).exists())
    try:
        path.rename(aside)
    except OSError as error:
        why = f"{path} is damaged ({trouble}), and cannot be renamed: {error}"
        raise StoreError(why, ELSEWHERE, "damaged") from error
    for end in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    warn_once(
        f"store {path} damaged",
        f"the store of measurements {path} is damaged ({trouble}): it was renamed to {aside.name}, and a new one is "
        "begun. What was once exported comes back with: loopwright db import FILE",
    )
    return aside


def inode_of(path: Path) -> int:
    """What tells this file from others that had or will have its name; 0 where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


# ---- opening ----------------------------------------------------------------------------------------------------


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder of the store of measurements {path} cannot be made: {error}"
        raise StoreError(what, ELSEWHERE, "read-only") from error


def _opened(path: Path, busy_s: float, how: str) -> Connection:
    uri = f"{path.absolute().as_uri()}?{how}"
    connection: Connection = sqlite().connect(
        uri, uri=True, timeout=busy_s, isolation_level=None, check_same_thread=False
    )
    return connection


def _at_rest(path: Path) -> bool:
    """Whether all of it is in the file itself: nobody has it open, and nobody who had was killed."""
    log = path.with_name(path.name + "-wal")
    with suppress(OSError):
        return path.is_file() and not (log.exists() and log.stat().st_size)
    return False


def _checked(connection: Connection, path: Path, readonly: bool) -> Connection:
    """A connection to a store of our version. On an error it is closed."""
    try:
        version = _pragma(connection, "user_version")
        if version > VERSION and _is_ours(connection):
            raise _newer(path, version)
        if version != VERSION or not _is_ours(connection):
            connection = _brought_up(connection, path, readonly)
        if not readonly:
            _keep_a_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")  # with a log: a power cut costs the last rows only
        connection.execute("PRAGMA trusted_schema = OFF")  # it may be somebody else's file
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(connection: Connection) -> bool:
    return _pragma(connection, "application_id") == APPLICATION


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _newer(path: Path, version: int) -> StoreError:
    versions = f"(version {version}, this one knows {VERSION})"
    what = f"the store of measurements {path} is one of a newer Loopwright {versions}: it is left as it is"
    return StoreError(what, f"the newer Loopwright, or {ELSEWHERE}", "newer")


def _brought_up(connection: Connection, path: Path, readonly: bool) -> Connection:
    """A connection to the same store, in our version."""
    if not readonly:
        _migrate(connection, path)
        return connection
    memory: Connection = sqlite().connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.backup(memory)
    connection.close()
    try:
        _migrate(memory, path)
    except BaseException:
        memory.close()
        raise
    return memory


def _keep_a_log(connection: Connection) -> None:
    """Write ahead to a log from now on: nobody who reads waits for one who writes. Where somebody is reading at this
    moment, or the file cannot be written, it stays as it is until it is opened again."""
    with suppress(sqlite().OperationalError):
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")


def _migrate(connection: Connection, path: Path) -> None:
    with transaction(connection):
        version = _pragma(connection, "user_version")  # another process may have been faster
        if version > VERSION:
            raise _newer(path, version)
        if version == VERSION and _is_ours(connection):
            return
        for script in _scripts(connection, path, version):
            for statement in _statements((HERE / script).read_text(encoding="utf-8")):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _scripts(connection: Connection, path: Path, version: int) -> list[str]:
    """What makes a store of our version of this. Raises StoreError where it is another program's."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version == 0 and not tables and _pragma(connection, "application_id") == 0:
        return ["schema.sql"]
    columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(measurements)"))
    if _is_ours(connection) or (version == 0 and tables == {"measurements"} and columns == COLUMNS_0):
        return [f"migrations/{name}" for name in MIGRATIONS[version:]]
    raise StoreError(f"{path} is a database of another program: it is left as it is", ELSEWHERE, "foreign")


def _statements(script: str) -> Iterator[str]:
    """One by one: sqlite3's own way to run a script ends the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite().complete_statement(statement):
            yield statement
            statement = ""
