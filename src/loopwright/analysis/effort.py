"""How much work isl may have: each question has a budget, and all questions about one kernel have one together, so that
neither one hard question nor many of middling difficulty keep a first call waiting.

Budgets are counted in isl's own operations, never in time, so that one program gets the same code on every machine,
however busy it is. Who runs out of budget gets TooHard, and takes that for "not proven". What isl does not count is
bounded where it is asked: the scheduler (`isl_schedule.MOST`), and what large numbers with quotients become (`gist` in
`sets.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeVar

from loopwright.analysis import isl
from loopwright.forks import free_in_child

T = TypeVar("T")

LOCK = free_in_child(RLock())
"""Held by whoever asks isl anything: its one context counts operations, and is not made for several threads."""

TOTAL = 2_200_000
"""How many of isl's operations (one to two million a second) all questions of a first call may take together. The
benchmarks' kernels take a million at most."""

FOR_GPU = 6_000_000
"""The same where the code is for a GPU: the recipe asks more there. The benchmarks' kernels take three million."""

FOR_NEST = 2_200_000
"""What must be left for a GPU's recipe to try the ways to share out a nest that ask most: so much a product of matrices
takes, with the questions about all of the kernel that come after it."""

FOR_PARTS = 8_000_000
"""The same for code that makes a call on a GPU in parts, which only calls that move much ask for: the loop around has
two more bounds there, from which all questions get longer."""

FOR_STEP = 500_000
"""What each step of a schedule that a user gives adds to that."""

LABORIOUS = 60_000
"""How many of them a question may take that is about quotients or large numbers."""

WEIGHT = 3
"""How often each of those counts for all questions together: an operation on long numbers takes longer."""

REMEMBERED = 8192
"""How many sets are kept outside of every `together`, for questions that nobody has put together."""


class TooHard(Exception):
    """A question took isl more work than it is worth, or there is no budget left for it."""


@dataclass(slots=True)
class _Meter:
    """What is left for the questions of one `together`, None without end; what the question that is being asked may
    take, None where there is none, how often that counts, and whether it may take it in any case; and what they have
    made so far: kept here, so that one program's questions cost the
    same whatever was asked about others before."""

    left: int | None = None
    now: int | None = None
    weight: int = 1
    patient: bool = False
    made: dict[Hashable, Any] = field(default_factory=dict)

    def start(self, limit: int, patient: bool) -> None:
        """Count from 0 to a limit."""
        self.now, self.weight, self.patient = max(1, limit), 1, patient
        isl.DEFAULT_CONTEXT.reset_operations()
        isl.DEFAULT_CONTEXT.set_max_operations(self.now)

    def forget(self, count: int) -> None:
        """Keep only so many of the things made, the oldest: what was made while nothing was left may be wrong."""
        while len(self.made) > count:
            self.made.popitem()

    def stop(self) -> int:
        """Stop counting. Gives how many operations there were, 0 where nobody counted: Ctrl-C can come anywhere."""
        try:
            spent = 0 if self.now is None else _counted(self.now)
        finally:
            self.now = None
            isl.DEFAULT_CONTEXT.set_max_operations(0)
        if self.left is not None:
            self.left -= spent * self.weight
        return spent


_ALONE = _Meter()
_METER: ContextVar[_Meter] = ContextVar("meter", default=_ALONE)


@contextmanager
def together(total: int = TOTAL) -> Iterator[None]:
    """The questions of the block have one budget. Inside another such block they are part of that one."""
    if _METER.get() is not _ALONE:
        yield
        return
    _lift_limit()
    token = _METER.set(_Meter(total))
    try:
        yield
    finally:
        _METER.reset(token)


def _lift_limit() -> None:
    """Ctrl-C during a first call can leave a limit, even where it comes while one is lifted."""
    with LOCK:
        _ALONE.now = None
        isl.DEFAULT_CONTEXT.set_max_operations(0)


