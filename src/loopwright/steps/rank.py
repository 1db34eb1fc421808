"""The step `rank`: number the iterations that count in the same element, so that none waits for those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.path_vectors import PathVector, path_vector, trips_of
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import minus, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Cast,
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
)
from loopwright.ir.queries import arrays_made, arrays_stored, fresh, names_assigned, names_in, names_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished, substituted, with_statement
from loopwright.steps.extent import marked
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
from loopwright.steps.redirect import over
from loopwright.steps.stable_sort import free, in_order_of_keys, load
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Rank(Step):
    """Of a loop whose iterations take numbers from counters, as a counting sort does, which fills the rows of a sparse
    matrix or the cells of a grid: sort the iterations by their counters (a stable radix sort), so that each knows how
    many before it have counted there; then the loop needs no order for that. The counters are set afterwards.
    `rank i`:

    allocate t: int64[9] = 0
    for i in 0 .. n:
        a[i] = float64(t[int64(b[i])])
        t[int64(b[i])] = t[int64(b[i])] + 1
    ->
    var i.n: int64
    var i.c: int64
    var i.r.7: int64
    var i.x.4: int64
    var i.x.5: int64
    var i.g: int64
    var i.j: int64
    var i.q: int64
    allocate t: int64[9] = 0
    i.n = max(n, 0)
    i.c = size(t, 0)
    allocate i.k: int64[i.n]
    allocate i.d: int64[i.n]
    allocate i.r: int64[i.n]
    allocate i.b: int64[i.c + 1]
    for i.a in 0 .. i.n independent:
        i.r.7 = -1
        i.x.4 = int64(b[i.a] if i.a >= 0 and i.a < size(b, 0) else 0.0)
        i.x.5 = i.x.4 + size(t, 0) if i.x.4 < 0 else i.x.4
        i.r.7 = i.x.5 if i.x.5 >= 0 and i.x.5 < size(t, 0) else -1
        i.k[i.a] = i.r.7 if i.r.7 >= 0 else i.c
    i.g = int64(i.c >= 256) + 1 + int64(i.c >= 65536) + int64(i.c >= 16777216) + int64(i.c >= 4294967296)
    allocate i.h: uint8[i.n]
    allocate i.p: int64[i.n]
    allocate i.o: int64[i.n]
    allocate i.t: int64[257]
    for i.i in 0 .. i.n independent:
        i.d[i.i] = i.i
    for i.f in 0 .. i.g:
        for i.l in 0 .. 257 independent:
            i.t[i.l] = 0
        for i.m in 0 .. i.n independent:
            i.h[i.m] = uint8(i.k[i.d[i.m]] >> i.f * 8 & 255)
        for i.s in 0 .. 1 sorted:
            for i.s.c in 0 .. i.n sorted:
                i.t[int64(i.h[i.s.c]) + 1] = i.t[int64(i.h[i.s.c]) + 1] + 1
            for i.s.a in 0 .. 256 sorted:
                i.t[i.s.a + 1] = i.t[i.s.a + 1] + i.t[i.s.a]
            for i.s.p in 0 .. i.n sorted:
                i.p[max(min(i.t[int64(i.h[i.s.p])], i.n - 1), 0)] = i.s.p
                i.t[int64(i.h[i.s.p])] = i.t[int64(i.h[i.s.p])] + 1
        for i.v in 0 .. i.n independent:
            i.o[i.v] = i.d[i.p[i.v]]
        for i.w in 0 .. i.n independent:
            i.d[i.w] = i.o[i.w]
    for i.y in 0 .. i.n independent:
        if i.y == 0 or i.k[i.d[i.y]] != i.k[i.d[i.y - 1]]:
            i.b[i.k[i.d[i.y]]] = i.y
    for i.z in 0 .. i.n independent:
        i.j = i.d[i.z]
        i.r[i.j] = i.z - i.b[i.k[i.j]]
    for i in 0 .. n:
        i.q = i.r[i]
        a[i] = float64(t[int64(b[i])] + i.q)
    for i.u in 0 .. i.n:
        if i.k[i.u] < i.c:
            t[i.k[i.u]] = t[i.k[i.u]] + 1
    """

    name: ClassVar[str] = "rank"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        rejection = marked((loop,)) or left_early(loop) or changes_inside(loop)
        if rejection is not None or abs(step_of(loop)) != 1:
            return rejection or Rejection(f"'{self.loop}' has a step other than 1 and -1")
        counter = counter_of(loop)
        if isinstance(counter, str):
            return Rejection(counter)
        if counter.store.array in arrays_made(loop.body):
            return Rejection(f"each iteration of '{self.loop}' has an array '{counter.store.array}' of its own")
        _, reason = slice_of(loop, counter, facts, set())
        return Rejection(reason) if reason else too_large(kernel, 4 * size_of(loop.body))

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        loop = the_loop(kernel, self.loop)
        counter = counter_of(loop)
        assert isinstance(counter, Counter)
        made = _Ranked(loop, counter, facts, names_of(kernel))
        return finished(with_statement(kernel, loop, made.result()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        found = ((name, loop) for name, loop in loops(kernel).items() if isinstance(loop, For))
        return (cls(name) for name, loop in found if isinstance(counter_of(loop), Counter))


# ---- counters ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counter:
    """The one statement of a loop that counts in an array, by `by` at a time. around: the statements among which it is,
    with all that reads the array."""

    store: Store
    by: int
    around: Body


def counter_of(loop: For) -> Counter | str:
    """The counter of a loop, or why it has none."""
    stored: dict[str, list[Store]] = {}
    for stmt in statements(loop.body, Store):
        stored.setdefault(stmt.array, []).append(stmt)
    reason = f"no iteration of '{loop.name}' reads an integer and adds a constant to it"
    for array, stores in stored.items():
        around = _around(loop.body, stores[0])
        if len(stores) > 1 or around is None or not stores[0].value.type.is_integer:
            continue
        by = _added(stores[0], around, loop)
        if by is None:
            continue
        if (why := _why_not(array, stores[0], around, loop)) == "":
            return Counter(stores[0], by, around)
        reason = why
    return reason


def _around(body: Body, store: Store) -> Body | None:
    """The statements among which one stands that is in no inner loop."""
    if any(stmt is store for stmt in body):
        return body
    for stmt in body:
        inner = (stmt.then, stmt.otherwise) if isinstance(stmt, If) else (stmt.body,) if isinstance(stmt, Block) else ()
        for one in inner:
            if (found := _around(one, store)) is not None:
                return found
    return None


def _added(store: Store, around: Body, loop: For) -> int | None:
    """What constant is added to an element that was read before; None where it is something else."""
    value, total = store.value, 0
    bits = store.value.type.bits
    for _ in range(len(around) + 8):
        match value:
            case Cast(operand, type_) if type_.is_integer and type_.bits >= bits and operand.type.is_integer:
                value = operand
            case Binary("add", left, Const(by)) if value.type.is_integer and value.type.bits >= bits:
                value, total = left, total + int(by)
            case Binary("add", Const(by), right) if value.type.is_integer and value.type.bits >= bits:
                value, total = right, total + int(by)
            case Binary("sub", left, Const(by)) if value.type.is_integer and value.type.bits >= bits:
                value, total = left, total - int(by)
            case Var(name):
                given = [stmt for stmt in statements(loop.body, Assign) if stmt.name == name]
                before = around[: next(at for at, stmt in enumerate(around) if stmt is store)]
                if len(given) != 1 or not any(stmt is given[0] for stmt in before):
                    return None
                value = given[0].value
            case Load(array, index) if (array, index) == (store.array, store.index):
                return (total if total > 0 or store.value.type.kind == "int" else 0) or None
            case _:
                return None
    return None


def _why_not(array: str, store: Store, around: Body, loop: For) -> str:
    """Why the elements that a loop reads are not all the one that it counts in; '' where they are."""
    touching = [stmt for stmt in around if array in _arrays_in(stmt)]
    if array in _outside(loop, around):
        return f"'{array}' is used in other places of '{loop.name}' than the one that counts"
    loads = [load for stmt in statements(tuple(touching)) for load in _loads(stmt, array)]
    if any(load.index != store.index for load in loads):
        return f"'{loop.name}' reads other elements of '{array}' than the one that it counts in"
    own = [load for part in own_expressions(store) for load in subexpressions(part, Load) if load.array == array]
    if len(loads) == len(own) and touching == [store]:
        return f"what '{loop.name}' counts in '{array}' is not used"
    first = next(at for at, stmt in enumerate(around) if stmt is touching[0])
    last = next(at for at, stmt in reversed(list(enumerate(around))) if stmt is touching[-1])
    changed = names_assigned(around[first : last + 1])
    read = set().union(*(names_in(part) for part in store.index))
    if changed & read or {load.array for part in store.index for load in subexpressions(part, Load)} & arrays_stored(
        around[first : last + 1]
    ):
        return f"which element of '{array}' is counted in changes in the middle of an iteration"
    if any(escapes(stmt) for stmt in around[first : last + 1]):
        return f"'{loop.name}' may go on with its next iteration before it has counted"
    return ""


def _loads(stmt: Stmt, array: str) -> Iterator[Load]:
    for expr in own_expressions(stmt):
        yield from (load for load in subexpressions(expr, Load) if load.array == array)


def _arrays_in(stmt: Stmt) -> set[str]:
    """All arrays that a statement, or one inside it, loads or stores."""
    inside = list(statements((stmt,)))
    loaded = {load.array for one in inside for expr in own_expressions(one) for load in subexpressions(expr, Load)}
    return loaded | arrays_stored((stmt,))


def _outside(loop: For, around: Body) -> set[str]:
    """The arrays that a loop uses outside of some of its statements."""
    among = {id(stmt) for stmt in statements(around)}
    others = [stmt for stmt in statements(loop.body) if id(stmt) not in among]
    loaded = {load.array for one in others for expr in own_expressions(one) for load in subexpressions(expr, Load)}
    return loaded | {stmt.array for stmt in others if isinstance(stmt, Store)}


def slice_of(loop: For, counter: Counter, facts: Facts, taken: set[str]) -> tuple[PathVector, str]:
    """What tells the subscripts of the counter before an iteration runs, and why nothing does. `taken` gets the names
    that it has."""
    found = path_vector(loop, facts, _namer(taken))
    one = next(one for one in found.references if one.is_write and one.array == counter.store.array)
    return (found.of_reference(one), "") if one.index else (found, f"which element is counted in: {one.reason}")


def _namer(taken: set[str]) -> Callable[[str], str]:
    def new(wanted: str) -> str:
        taken.add(name := fresh(wanted, taken))
        return name

    return new


# ---- what it becomes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The loops that a loop becomes. taken: names that nothing new may have."""

    loop: For
    counter: Counter
    facts: Facts
    taken: set[str]

    def result(self) -> Body:
        """All that takes the place of the loop."""
        loop, array, new = self.loop, self.counter.store.array, _namer(self.taken)
        sizes: list[Expr] = [Dim(array, axis) for axis in range(len(self.counter.store.index))]
        length, keys, order, ranks, begins = (new(f"{loop.name}.{end}") for end in "nkdrb")
        first, last, elements, rank = (new(f"{loop.name}.{end}") for end in "aucq")
        found, _ = slice_of(loop, self.counter, self.facts, self.taken)
        index = [variable(name) for name in found.references[0].index]
        nowhere, n = variable(elements), variable(length)
        inside = reduce(lambda left, right: Logical("and", left, right), (_from_zero(one) for one in index))
        key = Select(inside, _flat(index, sizes), nowhere)
        add = self._count(load(keys, variable(last)), sizes)
        return (
            Assign(length, trips_of(loop), at=loop.at),
            Assign(elements, reduce(lambda left, right: Binary("mul", left, right), sizes), at=loop.at),
            Allocate(keys, INT64, (n,), None),
            Allocate(order, INT64, (n,), None),
            Allocate(ranks, INT64, (n,), None),
            Allocate(begins, INT64, (plus(nowhere, 1),), None),
            free(first, n, (self._iteration(first), *found.body, Store(keys, (variable(first),), key))),
            *in_order_of_keys(loop.name, n, nowhere, keys, order, new),
            *self._numbered(n, keys, order, ranks, begins, new),
            self._first_to_last(n, self._body(ranks, rank)),
            over(last, n, (If(Compare("lt", load(keys, variable(last)), nowhere), (add,)),)),
        )

    def _iteration(self, place: str) -> Assign:
        """What the loop's variable is in an iteration, which are counted from 0."""
        return Assign(self.loop.name, plus(times(variable(place), step_of(self.loop)), self.loop.lower))

    def _first_to_last(self, n: Expr, body: Body) -> For:
        """The loop with another body; one that counts down goes through the same iterations upwards from 0."""
        if step_of(self.loop) == 1:
            return replace(self.loop, body=body)
        name = self.loop.name
        body = substituted(body, {name: minus(self.loop.lower, variable(name))})
        return replace(self.loop, lower=number(0), upper=n, step=number(1), body=body)

    def _count(self, key: Expr, sizes: Sequence[Expr]) -> Store:
        """Counting in the element with a key."""
        store = self.counter.store
        index: list[Expr] = []
        for size in reversed(sizes[1:]):
            index.append(Binary("mod", key, size))
            key = Binary("floordiv", key, size)
        place = (key, *reversed(index))
        by = Const(self.counter.by, store.value.type)
        return replace(
            store, index=place, value=Binary("add", Load(store.array, place, store.value.type), by), key=object()
        )

    def _numbered(self, n: Expr, keys: str, order: str, ranks: str, begins: str, new: Callable[[str], str]) -> Body:
        """How many iterations with the same key stand before each."""
        place, again, job = (new(f"{self.loop.name}.{end}") for end in "yzj")
        at, own = variable(place), load(keys, load(order, variable(place)))
        differs = Compare("ne", own, load(keys, load(order, minus(at, 1))))
        is_first = Logical("or", Compare("eq", at, number(0)), differs)
        here = variable(again)
        rank = minus(here, load(begins, load(keys, variable(job))))
        return (
            free(place, n, (If(is_first, (Store(begins, (own,), at),)),)),
            free(again, n, (Assign(job, load(order, here)), Store(ranks, (variable(job),), rank))),
        )

    def _body(self, ranks: str, rank: str) -> Body:
        """The loop's statements, where the counter stays as it is."""
        loop, store = self.loop, self.counter.store
        i, by, type_ = variable(loop.name), self.counter.by, store.value.type
        number_ = minus(i, loop.lower) if step_of(loop) == 1 else minus(loop.lower, i)
        at = next(at for at, stmt in enumerate(self.counter.around) if stmt is store)

        def counted(times_: Expr) -> Callable[[Expr], Expr]:
            more = times_ if type_ == INT64 else Cast(times_, type_)

            def read(expr: Expr) -> Expr:
                is_it = isinstance(expr, Load) and expr.array == store.array
                return Binary("add", expr, more) if is_it else expr

            return read

        given = Assign(rank, times(load(ranks, number_), by))
        before = rewrite_body(self.counter.around[:at], expr=counted(variable(rank)))
        after = rewrite_body(self.counter.around[at + 1 :], expr=counted(plus(variable(rank), by)))
        new = (given, *before, *after)
        return _replaced(loop.body, self.counter.around, new)


def _from_zero(index: Expr) -> Expr:
    return Compare("ge", index, number(0))


def _flat(index: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:
    found = index[0]
    for one, size in zip(index[1:], sizes[1:], strict=True):
        found = plus(Binary("mul", found, size), one)
    return found


def _replaced(body: Body, old: Body, new: Body) -> Body:
    """A body with other statements instead of those of one of the bodies in it (found by identity)."""
    if body is old:
        return new
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, If):
            stmt = replace(stmt, then=_replaced(stmt.then, old, new), otherwise=_replaced(stmt.otherwise, old, new))
        elif isinstance(stmt, Block):
            stmt = replace(stmt, body=_replaced(stmt.body, old, new))
        found.append(stmt)
    return tuple(found)
