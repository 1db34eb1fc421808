"""What calls have to do with the store of measurements: nothing of it fails a call, or makes one wait long.

What is added is written by a thread of its own: some seconds later, when there is much of it, and when the process
ends. What cannot be written is kept in memory, told once (at the next call), and tried again with what comes after it.
In a forked process a journal begins anew; what waited there is the parent's to write.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

from loopwright.config import Config
from loopwright.errors import StoreError, warn_once
from loopwright.profile.history import Cell, cell_of, concluded, merged, pooled
from loopwright.profile.machine import Machine
from loopwright.profile.measurement import Measurement
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName, Record, key_of
from loopwright.profile.store import ProfileStore
from loopwright.toolchain.trust import why_untrusted

FLUSH_S = 2.0
FLUSH_MEASUREMENTS = 512
MOST_WAITING = 1 << 16
"""So many may wait to be written; the oldest are dropped first."""

MOST_LAST = 256
"""For so many keys what is to be made of the last call waits for the thread that writes; the oldest are dropped
first."""

MOST_KEPT = 1 << 14
"""So many records are kept in memory where they cannot be written; the oldest are dropped first."""

CALL_BUSY_S = 0.25
"""For so long a call waits for another process that has locked the store. The thread that writes waits longer."""

LASTING = ("newer", "foreign")
"""After these faults a process does not try again."""

T = TypeVar("T")
Kept = dict[Hashable, Record]


class Journal:
    """The store, as calls use it; any number of threads may. path: None for one that only remembers, until the process
    ends. So it does with measurements that have no machine (see Machine.fingerprint)."""

    def __init__(self, path: Path | None, flush_s: float = FLUSH_S) -> None:
        self.path, self._flush_s = path, flush_s
        self._begin()
        _journals.add(self)

    def _begin(self) -> None:
        self._waiting: deque[Measurement | Record] = deque(maxlen=MOST_WAITING)
        self._last: dict[Hashable, Callable[[], Iterable[Record]]] = {}
        self._unsaved: Kept = {}  # to be written
        self._memory: Kept = {}  # never to be written
        self._lent: set[Hashable] = set()
        self._reader = ProfileStore(self.path, busy_s=CALL_BUSY_S) if self.path else None
        self._writer = ProfileStore(self.path) if self.path else None
        self._state = threading.Lock()  # of the dictionaries; never held while the file is used
        self._flushing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._some, self._many = threading.Event(), threading.Event()
        self._troubles: deque[StoreError | ValueError | TypeError] = deque(maxlen=8)
        self._closed = self._failed = False

    # ---- for calls ----------------------------------------------------------------------------------------------

    def has_kernel(self, kernel: str) -> bool:
        """Whether anything is known of a kernel (its fingerprint), on whatever machine: one look-up in the file."""
        mine = any(isinstance(one, Cell) and one.kernel == kernel for one in self._unwritten())
        return mine or self._read(lambda store: store.has_kernel(kernel), False)

    def measurements(self, kernel: str, machine: str) -> tuple[Measurement, ...]:
        """All that is known of a kernel on a machine (fingerprints), with what is not written yet, in the order of
        variants' texts. It reads the file: some milliseconds for 1000 measurements."""
        cells = [one for one in self._unwritten() if isinstance(one, Cell)]
        mine = [one for one in cells if (one.kernel, one.machine) == (kernel, machine)]
        if not mine:
            return self._read(lambda store: store.of_kernel(kernel, machine), ())
        nothing: tuple[Cell, ...] = ()
        kept: Kept = {}
        _merge(kept, (*self._read(lambda store: store.cells(kernel, machine), nothing), *mine))
        found = [concluded(one) for one in kept.values() if isinstance(one, Cell)]
        return tuple(sorted(found, key=lambda m: (str(m.variant), m.shape.sizes, m.shape.features, m.cache, m.source)))

    def table(self, kind: str, machine: str, name: str) -> FittedTable | None:
        """The newest table of this kind and name on a machine; None where there is none."""
        tables = [one for one in self._unwritten() if isinstance(one, FittedTable)]
        mine = [one for one in tables if (one.kind, one.machine, one.name) == (kind, machine, name)]
        stored = self._read(lambda store: store.table(kind, machine, name), None)
        return max([*mine, *([stored] if stored else [])], key=lambda table: table.made_at, default=None)

    def machines(self) -> tuple[MachineName, ...]:
        """All machines that the file knows: results of one of the same kind can be a first guess."""
        return self._read(lambda store: store.machines(), ())

    def add(self, *measurements: Measurement) -> None:
        """Keep these. It takes about a microsecond; they are written later."""
        self._put(measurements)

    def put(self, *records: KernelName | FittedTable | ChoiceRecord) -> None:
        """Keep what a kernel's fingerprint stands for, tables, choices; they are written later."""
        self._put(records)

    def put_machine(self, machine: Machine) -> None:
        """Keep what a machine's fingerprint stands for."""
        if machine.fingerprint:
            self._put((MachineName(machine.fingerprint, machine),))

    def put_last(self, key: Hashable, make: Callable[[], Iterable[Record]]) -> None:
        """Keep the records that `make` gives. The thread that writes asks it, when it comes to that, and only the last
        one of each key: what changes with every call is written now and then, and once more at the end. A journal
        without a file drops it."""
        if self._writer is None:
            return
        with self._state:
            self._last[key] = make
            while len(self._last) > MOST_LAST:
                del self._last[next(iter(self._last))]
        self._put(())

    def lend(self, key: Hashable, records: Iterable[Record]) -> None:
        """Know these too, and never write them. key: stands for all of them."""
        with self._state:
            _merge(self._memory, records)
            self._lent.add(key)

    def has_lent(self, key: Hashable) -> bool:
        """Whether they were lent before."""
        return key in self._lent

    # ---- for those who can wait ---------------------------------------------------------------------------------

    def flush(self) -> bool:
        """Write now what waits, and say whether it is in the file. It takes as long as other processes lock the file,
        some seconds at most."""
        with self._flushing:
            self._make_last()
            self._gather()
            records = dict(self._unsaved)
            if self._writer is None or not records:
                return not self._unsaved and self._writer is not None
            try:
                self._save(self._writer, records.values())
            except StoreError as error:
                self._troubles.append(error)
                self._failed = True
                if error.fault in LASTING:
                    self._writer = self._reader = None
                return False
            self._failed = False
            with self._state:  # some may have changed meanwhile
                self._unsaved = {key: one for key, one in self._unsaved.items() if records.get(key) is not one}
            return not self._unsaved

    def close(self) -> None:
        """Write what waits, and give the file back. What is added from now on is only remembered."""
        self._closed = True
        self._some.set()
        self._many.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        if self._failed and self._writer is not None:  # once more, but nobody should wait long for the end
            self._writer.close()
            self._writer.busy_s = CALL_BUSY_S
        self.flush()
        for store in filter(None, (self._reader, self._writer)):
            store.close()
        self._reader = self._writer = None
        self._tell()

    # ---- how ----------------------------------------------------------------------------------------------------

    def _put(self, what: Iterable[Measurement | Record]) -> None:
        self._waiting.extend(what)
        if self._thread is None or self._troubles:
            self._start()
            self._tell()
        if not self._some.is_set():
            self._some.set()
        if len(self._waiting) >= FLUSH_MEASUREMENTS:
            if self._thread is None:
                self._gather()
            self._many.set()

    def _start(self) -> None:
        """Start the thread that writes, where there is something to write to."""
        with self._state:
            if self._thread is None and self._writer is not None and not self._closed:
                thread = threading.Thread(target=self._write_on, name="loopwright-journal", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # there are too many threads, or the process ends: `close` writes
                    return
                self._thread = thread

    def _write_on(self) -> None:
        while not self._closed:
            self._some.wait()
            self._many.wait(self._flush_s)
            self._some.clear()
            self._many.clear()
            if not self._closed:
                self.flush()

    def _save(self, writer: ProfileStore, records: Collection[Record]) -> None:
        """Write these; those that cannot be written, such as a table with NaN in it, are left out."""
        try:
            writer.absorb(records)
        except (ValueError, TypeError) as error:
            if len(records) == 1:
                self._troubles.append(error)
                return
            for one in records:
                self._save(writer, [one])

    def _gather(self) -> None:
        """What waits becomes records: to be written, or only to be remembered."""
        with self._state:
            taken: list[Measurement | Record] = []
            while self._waiting:
                taken.append(self._waiting.popleft())
            records = [*self._cells(taken), *(one for one in taken if not isinstance(one, Measurement))]
            for one in records:
                _merge(self._memory if self._writer is None or _has_no_machine(one) else self._unsaved, [one])
            for keep in (self._unsaved, self._memory):
                while len(keep) > MOST_KEPT:
                    del keep[next(iter(keep))]

    def _make_last(self) -> None:
        with self._state:
            made, self._last = self._last, {}
        for make in made.values():
            try:
                self._waiting.extend(make())
            except Exception as error:  # whatever it is: no call fails because of the store
                self._troubles.append(ValueError(f"a table of the last call: {error!r}"))

    def _cells(self, taken: Iterable[Measurement | Record]) -> Iterable[Cell]:
        for one in pooled(one for one in taken if isinstance(one, Measurement)):
            try:
                yield cell_of(one)
            except (ValueError, TypeError) as error:
                self._troubles.append(error)

    def _unwritten(self) -> list[Record]:
        self._gather()
        with self._state:
            return [*self._memory.values(), *self._unsaved.values()]

    def _read(self, what: Callable[[ProfileStore], T], empty: T) -> T:
        reader = self._reader
        if reader is None:
            return empty
        try:
            return what(reader)
        except StoreError as error:
            self._troubles.append(error)
            if error.fault in LASTING:
                self._reader = self._writer = None
            return empty
        finally:
            self._tell()

    def _tell(self) -> None:
        """Warn of what went wrong, in a thread of the user's."""
        while self._troubles:
            trouble = self._troubles.popleft()
            if isinstance(trouble, StoreError):
                warn_once(
                    f"store {self.path} {trouble.fault}",
                    f"{trouble.what}. Calls go on without it; what is measured meanwhile is kept in memory\n"
                    f"  try: {trouble.remedy}",
                )
            else:
                warn_once(f"store {self.path} refused", f"not kept in the store of measurements: {trouble}")


def _has_no_machine(record: Record) -> bool:
    return isinstance(record, Cell | FittedTable | ChoiceRecord) and not record.machine


def _merge(kept: Kept, records: Iterable[Record]) -> None:
    """Add records; what there is of the same key merges, or is replaced."""
    for one in records:
        key = key_of(one)
        there = kept.get(key)
        kept[key] = merged(there, one) if isinstance(there, Cell) and isinstance(one, Cell) else one


# ---- one for each file ------------------------------------------------------------------------------------------

_journals: weakref.WeakSet[Journal] = weakref.WeakSet()
_of_path: dict[Path | None, Journal] = {}
_making = threading.Lock()
_parents: list[object] = []  # stores of a parent process


def journal_of(config: Config) -> Journal:
    """The journal of the store that a Config names; the same one for the same file. The file in the cache folder is
    left alone where others may write there: a file and a log of theirs could have SQLite do strange things. (One that
    the user named is the user's business.)"""
    path = None if config.store_path is None else Path(os.path.abspath(config.store_path))
    journal = _of_path.get(path)
    if journal is None:
        with _making:
            foreign = config.store is None and why_untrusted(os.path.abspath(config.cache))
            journal = _of_path.setdefault(path, Journal(None if foreign else path))
    return journal


def _close_all() -> None:
    for journal in tuple(_journals):
        journal.close()


def _begin_anew() -> None:
    """In a forked process: threads are gone, locks may be held by nobody, and connections are the parent's."""
    global _making
    _making = threading.Lock()
    for journal in tuple(_journals):
        _parents.append((journal._reader, journal._writer))  # never closed here: see Store.close
        journal._begin()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
