"""The step `find`: find the iteration that leaves a loop, in chunks whose iterations need no order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import Names, live_after
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import least, minus, most, number, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Block,
    Body,
    Break,
    Checked,
    Compare,
    Continue,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import contains, has, names_assigned, names_in, names_read
from loopwright.ir.walk import expressions, loops, rewrite_body
from loopwright.steps.draft import again, finished, fresh, names_of, substituted, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.grammar import From2
from loopwright.steps.nest import missing, overlapping, step_of, the_loop
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Find(Step):
    """Find the first iteration in which a loop is left by `break` or `return`, in chunks: of each chunk all iterations
    are tested, in any order, and the least that would leave the loop is kept. Then what that iteration does where it
    leaves is done; where it could leave in several ways, or the last iteration leaves something behind, that iteration
    or the last one runs once more. `find i 1024`:

    var s: int64
    s = n
    for i in 0 .. n:
        if a[i] > 1.0:
            s = i
            break i
    b[0] = float64(s)
    ->
    var s: int64
    var i.f: int64
    s = n
    i.f = n
    for i.c in 0 .. n step 1024:
        for i in i.c .. min(i.c + 1024, n):
            if a[i] > 1.0:
                i.f = min(i.f, i)
        if i.f < n:
            break i.c
    if i.f < n:
        s = i.f
    b[0] = float64(s)
    """

    name: ClassVar[str] = "find"
    grammar: ClassVar[str] = "LOOP SIZE"
    loop: str
    size: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if step_of(loop) != 1:
            return Rejection(f"'{self.loop}' does not count by ones")
        if not _exits(loop):
            return Rejection(f"nothing leaves '{self.loop}' before its last iteration")
        if contains(loop.body, Store, Allocate, While):
            return Rejection(f"iterations of '{self.loop}' do more than look whether one leaves it")
        tested = _tested(loop.body, _exits(loop), Assign("", number(0)))
        kept = names_assigned(tested) - {""}
        if more := sorted(kept - set(facts.loops[self.loop].private)):
            return Rejection(f"iterations of '{self.loop}' need '{more[0]}' of those before")
        outside = names_read(rewrite_body(kernel.body, lambda stmt: () if stmt is loop else (stmt,)))
        if self.loop in outside:
            return Rejection(f"the value of '{self.loop}' is needed after the loop")
        if left := sorted((kept - _surely_set(loop)) & outside):
            return Rejection(f"not every iteration of '{self.loop}' sets '{left[0]}', which is needed after the loop")
        bounds = (loop.lower, loop.upper)
        if any(has(bound, Checked) or names_in(bound) & names_assigned(loop.body) for bound in bounds):
            return Rejection(f"the bounds of '{self.loop}' may change while it runs")
        checked = any(one.kind == "checked" for load in expressions(loop.body, Load) for one in facts.bounds_of(load))
        if checked or any(True for _ in expressions(tested, Checked)):
            return Rejection(f"'{self.loop}' may fail in an iteration that comes after the one that leaves it")
        return marked((loop,))

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        taken = names_of(kernel)
        found, chunk = (fresh(f"{loop.name}.{letter}", taken) for letter in "fc")
        taken |= {found, chunk}
        start, where = variable(chunk), variable(found)
        tested = replace(
            loop,
            lower=start,
            upper=least(plus(start, self.size), loop.upper),
            body=_tested(loop.body, _exits(loop), Assign(found, least(where, variable(loop.name)))),
        )
        stop = If(Compare("lt", where, loop.upper), (Break(chunk),), ())
        chunks = replace(loop, name=chunk, step=number(self.size), body=(tested, stop))
        way, live = _way_out(loop.body, _exits(loop)), live_after(kernel)[loop.name]
        rest: Body
        if way is not None and not names_assigned(tested.body) - {found} & live:
            left = substituted(_needed(way, live), {loop.name: where})
            rest = (If(Compare("lt", where, loop.upper), left, ()),) if left else ()
        else:
            last = Assign(found, most(loop.lower, least(where, minus(loop.upper, 1))))
            rest = (last, *again((replace(loop, lower=where, upper=least(plus(where, 1), loop.upper)),), taken))
        return finished(with_statement(kernel, loop, (Assign(found, loop.upper), chunks, *rest)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, 4096) for name, loop in loops(kernel).items() if isinstance(loop, For) and _exits(loop))


def _surely_set(loop: For) -> set[str]:
    """The scalars that each iteration sets, before it may leave the loop or go on to the next one."""
    found: set[str] = set()
    for stmt in loop.body:
        if escapes(stmt):
            break
        if isinstance(stmt, Assign):
            found.add(stmt.name)
    return found


def _exits(loop: For) -> set[int]:
    """The jumps that leave a loop, by their identity."""
    jumps = [jump for stmt in loop.body for jump in escapes(stmt)]
    return {id(jump) for jump in jumps if not (isinstance(jump, Continue) and jump.loop == loop.name)}


def _tested(body: Body, exits: set[int], update: Stmt) -> Body:
    """What finds out whether an iteration leaves its loop, with `update` where it does. What only such an iteration
    does before it leaves is left out."""
    found: list[Stmt] = []
    for stmt in body:
        if id(stmt) in exits:
            return (*found, update) if any(escapes(one) for one in body if one is not stmt) else (update,)
        match stmt:
            case If():
                then, otherwise = (_tested(part, exits, update) for part in (stmt.then, stmt.otherwise))
                found.append(replace(stmt, then=then, otherwise=otherwise))
            case For() | Block():
                found.append(replace(stmt, body=_tested(stmt.body, exits, update)))
            case _:
                found.append(stmt)
    return tuple(found)


def _way_out(body: Body, exits: set[int]) -> Body | None:
    """What an iteration does that leaves its loop, and before that, without the tests that lead there; None where
    there are several ways, or where it leaves from within a loop."""
    ways = [at for at, stmt in enumerate(body) if id(stmt) in exits or any(id(one) in exits for one in escapes(stmt))]
    if len(ways) != 1 or any(contains((stmt,), Continue) for stmt in body):
        return None
    before, stmt = body[: ways[0]], body[ways[0]]
    if id(stmt) in exits:
        return before if isinstance(stmt, Break) else (*before, stmt)
    if not isinstance(stmt, If):
        return None
    parts = [part for part in (stmt.then, stmt.otherwise) if any(id(one) in exits for s in part for one in escapes(s))]
    inside = _way_out(parts[0], exits) if len(parts) == 1 else None
    return None if inside is None else (*before, *inside)


def _needed(way: Body, live: Names) -> Body:
    """The same without what nobody reads, now that the tests are over. live: what may be read after the loop."""
    if way and isinstance(way[-1], Leave):
        return way
    needed, found = set() if way and isinstance(way[-1], Return) else set(live), list[Stmt]()
    for stmt in reversed(way):
        if isinstance(stmt, Return) or names_assigned((stmt,)) & needed:
            found.append(stmt)
            needed |= names_read((stmt,))
    return tuple(reversed(found))
