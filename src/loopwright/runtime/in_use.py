"""Code of one Compilation while it is in use: the values that its constants have now, entries, and what was measured.

It compiles nothing and chooses nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from loopwright.devices.base import Entry, Facts
from loopwright.errors import check_failed
from loopwright.ir.captured import ABSENT, value_now
from loopwright.ir.variant import Compilation
from loopwright.runtime.compiled import Compiled

Resident = Literal["none", "some", "all"]
"""How many of a call's arrays are in a GPU's memory."""

How = Literal["compiled", "checked", "interpreter"]
"""Who runs it: code, code that tests every access after a guard has failed, or nobody else."""


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured of some code under one number of threads: nanoseconds in the loops themselves."""

    compilation: Compilation
    compiled: Compiled
    how: How
    threads: int
    calls: int
    total_ns: int
    min_ns: int
    last_ns: int


@dataclass(slots=True)
class Interpreted:
    """Runs through the interpreter, with the measurements of an Entry."""

    compiled: Compiled
    calls: int = 0
    total_ns: int = 0
    min_ns: int = 0
    last_ns: int = 0

    def run(self, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
        """One call. originals: as the caller wrote the arguments."""
        started = time.perf_counter_ns()
        result = self.compiled.interpret(arguments)
        spent_ns = time.perf_counter_ns() - started
        self.min_ns = min(self.min_ns, spent_ns) if self.calls else spent_ns
        self.calls, self.total_ns, self.last_ns = self.calls + 1, self.total_ns + spent_ns, spent_ns
        return _as_given(result, arguments, originals)


@dataclass(slots=True)
class InUse:
    """One Compiled, the values of its constants now (equal to the frozen ones, perhaps not the same objects), and an
    Entry for each kind of call, number of threads and shape that it was chosen for, as what watches calls of one kind
    has nothing to do with those of another."""

    compilation: Compilation
    compiled: Compiled
    values: tuple[object, ...]
    how: How
    interpreted: Interpreted
    entries: dict[Hashable, Entry] = field(default_factory=dict)


def runs_of(code: InUse) -> Iterator[Run]:
    """What was measured of it so far."""
    measured: list[tuple[How, int, Entry | Interpreted]] = [
        (code.how, one.threads, one) for one in list(code.entries.values())
    ]
    for how, threads, one in [*measured, ("interpreter", 1, code.interpreted)]:
        if one.calls:
            numbers = threads, one.calls, one.total_ns, one.min_ns, one.last_ns
            yield Run(code.compilation, code.compiled, how, *numbers)


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
    code.entries.clear()
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
        return tuple(_allocated(*one) for one in results(arguments))

    fresh.results = getattr(results, "results", None)  # type: ignore[attr-defined]
    return fresh


def _allocated(shape: tuple[int, ...], dtype: Any, fill: object) -> object:
    if any(size < 0 for size in shape):
        raise check_failed("negative_size", None)
    if fill is None:
        return np.empty(shape, dtype)
    if repr(fill) in ("0", "0.0", "False"):  # not -0.0; the system gives zeros without touching the memory
        return np.zeros(shape, dtype)
    return np.full(shape, fill, dtype)


def _as_given(result: object, arguments: tuple[object, ...], originals: tuple[object, ...]) -> object:
    """A returned argument is the object the caller passed, not our view of it."""
    if isinstance(result, tuple):
        return tuple(_as_given(one, arguments, originals) for one in result)
    for argument, original in zip(arguments, originals, strict=True):
        if result is argument and isinstance(result, np.ndarray):
            return original
    return result