@contextmanager
def anew(total: int) -> Iterator[None]:
    """The questions of the block have a budget of their own, also where that of the others is used up."""
    outer = _METER.get()
    token = _METER.set(_Meter(total, made=outer.made))
    try:
        yield
    finally:
        _METER.reset(token)


def is_left(operations: int) -> bool:
    """Whether all questions together may still take so many."""
    left = _METER.get().left
    return left is None or left >= operations


def is_together() -> bool:
    """Whether what is kept now is gone when the questions about one kernel end."""
    return _METER.get() is not _ALONE


def remembered(key: Hashable) -> Any:
    """What was kept under a key; None where nothing was."""
    return _METER.get().made.get(key)


def remember(key: Hashable, made: Any) -> None:
    """Keep something for the other questions about the same kernel."""
    meter = _METER.get()
    if meter is _ALONE and len(meter.made) >= REMEMBERED:
        meter.made.clear()
    meter.made[key] = made


def kept(key: Hashable, make: Callable[[], T]) -> T:
    """What is kept under a key, made where nothing is."""
    found: T | None = remembered(key)
    if found is None:
        found = make()
        remember(key, found)
    return found


def laborious() -> None:
    """The question that is being asked turns out to be about quotients or large numbers: it may take less work."""
    meter = _METER.get()
    if meter.now is not None and not meter.patient:
        meter.weight = WEIGHT
        if meter.now > LABORIOUS:
            meter.now = LABORIOUS
            isl.DEFAULT_CONTEXT.set_max_operations(LABORIOUS)


@dataclass(slots=True)
class Effort:
    """How many of isl's operations one question may take: less after each failure, so that a kernel full of hard
    questions is not slow either. patient: no less where it is about quotients, as questions about tiles are."""

    limit: int = 500_000
    least: int = 20_000
    patient: bool = False

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Raises TooHard where the block takes more than the limit, or than what is left of the whole budget. What a
        question inside another one takes counts for both."""
        with LOCK:
            meter = _METER.get()
            patient, outer = meter.patient, None if meter.now is None else meter.now - meter.stop()
            limit = min(one for one in (self.limit, outer, meter.left) if one is not None)
            if limit <= 0:
                _go_on(meter, outer, patient)
                raise TooHard
            meter.start(limit, self.patient)
            count = len(meter.made)
            try:
                yield
                is_spent = _is_spent()  # then some answers may be wrong: not every function of isl tells
            except Exception:
                is_spent = _is_spent()  # then everything fails, with any message
                if not is_spent:
                    raise
            finally:
                taken = meter.stop()
                _go_on(meter, None if outer is None else outer - taken, patient)
            if is_spent:
                meter.forget(count)
                self.limit = max(self.least, self.limit // 2)
                raise TooHard


def _go_on(meter: _Meter, left: int | None, patient: bool) -> None:
    """Count on for the question around another one, where there is one, with what it has left."""
    if left is not None:
        meter.start(left, patient)


def _is_spent() -> bool:
    """Whether the limit is reached: nothing can be allocated any more."""
    try:
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    except isl.Error:
        return True
    return False


def _counted(limit: int) -> int:
    """How many operations there were, rounded up by an eighth at most: isl does not tell, but it stops where there
    were too many."""
    halves = [limit]
    while halves[-1] > 16:
        halves.append(halves[-1] // 2)
    high = _least(halves[::-1])
    step = high // 8
    return _least(range(high % step if high == halves[-1] else high - 4 * step, high + 1, step)) if step else high


def _least(counts: Sequence[int]) -> int:
    """The first of some growing counts than which there were fewer operations, the last where there is none before."""
    return counts[bisect_left(counts, True, hi=len(counts) - 1, key=_is_fewer_than)]


def _is_fewer_than(count: int) -> bool:
    isl.DEFAULT_CONTEXT.set_max_operations(count)
    return not _is_spent()
