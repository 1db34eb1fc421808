"""The step `scan`: chunks of a loop whose iterations need their order only for scalars that each of them updates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import ClassVar, Self

from loopwright.analysis.analyse import apart_from
from loopwright.analysis.facts import Facts
from loopwright.analysis.linear_recurrences import LinearValue
from loopwright.analysis.reductions import NotAReduction, combined, identity
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.analysis.scans import CarriedValue, advance_of, carried_value, levels_of, packed_arrays
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import least, minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.queries import arrays_made, arrays_stored, has, names_assigned, settled_by, types_assigned
from loopwright.ir.types import BOOL
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps import linear_maps
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import around, extent_of, marked
from loopwright.steps.grammar import From2
from loopwright.steps.nest import missing, overlapping, size_of, step_of, the_loop, too_large, without_arrays
from loopwright.steps.step import Rejection, Step, order_needed

MOST = 1 << 20
"""Chunks: more would cost more than they spare."""


@dataclass(frozen=True, slots=True)
class Scan(Step):
    """Give the iterations of a loop to chunks, which need no order among them, where what ties iterations together are
    scalars that each one updates: a prefix sum, or the place where a compaction writes next. The first loop finds what
    each chunk adds to them, the second one what they are worth where it begins, the third one does the work. What is
    updated by an amount that depends on others of them is found after these, in loops of its own. Of a linear
    recurrence, `s = a[i] * s + b[i]`, the first loop finds which affine map a chunk is; if it is one of floats, another
    loop sees whether the results are to be trusted (steps/linear_maps.py), and chunks of which that is not so are
    computed in order. `scan i 4`:

    var s: int64
    s = m
    for i in 0 .. n:
        s = s + 2 * i
        a[i] = float64(s)
    b[0] = float64(s)
    ->
    var s: int64
    var i.n: int64
    var s.a: int64
    var s.l: int64
    s = m
    i.n = (n + 3) // 4
    allocate s.x: int64[4]
    allocate s.b: int64[4]
    for i.a in 0 .. 4:
        s.a = 0
        for i.1 in i.n * i.a .. min(i.n * i.a + i.n, n):
            s.a = s.a + 2 * i.1
        s.x[i.a] = s.a
    for i.m in 0 .. 4:
        s.b[i.m] = s
        s = s + s.x[i.m]
    for i.c in 0 .. 4 asserted:
        s.l = s.b[i.c]
        for i in i.n * i.c .. min(i.n * i.c + i.n, n):
            s.l = s.l + 2 * i
            a[i] = float64(s.l)
    b[0] = float64(s)
    """

    name: ClassVar[str] = "scan"
    grammar: ClassVar[str] = "LOOP CHUNKS"
    loop: str
    chunks: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if self.chunks > MOST:
            return Rejection(f"{self.chunks} chunks are too many; the limit is {MOST}")
        if any(not _goes_on(loop, jump) for stmt in loop.body for jump in escapes(stmt)):
            return Rejection(f"'{self.loop}' can be left in the middle")
        if (rejection := marked((loop,)) or changing_bounds(loop)) is not None:
            return rejection
        values = values_of(kernel, loop)
        if isinstance(values, Rejection):
            return values
        if not values:
            return Rejection(f"no scalar is carried from one iteration of '{self.loop}' to the next")
        return (
            _inexact(values, strict)
            or _unsafe(loop, values, facts)
            or _tied(kernel, loop, values, facts)
            or too_large(kernel, (1 + _copies(loop, values)) * size_of(loop.body))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        values = values_of(kernel, loop)
        assert not isinstance(values, Rejection)
        made = _Chunks(loop, levels_of(loop, values), self.chunks, names_of(kernel))
        result, outermost = made.result(), next((one for one in around(kernel, loop) if isinstance(one, For)), None)
        if outermost is not None and isinstance(result[0], Assign) and _never_changes(kernel, result[0].value):
            kernel = with_statement(kernel, outermost, (result[0], outermost))  # the same each time
            result = result[1:]
        return finished(with_statement(kernel, loop, result), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, 64) for name in loops(kernel))


# ---- legality ---------------------------------------------------------------------------------------------------


def values_of(kernel: Kernel, loop: For) -> tuple[CarriedValue, ...] | Rejection:
    """The scalars for whose sake the iterations of a loop need their order; or why they cannot be found in chunks."""
    scalars = scalars_of(loop, live_after(kernel)[loop.name])
    types = types_assigned(loop.body)
    values: list[CarriedValue] = []
    for name in scalars.carried:
        try:
            values.append(carried_value(loop, name, types[name]))
        except NotAReduction as why:
            return Rejection(f"each iteration needs '{user_name(name)}' of the one before, which {why}")
    if values:
        try:
            levels_of(loop, values)
            advance_of(loop, values)
        except NotAReduction as why:
            names = " and ".join(f"'{user_name(value.name)}'" for value in values)
            return Rejection(f"{names} {why}")
    return tuple(values)


def is_plain(kernel: Kernel, loop: For) -> bool:
    """Whether what a loop is scanned for are totals, none of which depends on another one: that makes three loops."""
    values = values_of(kernel, loop)
    if isinstance(values, Rejection) or any(isinstance(value, LinearValue) for value in values):
        return False
    return len(levels_of(loop, values)) == 1


def _copies(loop: For, values: Sequence[CarriedValue]) -> int:
    """How many loops go through the iterations before the one that does the work."""
    return sum(1 + any(_is_doubtful(value) for value in level) for level in levels_of(loop, values))


def _is_doubtful(value: CarriedValue) -> bool:
    """Whether what maps make of a scalar may have to be computed again."""
    return isinstance(value, LinearValue) and not value.exact


def _never_changes(kernel: Kernel, expr: Expr) -> bool:
    """Whether an expression only asks for arguments and their sizes."""
    given = {param.name for param in kernel.params} - names_assigned(kernel.body)
    return settled_by(expr) <= given and not has(expr, Load, Checked)


def changing_bounds(loop: For) -> Rejection | None:
    """Why the bounds of a loop may be other ones when a later chunk computes them."""
    assigned, stored = names_assigned(loop.body), arrays_stored(loop.body)
    parts = [part for bound in own_expressions(loop) for part in subexpressions(bound, Var, Load)]
    if any(part.name in assigned if isinstance(part, Var) else part.array in stored for part in parts):
        return Rejection(f"the bounds of '{loop.name}' may change while it runs")
    return None


def _goes_on(loop: For, jump: Stmt) -> bool:
    return isinstance(jump, Continue) and jump.loop == loop.name


def _inexact(values: Iterable[CarriedValue], strict: bool) -> Rejection | None:
    inexact = [f"'{user_name(value.name)}'" for value in values if not value.exact]
    if strict and inexact:
        return Rejection(f"strict keeps the order of the floating-point updates of {' and '.join(inexact)}")
    return None


def _unsafe(loop: For, values: Iterable[CarriedValue], facts: Facts) -> Rejection | None:
    """Why an update cannot be computed apart from its scalar: it decides whether the rest of the update is, which may
    fail."""
    for value in values:
        for update in value.updates:
            if not any(True for _ in subexpressions(update.stmt.value, Logical)):
                continue
            for part in subexpressions(update.stmt.value, Load, Checked):
                if any(one.kind != "proven" for one in facts.bounds_of(part)):
                    name = user_name(value.name)
                    return Rejection(f"'{name}' decides whether the rest of its update is computed, which may fail")
    return None


def _tied(kernel: Kernel, loop: For, values: Iterable[CarriedValue], facts: Facts) -> Rejection | None:
    """Why iterations need their order even where each is given its scalars."""
    values = tuple(values)
    names = {value.name for value in values}
    found = apart_from(kernel, facts, loop, names, packed_arrays(kernel, loop, values))
    if found.verdict == "reduction":
        others = [reduction.target for reduction in found.reductions]
        return Rejection(f"it also adds to '{user_name(others[0])}', which takes `reduce` or no order at all")
    if found.verdict != "parallel":
        return order_needed(found, asserted=False, strict=False) or Rejection(found.reason)
    if found.last:
        return Rejection(f"the value of '{user_name(found.last[0])}' after its last iteration is needed")
    return without_arrays(found.private, arrays_made(loop.body) | names_assigned(loop.body), "chunk")


# ---- what it becomes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The loops that a loop becomes. levels: the values, each with those that it can be found together with; taken:
    names that nothing new may have; begins: the array with what a value is worth where each chunk begins."""

    loop: For
    levels: tuple[tuple[CarriedValue, ...], ...]
    chunks: int
    taken: set[str]
    begins: dict[str, str] = field(default_factory=dict)

    def result(self) -> Body:
        """All that takes the place of the loop."""
        loop = self.loop
        length = self._length()
        counted: Body = ()
        if not isinstance(length, Const):
            name = self._new(f"{loop.name}.n")
            counted = (Assign(name, length, at=loop.at),)
            length = variable(name)
        values = [value for level in self.levels for value in level]
        own = {value.name: self._new(f"{value.name}.l") for value in values}
        found = [stmt for level in self.levels for stmt in self._found(level, length)]
        chunk = self._new(f"{loop.name}.c")
        given = self._given(values, own, chunk)
        whole = self._stretch(chunk, length, replace(loop, body=renamed(loop.body, own)))
        return (
            *counted,
            *(stmt for stmt in found if isinstance(stmt, Allocate)),
            *(stmt for stmt in found if not isinstance(stmt, Allocate)),
            replace(self._over(chunk, (*given, whole)), asserted=True),
        )

    def _new(self, wanted: str) -> str:
        name = fresh(wanted, self.taken)
        self.taken.add(name)
        return name

    def _length(self) -> Expr:
        """How many iterations a chunk has at most, times the step."""
        step = step_of(self.loop)
        whole = abs(step) * self.chunks
        if step > 0 and (extent := extent_of(self.loop)):
            return number((extent + whole - 1) // whole * step)
        up = minus(self.loop.upper, self.loop.lower) if step > 0 else minus(self.loop.lower, self.loop.upper)
        if isinstance(up, Const):
            return number((int(up.value) + whole - 1) // whole * step)
        return times(Binary("floordiv", plus(up, whole - 1), number(whole)), step)

    def _over(self, name: str, body: Body) -> For:
        """A loop over all chunks."""
        return For(name, number(0), number(self.chunks), number(1), body, at=self.loop.at)

    def _stretch(self, chunk: str, length: Expr, loop: For) -> For:
        """A loop over the iterations of a chunk."""
        start = plus(Binary("mul", length, variable(chunk)), self.loop.lower)
        end = plus(start, length)
        nearer = least(end, loop.upper) if step_of(loop) > 0 else most(end, loop.upper)
        return replace(loop, lower=start, upper=nearer, asserted=False)

    def _given(self, values: Iterable[CarriedValue], own: Mapping[str, str], chunk: str) -> Iterator[Stmt]:
        """Give scalars what values are worth where a chunk begins."""
        for v in values:
            yield Assign(own[v.name], Load(self.begins[v.name], (variable(chunk),), v.type))

    def _found(self, level: Sequence[CarriedValue], length: Expr) -> Iterator[Stmt]:
        """Find what the values of a level are worth where each chunk begins, once those of earlier levels are known."""
        before = [value for other in self.levels[: self.levels.index(level)] for value in other]
        parts = {value.name: self._parts(value) for value in level}
        for value in level:
            for part in parts[value.name].values():
                yield Allocate(part.array, value.type, (number(self.chunks),), None)
            self.begins[value.name] = self._new(f"{value.name}.b")
            yield Allocate(self.begins[value.name], value.type, (number(self.chunks),), None)
        ahead, merge = (self._new(f"{self.loop.name}.{end}") for end in "am")
        own = {value.name: self._new(f"{value.name}.l") for value in before}
        every = [part for value in level for part in parts[value.name].values()]
        empty = [Assign(part.scalar, part.begun) for part in every]
        stores = [Store(part.array, (variable(ahead),), Var(part.scalar, part.begun.type)) for part in every]
        advance = self._advance(level, parts, own)
        yield self._over(
            ahead, (*self._given(before, own, ahead), *empty, self._stretch(ahead, length, advance), *stores)
        )
        yield self._over(merge, tuple(self._merged(level, parts, merge)))
        if any(_is_doubtful(value) for value in level):
            yield from self._made_sure(level, parts, before, length)

    def _parts(self, value: CarriedValue) -> dict[str, _PartOfChunk]:
        """What is found of a value in each chunk: one total, or the parts of an affine map."""
        if isinstance(value, LinearValue):
            begun = {kind: linear_maps.begun(value, kind) for kind in linear_maps.parts_of(value)}
        else:
            begun = {"rest": identity(value.op, value.type)}
        ends = {"rest": "ax", "factor": "pf", "growth": "qg"}
        names = {kind: [self._new(f"{value.name}.{end}") for end in ends[kind]] for kind in begun}
        return {kind: _PartOfChunk(names[kind][0], names[kind][1], one) for kind, one in begun.items()}

    def _advance(
        self, level: Sequence[CarriedValue], parts: Mapping[str, Mapping[str, _PartOfChunk]], own: Names
    ) -> For:
        """The loop with nothing but what updates of a level need, on its totals or maps; it, and what it holds, have
        names of their own."""
        by_name = {value.name: value for value in level if isinstance(value, LinearValue)}

        def mapped(stmt: Stmt) -> Body:
            if not isinstance(stmt, Assign) or stmt.name not in by_name:
                return (stmt,)
            names = {kind: part.scalar for kind, part in parts[stmt.name].items()}
            return tuple(linear_maps.updates(by_name[stmt.name], stmt, names["factor"], names.get("growth", "")))

        body = rewrite_body(advance_of(self.loop, level), mapped)
        sums = {name: found["rest"].scalar for name, found in parts.items() if "rest" in found}
        return self._anew(body, {**own, **sums})

    def _anew(self, body: Body, names: Names) -> For:
        """The loop with another body, in which loops and blocks have names of their own, and scalars these."""
        loop = replace(self.loop, body=body)
        inner = [*statements((loop,), For, While), *statements((loop,), Block)]
        (result,) = renamed((loop,), {**names, **{stmt.name: self._new(f"{stmt.name}.1") for stmt in inner}})
        assert isinstance(result, For)
        return result

    def _merged(
        self, level: Sequence[CarriedValue], parts: Mapping[str, Mapping[str, _PartOfChunk]], chunk: str
    ) -> Iterator[Stmt]:
        """Keep what a scalar is worth where a chunk begins, and go on to the next."""
        for value in level:
            yield Store(self.begins[value.name], (variable(chunk),), Var(value.name, value.type))
            yield Assign(value.name, _after(value, parts[value.name], chunk), at=self.loop.at)

    def _made_sure(
        self,
        level: Sequence[CarriedValue],
        parts: Mapping[str, Mapping[str, _PartOfChunk]],
        before: Sequence[CarriedValue],
        length: Expr,
    ) -> Iterator[Stmt]:
        """See whether all maps of floats are to be trusted; else go through the chunks once more, and through the
        iterations of those whose maps are not."""
        bad, seen, again = (self._new(f"{self.loop.name}.{end}") for end in "wvr")
        after = {value.name: self._new(f"{value.name}.t") for value in level}
        doubtful = [value for value in level if isinstance(value, LinearValue) and not value.exact]

        def there(value: CarriedValue, chunk: str) -> Expr:
            """What a value is worth before a chunk: where chunks go one after the other, the scalar itself."""
            scalar = Var(value.name, value.type)
            return scalar if chunk == again else Load(self.begins[value.name], (variable(chunk),), value.type)

        def held(chunk: str) -> Expr:
            return reduce(lambda one, other: Logical("and", one, other), [
                linear_maps.trusted(
                    value,
                    _map_of(parts[value.name], chunk),
                    there(value, chunk),
                    Var(after[value.name], value.type),
                )
                for value in doubtful
            ])  # fmt: skip

        def tried(values: Sequence[CarriedValue], chunk: str) -> Body:
            return tuple(Assign(after[v.name], _after(v, parts[v.name], chunk, there(v, chunk))) for v in values)

        yield Assign(bad, Const(False, BOOL))
        check = Assign(bad, Binary("or", Var(bad, BOOL), Unary("not", held(seen))))
        yield self._over(seen, (*tried(doubtful, seen), check))
        own = {value.name: self._new(f"{value.name}.l") for value in before}
        serial = self._anew(advance_of(self.loop, level), own)
        kept = [Store(self.begins[v.name], (variable(again),), Var(v.name, v.type)) for v in level]
        taken = tuple(Assign(v.name, Var(after[v.name], v.type)) for v in level)
        as_written = (*self._given(before, own, again), self._stretch(again, length, serial))
        starts = [Assign(v.name, Load(self.begins[v.name], (number(0),), v.type)) for v in level]
        choice = If(held(again), taken, as_written)
        yield If(Var(bad, BOOL), (*starts, self._over(again, (*kept, *tried(level, again), choice))), ())


Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _PartOfChunk:
    """Something that is found of each chunk: a scalar, the array that keeps it, and what it is before the first
    iteration."""

    scalar: str
    array: str
    begun: Const


def _map_of(parts: Mapping[str, _PartOfChunk], chunk: str) -> linear_maps.LinearMap:
    """The map of a chunk."""
    found = {kind: Load(part.array, (variable(chunk),), part.begun.type) for kind, part in parts.items()}
    return linear_maps.LinearMap(found["factor"], found.get("rest"), found.get("growth"))


def _after(value: CarriedValue, parts: Mapping[str, _PartOfChunk], chunk: str, before: Expr | None = None) -> Expr:
    """What a value is worth after a chunk, from what it is before it; None: from the scalar itself."""
    x = Var(value.name, value.type) if before is None else before
    if isinstance(value, LinearValue):
        return _map_of(parts, chunk).of(x)
    part = parts["rest"]
    return combined(value.op, x, Load(part.array, (variable(chunk),), value.type))


def renamed(body: Body, names: Mapping[str, str]) -> Body:
    """The body with other names for scalars, loops and blocks."""

    def read(expr: Expr) -> Expr:
        return Var(names[expr.name], expr.type) if isinstance(expr, Var) and expr.name in names else expr

    def write(stmt: Stmt) -> Body:
        match stmt:
            case Assign() | For() | While() | Block() if stmt.name in names:
                return (replace(stmt, name=names[stmt.name]),)
            case Break() | Continue() if stmt.loop in names:
                return (replace(stmt, loop=names[stmt.loop]),)
            case Leave() if stmt.block in names:
                return (replace(stmt, block=names[stmt.block]),)
        return (stmt,)

    return rewrite_body(body, write, read)
