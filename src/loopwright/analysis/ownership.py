"""Which thread an element of a local array of a block belongs to: an array all of whose elements are each touched by
one thread only can be kept in the threads' registers, though loops over threads come and go around it."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.analysis.affine import Affine, Formula, combine, constant, of_symbol, relate
from loopwright.analysis.effort import LOCK, Effort, TooHard, remember, remembered
from loopwright.analysis.sets import build
from loopwright.analysis.trace import Access, LoopNote, Trace, traced
from loopwright.ir.nodes import Kernel, Run


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
        notes = traced(kernel)
        accesses = [access for access in notes.accesses if access.array == array]
        if not accesses:
            return None
        found = [tuple(_share(notes, access, axis) for axis in range(len(access.index))) for access in accesses]
    if any(one != found[0] for one in found):
        return None
    runs = [share.run for share in found[0] if share is not None]
    return found[0] if runs and len(set(runs)) == len(runs) else None


def _share(notes: Trace, access: Access, axis: int) -> OwnedRange | None:
    for name in access.stack:
        note = notes.loops.get(name)
        if note is None or not note.loop.run.startswith("thread.") or note.step < 1:
            continue
        own = combine(access.index[axis], _from_start(note), -1)
        if _lies_in(access, own, note.step):
            return OwnedRange(note.loop.run, note.step)
        period = note.step * (note.loop.threads or _trip(note))
        if period > note.step and _comes_again(access, own, note.step, period):
            return OwnedRange(note.loop.run, note.step, period)
    return None


def _from_start(note: LoopNote) -> Affine:
    """How far a loop has come."""
    return combine(of_symbol(note.symbol), note.lower, -1)


def _trip(note: LoopNote) -> int:
    """The number of iterations, rounded up, where the bounds are a constant apart; 0 elsewhere."""
    distance = combine(note.upper, note.lower, -1)
    return max(0, -(-distance.constant // note.step)) if distance.is_constant else 0


def _lies_in(access: Access, value: Affine, size: int) -> bool:
    """Whether 0 <= value < size wherever the access happens."""
    try:
        with Effort().bounded():
            below = build((*access.where, relate(value, "<", constant(0))))
            above = build((*access.where, relate(value, ">=", constant(size))))
            return bool(below.is_empty() and above.is_empty())
    except TooHard:
        return False


def _comes_again(access: Access, value: Affine, size: int, period: int) -> bool:
    """Whether value is at least 0, and less than size after whole periods, wherever the access happens."""
    beyond = Formula(f"(({value.text()}) mod {period} >= {size})", value.symbols)
    try:
        with Effort().bounded():
            below = build((*access.where, relate(value, "<", constant(0))))
            return bool(below.is_empty() and build((*access.where, beyond)).is_empty())
    except TooHard:
        return False
