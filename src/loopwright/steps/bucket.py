"""The step `bucket`: iterations that read and write elements with the same index run in order, all others at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse, apart_from
from loopwright.analysis.facts import Facts
from loopwright.analysis.path_vectors import trips_of, value_in_advance
from loopwright.ir.linear import minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Break,
    Compare,
    Const,
    Dim,
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
    While,
)
from loopwright.ir.queries import (
    accesses,
    accesses_by_array,
    arrays_made,
    arrays_stored,
    escapes,
    fresh,
    names_assigned,
    names_in,
    names_of,
)
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, rewrite_expr, statements, subexpressions, with_bodies
from loopwright.steps.draft import finished, jumps_renamed, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.grammar import From1
from loopwright.steps.nest import (
    changes_inside,
    jumps_in,
    may_begin_anew,
    missing,
    overlapping,
    size_of,
    step_of,
    the_loop,
    too_large,
    without_arrays,
)
from loopwright.steps.redirect import over
from loopwright.steps.stable_sort import free, in_order_of_keys, load
from loopwright.steps.step import Rejection, Step, order_needed

SHARE = 512
"""Where an element has more than that part of all iterations, a GPU is worse off: there an iteration takes some 500
times as long as on a CPU, whose caches and predictions are for one thread."""
FEW = 1024
"""Iterations that one element may have in any case."""


@dataclass(frozen=True, slots=True)
class Bucket(Step):
    """Of a loop whose iterations meet only in elements that one index selects, which data tells, as the state of each
    customer, cell or node: sort the iterations by that index (a stable radix sort), and let each element's own ones run
    in their order (owner computes); those of other elements need not wait for them. Where an element has more than 1024
    of them, and more than one of 512 of all (`bucket i 64` says of 64), a GPU leaves the call to the CPU. `bucket i`:

    for i in 0 .. n:
        if a[i] > c[int64(b[i]), 0]:
            c[int64(b[i]), 0] = a[i]
            c[int64(b[i]), 1] = float64(i)
    ->
    var i.n: int64
    var i.c: int64
    var i.x: int64
    var i.l: int64
    var i.u: int64
    var i.g: int64
    var i.j: int64
    i.n = max(n, 0)
    i.c = size(c, 0)
    allocate i.k: int64[i.n]
    allocate i.e: int64[i.c + 1] = 0
    for i.a in 0 .. i.n independent:
        i.x = int64(b[i.a] if i.a >= 0 and i.a < size(b, 0) else 0.0)
        i.x = i.x + size(c, 0) if i.x < 0 else i.x
        i.k[i.a] = i.x if i.x >= 0 and i.x < size(c, 0) else i.c
    for i.h in 0 .. i.n:
        i.e[i.k[i.h]] = i.e[i.k[i.h]] + 1
    i.l = 0
    for i.m in 0 .. i.c + 1:
        i.l = max(i.l, i.e[i.m])
    if i.l <= max(i.n // 512, 1024):
        allocate i.d: int64[i.n]
        allocate i.b: int64[i.c + 1] = 0
        i.u = 0
        for i.y in 0 .. i.n - 1:
            if i.k[i.y + 1] < i.k[i.y]:
                i.u = i.u + 1
        i.g = int64(i.c >= 256) + 1 + int64(i.c >= 65536) + int64(i.c >= 16777216) + int64(i.c >= 4294967296)
        if i.u == 0:
            i.g = 0
        allocate i.h.1: uint8[i.n]
        allocate i.p: int64[i.n]
        allocate i.o: int64[i.n]
        allocate i.t: int64[257]
        for i.i in 0 .. i.n independent:
            i.d[i.i] = i.i
        for i.f in 0 .. i.g:
            for i.l.1 in 0 .. 257 independent:
                i.t[i.l.1] = 0
            for i.m.1 in 0 .. i.n independent:
                i.h.1[i.m.1] = uint8(i.k[i.d[i.m.1]] >> i.f * 8 & 255)
            for i.s in 0 .. 1 sorted:
                for i.s.c in 0 .. i.n sorted:
                    i.t[int64(i.h.1[i.s.c]) + 1] = i.t[int64(i.h.1[i.s.c]) + 1] + 1
                for i.s.a in 0 .. 256 sorted:
                    i.t[i.s.a + 1] = i.t[i.s.a + 1] + i.t[i.s.a]
                for i.s.p in 0 .. i.n sorted:
                    i.p[max(min(i.t[int64(i.h.1[i.s.p])], i.n - 1), 0)] = i.s.p
                    i.t[int64(i.h.1[i.s.p])] = i.t[int64(i.h.1[i.s.p])] + 1
            for i.v in 0 .. i.n independent:
                i.o[i.v] = i.d[i.p[i.v]]
            for i.w in 0 .. i.n independent:
                i.d[i.w] = i.o[i.w]
        for i.v.1 in 0 .. i.n independent:
            if i.v.1 == 0 or i.k[i.d[i.v.1]] != i.k[i.d[i.v.1 - 1]]:
                i.b[i.k[i.d[i.v.1]]] = i.v.1
        for i.w.1 in 0 .. i.c + 1 independent:
            for i.r.4 in i.b[i.w.1] .. i.b[i.w.1] + i.e[i.w.1]:
                i.j = i.d[i.r.4]
                if a[i.j] > c[int64(b[i.j]), 0]:
                    c[int64(b[i.j]), 0] = a[i.j]
                    c[int64(b[i.j]), 1] = float64(i.j)
    else:
        for i in 0 .. n off_gpu:
            if a[i] > c[int64(b[i]), 0]:
                c[int64(b[i]), 0] = a[i]
                c[int64(b[i]), 1] = float64(i)
    """

    name: ClassVar[str] = "bucket"
    grammar: ClassVar[str] = "LOOP [SHARE]"
    loop: str
    share: From1 = SHARE

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if escapes(loop) or jumps_in(loop, Break):
            return Rejection(f"'{self.loop}' can be left in the middle")
        rejection = marked((loop,)) or changes_inside(loop)
        if rejection is not None or abs(step_of(loop)) != 1:
            return rejection or Rejection(f"'{self.loop}' has a step other than 1 and -1")
        if facts.loops[self.loop].verdict in ("parallel", "reduction"):
            return Rejection(f"iterations of '{self.loop}' do not wait for one another")
        if not may_begin_anew(kernel, loop):
            return Rejection(f"before '{self.loop}' something is written that is read there, too, or it is in a loop")
        owner = owner_of(kernel, facts, loop, strict)
        if isinstance(owner, Rejection):
            return owner
        told = value_in_advance(loop, facts, owner.index, _namer(set()))
        return Rejection(told) if isinstance(told, str) else too_large(kernel, 3 * size_of(loop.body))

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        loop = the_loop(kernel, self.loop)
        owner = owner_of(kernel, facts, loop, strict=False)
        assert isinstance(owner, Owner)
        made = _Buckets(loop, owner, self.share, facts, names_of(kernel))
        return finished(with_statement(kernel, loop, made.result()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        found = ((name, loop) for name, loop in loops(kernel).items() if isinstance(loop, For))
        return (cls(name) for name, loop in found if any(_indices(loop)))


# ---- the index --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Owner:
    """What tells which iterations meet: an index that has one value in each of them. arrays: those whose elements all
    have it, on which axis."""

    index: Expr
    arrays: Mapping[str, int]


def owner_of(kernel: Kernel, facts: Facts, loop: For, strict: bool) -> Owner | Rejection:
    """The index, or why there is none."""
    reason = Rejection(f"iterations of '{loop.name}' do not meet in elements that one index selects")
    for owner in _indices(loop):
        found = apart_from(kernel, facts, loop, (), tuple(owner.arrays))
        rejection = order_needed(found, False, strict)
        if rejection is None and found.last:
            rejection = Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
        if rejection is None and found.private:
            rejection = without_arrays(found.private, arrays_made(loop.body) | names_assigned(loop.body))
        if rejection is None and (arrays := [one.target for one in found.reductions if one.kind != "scalar"]):
            rejection = Rejection(f"iterations of several elements add to elements of '{user_name(arrays[0])}'")
        if rejection is None and (kept := [one.target for one in found.reductions if one.tie in ("first", "last")]):
            rejection = Rejection(f"which of equal values '{user_name(kept[0])}' keeps is told by their order")
        if rejection is None:
            return owner
        reason = rejection
    return reason


def _indices(loop: For) -> Iterator[Owner]:
    """Each index that data tells and that all accesses to some array that the loop writes have on some axis, with the
    most arrays first."""
    scalars = _Scalars(loop)
    for form, arrays in _by_index(loop, scalars):
        if scalars.is_kept(form, arrays):
            yield Owner(form, arrays)


def _by_index(loop: For, scalars: _Scalars) -> list[tuple[Expr, dict[str, int]]]:
    """Such indices, written out in full, and the arrays, with the axis of each."""
    found: dict[Expr, dict[str, int]] = {}
    used = accesses_by_array(loop.body)
    for array in sorted(arrays_stored(loop.body) - arrays_made(loop.body)):
        for axis in range(len(used[array][0].index)):
            forms = {scalars.in_full(access.index[axis]) for access in used[array]}
            if len(forms) == 1 and scalars.is_told_by_data(form := forms.pop()):
                found.setdefault(form, {}).setdefault(array, axis)
    return sorted(found.items(), key=lambda item: -len(item[1]))


class _Scalars:
    """What the scalars of an iteration are."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.inner = {stmt.name for stmt in statements(loop.body, For)}
        self.assigned = names_assigned(loop.body) - self.inner
        self.stored = arrays_stored(loop.body) | arrays_made(loop.body)
        given: dict[str, list[Expr]] = {}
        for stmt in statements(loop.body, Assign):
            given.setdefault(stmt.name, []).append(stmt.value)
        self.once = {name: values[0] for name, values in given.items() if len(values) == 1}

    def in_full(self, expr: Expr) -> Expr:
        """An expression without scalars that have one value in an iteration, which no statement of it can change."""

        def spelled(part: Expr) -> Expr:
            if isinstance(part, Var) and part.name in self.once:
                value = self.in_full(self.once[part.name]) if not self._is_own(part.name) else part
                if not {one.array for one in subexpressions(value, Load)} & self.stored and not names_in(value) & (
                    self.inner | self.assigned
                ):
                    return value
            return part

        return rewrite_expr(expr, spelled)

    def _is_own(self, name: str) -> bool:
        """Whether the value of a scalar is made of what it was before, also by way of others."""
        seen: set[str] = set()
        asked = [name]
        while asked:
            for one in names_in(self.once[asked.pop()]):
                if one == name:
                    return True
                if one in self.once and one not in seen:
                    seen.add(one)
                    asked.append(one)
        return False

    def is_told_by_data(self, form: Expr) -> bool:
        if names_in(form) & self.inner or {one.array for one in subexpressions(form, Load)} & self.stored:
            return False
        varying = self.assigned | {self.loop.name}
        return bool(names_in(form) & self.assigned) or any(
            names_in(one) & varying for one in subexpressions(form, Load)
        )

    def is_kept(self, form: Expr, arrays: Mapping[str, int]) -> bool:
        """Whether the scalars in an index have their values before the first of these arrays is touched, and keep
        them."""
        names = names_in(form) & self.assigned
        touched = False
        for stmt in statements(self.loop.body):
            touched |= _touches(with_bodies(stmt, tuple(() for _ in bodies(stmt))), arrays)
            if isinstance(stmt, Assign) and stmt.name in names and touched:
                return False
            if isinstance(stmt, For | While) and names & names_assigned(stmt.body) and _touches(stmt, arrays):
                return False
        return True


def _touches(stmt: Stmt, arrays: Mapping[str, int]) -> bool:
    return any(access.array in arrays for access in accesses((stmt,)))


def _namer(taken: set[str]) -> Callable[[str], str]:
    def new(wanted: str) -> str:
        taken.add(name := fresh(wanted, taken))
        return name

    return new


# ---- what it becomes --------------------------------------------------------------------------------------------


class _Buckets:
    """The loops that a loop becomes. taken: names that nothing new may have."""

    def __init__(self, loop: For, owner: Owner, share: int, facts: Facts, taken: set[str]) -> None:
        self.loop, self.owner, self.share, self.facts, self.new = loop, owner, share, facts, _namer(taken)
        length, elements = self._name("n"), self._name("c")
        self.keys, self.order, self.begins, self.many = (self._name(end) for end in "kdbe")
        self.length, self.elements = length, elements
        self.n, self.nowhere = variable(length), variable(elements)
        self.sizes = [Dim(array, axis) for array, axis in sorted(owner.arrays.items())]

    def _name(self, end: str) -> str:
        return self.new(f"{self.loop.name}.{end}")

    def result(self) -> Body:
        """All that takes the place of the loop."""
        unsorted, longest = self._name("u"), self._name("l")
        limit = most(Binary("floordiv", self.n, number(self.share)), number(FEW))
        in_order = Compare("eq", variable(unsorted), number(0))
        rows = (plus(self.nowhere, 1),)
        return (
            Assign(self.length, trips_of(self.loop), at=self.loop.at),
            Assign(self.elements, self.sizes[0], at=self.loop.at),
            Allocate(self.keys, INT64, (self.n,), None),
            Allocate(self.many, INT64, rows, Const(0, INT64)),
            *self._keys(),
            *self._counts(longest),
            If(
                Compare("le", variable(longest), limit),
                (
                    Allocate(self.order, INT64, (self.n,), None),
                    Allocate(self.begins, INT64, rows, Const(0, INT64)),
                    *self._descents(unsorted),
                    *in_order_of_keys(self.loop.name, self.n, self.nowhere, self.keys, self.order, self.new, in_order),
                    self._begins(),
                    self._owners(),
                ),
                (replace(self.loop, run="off_gpu"),),
            ),
        )

    def _keys(self) -> Body:
        """Which element each iteration uses. One that may not be there has a number of its own, `nowhere`. An index
        that counts from the end means other elements of arrays of other sizes: then all iterations get that number."""
        first, value = self._name("a"), self._name("x")
        told = value_in_advance(self.loop, self.facts, self.owner.index, self.new)
        assert not isinstance(told, str)
        found = (Assign(self.loop.name, self._iteration(variable(first))), *told[0], Assign(value, told[1]))
        index, size = variable(value), self.sizes[0]
        wrapped = Assign(value, Select(Compare("lt", index, number(0)), plus(index, size), index))
        inside = Logical("and", Compare("ge", index, number(0)), Compare("lt", index, size))
        store = Store(self.keys, (variable(first),), Select(inside, index, self.nowhere))
        if len(self.sizes) == 1:
            return (free(first, self.n, (*found, wrapped, store)),)
        negative, again = self._name("q"), self._name("z")
        unequal: list[Expr] = [Compare("ne", other, size) for other in self.sizes[1:]]
        differ = reduce(lambda left, right: Logical("or", left, right), unequal)
        counted = Assign(negative, plus(variable(negative), 1))
        count = If(Logical("and", Compare("lt", index, number(0)), differ), (counted,))
        all_ = Store(self.keys, (variable(again),), self.nowhere)
        return (
            Assign(negative, number(0)),
            over(first, self.n, (*found, count, wrapped, store)),
            If(Compare("gt", variable(negative), number(0)), (free(again, self.n, (all_,)),)),
        )

    def _counts(self, longest: str) -> Body:
        """How many iterations each element has, and that with most of them."""
        place, element = self._name("h"), self._name("m")
        key = (load(self.keys, variable(place)),)
        counted = Store(self.many, key, plus(Load(self.many, key, INT64), 1))
        greater = Assign(longest, most(variable(longest), load(self.many, variable(element))))
        return (
            over(place, self.n, (counted,)),
            Assign(longest, number(0)),
            over(element, plus(self.nowhere, 1), (greater,)),
        )

    def _descents(self, unsorted: str) -> Body:
        """How many keys are less than the one before."""
        at = self._name("y")
        less = Compare("lt", load(self.keys, plus(variable(at), 1)), load(self.keys, variable(at)))
        found = If(less, (Assign(unsorted, plus(variable(unsorted), 1)),))
        return (Assign(unsorted, number(0)), over(at, minus(self.n, 1), (found,)))

    def _begins(self) -> For:
        """Where the iterations of each element begin."""
        place = self._name("v")
        at = variable(place)
        own, before = (load(self.keys, load(self.order, one)) for one in (at, minus(at, 1)))
        is_first = Logical("or", Compare("eq", at, number(0)), Compare("ne", own, before))
        return free(place, self.n, (If(is_first, (Store(self.begins, (own,), at),)),))

    def _owners(self) -> For:
        """The elements, each with its iterations."""
        owner, place, job = self._name("w"), self._name("r"), self._name("j")
        begin = load(self.begins, variable(owner))
        inner = For(
            place,
            begin,
            plus(begin, load(self.many, variable(owner))),
            number(1),
            (
                Assign(job, self._iteration(load(self.order, variable(place)))),
                Assign(self.loop.name, variable(job)),
                *jumps_renamed(self.loop.body, self.loop.name, place),
            ),
            at=self.loop.at,
        )
        return replace(free(owner, plus(self.nowhere, 1), (inner,)), at=self.loop.at)

    def _iteration(self, place: Expr) -> Expr:
        """The loop's variable in an iteration that is counted from 0."""
        return plus(times(place, step_of(self.loop)), self.loop.lower)
