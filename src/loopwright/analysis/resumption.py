"""Where a walk through a kernel may go on from an earlier one: steps leave most of a kernel as it is, and what a walk
finds in a statement depends on what stands before it, and around it. So a walk makes marks, behind loops and branches,
and the next one begins at the last mark before which nothing is different.

Around a mark may be loops and branches that changed inside, behind the mark: then what they do to the walk where it
enters them must be the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from loopwright.analysis.affine import Affine, Formula, Symbol, SymbolTable
from loopwright.analysis.carried_ranges import Range, basis
from loopwright.analysis.effort import kept
from loopwright.analysis.notes import LoopNote, Trace
from loopwright.analysis.values import UNKNOWN, Consequences, steps_given
from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import Allocate, Assign, Body, Checked, Continue, For, If, Kernel, Stmt, Store, While
from loopwright.ir.queries import escapes, has
from loopwright.ir.types import Scalar
from loopwright.ir.walk import bodies, own_expressions, statements

Snapshot = tuple[dict[str, Affine], dict[str, tuple[int, tuple[str, ...]]], dict[tuple[str, int], Affine]]

APART = 20
"""Statements between two marks, but for outermost ones."""


@dataclass(slots=True)
class Inside:
    """The loop or branch that a walk is in: what it needs to leave it. held: how many conditions held before, and
    `exact`. outer, ranges: the loops around a loop, and of what it carries. condition, before: what a branch says, and
    what was known before it; then: what was known behind its first side, and whether that ended, once the walk is in
    the second one."""

    held: int
    exact: bool
    outer: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    condition: Consequences = UNKNOWN
    before: Snapshot = field(default_factory=lambda: ({}, {}, {}))
    then: tuple[Snapshot, bool] | None = None


@dataclass(slots=True)
class Place:
    """A body that a walk is in, of which so many statements are done. held, exact: as it began; ended: its end is not
    reached. inside: where the walk is in the next statement."""

    body: Body
    done: int
    held: int
    exact: bool
    ended: bool = False
    inside: Inside | None = None


@dataclass(frozen=True, slots=True)
class WalkMark:
    """How far a walk had come: what it goes on to change as it was there, and of what only ever grows the length."""

    places: tuple[Place, ...]
    values: Snapshot
    stack: tuple[str, ...]
    types: dict[str, Scalar]
    counter: int
    counts: dict[str, int]
    demands: dict[Symbol, int]
    loops: dict[str, LoopNote]
    conditions: dict[int, Consequences]
    lengths: tuple[int, ...]
    where: tuple[Formula, ...]
    exact: bool
    sure: bool

    @property
    def progress(self) -> int:
        """How many statements are behind it."""
        return self.lengths[2]


@dataclass(frozen=True, slots=True)
class KernelWalk:
    """A walk through a kernel's body, and its marks. params, results: kept so that their identities stay their own."""

    params: object
    results: object
    body: Body
    notes: Trace
    marks: list[WalkMark]


@dataclass(frozen=True, slots=True)
class Begun:
    """What a walk that begins has of another one: its marks up to the last that is of use, as if the new one had made
    them. spine: statements around that mark, and what they are in the new kernel."""

    walk: KernelWalk
    marks: list[WalkMark]
    spine: tuple[tuple[Stmt, Stmt], ...]

    def notes(self) -> Trace:
        """The notes of the other walk, as far as it had come then. They and its symbols have grown since then, and only
        at their ends."""
        mark, notes = self.marks[-1], self.walk.notes
        accesses, tests, values, symbols, by_key, ends, quotients = mark.lengths
        old = notes.state.table
        table = SymbolTable(
            old.symbols[:symbols],
            dict(mark.counts),
            dict(islice(old.by_key.items(), by_key)),
            dict(mark.demands),
            dict(islice(old.ends.items(), ends)),
            dict(islice(old.quotients.items(), quotients)),
        )
        again = replace(notes.state, table=table, stack=mark.stack, counter=mark.counter, types=dict(mark.types))
        again.scalars, again.versions, again.sizes = (one.copy() for one in mark.values)  # type: ignore[assignment]
        new = {id(one): other for one, other in self.spine}
        found = [
            one if id(one.stmt) not in new else replace(one, stmt=new[id(one.stmt)])
            for one in notes.accesses[:accesses]
        ]
        known = [(new.get(id(stmt), stmt), scalars) for stmt, scalars in notes.values[:values]]
        return Trace(again, found, notes.tests[:tests], dict(mark.loops), known, dict(mark.conditions))


def walks_from(kernel: Kernel) -> list[KernelWalk]:
    """The last walks that began as one through this kernel does: with the same arguments, and the same known of
    them."""
    key = "walks", id(kernel.params), id(kernel.results), kernel.overlap, kernel.guard, steps_given(kernel)
    return kept(key, list[KernelWalk])


def is_time(notes: Trace, marks: Sequence[WalkMark], depth: int) -> bool:
    """Whether a walk that is in so many bodies makes a mark."""
    return depth == 1 or len(notes.values) >= (marks[-1].progress if marks else 0) + APART


