"""Path vectors: which way each iteration of a loop goes, told before it goes there (Zhang and others, 2010, section 2;
Zhang's thesis, section 2.2). An entry is a branch that data decides, or the number of iterations of an inner loop that
data decides. What computes them is a slice of the loop (Weiser 1984): the scalars that they need and the control flow
around them, without inner loops and without what is written; so it is cheap, writes nothing that the user's loop reads,
and cannot fail: an element that is not there counts as 0. What a slice cannot tell is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Literal

from loopwright.analysis.facts import Facts
from loopwright.analysis.path_work import Decided, IterationWork, Taken, loop_work
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import minus, number, plus
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Block,
    Body,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Leave,
    Load,
    Location,
    Logical,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import (
    arrays_made,
    arrays_stored,
    contains,
    has,
    names_assigned,
    names_in,
    names_read,
    types_assigned,
)
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.user_text import user_element, user_name, user_text
from loopwright.ir.walk import bodies, children, own_expressions, statements, subexpressions, with_bodies, with_children

AGAIN = "it is decided anew in each iteration of '{}'"
ALONE = "only running '{}' tells"
JUMPS = Leave | Continue
BEHIND = "whether control reaches it is known only by running the code before it"


@dataclass(frozen=True, slots=True)
class PathEntry:
    """A branch or a number of iterations that data decides. text: the condition, or the loop's range, as the user wrote
    it; arrays: those whose elements decide it. scalar: what the slice keeps it in, an int64: for a branch 1 where its
    condition holds and 0 where not, for a loop its iterations, 0 for either where control does not come there; '' where
    the entry is left out, and `reason` says why."""

    kind: Literal["branch", "trips"]
    text: str
    arrays: frozenset[str]
    at: Location | None
    scalar: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ArrayReference:
    """An access that an iteration makes at most once, or one in an inner loop, which is left out. arrays: those whose
    elements decide its subscripts, none for a regular one. index: what the slice keeps its subscripts in, int64s that
    count from the start, -1 where control does not come there or the element is not there; () where it is left out, and
    `reason` says why."""

    array: str
    text: str
    is_write: bool
    arrays: frozenset[str]
    at: Location | None
    index: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PathVector:
    """What data decides about the iterations of a loop. body: the slice, which computes the scalars of all entries and
    references from the loop's variable. work: of an iteration, by its entries; decided: the statements of the entries
    that are known."""

    loop: str
    entries: tuple[PathEntry, ...]
    references: tuple[ArrayReference, ...]
    body: Body
    work: IterationWork = field(default_factory=IterationWork)
    decided: tuple[Decided, ...] = field(default=(), compare=False, repr=False)

    @property
    def known(self) -> tuple[PathEntry, ...]:
        """The entries that the slice tells."""
        return tuple(entry for entry in self.entries if entry.scalar)

    @property
    def arrays(self) -> frozenset[str]:
        """The arrays on whose elements its entries depend: as long as these stay as they are, so do the entries."""
        return frozenset().union(*(entry.arrays for entry in self.known))

    def of_reference(self, one: ArrayReference) -> PathVector:
        """The same with one reference alone."""
        return replace(self, entries=(), references=(one,), body=_needed(self.body, set(one.index)))

    def of_entries(self) -> PathVector:
        """The same without references."""
        outputs = {entry.scalar for entry in self.known}
        return replace(self, references=(), body=_needed(self.body, outputs))


def path_vector(loop: For, facts: Facts, new: Callable[[str], str]) -> PathVector:
    """The path vector of a loop whose iterations need no order. new: makes a name of a wanted one that nothing else in
    the kernel has. The slice reads the variable of the loop under its own name."""
    return _Slicer(loop, facts, new).vector()


def value_in_advance(loop: For, facts: Facts, expr: Expr, new: Callable[[str], str]) -> tuple[Body, Expr] | str:
    """What finds the value that an expression has at the end of an iteration of a loop, before any of them runs, and
    the value; or why that can't be told. expr: made of the loop's variable, scalars that iterations set and what the
    loop leaves alone. Where control does not come to what sets a scalar, it is any value."""
    slicer = _Slicer(loop, facts, new)
    if reason := slicer.why_not(expr):
        return reason
    first, value = slicer.total_of(expr)
    return (*slicer.computing(names_in(value) | names_read(tuple(first))), *first), value


# ---- what depends on data ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Given:
    """A value that a scalar is given in a loop. guards: conditions and bounds that decide whether, and how often."""

    name: str
    values: tuple[Expr, ...]
    guards: tuple[Expr, ...]


def _given(body: Body, guards: tuple[Expr, ...] = ()) -> Iterator[_Given]:
    for stmt in body:
        own = own_expressions(stmt)
        if isinstance(stmt, Assign):
            yield _Given(stmt.name, own, guards)
        if isinstance(stmt, For):
            yield _Given(stmt.name, own, guards)
        for inner in bodies(stmt):
            yield from _given(inner, (*guards, *own))


class _Sources:
    """On which arrays' elements values in a loop depend that differ among its iterations."""

    def __init__(self, loop: For) -> None:
        self._changed = arrays_stored(loop.body) | arrays_made(loop.body)
        self._varying = {loop.name}
        self._of: dict[str, frozenset[str]] = {}
        given = tuple(_given(loop.body))
        while self._grown(given):
            pass

    def _grown(self, given: Sequence[_Given]) -> bool:
        before = len(self._varying), sum(map(len, self._of.values()))
        for one in given:
            exprs = (*one.values, *one.guards)
            if any(self._varies(expr) for expr in exprs):
                self._varying.add(one.name)
            self._of[one.name] = self._of.get(one.name, frozenset()).union(*map(self.of, exprs))
        return before != (len(self._varying), sum(map(len, self._of.values())))

    def _varies(self, expr: Expr) -> bool:
        return bool(names_in(expr) & self._varying) or any(
            load.array in self._changed for load in subexpressions(expr, Load)
        )

    def of(self, expr: Expr) -> frozenset[str]:
        """The arrays; none where only the number of the iteration decides, or nothing that differs among iterations."""
        loads = {load.array for load in subexpressions(expr, Load) if self._varies(load)}
        return frozenset(loads).union(*(self._of.get(name, frozenset()) for name in names_in(expr)))


