"""The store of measurements: an SQLite file, shared by threads and processes, with what was measured and concluded.

It answers what it was asked or raises StoreError; a file that is damaged is set aside, with a warning, and a new one
begun. It never makes a file to read from it. What must not raise into a call is behind profile/journal.py.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from loopwright.errors import StoreError
from loopwright.profile import database, rows
from loopwright.profile.history import Cell, cell_of
from loopwright.profile.machine import Machine
from loopwright.profile.measurement import Measurement
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName, Record

if TYPE_CHECKING:
    from sqlite3 import Connection

BUSY_S = 5.0

FORK_WAIT_S = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tally:
    """What there is of a kernel on a machine. failed: of the measurements, those that are not ok. oldest, newest:
    seconds since 1970."""

    kernel: KernelName
    machine: MachineName
    measurements: int
    failed: int
    runs: int
    oldest: float
    newest: float


@dataclass(frozen=True, slots=True)
class Unwanted:
    """What to remove: what has all of these properties. before: made before so many seconds since 1970. failed: its
    outcome is not ok. machine: a fingerprint. beyond: there are so many newer ones of its kernel on its machine."""

    before: float | None = None
    failed: bool = False
    machine: str | None = None
    beyond: int | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """How many of each there were."""

    measurements: int
    tables: int
    choices: int


class ProfileStore:
    """A store, opened at its first use. Threads may share it, one works at a time. `with Store.open(path) as store:`
    closes it. busy_s: how long to wait for other processes."""

    def __init__(self, path: Path, readonly: bool = False, busy_s: float = BUSY_S) -> None:
        self.path = Path(os.path.abspath(path))
        self.readonly, self.busy_s = readonly, busy_s
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._inode = self._process = 0
        _stores.add(self)

    @classmethod
    def open(cls, path: Path, readonly: bool = False, busy_s: float = BUSY_S) -> ProfileStore:
        """The store in this file. Nothing is read or made yet."""
        return cls(path, readonly, busy_s)

    def __enter__(self) -> ProfileStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back. The next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if self._process == os.getpid():
                connection.close()
            else:  # it is the parent process's: to close it, now or at the end, would touch the file
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))

    # ---- measurements -------------------------------------------------------------------------------------------

    def add(self, measurements: Iterable[Measurement]) -> None:
        """Keep these, all or none. What is there of the same variant, shape, machine, cache state and source is merged
        with it. Raises ValueError for what nobody can have measured."""
        self.absorb([cell_of(one) for one in measurements])

    def has_kernel(self, kernel: str) -> bool:
        """Whether anything was measured of a kernel (its fingerprint), on whatever machine."""
        return self._read(lambda connection: rows.has_kernel(connection, kernel), False)

    def of_kernel(self, kernel: str, machine: str) -> tuple[Measurement, ...]:
        """All measurements of a kernel on a machine (fingerprints), in the order of variants' texts."""
        return self._read(lambda connection: rows.measurements(connection, kernel, machine), ())

    def cells(self, kernel: str, machine: str) -> tuple[Cell, ...]:
        """As `of_kernel`, with the last batches of each."""
        return self._read(lambda connection: tuple(rows.cells(connection, kernel, machine)), ())

    def absorb(self, records: Iterable[Record]) -> None:
        """Keep records, all or none: cells merge; of tables and choices the newer one stays; the name of a kernel or a
        machine that is there already stays."""
        self._write(lambda connection: rows.put(connection, records))

    @contextmanager
    def snapshot(self) -> Iterator[Iterator[Record]]:
        """Everything, as it is at this moment and in an order that only the content decides: names of machines, of
        kernels, then cells, tables, choices."""
        try:
            connection = database.connect(self.path, self.busy_s, readonly=True)
            try:
                connection.execute("BEGIN")
                yield self._readable(rows.everything(connection))
            finally:
                connection.close()
        except database.sqlite().Error as error:
            raise self._explained(error) from error

    # ---- names --------------------------------------------------------------------------------------------------

    def put_kernel(self, kernel: KernelName) -> None:
        """Say what a kernel's fingerprint stands for."""
        self._write(lambda connection: rows.name_kernel(connection, kernel))

    def put_machine(self, machine: Machine) -> None:
        """Say what a machine's fingerprint stands for."""
        name = MachineName(machine.fingerprint, machine)
        self._write(lambda connection: rows.put(connection, [name]))

    def kernels(self) -> tuple[KernelName, ...]:
        """All kernels, by name."""
        return self._read(rows.kernels, ())

    def machines(self) -> tuple[MachineName, ...]:
        """All machines, by fingerprint."""
        return self._read(rows.machines, ())

    # ---- tables and choices -------------------------------------------------------------------------------------

    def put_table(self, table: FittedTable) -> None:
        """Keep a table in place of an older one of the same kind, machine and name. Raises ValueError for a content
        that JSON cannot say, such as NaN."""
        self.absorb([table])

    def table(self, kind: str, machine: str, name: str) -> FittedTable | None:
        """The table of this name."""
        return next((table for table in self.tables(kind, machine) if table.name == name), None)

    def tables(self, kind: str, machine: str) -> tuple[FittedTable, ...]:
        """All tables of a kind on a machine, by name."""
        return self._read(lambda connection: tuple(rows.tables(connection, kind, machine)), ())

    def put_choice(self, choice: ChoiceRecord) -> None:
        """Keep what was chosen in place of what was chosen before."""
        self.absorb([choice])

    def choices(self, kernel: str, machine: str) -> tuple[ChoiceRecord, ...]:
        """What was chosen last for each shape, in the order of sizes' texts."""
        return self._read(lambda connection: tuple(rows.choices(connection, kernel, machine)), ())

    # ---- upkeep -------------------------------------------------------------------------------------------------

    def tallies(self) -> tuple[Tally, ...]:
        """How much there is of each kernel on each machine, by the kernel's name."""
        return self._read(lambda connection: tuple(Tally(*told) for told in rows.tallies(connection)), ())

    def belongings(self) -> tuple[tuple[MachineName, int, int], ...]:
        """Each machine with the numbers of its tables and of its choices, by fingerprint."""
        return self._read(lambda connection: tuple(rows.belongings(connection)), ())

    def prune(self, unwanted: Unwanted, dry_run: bool = False) -> Removed:
        """Remove what is unwanted, and the names that nothing is left of. Tables and choices go by their age and their
        machine; where anything else is asked for, they stay. With dry_run, only count."""

        def remove(connection: Connection) -> Removed:
            which = (unwanted.before, unwanted.failed, unwanted.machine, unwanted.beyond)
            removed = Removed(*rows.prune(connection, *which))
            if dry_run:
                raise _DryRun(removed)
            return removed

        if not os.path.exists(self.path):
            return Removed(0, 0, 0)
        try:
            return self._write(remove)
        except _DryRun as told:
            return told.removed

    def compact(self) -> None:
        """Give room in the file that nothing is in back to the disk."""
        self._try(lambda connection: connection.execute("VACUUM"))

    # ---- how ----------------------------------------------------------------------------------------------------

    def _read(self, what: Callable[[Connection], T], empty: T) -> T:
        try:
            return self._try(what) if self.readonly or os.path.exists(self.path) else empty
        except (ValueError, TypeError) as error:
            raise self._unreadable(error) from error

    def _readable(self, records: Iterator[Record]) -> Iterator[Record]:
        try:
            yield from records
        except (ValueError, TypeError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> StoreError:
        why = f"the store of measurements {self.path} has a row that cannot be read: {error}"
        return StoreError(why, "rename that file: a new one is then begun")

    def _write(self, what: Callable[[Connection], T]) -> T:
        if self.readonly:
            raise StoreError(f"the store of measurements {self.path} was opened to be read only", fault="read-only")

        def written(connection: Connection) -> T:
            with database.transaction(connection):
                return what(connection)

        return self._try(written)

    def _try(self, what: Callable[[Connection], T]) -> T:
        """Do it with the file; where it turns out to be damaged, with a new one."""
        with self._lock:
            try:
                return self._once(what)
            except StoreError as error:
                if error.fault != "damaged" or self.readonly:
                    raise
                inode = self._inode
                self.close()
                database.set_aside(self.path, inode, str(error.__cause__))
            return self._once(what)

    def _once(self, what: Callable[[Connection], T]) -> T:
        try:
            return what(self._opened())
        except database.sqlite().Error as error:
            raise self._explained(error) from error

    def _opened(self) -> Connection:
        """The connection; a new one in a forked process, and where there is another file of this name now."""
        if self._connection and self._process == os.getpid() and self._inode == database.inode_of(self.path):
            return self._connection
        self.close()
        if self.readonly and not os.path.exists(self.path):
            raise StoreError(f"there is no store of measurements {self.path}", fault="missing")
        self._inode = database.inode_of(self.path)
        self._connection = database.connect(self.path, self.busy_s, self.readonly)
        self._inode, self._process = database.inode_of(self.path), os.getpid()
        return self._connection

    def _explained(self, error: Exception) -> StoreError:
        return database.explained(error, self.path, self.busy_s)


# ---- forks ------------------------------------------------------------------------------------------------------

# SQLite has locks of its own. No thread may hold one at the moment of a fork: in the child nobody would release it.
_stores: weakref.WeakSet[ProfileStore] = weakref.WeakSet()
_held: list[ProfileStore] = []


def _before_fork() -> None:
    _held.extend(store for store in tuple(_stores) if store._lock.acquire(timeout=FORK_WAIT_S))


def _after_in_parent() -> None:
    while _held:
        _held.pop()._lock.release()


def _after_in_child() -> None:
    _held.clear()
    for store in tuple(_stores):
        store._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


class _DryRun(Exception):
    """Ends a transaction whose result is only to be told."""

    def __init__(self, removed: Removed) -> None:
        self.removed = removed
