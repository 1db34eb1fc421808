"""One walk through a kernel that notes every access and every check with what is known there.

It owns the order of things: which loops and conditions surround a place, what names are worth there, and whether
the place is surely reached. It decides nothing about safety; `dependence` and `bounds` do, from its notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar, assert_never

from loopwright.analysis.affine import (
    Affine,
    Formula,
    Symbol,
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
from loopwright.analysis.values import (
    UNKNOWN,
    Consequences,
    State,
    condition_of,
    initial_state,
    size_of,
    steps_given,
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
from loopwright.ir.queries import has
from loopwright.ir.types import INT64, Scalar
from loopwright.ir.walk import bodies, children, own_expressions, statements

_Snapshot = tuple[dict[str, Affine], dict[str, tuple[int, tuple[str, ...]]], dict[tuple[str, int], Affine]]
Key = TypeVar("Key")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Access:
    """One Load or Store. `stack`: names of the loops around it, outermost first, and `stmt` the statement it stands
    in. `where`: conditions that hold there; `exact`: they are all of them, so the access happens wherever they hold.
    `sure`: nothing before it can have ended the call in another way."""

    node: Load | Store
    stmt: Stmt
    index: tuple[Affine, ...]
    sizes: tuple[Affine, ...]
    stack: tuple[str, ...]
    where: tuple[Formula, ...]
    exact: bool
    sure: bool
    number: int

    @property
    def array(self) -> str:
        """The array's name."""
        return self.node.array

    @property
    def is_write(self) -> bool:
        """Whether it is a Store."""
        return isinstance(self.node, Store)


@dataclass(frozen=True, slots=True)
class Test:
    """One Checked: `fails` is the condition of failure, None where it is not known."""

    node: Checked
    fails: Formula | None
    stack: tuple[str, ...]
    where: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class LoopNote:
    """A For as forms: its variable, bounds and step (0: not constant, which `stride` then tells), the loops around it,
    the variable's domain, and what else holds there. regular: every iteration that the domain and the rest allow does
    happen."""

    loop: For
    symbol: Symbol
    lower: Affine
    upper: Affine
    step: int
    stack: tuple[str, ...]
    domain: tuple[Formula, ...]
    where: tuple[Formula, ...]
    regular: bool
    stride: Affine


@dataclass(slots=True)
class Trace:
    """All notes of one kernel, in the order of the text. `values`: what scalars and loop variables are worth before
    each statement. `conditions`: what the condition of each `if` says, by the identity of the statement."""

    state: State
    accesses: list[Access] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    loops: dict[str, LoopNote] = field(default_factory=dict)
    values: list[tuple[Stmt, dict[str, Affine]]] = field(default_factory=list)
    conditions: dict[int, Consequences] = field(default_factory=dict)


def trace(kernel: Kernel, table: SymbolTable | None = None) -> Trace:
    """Walk a kernel once. With the `table` of another trace, equal parameters have equal symbols in both."""
    if table is not None or not is_together():
        walker = _Walker(Trace(initial_state(kernel, table)))
        walker.body(kernel.body)
        return walker.notes
    walks = _walks_from(kernel)
    begun = max((_begun(walk, kernel.body) for walk in walks), key=lambda walk: len(walk.marks), default=None)
    marks = [] if begun is None else list(begun.marks)
    last = marks[-1] if marks else None
    walker = _Walker(Trace(initial_state(kernel))) if begun is None or last is None else _behind(begun.notes, last)
    walker.outermost(kernel.body, marks)
    walks[:] = [*walks[1 - MOST_KEPT :], _KernelWalk(kernel.params, kernel.results, kernel.body, walker.notes, marks)]
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