# ---- the slice --------------------------------------------------------------------------------------------------


@dataclass
class _Slicer:
    loop: For
    facts: Facts
    new: Callable[[str], str]
    entries: list[PathEntry] = field(default_factory=list)
    references: list[ArrayReference] = field(default_factory=list)
    block: str = ""
    is_behind: bool = False
    under: Taken = ()
    decided: list[Decided] = field(default_factory=list)

    def __post_init__(self) -> None:
        body = self.loop.body
        self.sources = _Sources(self.loop)
        self.made = arrays_made(body)
        self.changed = self._changed_at_first()
        self.inner = {stmt.name for stmt in statements(body, For)}
        self.assigned = names_assigned(body)
        self.evaluable = self.assigned & set(self.facts.loops[self.loop.name].private)
        while (fewer := self._evaluable()) != self.evaluable:
            self.evaluable = fewer
        self.names = {name: self.new(f"{name}.v") for name in sorted(self.evaluable)}
        self.blocks: dict[str, str] = {}

    def _changed_at_first(self) -> set[str]:
        """The arrays whose elements are not known where an iteration begins. Where no iteration reads what another one
        writes, it finds what stood there before the loop, until it writes to an array itself."""
        alone = self.facts.loops[self.loop.name].verdict == "parallel"
        return set(self.made) if alone else self.made | arrays_stored(self.loop.body)

    def total_of(self, expr: Expr) -> tuple[list[Stmt], Expr]:
        """An expression at the end of an iteration, made of scalars of the slice, and what has to be done before."""
        return self._total(expr)

    def computing(self, outputs: Collection[str]) -> Body:
        """What of the slice serves to compute these scalars of it."""
        types = types_assigned(self.loop.body).items()
        zeros = {self.names[one]: _zero(type_) for one, type_ in types if self.names.get(one) in outputs}
        first = tuple(Assign(name, value) for name, value in zeros.items())
        return _needed((*first, *self.vector().body), outputs)

    def vector(self) -> PathVector:
        """The path vector with its slice."""
        self.changed = self._changed_at_first()
        body = tuple(self._body(self.loop.body))
        if self.block:
            body = (Block(self.block, body),)
        entries = {entry.scalar: number(0) for entry in self.entries if entry.scalar}
        indices = {name: number(-1) for one in self.references for name in one.index}
        first = tuple(Assign(name, value) for name, value in (*entries.items(), *indices.items()))
        found = _needed((*first, *body), {*entries, *indices})
        work = loop_work(self.loop.body, self.decided)
        return PathVector(self.loop.name, tuple(self.entries), tuple(self.references), found, work, tuple(self.decided))

    # what can be evaluated

    def _evaluable(self) -> set[str]:
        """Those scalars all of whose values can be evaluated, provided that those that count as such until now can."""
        left = set(self.evaluable)
        self.changed = self._changed_at_first()
        self._strike(self.loop.body, True, left)
        return left

    def _strike(self, body: Body, is_told: bool, left: set[str]) -> bool:
        """Take out what cannot be evaluated. is_told: whether it can be told that control comes here. Returns whether
        that can be told at the end."""
        for stmt in body:
            if isinstance(stmt, Assign) and not (is_told and self.why_not(stmt.value) == ""):
                left.discard(stmt.name)
            follows = is_told and self._is_followed(stmt)
            told = [self._strike(inner, follows, left) for inner in bodies(stmt)]
            is_told &= not escapes(stmt) or isinstance(stmt, JUMPS) or all((follows, *told))
            self.changed |= arrays_stored((stmt,))
        return is_told

    def _is_followed(self, stmt: Stmt) -> bool:
        """Whether the slice goes into a statement."""
        return isinstance(stmt, Block) or (isinstance(stmt, If) and self.why_not(stmt.condition) == "")

    def why_not(self, *exprs: Expr) -> str:
        """Why the values of expressions cannot be told before the iteration runs; '' where they can."""
        for part in (part for expr in exprs for part in subexpressions(expr, Load, Var)):
            if isinstance(part, Load) and part.array in self.changed:
                return f"'{user_name(part.array)}' is written in the loop"
            if isinstance(part, Var) and part.name in (self.assigned | self.inner) - self.evaluable:
                return f"'{user_name(part.name)}' is known only once the iteration has come there"
        return ""

    # what is evaluated

    def _body(self, body: Body) -> Iterator[Stmt]:
        for stmt in body:
            if self.is_behind:
                self._leave_out(stmt, BEHIND)
            else:
                yield from self._statement(stmt)
            self.changed |= arrays_stored((stmt,))

    def _statement(self, stmt: Stmt) -> Iterator[Stmt]:
        match stmt:
            case Assign():
                yield from self._referred(stmt.value)
                if stmt.name in self.evaluable:
                    yield from self._assigned(stmt)
            case Store():
                for expr in own_expressions(stmt):
                    yield from self._referred(expr)
                yield from self._reference(stmt)
            case If():
                yield from self._branch(stmt)
            case For() | While():
                yield from self._loop(stmt)
            case Block():
                name = self.blocks[stmt.name] = self.new(f"{stmt.name}.v")
                yield Block(name, tuple(self._body(stmt.body)))
                self.is_behind &= bool(escapes(stmt))
            case Leave():
                yield Leave(self.blocks[stmt.block])
            case Continue():
                self.block = self.block or self.new(f"{self.loop.name}.b")
                yield Leave(self.block)
            case _:
                pass

    def _assigned(self, stmt: Assign) -> Iterator[Stmt]:
        first, value = self._total(stmt.value)
        yield from (*first, Assign(self.names[stmt.name], value))

    def _branch(self, stmt: If) -> Iterator[Stmt]:
        yield from self._referred(stmt.condition)
        arrays, text = self.sources.of(stmt.condition), user_text(stmt.condition)
        if reason := self.why_not(stmt.condition):
            if arrays:
                self.entries.append(PathEntry("branch", text, arrays, stmt.at, reason=reason))
            for inner in (*stmt.then, *stmt.otherwise):
                self._leave_out(inner, reason)
            self.is_behind |= bool(escapes(stmt))
            return
        scalar = self.new(f"{self.loop.name}.c")
        if arrays:
            self.entries.append(PathEntry("branch", text, arrays, stmt.at, scalar))
            self.decided.append(Decided(stmt, scalar, self.under))
        first, value = self._total(stmt.condition)
        yield from (*first, Assign(scalar, Cast(value, INT64)))
        around = self.under
        sides: list[Body] = []
        for taken, side in ((1, stmt.then), (0, stmt.otherwise)):
            self.under = (*around, (scalar, taken)) if arrays else around
            sides.append(tuple(self._body(side)))
        self.under = around
        yield If(Compare("ne", Var(scalar, INT64), number(0)), sides[0], sides[1])

    def _loop(self, stmt: For | While) -> Iterator[Stmt]:
        bounds = own_expressions(stmt)
        yield from (() if isinstance(stmt, While) else self._referred(*bounds))
        arrays = self.sources.of(bounds[0]).union(*map(self.sources.of, bounds))
        if isinstance(stmt, While):
            reason = ALONE.format(user_text(stmt.condition))
        else:
            reason = "its step is not constant" if not isinstance(stmt.step, Const) else self.why_not(*bounds)
        text = user_text(bounds[0]) if isinstance(stmt, While) else _range(stmt)
        if arrays and not reason:
            assert isinstance(stmt, For)
            scalar = self.new(f"{self.loop.name}.v")
            self.entries.append(PathEntry("trips", text, arrays, stmt.at, scalar))
            self.decided.append(Decided(stmt, scalar, self.under))
            first, value = self._total(trips_of(stmt))
            yield from (*first, Assign(scalar, value))
        elif arrays:
            self.entries.append(PathEntry("trips", text, arrays, stmt.at, reason=reason))
        for inner in stmt.body:
            self._leave_out(inner, AGAIN.format(user_name(stmt.name)) if isinstance(stmt, For) else reason)
        self.is_behind |= bool(escapes(stmt))

    def _leave_out(self, stmt: Stmt, reason: str) -> None:
        """Note what data decides in a statement that the slice does not go into."""
        exprs = own_expressions(stmt)
        arrays = frozenset().union(*map(self.sources.of, exprs)) if exprs else frozenset[str]()
        if isinstance(stmt, If | While | For) and arrays:
            kind: Literal["branch", "trips"] = "branch" if isinstance(stmt, If) else "trips"
            text = _range(stmt) if isinstance(stmt, For) else user_text(stmt.condition)
            self.entries.append(PathEntry(kind, text, arrays, stmt.at, reason=reason))
        accesses: list[Load | Store] = [load for expr in exprs for load in subexpressions(expr, Load)]
        for access in (*accesses, *([stmt] if isinstance(stmt, Store) else [])):
            self._refer(access, reason)
        for inner in (child for body in bodies(stmt) for child in body):
            self._leave_out(inner, reason)

    # accesses

    def _referred(self, *exprs: Expr) -> Iterator[Stmt]:
        """What keeps the subscripts of all that expressions read."""
        for expr in exprs:
            if isinstance(expr, Select | Logical):
                yield from self._chosen(expr)
                continue
            for child in children(expr):
                yield from self._referred(child)
            if isinstance(expr, Load):
                yield from self._reference(expr)

    def _chosen(self, expr: Select | Logical) -> Iterator[Stmt]:
        """The same where a condition decides what is evaluated."""
        condition = expr.condition if isinstance(expr, Select) else expr.left
        yield from self._referred(condition)
        sides = (expr.then, expr.otherwise) if isinstance(expr, Select) else (expr.right,)
        if reason := self.why_not(condition):
            for load in (load for side in sides for load in subexpressions(side, Load)):
                self._refer(load, reason)
            return
        if isinstance(expr, Logical) and expr.op == "or":
            condition = Unary("not", condition)
        first, value = self._total(condition)
        arms = [tuple(self._referred(side)) for side in sides]
        if any(arms):
            yield from (*first, If(value, arms[0], arms[1] if len(arms) > 1 else ()))

    def _reference(self, node: Load | Store) -> Iterator[Stmt]:
        if node.array in self.made:
            return  # each iteration has its own: a thread's local memory
        if reason := self.why_not(*node.index):
            self._refer(node, reason)
            return
        names = tuple(self.new(f"{self.loop.name}.r") for _ in node.index)
        self._refer(node, "", names)
        for axis, (name, index) in enumerate(zip(names, node.index, strict=True)):
            first, value = self._total(index)
            value = self._from_start(node, axis, value, first)
            yield from (*first, Assign(name, Select(_is_inside(value, Dim(node.array, axis)), value, number(-1))))

    def _refer(self, node: Load | Store, reason: str, index: tuple[str, ...] = ()) -> None:
        if node.array in self.made:
            return
        arrays = frozenset().union(*map(self.sources.of, node.index)) if node.index else frozenset[str]()
        text = user_element(node.array, node.index)
        one = ArrayReference(node.array, text, isinstance(node, Store), arrays, node.at, index, reason)
        self.references.append(one)

    # expressions that cannot fail

    def _total(self, expr: Expr) -> tuple[list[Stmt], Expr]:
        """An expression that has the same value where the user's one does not fail, and any value elsewhere; and what
        has to be done before."""
        first: list[Stmt] = []
        value = self._without_failure(expr, first)
        return first, value

    def _without_failure(self, expr: Expr, first: list[Stmt]) -> Expr:
        new = with_children(expr, tuple(self._without_failure(child, first) for child in children(expr)))
        match new:
            case Var():
                return Var(self.names.get(new.name, new.name), new.type)
            case Checked():
                return Select(new.condition, new.value, _zero(new.type))
            case Load() if new.index:
                assert isinstance(expr, Load)
                index = tuple(self._from_start(expr, axis, part, first) for axis, part in enumerate(new.index))
                tests = [_is_inside(part, Dim(new.array, axis)) for axis, part in enumerate(index)]
                inside = reduce(partial(Logical, "and"), tests)
                return Select(inside, Load(new.array, index, new.type), _zero(new.type))
        return new

    def _from_start(self, node: Load | Store, axis: int, index: Expr, first: list[Stmt]) -> Expr:
        """A subscript counted from the start: a scalar where it takes more than arithmetic, as it is asked several
        things."""
        if has(index, Load, Select, Call):
            index = self._kept(index, first)
        if not self.facts.bounds_of(node)[axis].may_be_negative:
            return index
        wrapped = Select(Compare("lt", index, number(0)), plus(index, Dim(node.array, axis)), index)
        return self._kept(wrapped, first)

    def _kept(self, value: Expr, first: list[Stmt]) -> Expr:
        name = self.new(f"{self.loop.name}.x")
        first.append(Assign(name, value))
        return Var(name, value.type)


