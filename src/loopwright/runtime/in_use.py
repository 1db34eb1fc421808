"""Code of one Compilation while it is in use: the values that its constants have now, entries, and what was measured.

It compiles nothing and chooses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from loopwright.config import Tested
from loopwright.devices.base import Entry, Facts
from loopwright.errors import check_failed
from loopwright.ir.captured import ABSENT, value_now
from loopwright.ir.reserved_arrays import empty_array
from loopwright.ir.variant import Compilation
from loopwright.runtime.compiled import Compiled

Resident = Literal["none", "some", "all"]
"""How many of a call's arrays are in a GPU's memory."""

How = Literal["compiled", "careful", "checked", "interpreter"]
"""Who runs it: code; after a guard has failed, code that tests what data decide, or every access; or nobody else."""

MOST_RETIRED = 32
"""Entries of some code that are kept for what calls under way will have measured."""


class Counted(Protocol):
    """Calls and their times, as an Entry keeps them: nanoseconds in the loops themselves. ended_ns: when the last of
    them did, by time.perf_counter_ns."""

    @property
    def calls(self) -> int: ...
    @property
    def total_ns(self) -> int: ...
    @property
    def min_ns(self) -> int: ...
    @property
    def last_ns(self) -> int: ...
    @property
    def ended_ns(self) -> int: ...


@dataclass(slots=True)
class CallCount:
    """The calls of several together. early: those that returned before a GPU had run their kernels, so that their times
    are those of starting them."""

    calls: int = 0
    total_ns: int = 0
    min_ns: int = 0
    last_ns: int = 0
    ended_ns: int = 0
    early: int = 0

    def add(self, other: Counted) -> None:
        """These calls too. A number that another thread changes meanwhile is read once."""
        calls, ended_ns = other.calls, other.ended_ns
        if not calls:
            return
        self.min_ns = min(self.min_ns, other.min_ns) if self.calls else other.min_ns
        if ended_ns >= self.ended_ns:
            self.last_ns, self.ended_ns = other.last_ns, ended_ns
        self.calls += calls
        self.total_ns += other.total_ns
        self.early += getattr(other, "early", 0)  # of calls on a GPU


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured of some code under one number of threads. compiled: None where it is not kept any more."""

    compilation: Compilation
    compiled: Compiled | None
    how: How
    threads: int
    calls: int
    total_ns: int
    min_ns: int
    last_ns: int
    ended_ns: int
    early: int = 0


@dataclass(slots=True)
class Interpreted:
    """Runs through the interpreter, with the measurements of an Entry."""

    compiled: Compiled
    calls: int = 0
    total_ns: int = 0
    min_ns: int = 0
    last_ns: int = 0
    ended_ns: int = 0

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
        """One call. originals: as the caller wrote the arguments. One that raises counts too, unless it is stopped."""
        started = time.perf_counter_ns()
        try:
            result = self.compiled.interpret(arguments)
        except Exception:
            self._note(started)
            raise
        self._note(started)
        return as_given(result, arguments, originals)

    def _note(self, started: int) -> None:
        ended = time.perf_counter_ns()
        spent_ns = ended - started
        self.min_ns = min(self.min_ns, spent_ns) if self.calls else spent_ns
        self.calls, self.total_ns = self.calls + 1, self.total_ns + spent_ns
        self.last_ns, self.ended_ns = spent_ns, ended


@dataclass(slots=True)
class InUse:
    """One Compiled, the values of its constants now (equal to the frozen ones, perhaps not the same objects), and an
    Entry for each kind of call, number of threads and shape that it was chosen for, as what watches calls of one kind
    has nothing to do with those of another. retired: those that are used no more, but for calls that are under way;
    past: by threads, what even older ones have measured. careful: what runs calls for which its guard fails, once there
    was one, by what it tests, or "cpu" for what a GPU would launch too much for."""

    compilation: Compilation
    compiled: Compiled
    values: tuple[object, ...]
    how: How
    interpreted: Interpreted
    entries: dict[Hashable, Entry] = field(default_factory=dict)
    retired: list[Entry] = field(default_factory=list)
    past: dict[int, CallCount] = field(default_factory=dict)
    careful: dict[Tested | Literal["cpu"], InUse] = field(default_factory=dict)

    def let_go(self, keys: Iterable[Hashable] | None = None) -> None:
        """Use these entries no more; None: none of them. What they have measured stays."""
        gone = list(self.entries) if keys is None else list(keys)
        self.retired += [self.entries.pop(key) for key in gone]
        for entry in self.retired[:-MOST_RETIRED]:
            entry.retire()
            self.past.setdefault(entry.threads, CallCount()).add(entry)
        del self.retired[:-MOST_RETIRED]