# ---- what walks share ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a walk had come behind one of a kernel's outermost loops and branches: what the walk goes on to change as
    it was there, and of what only ever grows the length."""

    values: _Snapshot
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


@dataclass(frozen=True, slots=True)
class _KernelWalk:
    """A walk through a kernel's body. marks: how far it had come behind each statement; None where walking is no longer
    than marking. params, results: kept so that their identities stay their own."""

    params: object
    results: object
    body: Body
    notes: Trace
    marks: list[_Mark | None]


def _walks_from(kernel: Kernel) -> list[_KernelWalk]:
    """The last walks that began as one through this kernel does: with the same arguments, and the same known of
    them."""
    key = "walks", id(kernel.params), id(kernel.results), kernel.overlap, kernel.guard, steps_given(kernel)
    return kept(key, list[_KernelWalk])


def _begun(walk: _KernelWalk, body: Body) -> _KernelWalk:
    """The walk as far as one through this body is the same, and is marked."""
    count = 0
    for position, (one, other) in enumerate(zip(walk.body, body, strict=False), 1):
        if one is not other:
            break
        if walk.marks[position - 1] is not None:
            count = position
    return replace(walk, marks=walk.marks[:count])


def _behind(notes: Trace, mark: _Mark) -> _Walker:
    """A walk that has come just as far as another one had at a mark. The other one's notes and symbols have grown since
    then, and only at their ends."""
    state, (accesses, tests, values, *of_table) = notes.state, mark.lengths
    symbols, by_key, ends, quotients = of_table
    table = SymbolTable(
        state.table.symbols[:symbols],
        dict(mark.counts),
        dict(islice(state.table.by_key.items(), by_key)),
        dict(mark.demands),
        dict(islice(state.table.ends.items(), ends)),
        dict(islice(state.table.quotients.items(), quotients)),
    )
    again = replace(state, table=table, stack=(), counter=mark.counter, types=dict(mark.types))
    again.scalars, again.versions, again.sizes = mark.values[0].copy(), mark.values[1].copy(), mark.values[2].copy()
    begun = notes.accesses[:accesses], notes.tests[:tests], dict(mark.loops), notes.values[:values]
    walker = _Walker(Trace(again, *begun, dict(mark.conditions)))
    walker.where, walker.exact, walker.sure = list(mark.where), mark.exact, mark.sure
    return walker


@by_identity
def _changing(stmt: Stmt) -> tuple[Assign | Store | Allocate, ...]:
    """What changes inside a statement: of each scalar and array the last one that changes it, in the order of the
    text."""
    inside = statements(tuple(one for body in bodies(stmt) for one in body))
    changes = [one for one in inside if isinstance(one, Assign | Store | Allocate)]
    last = {(type(one), one.name if isinstance(one, Assign) else one.array): one for one in reversed(changes)}
    return tuple(reversed(last.values()))


def _differing(some: dict[Key, V], others: dict[Key, V]) -> list[Key]:
    """The keys whose values differ, or that one side lacks."""
    return [key for key in (some | others) if some.get(key) is not others.get(key) and some.get(key) != others.get(key)]


class _Walker:
    """The walk. `where`, `exact` and `sure` describe the place it has come to. entered: the loops whose bodies are
    walked, None for all."""

    def __init__(self, notes: Trace, entered: frozenset[str] | None = None) -> None:
        self.notes, self.entered = notes, entered
        self.state = notes.state
        self.where: list[Formula] = []
        self.exact = True
        self.sure = True

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

    def _change(self, around: Stmt, ranges: Mapping[str, Range]) -> None:
        """Forget what may change inside a statement: on entering a loop, and on leaving it. ranges: of scalars, all the
        time."""
        for stmt in _changing(around):
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
                with self._under(condition.true):
                    self.expr(expr.value, stmt)
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

    def outermost(self, body: Body, marks: list[_Mark | None]) -> None:
        """Walk the statements of a kernel behind those that have marks, and mark how far it has come."""
        for stmt in body[len(marks) :]:
            self._next(stmt)
            marks.append(self._mark() if bodies(stmt) else None)

    def _inside(self, loop: For | While) -> None:
        if self.entered is None or loop.name in self.entered:
            self.body(loop.body)

    def body(self, body: Body) -> bool:
        """Walk statements in order; whether the end of the body cannot be reached."""
        mark, before = len(self.where), self.exact
        ended = False
        for stmt in body:
            ended = self._next(stmt) or ended
        del self.where[mark:]
        self.exact = before
        return ended

    def _next(self, stmt: Stmt) -> bool:
        self.notes.values.append((stmt, dict(self.state.scalars)))
        if not isinstance(stmt, While):  # a while condition is evaluated in the loop, by _while
            for expr in own_expressions(stmt):
                self.expr(expr, stmt)
        return self._stmt(stmt)

    def _mark(self) -> _Mark:
        notes, state, table = self.notes, self.state, self.state.table
        growing = notes.accesses, notes.tests, notes.values, table.symbols, table.by_key, table.ends, table.quotients
        return _Mark(
            self._snapshot(),
            dict(state.types),
            state.counter,
            dict(table.counts),
            dict(table.demands),
            dict(notes.loops),
            dict(notes.conditions),
            tuple(len(one) for one in growing),
            tuple(self.where),
            self.exact,
            self.sure,
        )

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
        before = self._snapshot()
        with self._under(condition.true, exact=condition.exact):
            then_ended = self.body(stmt.then)
        after_then = self._snapshot()
        self._restore(before)
        with self._under(condition.false, exact=condition.exact):
            otherwise_ended = self.body(stmt.otherwise)
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

    def _snapshot(self) -> _Snapshot:
        return dict(self.state.scalars), dict(self.state.versions), dict(self.state.sizes)

    def _restore(self, saved: _Snapshot) -> None:
        self.state.scalars, self.state.versions, self.state.sizes = (dict(saved[0]), dict(saved[1]), dict(saved[2]))

    def _merge(self, other: _Snapshot) -> None:
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
        exact = stride != 0 and not self._breaks(loop)
        regular = self.exact and exact
        self.notes.loops[loop.name] = LoopNote(
            loop, symbol, lower, upper, stride, outer, tuple(domain), tuple(self.where), regular, step
        )
        with self._under(*domain, exact=exact):
            self.sure = self.sure and not self._breaks(loop) and not _may_fail_inside(loop)
            self._inside(loop)
        state.stack = outer
        self._change(loop, ranges)
        self._after(loop)

    def _domain(self, loop: For, value: Affine, lower: Affine, upper: Affine, sign: int) -> list[Formula]:
        """The variable between its bounds; a minimum or maximum as a bound is one bound for each operand."""
        if sign > 0:
            first = [relate(value, ">=", bound) for bound in self._bounds(loop.lower, lower, "max")]
            return first + [relate(value, "<", bound) for bound in self._bounds(loop.upper, upper, "min")]
        if sign < 0:
            first = [relate(value, "<=", bound) for bound in self._bounds(loop.lower, lower, "min")]
            return first + [relate(value, ">", bound) for bound in self._bounds(loop.upper, upper, "max")]
        return []  # the sign of the step decides

    def _bounds(self, expr: Expr, form: Affine, op: str) -> list[Affine]:
        if isinstance(expr, Binary) and expr.op == op:
            sides = ((side, value_of(self.state, side)) for side in (expr.left, expr.right))
            return [bound for side, value in sides for bound in self._bounds(side, value, op)]
        return [form]

    @staticmethod
    def _breaks(loop: For) -> bool:
        """Whether some iterations may not happen though the bounds say so."""
        return any(not isinstance(j, Continue) or j.loop != loop.name for s in loop.body for j in escapes(s))

    def _while(self, loop: While) -> None:
        state = self.state
        outer, ranges = state.stack, carried_ranges(loop, state)
        state.stack = (*outer, loop.name)
        self._change(loop, ranges)
        self.sure = False
        self.expr(loop.condition, loop)
        condition = condition_of(state, loop.condition)
        with self._under(condition.true, exact=False):
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


@by_identity
def _may_fail_inside(loop: For) -> bool:
    """Whether a statement in a loop may end the call other than by a wrong index."""
    return any(
        isinstance(stmt, Allocate | While) or any(has(expr, Checked) for expr in own_expressions(stmt))
        for stmt in statements(loop.body)
    )