def _is_inside(index: Expr, size: Expr) -> Logical:
    return Logical("and", Compare("ge", index, number(0)), Compare("lt", index, size))


def _zero(type_: Scalar) -> Const:
    return Const(False if type_ == BOOL else 0.0 if type_.is_float else 0, type_)


def trips_of(loop: For) -> Expr:
    """How often a loop with a constant step runs, 0 where its bounds are the other way round."""
    assert isinstance(loop.step, Const)
    step = int(loop.step.value)
    span = minus(loop.upper, loop.lower) if step > 0 else minus(loop.lower, loop.upper)
    count = span if abs(step) == 1 else Binary("floordiv", plus(span, abs(step) - 1), number(abs(step)))
    return Binary("max", count, number(0))


def _range(loop: For) -> str:
    bounds = [loop.lower, loop.upper, loop.step]
    bounds = bounds[:2] if loop.step == number(1) else bounds
    bounds = bounds[1:] if bounds[1:2] == bounds[1:] and loop.lower == number(0) else bounds
    return f"range({', '.join(map(user_text, bounds))})"


# ---- what of the slice is needed --------------------------------------------------------------------------------


def _needed(body: Body, outputs: Collection[str]) -> Body:
    """A body without what does not serve to compute these scalars."""
    while (fewer := _read(body, names_read(body).union(outputs))) != body:
        body = fewer
    return body


def _read(body: Body, names: Collection[str]) -> Body:
    """A body without assignments to other scalars, and without what holds none."""
    left: list[Stmt] = []
    for stmt in body:
        new = with_bodies(stmt, tuple(_read(inner, names) for inner in bodies(stmt)))
        match new:
            case Assign() if new.name not in names:
                continue
            case If(then=(), otherwise=()):
                continue
            case If(then=()):
                new = If(Unary("not", new.condition), new.otherwise)
            case Block():
                kept = list(new.body)
                while kept and not contains((kept[-1],), Assign):
                    kept.pop()
                if not kept:
                    continue
                new = replace(new, body=tuple(kept))
            case _:
                pass
        left.append(new)
    return tuple(left)
