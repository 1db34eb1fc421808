"""Which thread an element of a local array of a block belongs to: an array all of whose elements are each touched by
one thread only can be kept in the threads' registers, though loops over threads come and go around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.analysis.affine import Affine, Formula, combine, constant, of_symbol, relate
from loopwright.analysis.effort import LOCK, Effort, TooHard, kept, remember, remembered
from loopwright.analysis.sets import build, question
from loopwright.analysis.trace import Access, LoopNote, Trace, glance
from loopwright.ir.nodes import Kernel, Load, Run, Stmt, Store
from loopwright.ir.queries import loops_around
from loopwright.ir.walk import own_expressions, statements, subexpressions


@dataclass(frozen=True, slots=True)
class OwnedRange:
    """Along one axis of an array, thread number t along `run` has the elements t * size .. (t + 1) * size; and the same
    ones of each further period, where there is one (0: there is none)."""

    run: Run
    size: int
    period: int = 0


Owned = tuple[OwnedRange | None, ...]


def shares(kernel: Kernel, array: str) -> Owned | None:
    """For each axis of a local array how it is shared out among threads, None for an axis that each thread has all of.
    None where some element may be touched by several threads, or where that is too hard to tell. Whoever asks again
    about the same kernel gets the same answer, whatever budget is left."""
    key = ("shares", id(kernel), array)
    known: tuple[Kernel, Owned | None] | None = remembered(key)
    if known is None:
        known = kernel, _shares(kernel, array)  # which keeps its identity its own
        remember(key, known)
    return known[1]


def _shares(kernel: Kernel, array: str) -> Owned | None:
    with LOCK:
        notes = glance(kernel, loops_around(kernel, _users(kernel, array)))
        accesses = [access for access in notes.accesses if access.array == array]
        found = tuple(_share(notes, access, axis) for access in accesses[:1] for axis in range(len(access.index)))
        runs = [share.run for share in found if share is not None]
        if not runs or len(set(runs)) < len(runs):
            return None
        keeps = (_keeps(notes, one, axis, share) for one in accesses[1:] for axis, share in enumerate(found) if share)
        return found if all(keeps) else None


def _users(kernel: Kernel, array: str) -> Iterator[Stmt]:
    """The statements that have an element of an array."""
    for stmt in statements(kernel.body):
        own = (part for expr in own_expressions(stmt) for part in subexpressions(expr, Load))
        if (isinstance(stmt, Store) and stmt.array == array) or any(part.array == array for part in own):
            yield stmt


def _share(notes: Trace, access: Access, axis: int) -> OwnedRange | None:
    """How the first of the loops over threads around an access shares out an axis."""
    for note in _shared_out(notes, access):
        for period in 0, _period(note):
            if _is_among(access, axis, note, period):
                return OwnedRange(note.loop.run, note.step, period)
    return None


def _keeps(notes: Trace, access: Access, axis: int, share: OwnedRange) -> bool:
    """Whether another access is one of the thread that has the element."""
    return any(
        _is_among(access, axis, note, share.period)
        for note in _shared_out(notes, access)
        if (note.loop.run, note.step) == (share.run, share.size) and share.period in (0, _period(note))
    )


def _shared_out(notes: Trace, access: Access) -> Iterator[LoopNote]:
    """The loops over threads around an access."""
    for name in access.stack:
        note = notes.loops.get(name)
        if note is not None and note.loop.run.startswith("thread.") and note.step >= 1:
            yield note


def _is_among(access: Access, axis: int, note: LoopNote, period: int) -> bool:
    """Whether an element is one of the thread of an iteration, as an OwnedRange of that period tells these."""
    own, size = combine(access.index[axis], _from_start(note), -1), note.step
    beyond = relate(own, ">=", constant(size))
    if period:
        beyond = Formula(f"(({own.text()}) mod {period} >= {size})", own.symbols)
    return period != size and _never(access, relate(own, "<", constant(0))) and _never(access, beyond)


def _period(note: LoopNote) -> int:
    """After how many elements the first thread has some again."""
    return note.step * (note.loop.threads or _trip(note))


def _from_start(note: LoopNote) -> Affine:
    """How far a loop has come."""
    return combine(of_symbol(note.symbol), note.lower, -1)


def _trip(note: LoopNote) -> int:
    """The number of iterations, rounded up, where the bounds are a constant apart; 0 elsewhere."""
    distance = combine(note.upper, note.lower, -1)
    return max(0, -(-distance.constant // note.step)) if distance.is_constant else 0


def _never(access: Access, condition: Formula) -> bool:
    """Whether a condition holds nowhere where the access happens."""
    formulas = *access.where, condition
    try:
        with Effort().bounded():
            return kept(("never", question(formulas)), lambda: (bool(build(formulas).is_empty()),))[0]
    except TooHard:
        return False