def runs_of(code: InUse) -> Iterator[Run]:
    """What was measured of it so far, by the number of threads."""
    found: dict[tuple[How, int], CallCount] = {}
    entries = [*code.retired, *code.entries.values()]
    measured: list[tuple[How, int, Counted]] = [
        *((code.how, threads, one) for threads, one in code.past.items()),
        *((code.how, one.threads, one) for one in entries),
        ("interpreter", 1, code.interpreted),
    ]
    for how, threads, one in measured:
        found.setdefault((how, threads), CallCount()).add(one)
    for (how, threads), tally in found.items():
        if tally.calls:
            yield run_of(code.compilation, code.compiled, how, threads, tally)


def run_of(compilation: Compilation, compiled: Compiled | None, how: How, threads: int, tally: CallCount) -> Run:
    """A Run with these numbers."""
    times = tally.calls, tally.total_ns, tally.min_ns, tally.last_ns, tally.ended_ns, tally.early
    return Run(compilation, compiled, how, threads, *times)


def refreshed(code: InUse) -> bool:
    """Whether the captured constants still have the frozen values. Where one is an equal but other object now,
    the entries, which compare objects, are made anew."""
    values = tuple(value_now(one.kind, one.namespace, one.key) for one in code.compiled.constants)
    pairs = zip(values, code.values, strict=True)
    if all(now is then for now, then in pairs):
        return True
    if not all(_equal(now, then) for now, then in zip(values, code.values, strict=True)):
        return False
    code.values = values
    code.let_go()
    return True


def facts_of(code: InUse) -> Facts:
    """What its code relies on, with the values of now, as launchers take it."""
    pairs = zip(code.compiled.constants, code.values, strict=True)
    return tuple(
        (one.kind, one.namespace, one.key) if value is ABSENT else (one.kind, one.namespace, one.key, value)
        for one, value in pairs
    )


def _equal(now: object, then: object) -> bool:
    """The same immutable value; -0.0 and 0.0, 1 and True are not."""
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, tuple) and isinstance(then, tuple):
        return len(now) == len(then) and all(map(_equal, now, then))
    return isinstance(now, (bool, int, float, str, np.generic)) and repr(now) == repr(then)


def allocator(
    results: Callable[[Sequence[object]], Sequence[tuple[tuple[int, ...], Any, object]]],
) -> Callable[[tuple[object, ...]], tuple[object, ...]]:
    """From a call's arguments to new arrays for its results."""

    def fresh(arguments: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(allocated(*one) for one in results(arguments))

    fresh.results = getattr(results, "results", None)  # type: ignore[attr-defined]
    return fresh


def allocated(shape: tuple[int, ...], dtype: Any, fill: object) -> object:
    """A new array. Raises ValueError for a negative size."""
    if any(size < 0 for size in shape):
        raise check_failed("negative_size", None)
    if fill is None:
        return empty_array(shape, dtype)
    if repr(fill) in ("0", "0.0", "False"):  # not -0.0; the system gives zeros without touching the memory
        return np.zeros(shape, dtype)
    return np.full(shape, fill, dtype)


def as_given(result: object, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
    """A returned argument is the object the caller passed, not our view of it."""
    if isinstance(result, tuple):
        items = tuple(as_given(one, arguments, originals) for one in result)
        return type(result)(*items) if hasattr(result, "_fields") else items  # type: ignore[arg-type]
    for argument, original in zip(arguments, originals, strict=True):
        if result is argument and isinstance(result, np.ndarray):
            return original
    return result
