"""The step `hoist`: compute before a loop what is the same in each of its iterations (loop-invariant code motion)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse, analyse_restructured
from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import flow, live_after, scalars_of
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Break,
    Checked,
    Compare,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Return,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    escapes,
    has,
    names_assigned,
    names_in,
    names_read,
    size_of,
    types_assigned,
)
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.copies import index_of, length_of, shape_of
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.nest import changes_inside, missing, overlapping, step_of, the_loop, too_large
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Hoist(Step):
    """Compute a scalar before a nest of loops, once, where iterations of one of them all compute the same, with the
    loops that do so and with what it is made of. If it differs along others of these loops, it gets an array with an
    element for each of their iterations. With `guarded`, it is computed only where the loops that it does not depend on
    have iterations: else it might fail where nothing is to be computed. `hoist s i`:

    var s: float64
    for i in 0 .. n:
        for j in 0 .. m:
            s = 0.0
            for k in 0 .. m:
                s = s + 2.0 * float64(j * k)
            a[i] = a[i] + s
    ->
    var s.1: float64
    var s: float64
    allocate s.x: float64[max(0, m)]
    for j in 0 .. m:
        s.1 = 0.0
        for k in 0 .. m:
            s.1 = s.1 + 2.0 * float64(j * k)
        s.x[j] = s.1
    for i in 0 .. n:
        for j.1 in 0 .. m:
            s = s.x[j.1]
            a[i] = a[i] + s
    """

    name: ClassVar[str] = "hoist"
    grammar: ClassVar[str] = "SCALAR LOOP [guarded], before which it is computed"
    scalar: str
    loop: str
    guarded: bool = False

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        path = path_to(loop, self.scalar)
        if path is None:
            return Rejection(f"'{self.scalar}' is not set in one body, in '{self.loop}' or in loops right inside it")
        live = live_after(kernel)
        for one in path:
            kinds = scalars_of(one, live[one.name])
            if self.scalar not in kinds.private or self.scalar in kinds.last:
                return Rejection(f"'{self.scalar}' is also used before '{one.name}' sets it, or after it")
        inside = {id(stmt) for stmt in statements((loop,))}
        if any(_mentions(stmt, self.scalar) for stmt in statements(kernel.body) if id(stmt) not in inside):
            return Rejection(f"'{self.scalar}' is also used outside of '{self.loop}'")
        moved = moved_out(path, self.scalar)
        return (
            marked((loop,))
            or _tied(path, moved)
            or _torn(path[-1], moved, self.scalar)
            or _no_array(path, moved)
            or (_no_guard(path, moved) if self.guarded else None)
            or too_large(kernel, size_of(moved.body))
            or self._fails(kernel, facts, moved)
        )

    def _fails(self, kernel: Kernel, facts: Facts, moved: Moved) -> Rejection | None:
        """Why it may fail where loops have no iterations: what was proven inside of these need not hold before them."""
        refused = Rejection(f"to compute '{self.scalar}' may fail, also where '{self.loop}' has no iterations")
        if any(expressions(moved.body, Checked)):
            return refused
        if not any(expressions(moved.body, Load)):
            return None
        draft, keys = self._draft(kernel)
        after = finished(draft, kernel)
        for anew in (analyse_restructured(after, facts), analyse(after)):  # the latter sees what follows from what
            if self.guarded or set(anew.guard.conditions) <= set(facts.guard.conditions):
                checks = (one for (key, _), found in anew.known.items() if key in keys for one in found)
                return refused if any(one.kind == "checked" for one in checks) else None
        return refused

    def apply(self, kernel: Kernel) -> Kernel:
        draft, _ = self._draft(kernel)
        return finished(draft, kernel)

    def _draft(self, kernel: Kernel) -> tuple[Kernel, set[object]]:
        """The draft, and the keys of what it loads before the loop."""
        path = path_to(the_loop(kernel, self.loop), self.scalar)
        assert path is not None
        moved = moved_out(path, self.scalar)
        home, taken = path[-1], names_of(kernel)
        over = [one for one in path if one.name in moved.over]
        names: dict[str, str] = {}
        for name in sorted(moved.names if over else moved.names - {self.scalar}):
            names[name] = fresh(name, taken)
            taken.add(names[name])
        before, keys = _again(moved.body, names)
        rest = _without(home.body, self.scalar)
        if over:
            array, index = fresh(f"{self.scalar}.x", taken), index_of(over)
            type_ = types_assigned(home.body)[self.scalar]
            before = (*before, Store(array, index, Var(names[self.scalar], type_)))
            tests = [_runs(one) for one in path if one.name not in moved.over] if self.guarded else []
            for one in reversed(over):
                needed = [test for test in tests if one.name in names_in(test)]
                tests = [test for test in tests if one.name not in names_in(test)]
                before = (replace(one, body=_under(needed, before)),)
            before = (Allocate(array, type_, shape_of(over), None), *_under(tests, before))
            rest = (Assign(self.scalar, Load(array, index, type_)), *rest)
        with_rest = with_statement(kernel, home, (replace(home, body=rest),))
        loop = the_loop(with_rest, self.loop)
        return with_statement(with_rest, loop, (*before, loop)), keys

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, loop) for name in types_assigned(kernel.body) for loop in loops(kernel))


def _runs(loop: For) -> Expr:
    """Whether it has iterations, of one that counts upwards."""
    return Compare("lt", loop.lower, loop.upper)


def _under(tests: list[Expr], body: Body) -> Body:
    return (If(reduce(lambda left, right: Logical("and", left, right), tests), body),) if tests else body


def path_to(loop: For, scalar: str) -> tuple[For, ...] | None:
    """The loops from one to that in whose body a scalar is set, each right inside the one before; None where it is set
    at other places too."""
    path = [loop]
    while not any(isinstance(stmt, Assign) and stmt.name == scalar for stmt in path[-1].body):
        holding = [stmt for stmt in path[-1].body if any(_mentions(one, scalar) for one in statements((stmt,)))]
        if len(holding) != 1 or not isinstance(holding[0], For):
            return None
        path.append(holding[0])
    return tuple(path)


@dataclass(frozen=True, slots=True)
class Moved:
    """What computes a scalar. names: of the scalar, and of all that it is made of; over: the loops for each of whose
    iterations it differs."""

    body: Body
    names: frozenset[str]
    over: frozenset[str]


def moved_out(path: tuple[For, ...], scalar: str) -> Moved:
    """What computes a scalar in the body of the last of these loops."""
    home, names = path[-1], {scalar}
    assigned = names_assigned(home.body)
    while True:
        body = _sliced(home.body, names)
        if not (more := names_read(body) & assigned - names):
            break
        names |= more
    over: set[str] = set()
    for one in reversed(path):
        bounds = (expr for other in path if other.name in over for expr in own_expressions(other))
        if one.name in names_read(body).union(*map(names_in, bounds)):
            over.add(one.name)
    return Moved(body, frozenset(names), frozenset(over))


def _sliced(body: Body, names: set[str]) -> Body:
    """The statements that set these scalars, and the loops and conditions around them."""
    found: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Assign():
                found += [stmt] if stmt.name in names else []
            case For():
                inner = _sliced(stmt.body, names)
                found += [replace(stmt, body=inner)] if inner else []
            case If():
                then, otherwise = _sliced(stmt.then, names), _sliced(stmt.otherwise, names)
                found += [replace(stmt, then=then, otherwise=otherwise)] if then or otherwise else []
            case _:
                found += [stmt] if names & names_assigned((stmt,)) else []
    return tuple(found)


def _without(body: Body, scalar: str) -> Body:
    """The other statements; loops and conditions that hold nothing else are gone."""
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.name == scalar:
            continue
        if scalar not in names_assigned((stmt,)):
            found.append(stmt)
        elif isinstance(stmt, For) and (inner := _without(stmt.body, scalar)):
            found.append(replace(stmt, body=inner))
        elif isinstance(stmt, If):
            then, otherwise = _without(stmt.then, scalar), _without(stmt.otherwise, scalar)
            found += [replace(stmt, then=then, otherwise=otherwise)] if then or otherwise else []
    return tuple(found)


def _again(body: Body, names: Mapping[str, str]) -> tuple[Body, set[object]]:
    """A copy with other names of scalars, of which nothing is proven yet: that was where the original stands. The keys
    of what it loads."""
    keys: set[object] = set()

    def expr(one: Expr) -> Expr:
        if isinstance(one, Var) and one.name in names:
            return replace(one, name=names[one.name])
        if isinstance(one, Load):
            keys.add(key := object())
            return replace(one, key=key)
        return one

    def stmt(one: Stmt) -> Body:
        return (replace(one, name=names.get(one.name, one.name)),) if isinstance(one, Assign) else (one,)

    return rewrite_body(body, stmt, expr), keys


def _tied(path: tuple[For, ...], moved: Moved) -> Rejection | None:
    """Why it is not the same in all iterations of any loop."""
    loop = path[0]
    if all(one.name in moved.over for one in path):
        return Rejection(f"it depends on {' and '.join(repr(one.name) for one in path)}")
    bounds = [expr for one in path if one.name in moved.over for expr in own_expressions(one)]
    read = (names_read(moved.body) | {name for expr in bounds for name in names_in(expr)}) - moved.names
    if changed := read & names_assigned((loop,)):
        return Rejection(f"'{loop.name}' changes '{user_name(min(changed))}', which it is made of")
    if needed := moved.names & flow(moved.body).exposed:
        return Rejection(f"'{user_name(min(needed))}' is not set anew in each iteration")
    used = arrays_loaded(moved.body) | arrays_measured(moved.body)
    used |= {part.array for expr in bounds for part in subexpressions(expr, Load, Dim)}
    if changed := used & (arrays_stored((loop,)) | arrays_made((loop,))):
        return Rejection(f"'{loop.name}' changes '{user_name(min(changed))}', which it is made of")
    return None


def _torn(home: For, moved: Moved, scalar: str) -> Rejection | None:
    """Why what computes it cannot be taken out of the other statements."""
    if any(not isinstance(stmt, Assign | For | If) for stmt in statements(moved.body)):
        return Rejection(f"'{scalar}' is set in a loop of unknown length, or where jumps lead")
    around = [stmt for stmt in statements(home.body, For) if moved.names & names_assigned((stmt,))]
    if any(escapes(stmt) or any(escapes(inner) for inner in stmt.body) for stmt in around):
        return Rejection(f"'{scalar}' is set in a loop that can be left")
    if any(isinstance(stmt, Continue | Break | Leave | Return) for stmt in home.body):
        return Rejection(f"'{home.name}' is left before '{scalar}' is set")
    rest = _without(home.body, scalar)
    if not rest:
        return Rejection(f"nothing else stands in '{home.name}'")
    last = max(at for at, stmt in enumerate(home.body) if scalar in names_assigned((stmt,)))
    if any(_mentions(one, scalar) for one in statements(_without(home.body[: last + 1], scalar))):
        return Rejection(f"'{scalar}' is also needed before it has its last value")
    return None


def _no_array(path: tuple[For, ...], moved: Moved) -> Rejection | None:
    """Why there is no array for its values."""
    over = [one for one in path if one.name in moved.over]
    for one in over:
        if (rejection := changes_inside(one)) is not None:
            return rejection
        if step_of(one) != 1 or length_of(one, over[0]) is None:
            return Rejection(f"'{one.name}' has a length that is not known before '{path[0].name}'")
    return None


def _no_guard(path: tuple[For, ...], moved: Moved) -> Rejection | None:
    """Why it cannot be said before the loops which of them have iterations."""
    if not moved.over:
        return Rejection("it has one value only, so that it has to be computed in any case")
    changed = names_assigned((path[0],)) | {one.name for one in path if one.name not in moved.over}
    for one in path:
        if one.name not in moved.over:
            ends = (one.lower, one.upper)
            if step_of(one) < 1 or any(has(end, Load, Checked) or names_in(end) & changed for end in ends):
                return Rejection(f"whether '{one.name}' has iterations is not known before '{path[0].name}'")
    return None


def _mentions(stmt: Stmt, name: str) -> bool:
    if isinstance(stmt, Assign) and stmt.name == name:
        return True
    return any(name in names_in(expr) for expr in own_expressions(stmt))