def mark_of(notes: Trace, places: Sequence[Place], where: Sequence[Formula], exact: bool, sure: bool) -> WalkMark:
    """The mark of a walk where it is."""
    state, table = notes.state, notes.state.table
    growing = notes.accesses, notes.tests, notes.values, table.symbols, table.by_key, table.ends, table.quotients
    return WalkMark(
        tuple([replace(one, inside=one.inside and replace(one.inside)) for one in places]),
        (dict(state.scalars), dict(state.versions), dict(state.sizes)),
        state.stack,
        dict(state.types),
        state.counter,
        dict(table.counts),
        dict(table.demands),
        dict(notes.loops),
        dict(notes.conditions),
        tuple(len(one) for one in growing),
        tuple(where),
        exact,
        sure,
    )


# ---- what is the same -------------------------------------------------------------------------------------------


def begun_by(walks: Sequence[KernelWalk], body: Body) -> Begun | None:
    """The walk that is the same as one through this body for longest, as far as it is, and is marked."""
    best: tuple[int, KernelWalk, tuple[tuple[Stmt, Stmt], ...]] | None = None
    progress = 0
    for walk in walks:
        for count in range(len(walk.marks), 0, -1):
            if walk.marks[count - 1].progress <= progress:
                break
            spine = _spine(walk.marks[count - 1].places, body)
            if spine is not None:
                best, progress = (count, walk, spine), walk.marks[count - 1].progress
                break
    if best is None:
        return None
    count, walk, spine = best
    return Begun(walk, [_moved(mark, body) for mark in walk.marks[:count]], spine)


def _spine(places: Sequence[Place], body: Body) -> tuple[tuple[Stmt, Stmt], ...] | None:
    """The statements around a mark that are others in a body, and what they are there; None where something before the
    mark is different."""
    spine: list[tuple[Stmt, Stmt]] = []
    for place in places:
        if not _is_same(place.body[: place.done], body[: place.done]):
            return None
        if place.inside is not None:
            if place.done >= len(body):
                return None
            old, new = place.body[place.done], body[place.done]
            if old is not new:
                if not _is_entered_alike(old, new, place.inside):
                    return None
                spine.append((old, new))
            body = _inner(new, place.inside)
    return tuple(spine)


def _is_same(one: Body, other: Body) -> bool:
    return len(one) == len(other) and all(mine is its for mine, its in zip(one, other, strict=True))


def _inner(stmt: Stmt, inside: Inside) -> Body:
    """The body of a statement that a walk is in."""
    if isinstance(stmt, If):
        return stmt.then if inside.then is None else stmt.otherwise
    assert isinstance(stmt, For)
    return stmt.body


def _is_entered_alike(old: Stmt, new: Stmt, inside: Inside) -> bool:
    """Whether a walk enters two statements in the same way."""
    match old, new:
        case For(), For():
            head = old.name == new.name and old.lower is new.lower and old.upper is new.upper and old.step is new.step
            return head and _entry(old) == _entry(new)
        case If(), If():
            return old.condition is new.condition and (inside.then is None or _is_same(old.then, new.then))
    return False


@by_identity
def _entry(loop: For) -> tuple[object, ...]:
    """What of a loop's body a walk asks where it enters the loop."""
    changes = (
        (type(one), one.name, one.value.type)
        if isinstance(one, Assign)
        else (type(one), one.array, len(one.shape) if isinstance(one, Allocate) else 0)
        for one in changing(loop)
    )
    return (*changes, breaks(loop), may_fail_inside(loop), basis(loop))


def _moved(mark: WalkMark, body: Body) -> WalkMark:
    """A mark of a walk through another body that is the same so far."""
    places: list[Place] = []
    new: dict[int, Stmt] = {}
    for place in mark.places:
        places.append(replace(place, body=body))
        if place.inside is not None:
            old = place.body[place.done]
            if old is not body[place.done]:
                new[id(old)] = body[place.done]
            body = _inner(body[place.done], place.inside)
    if not new:
        return replace(mark, places=tuple(places))
    loops = {
        name: replace(note, loop=other) if isinstance(other := new.get(id(note.loop)), For) else note
        for name, note in mark.loops.items()
    }
    conditions = {id(new[key]) if key in new else key: one for key, one in mark.conditions.items()}
    return replace(mark, places=tuple(places), loops=loops, conditions=conditions)


# ---- what a walk asks of a statement ----------------------------------------------------------------------------


@by_identity
def changing(stmt: Stmt) -> tuple[Assign | Store | Allocate, ...]:
    """What changes inside a statement: of each scalar and array the last one that changes it, in the order of the
    text."""
    inside = statements(tuple(one for body in bodies(stmt) for one in body))
    changes = [one for one in inside if isinstance(one, Assign | Store | Allocate)]
    last = {(type(one), one.name if isinstance(one, Assign) else one.array): one for one in reversed(changes)}
    return tuple(reversed(last.values()))


@by_identity
def may_fail_inside(loop: For) -> bool:
    """Whether a statement in a loop may end the call other than by a wrong index."""
    return any(
        isinstance(stmt, Allocate | While) or any(has(expr, Checked) for expr in own_expressions(stmt))
        for stmt in statements(loop.body)
    )


def breaks(loop: For) -> bool:
    """Whether some iterations may not happen though the bounds say so."""
    return any(not isinstance(j, Continue) or j.loop != loop.name for s in loop.body for j in escapes(s))
