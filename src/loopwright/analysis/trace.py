"""One walk through a kernel that notes every access and every check with what is known there.

It owns the order of things: which loops and conditions surround a place, what names are worth there, and whether
the place is surely reached. It decides nothing about safety; `dependence` and `bounds` do, from its notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, TypeVar, assert_never

from loopwright.analysis.affine import (
    Affine,
    Formula,
    SymbolTable,
    combine,
    conjunction,
    constant,
    disjunction,
    of_symbol,
    relate,
)
from loopwright.analysis.carried_ranges import Range, carried_ranges
from loopwright.analysis.effort import is_together, kept
from loopwright.analysis.notes import Access as Access
from loopwright.analysis.notes import LoopNote as LoopNote
from loopwright.analysis.notes import Test as Test
from loopwright.analysis.notes import Trace as Trace
from loopwright.analysis.resumption import (
    Inside,
    KernelWalk,
    Place,
    Snapshot,
    WalkMark,
    begun_by,
    breaks,
    changing,
    is_time,
    mark_of,
    may_fail_inside,
    walks_from,
)
from loopwright.analysis.values import (
    UNKNOWN,
    Consequences,
    condition_of,
    initial_state,
    size_of,
    value_of,
)
from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Checked,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Return,
    Select,
    Stmt,
    Store,
    While,
)
from loopwright.ir.queries import escapes as escapes
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, children, own_expressions, statements

Key = TypeVar("Key")
V = TypeVar("V")


def trace(kernel: Kernel, table: SymbolTable | None = None) -> Trace:
    """Walk a kernel once. With the `table` of another trace, equal parameters have equal symbols in both."""
    if table is not None or not is_together():
        walker = _Walker(Trace(initial_state(kernel, table)))
        walker.body(kernel.body)
        return walker.notes
    walks = walks_from(kernel)
    begun = begun_by(walks, kernel.body)
    walker = _Walker(Trace(initial_state(kernel)) if begun is None else begun.notes())
    walker.marks = [] if begun is None else begun.marks
    walker.whole(kernel.body, walker.marks[-1] if walker.marks else None)
    walks[:] = [
        *walks[1 - MOST_KEPT :], KernelWalk(kernel.params, kernel.results, kernel.body, walker.notes, walker.marks),
    ]  # fmt: skip
    return walker.notes


def glance(kernel: Kernel, entered: Collection[str], table: SymbolTable | None = None) -> Trace:
    """The notes of what stands in no other loops than some: what a walk finds in a loop tells nothing of what stands
    behind it, but for what changes there. table: as `trace` takes it."""
    if table is None:
        for known, notes in _last():
            if known is kernel:
                return notes
    walker = _Walker(Trace(initial_state(kernel, table)), frozenset(entered))
    walker.body(kernel.body)
    return walker.notes


_LAST: list[tuple[Kernel, Trace]] = []
"""The kernels asked about last: several questions about one follow one another when a step is tried."""

MOST_KEPT = 12
"""So many kernels and walks are kept while the questions about one program are asked: a step that was tried is asked
about again when it is taken, and leaves most nests as they are."""


def traced(kernel: Kernel) -> Trace:
    """The notes of a kernel, for questions that do not make a guard of them: they may be those of an earlier question
    about the same kernel."""
    for known, notes in _last():
        if known is kernel:
            return notes
    notes = trace(kernel)
    keep(kernel, notes)
    return notes


def keep(kernel: Kernel, notes: Trace) -> None:
    """Let `traced` give these notes: whoever made a guard of them has made it."""
    last = _last()
    last[:] = [(kernel, notes), *last[: MOST_KEPT - 1 if is_together() else 3]]


def _last() -> list[tuple[Kernel, Trace]]:
    return kept("traced", list[tuple[Kernel, Trace]]) if is_together() else _LAST


def _differing(some: dict[Key, V], others: dict[Key, V]) -> list[Key]:
    """The keys whose values differ, or that one side lacks."""
    return [key for key in (some | others) if some.get(key) is not others.get(key) and some.get(key) != others.get(key)]


class _Walker:
    """The walk. `where`, `exact` and `sure` describe the place it has come to, and `places` the bodies that this is in.
    entered: the loops whose bodies are walked, None for all. marks: those made so far; None where nobody asks."""

    def __init__(self, notes: Trace, entered: frozenset[str] | None = None) -> None:
        self.notes, self.entered = notes, entered
        self.state = notes.state
        self.where: list[Formula] = []
        self.exact = True
        self.sure = True
        self.places: list[Place] = []
        self.marks: list[WalkMark] | None = None

    # ---- places

    @contextmanager
    def _under(self, *formulas: Formula | None, exact: bool = True) -> Iterator[None]:
        """Within the block, the formulas hold as well."""
        mark, before = len(self.where), self.exact
        self.where.extend(formula for formula in formulas if formula is not None)
        self.exact = self.exact and exact
        yield
        del self.where[mark:]
        self.exact = before

    def _hold(self, formulas: Sequence[Formula | None], exact: bool) -> None:
        """From here on, the formulas hold as well."""
        self.where.extend(formula for formula in formulas if formula is not None)
        self.exact = self.exact and exact

    def _release(self, inside: Inside) -> None:
        del self.where[inside.held :]
        self.exact = inside.exact

    @contextmanager
    def _unmarked(self) -> Iterator[None]:
        """Within the block, no marks are made: no walk goes on from there."""
        marks, self.marks = self.marks, None
        yield
        self.marks = marks

    def _change(self, around: Stmt, ranges: Mapping[str, Range]) -> None:
        """Forget what may change inside a statement: on entering a loop, and on leaving it. ranges: of scalars, all the
        time."""
        for stmt in changing(around):
            match stmt:
                case Assign():
                    self.state.types[stmt.name] = stmt.value.type
                    self._forget(stmt.name, ranges.get(stmt.name))
                case Store():
                    self.state.stored(stmt.array)
                case Allocate():
                    self.state.stored(stmt.array)
                    for axis in range(len(stmt.shape)):
                        self.state.sizes.pop((stmt.array, axis), None)

    def _forget(self, name: str, known: Range | None) -> None:
        if known is None:
            self.state.forget(name)
        else:
            symbol = self.state.table.within(known.intervals, self.state.stack, known.roots, known.ends)
            self.state.scalars[name] = of_symbol(symbol)

    # ---- expressions

    def expr(self, expr: Expr, stmt: Stmt) -> None:
        """Note the accesses and checks of an expression, in the order of evaluation."""
        match expr:
            case Select():
                self.expr(expr.condition, stmt)
                condition = condition_of(self.state, expr.condition) if _touches(expr) else UNKNOWN
                with self._under(condition.true, exact=condition.exact):
                    self.expr(expr.then, stmt)
                with self._under(condition.false, exact=condition.exact):
                    self.expr(expr.otherwise, stmt)
            case Logical():
                self.expr(expr.left, stmt)
                condition = condition_of(self.state, expr.left) if _touches(expr.right) else UNKNOWN
                with self._under(condition.true if expr.op == "and" else condition.false, exact=condition.exact):
                    self.expr(expr.right, stmt)
            case Checked():
                self.expr(expr.condition, stmt)
                condition = condition_of(self.state, expr.condition)
                self.notes.tests.append(Test(expr, condition.false, self.state.stack, tuple(self.where)))
                is_told = expr.kind == "raised" and expr.told is not None  # and read where the condition does not hold
                with self._under(condition.false if is_told else condition.true):
                    for part in children(expr)[1:]:
                        self.expr(part, stmt)
                self.sure = False
            case _:
                for child in children(expr):
                    self.expr(child, stmt)
                if isinstance(expr, Load):
                    self._access(expr, stmt)

    def _access(self, node: Load | Store, stmt: Stmt) -> None:
        index = tuple(value_of(self.state, axis) for axis in node.index)
        sizes = tuple(size_of(self.state, node.array, axis) for axis in range(len(index)))
        number = len(self.notes.accesses)
        self.notes.accesses.append(
            Access(node, stmt, index, sizes, self.state.stack, tuple(self.where), self.exact, self.sure, number)
        )

    # ---- statements

    def whole(self, body: Body, last: WalkMark | None) -> None:
        """Walk a kernel's body from a mark on."""
        if last is None:
            self.body(body)
            return
        self.where, self.exact, self.sure = list(last.where), last.exact, last.sure
        self._again(body, last.places)

    def _inside(self, loop: For | While) -> None:
        if self.entered is None or loop.name in self.entered:
            self.body(loop.body)

    def body(self, body: Body) -> bool:
        """Walk statements in order; whether the end of the body cannot be reached."""
        return self._rest(Place(body, 0, len(self.where), self.exact))

    def _rest(self, place: Place) -> bool:
        """The same of the statements that are not done yet."""
        self.places.append(place)
        for stmt in place.body[place.done :]:
            self._done(stmt, self._next(stmt))
        self.places.pop()
        del self.where[place.held :]
        self.exact = place.exact
        return place.ended

    def _done(self, stmt: Stmt, ended: bool) -> None:
        place = self.places[-1]
        place.ended = ended or place.ended
        place.done += 1
        place.inside = None
        if self.marks is not None and bodies(stmt) and is_time(self.notes, self.marks, len(self.places)):
            self.marks.append(mark_of(self.notes, self.places, self.where, self.exact, self.sure))

    def _again(self, body: Body, places: Sequence[Place]) -> bool:
        """`body` from where another walk stood in one that is the same so far."""
        place = replace(places[0], body=body)
        inside = place.inside
        if inside is not None:
            stmt = body[place.done]
            inside = place.inside = replace(inside)
            self.places.append(place)
            if isinstance(stmt, For):
                self._again(stmt.body, places[1:])
                self._leave(stmt, inside)
                self._done(stmt, False)
            else:
                assert isinstance(stmt, If)
                ended = self._again(stmt.then if inside.then is None else stmt.otherwise, places[1:])
                self._done(stmt, (self._behind_then if inside.then is None else self._behind_if)(stmt, inside, ended))
            self.places.pop()
        return self._rest(place)

    def _next(self, stmt: Stmt) -> bool:
        self.notes.values.append((stmt, dict(self.state.scalars)))
        if not isinstance(stmt, While):  # a while condition is evaluated in the loop, by _while
            for expr in own_expressions(stmt):
                self.expr(expr, stmt)
        return self._stmt(stmt)

    def _stmt(self, stmt: Stmt) -> bool:
        match stmt:
            case Assign():
                self.state.types[stmt.name] = stmt.value.type
                if stmt.value.type.is_float:
                    self.state.forget(stmt.name)
                else:
                    self.state.scalars[stmt.name] = value_of(self.state, stmt.value)
            case Store():
                self._access(stmt, stmt)
                self.state.stored(stmt.array)
            case Allocate():
                self.state.stored(stmt.array)
                for axis, size in enumerate(stmt.shape):
                    self.state.sizes[stmt.array, axis] = value_of(self.state, size)
                self.sure = False
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)
            case If():
                return self._if(stmt)
            case Block():
                with self._unmarked():
                    ended = self.body(stmt.body)
                left = any(isinstance(s, Leave) and s.block == stmt.name for s in statements(stmt.body))
                if left:
                    self._change(stmt, {})
                self._after(stmt)
                return ended and not left
            case Break() | Continue() | Leave() | Return():
                self.sure = self.sure and isinstance(stmt, Continue)
                return True
            case _:
                assert_never(stmt)
        return False

    def _after(self, stmt: Stmt) -> None:
        """After a statement with jumps out of it, the rest may not be reached."""
        jumps = escapes(stmt)
        if jumps:
            self.exact = False
        if any(not isinstance(jump, Continue) for jump in jumps):
            self.sure = False

    def _if(self, stmt: If) -> bool:
        condition = self.notes.conditions[id(stmt)] = condition_of(self.state, stmt.condition)
        inside = Inside(len(self.where), self.exact, condition=condition, before=self._snapshot())
        self.places[-1].inside = inside
        self._hold((condition.true,), condition.exact)
        return self._behind_then(stmt, inside, self.body(stmt.then))

    def _behind_then(self, stmt: If, inside: Inside, ended: bool) -> bool:
        self._release(inside)
        inside.then = self._snapshot(), ended
        self._restore(inside.before)
        self._hold((inside.condition.false,), inside.condition.exact)
        return self._behind_if(stmt, inside, self.body(stmt.otherwise))

    def _behind_if(self, stmt: If, inside: Inside, otherwise_ended: bool) -> bool:
        assert inside.then is not None
        self._release(inside)
        condition, (after_then, then_ended) = inside.condition, inside.then
        if otherwise_ended:
            self._restore(after_then)
        elif not then_ended:
            self._merge(after_then)
        self._narrow(stmt, condition, then_ended, otherwise_ended)
        return then_ended and otherwise_ended

    def _narrow(self, stmt: If, condition: Consequences, then_ended: bool, otherwise_ended: bool) -> None:
        """Where one branch always leaves, the rest of the body stands under the other branch's condition."""
        jumps = escapes(stmt)
        if then_ended != otherwise_ended:
            rest = condition.false if then_ended else condition.true
            if rest is not None:
                self.where.append(rest)
            simple = condition.exact and len(jumps) == 1 and jumps[0] in (stmt.then + stmt.otherwise)
            self.exact = self.exact and simple
        elif jumps:
            self.exact = False
        if any(not isinstance(jump, Continue) for jump in jumps):
            self.sure = False

    def _snapshot(self) -> Snapshot:
        return dict(self.state.scalars), dict(self.state.versions), dict(self.state.sizes)

    def _restore(self, saved: Snapshot) -> None:
        self.state.scalars, self.state.versions, self.state.sizes = (dict(saved[0]), dict(saved[1]), dict(saved[2]))

    def _merge(self, other: Snapshot) -> None:
        """Where two paths meet, keep what they agree on."""
        scalars, versions, sizes = other
        for name in _differing(self.state.scalars, scalars):
            self.state.forget(name)
        for name in _differing(self.state.versions, versions):
            self.state.counter += 1
            self.state.versions[name] = (self.state.counter, self.state.stack)
        for key in _differing(self.state.sizes, sizes):
            self.state.sizes.pop(key, None)

    # ---- loops

    def _for(self, loop: For) -> None:
        state = self.state
        lower, upper, step = (value_of(state, e) for e in (loop.lower, loop.upper, loop.step))
        stride = step.constant if step.is_constant else 0
        least = 0 if isinstance(loop.step, Checked) else 1  # which tests that it is not zero
        sign = stride or (1 if step.interval(0)[0] >= least else -1 if step.interval(0)[1] <= -least else 0)
        outer, ranges = state.stack, carried_ranges(loop, state)
        below = self._bounds(loop.upper, upper, "min") if sign > 0 else ()
        symbol = state.table.loop((*outer, loop.name), lower, upper, sign, below)
        state.stack = (*outer, loop.name)
        self._change(loop, ranges)
        state.scalars[loop.name] = of_symbol(symbol)
        state.types[loop.name] = INT64
        domain = self._domain(loop, of_symbol(symbol), lower, upper, sign)
        if not sign:
            domain = _either_way(step, *(self._domain(loop, of_symbol(symbol), lower, upper, way) for way in (1, -1)))
        if abs(stride) > 1:
            distance = combine(of_symbol(symbol), lower, -1)
            domain.append(Formula(f"{distance.text()} mod {abs(stride)} = 0", distance.symbols))
        exact = stride != 0 and not breaks(loop)
        regular = self.exact and exact
        self.notes.loops[loop.name] = LoopNote(
            loop, symbol, lower, upper, stride, outer, tuple(domain), tuple(self.where), regular, step
        )
        inside = self.places[-1].inside = Inside(len(self.where), self.exact, outer, ranges)
        self._hold(domain, exact)
        self.sure = self.sure and not breaks(loop) and not may_fail_inside(loop)
        self._inside(loop)
        self._leave(loop, inside)

    def _leave(self, loop: For, inside: Inside) -> None:
        self._release(inside)
        self.state.stack = inside.outer
        self._change(loop, inside.ranges)
        self._after(loop)

    def _domain(self, loop: For, value: Affine, lower: Affine, upper: Affine, sign: int) -> list[Formula]:
        """The variable between its bounds; a minimum or maximum as a bound is one bound for each operand."""
        if sign > 0:
            first = [relate(value, ">=", bound) for bound in self._bounds(loop.lower, lower, "max")]
            return first + [relate(value, "<", bound) for bound in self._ends(loop.upper, upper, "min")]
        if sign < 0:
            first = [relate(value, "<=", bound) for bound in self._bounds(loop.lower, lower, "min")]
            return first + [relate(value, ">", bound) for bound in self._ends(loop.upper, upper, "max")]
        return []  # the sign of the step decides

    def _bounds(self, expr: Expr, form: Affine, op: str) -> list[Affine]:
        if isinstance(expr, Binary) and expr.op == op:
            sides = ((side, value_of(self.state, side)) for side in (expr.left, expr.right))
            return [bound for side, value in sides for bound in self._bounds(side, value, op)]
        return [form]

    def _ends(self, expr: Expr, form: Affine, op: Literal["min", "max"]) -> list[Affine]:
        """What the bound says that a loop goes towards. A sum that may be too great for its type, as at the end of a
        stretch of a loop whose own end comes from data, wraps to a lesser number, so the sum
        as it would be without a type is a bound, too."""
        if isinstance(expr, Binary) and expr.op == op:
            sides = ((side, value_of(self.state, side)) for side in (expr.left, expr.right))
            return [bound for side, value in sides for bound in self._ends(side, value, op)]
        if not isinstance(expr, Binary) or expr.op not in ("add", "sub"):
            return [form]
        left, right = value_of(self.state, expr.left), value_of(self.state, expr.right)
        whole = combine(left, right, 1 if expr.op == "add" else -1)
        low, high = whole.interval(0)
        wraps_back = low >= expr.type.minimum if op == "min" else high <= expr.type.maximum
        return [form, whole] if whole != form and wraps_back else [form]

    def _while(self, loop: While) -> None:
        state = self.state
        outer, ranges = state.stack, carried_ranges(loop, state)
        state.stack = (*outer, loop.name)
        self._change(loop, ranges)
        self.sure = False
        self.expr(loop.condition, loop)
        condition = condition_of(state, loop.condition)
        with self._under(condition.true, exact=False), self._unmarked():
            self._inside(loop)
        state.stack = outer
        self._change(loop, ranges)
        self._after(loop)


def _either_way(step: Affine, upwards: list[Formula], downwards: list[Formula]) -> list[Formula]:
    """The domain of a loop whose step may have either sign."""
    up = conjunction((relate(step, ">", constant(0)), *upwards))
    return [disjunction([up, conjunction((relate(step, "<", constant(0)), *downwards))])]


@by_identity
def _touches(expr: Expr) -> bool:
    """Whether an expression has accesses or checks, so that the conditions on it matter."""
    return isinstance(expr, Load | Checked) or any(_touches(child) for child in children(expr))
