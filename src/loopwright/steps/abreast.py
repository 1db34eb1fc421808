"""The step `abreast`: iterations go through their inner loops side by side, in vector lanes, although these do not run
equally often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.path_vectors import trips_of
from loopwright.ir.linear import least, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_stored, fresh, has, names_assigned, names_in, names_of, types_assigned
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import expressions, loops, rewrite_body, subexpressions
from loopwright.steps.draft import finished, substituted, with_statement
from loopwright.steps.grammar import From1
from loopwright.steps.nest import (
    changes_inside,
    left_early,
    missing,
    overlapping,
    size_of,
    step_of,
    the_loop,
    too_large,
)
from loopwright.steps.step import Rejection, Step, order_needed

LANES = 16
"""Iterations side by side, by default: some vector registers, so that steps of several are under way at once."""
MOST_LANES = 64


@dataclass(frozen=True, slots=True)
class Abreast(Step):
    """Run neighbouring iterations of a loop side by side: each statement for all of them, before the next one. Through
    an inner loop they go together as often as the one that runs it least; then each does the rest of it alone. That
    pays where they run it about equally often (`group`), and what they compute in it waits for itself. What an inner
    loop reads again and again is read once. `abreast i 4`:

    var s: float64
    for i in 0 .. n:
        s = 0.0
        for j in 0 .. e[i]:
            s = s * 0.5 + b[i]
        a[i] = s
    ->
    var j.m: int64
    var j.e: int64
    var s: float64
    for i.o in 0 .. n step 4:
        if i.o + 4 <= n:
            allocate s.x: float64[4]
            allocate j.n: int64[4]
            allocate b.v: float64[4]
            for i.l in 0 .. 4 independent:
                s.x[i.l] = 0.0
            for i.l.1 in 0 .. 4 independent:
                j.n[i.l.1] = max(e[i.o + i.l.1], 0)
            j.m = j.n[0]
            j.e = j.n[0]
            for j.l in 1 .. 4:
                j.m = min(j.m, j.n[j.l])
                j.e = max(j.e, j.n[j.l])
            if j.m > 0:
                for i.l.3 in 0 .. 4 independent:
                    b.v[i.l.3] = b[i.o + i.l.3]
                for j.t in 0 .. j.m:
                    for i.l.2 in 0 .. 4 independent:
                        s.x[i.l.2] = s.x[i.l.2] * 0.5 + b.v[i.l.2]
            if j.e > j.m:
                for i.l.4 in 0 .. 4 independent:
                    for j.a in j.m .. j.n[i.l.4]:
                        s.x[i.l.4] = s.x[i.l.4] * 0.5 + b[i.o + i.l.4]
            for i.l.5 in 0 .. 4 independent:
                a[i.o + i.l.5] = s.x[i.l.5]
        else:
            for i in i.o .. n:
                s = 0.0
                for j in 0 .. e[i]:
                    s = s * 0.5 + b[i]
                a[i] = s
    """

    name: ClassVar[str] = "abreast"
    grammar: ClassVar[str] = "LOOP [LANES]"
    loop: str
    lanes: From1 = LANES

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already: that comes last in a schedule")
        if not 1 < self.lanes <= MOST_LANES:
            return Rejection(f"from 2 to {MOST_LANES} iterations go side by side")
        if step_of(loop) != 1:
            return Rejection(f"the step of '{self.loop}' is not 1")
        return (
            left_early(loop)
            or changes_inside(loop)
            or _not_plain(loop)
            or _needs_order(loop, facts, strict)
            or too_large(kernel, 4 * size_of(loop.body))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        loop = the_loop(kernel, self.loop)
        made = _Abreast(loop, facts, self.lanes, names_of(kernel))
        return finished(with_statement(kernel, loop, (made.result(),)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        found = ((name, loop) for name, loop in loops(kernel).items() if isinstance(loop, For))
        return (cls(name) for name, loop in found if any(isinstance(stmt, For) for stmt in loop.body))


def _not_plain(loop: For) -> Rejection | None:
    """Why the statements of the body cannot be taken one by one."""
    inner = [stmt for stmt in loop.body if isinstance(stmt, For)]
    if not inner:
        return Rejection(f"no loop stands directly in '{loop.name}'")
    for one in inner:
        if not isinstance(one.step, Const) or not one.step.value:
            return Rejection(f"the step of '{one.name}' is not constant")
    for stmt in (*loop.body, *(stmt for one in inner for stmt in one.body)):
        if not isinstance(stmt, Assign | Store) and stmt not in inner:
            return Rejection(f"'{loop.name}' holds more than assignments, and loops over such")
    return None


def _needs_order(loop: For, facts: Facts, strict: bool) -> Rejection | None:
    found = facts.loops[loop.name]
    if (rejection := order_needed(found, loop.asserted, strict)) is not None:
        return rejection
    if found.last:
        return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
    if found.reductions:
        return Rejection(f"its iterations all add to '{found.reductions[0].target}'")
    shared = [name for name in found.private if name not in names_assigned(loop.body)]
    return Rejection(f"each iteration would need an array '{shared[0]}' of its own") if shared else None


def waits_for_itself(loop: For, facts: Facts) -> bool:
    """Whether all inner loops compute in registers alone, so that `abreast` gains by them: each reads what does not
    change in it, and writes nothing but scalars."""
    inner = [stmt for stmt in loop.body if isinstance(stmt, For)]
    return bool(inner) and all(
        not arrays_stored(one.body) and all(_stays(load, one, facts) for load in expressions(one.body, Load))
        for one in inner
    )


def _stays(load: Load, inner: For, facts: Facts) -> bool:
    """Whether an element may be read once before an inner loop that runs: always the same one, and surely there.
    Where a condition decides whether it is read, that may be what makes it sure."""
    chosen: tuple[Expr, ...] = (*expressions(inner.body, Select), *expressions(inner.body, Logical))
    under_conditions = {(one.array, one.index) for part in chosen for one in subexpressions(part, Load)}
    changing = names_assigned(inner.body) | {inner.name}
    return (
        load.array not in arrays_stored(inner.body)
        and (load.array, load.index) not in under_conditions
        and not any(names_in(index) & changing or has(index, Load, Checked) for index in load.index)
        and all(one.kind == "proven" for one in facts.bounds_of(load))
    )


# ---- what it becomes --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Abreast:
    """taken: names that nothing new may have. arrays: of each scalar that an iteration has for itself, what has an
    element of it for each lane; made: all arrays of lanes, and their types."""

    loop: For
    facts: Facts
    lanes: int
    taken: set[str]
    arrays: dict[str, str] = field(default_factory=dict)
    types: dict[str, Scalar] = field(default_factory=dict)
    made: list[Allocate] = field(default_factory=list)

    def result(self) -> For:
        """The loop over stretches of so many lanes. What is left at the end goes one by one."""
        loop, body = self.loop, self.loop.body
        for name, type_ in types_assigned(body).items():
            self.arrays[name], self.types[name] = self._array(f"{name}.x", type_), type_
        stretch = self._new(f"{loop.name}.o")
        together = tuple(self._together(body, variable(stretch)))
        end = plus(variable(stretch), self.lanes)
        rest = replace(loop, lower=variable(stretch))
        whole = If(Compare("le", end, loop.upper), (*self.made, *together), (rest,))
        return replace(loop, name=stretch, step=number(self.lanes), body=(whole,))

    def _new(self, wanted: str) -> str:
        self.taken.add(name := fresh(wanted, self.taken))
        return name

    def _array(self, wanted: str, type_: Scalar) -> str:
        name = self._new(wanted)
        self.made.append(Allocate(name, type_, (number(self.lanes),), None))
        return name

    def _lanes(self, stretch: Expr, body: Body, of_lane: bool = True) -> For:
        """A body for each lane, whose number stands for `.lane` in it."""
        lane = self._new(f"{self.loop.name}.l")
        given = (Assign(self.loop.name, plus(stretch, variable(lane))),) if of_lane else ()
        inside = substituted((*given, *body), {LANE: variable(lane)})
        return replace(
            self.loop, name=lane, lower=number(0), upper=number(self.lanes), step=number(1), body=inside,
            asserted="independent",
        )  # fmt: skip

    def _together(self, body: Body, stretch: Expr) -> Iterator[Stmt]:
        plain: list[Stmt] = []
        for stmt in body:
            if not isinstance(stmt, For):
                plain.append(stmt)
                continue
            if plain:
                yield self._lanes(stretch, self._in_arrays(plain))
                plain = []
            yield from self._through(stmt, stretch)
        if plain:
            yield self._lanes(stretch, self._in_arrays(plain))

    def _in_arrays(self, body: Iterable[Stmt]) -> Body:
        """The body with an element of this lane in place of each scalar."""

        def load(expr: Expr) -> Expr:
            if isinstance(expr, Var) and expr.name in self.arrays:
                return Load(self.arrays[expr.name], (variable(LANE),), self.types[expr.name])
            return expr

        def store(stmt: Stmt) -> Body:
            if isinstance(stmt, Assign) and stmt.name in self.arrays:
                return (Store(self.arrays[stmt.name], (variable(LANE),), stmt.value, at=stmt.at),)
            return (stmt,)

        return rewrite_body(tuple(body), store, load)

    def _through(self, inner: For, stretch: Expr) -> Iterator[Stmt]:
        """All lanes through an inner loop."""
        assert isinstance(inner.step, Const)
        name, step = inner.name, int(inner.step.value)
        lane = (variable(LANE),)
        count = self._array(f"{name}.n", INT64)
        counted: list[Stmt] = [Store(count, lane, trips_of(inner))]
        begin = inner.lower
        if not isinstance(begin, Const):
            first = self._array(f"{name}.f", INT64)
            counted.append(Store(first, lane, inner.lower))
            begin = Load(first, lane, INT64)
        yield self._lanes(stretch, self._in_arrays(counted))
        fewest, longest, each = self._new(f"{name}.m"), self._new(f"{name}.e"), self._new(f"{name}.l")
        of_first, of_each = Load(count, (number(0),), INT64), Load(count, (variable(each),), INT64)
        yield from (Assign(fewest, of_first), Assign(longest, of_first))
        extremes = (Assign(fewest, least(variable(fewest), of_each)), Assign(longest, most(variable(longest), of_each)))
        yield For(each, number(1), number(self.lanes), number(1), extremes)
        once, body = self._read_once(inner)
        together, alone = self._new(f"{name}.t"), self._new(f"{name}.a")
        loop = self._lanes(stretch, self._step_of(body, name, begin, together, step))
        side_by_side = For(together, number(0), variable(fewest), number(1), (loop,))
        before = (self._lanes(stretch, self._in_arrays(once)),) if once else ()
        yield If(Compare("gt", variable(fewest), number(0)), (*before, side_by_side))
        rest = self._step_of(inner.body, name, begin, alone, step)
        left = self._lanes(stretch, (For(alone, variable(fewest), Load(count, lane, INT64), number(1), rest),))
        yield If(Compare("gt", variable(longest), variable(fewest)), (left,))

    def _step_of(self, body: Body, name: str, begin: Expr, count: str, step: int) -> Body:
        at = plus(times(variable(count), step), begin)
        if not has(begin, Load):
            return substituted(self._in_arrays(body), {name: at})
        value = self._new(f"{name}.k")
        return (Assign(value, at), *substituted(self._in_arrays(body), {name: variable(value)}))

    def _read_once(self, inner: For) -> tuple[list[Stmt], Body]:
        """What is read before an inner loop, and the body that finds it there."""
        found: dict[tuple[str, tuple[Expr, ...]], str] = {}
        once: list[Stmt] = []

        def known(expr: Expr) -> Expr:
            if not isinstance(expr, Load) or expr.array in self.arrays.values() or not _stays(expr, inner, self.facts):
                return expr
            key = (expr.array, expr.index)
            if key not in found:
                found[key] = self._array(f"{expr.array}.v", expr.type)
                once.append(Store(found[key], (variable(LANE),), expr))
            return Load(found[key], (variable(LANE),), expr.type)

        body = rewrite_body(inner.body, expr=known)
        return once, body


LANE = ".lane"
"""Stands for the number of a lane until there is a loop over them."""
