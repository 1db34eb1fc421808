"""The step `group`: on a CPU, iterations of which data decides what they do run by the path that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.path_vectors import PathVector, trips_of
from loopwright.analysis.path_work import Decided
from loopwright.ir.linear import least, minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import fresh, has, names_of
from loopwright.ir.types import FLOAT64, INT64, UINT16
from loopwright.ir.walk import loops, subexpressions, with_bodies
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.grammar import From1
from loopwright.steps.nest import missing, size_of, step_of, the_loop, too_large
from loopwright.steps.redirect import Redirect, path_of
from loopwright.steps.step import Rejection, Step

ROWS = 8192
"""Iterations of a stretch, by default: what is kept of them stays in a core's first cache, and neighbours stay near."""
MOST_ROWS = 1 << 15
"""Places in a stretch are kept in 16 bits."""
MOST_BRANCHES = 3
"""Branches that paths are told apart by; further ones stay where they are."""
CLASSES = 512
"""Of trip counts, of all paths together. One half is for small ones, each for itself; the others are told apart by
their fourth roots, up to FARTHEST to the fourth."""
FARTHEST = 32
PATHS = "g"
"""The name of the loops of the paths, behind that of the loop."""


@dataclass(frozen=True, slots=True)
class Group(Step):
    """On a CPU, run the iterations of a stretch by the path that they take: those with the same branches in a loop of
    their own, which has none, and in it those whose inner loops run about as often next to each other. So branches are
    predicted, and vector lanes do the same. Each stretch finds its keys, sorts them by counting, and does the work of
    each path. `group i 4`:

    for i in 0 .. n:
        if b[i] > 0.0:
            a[i] = 1.0
        else:
            a[i] = a[i] * 2.0
    ->
    var i.n: int64
    var i.c: int64
    var i.f: int64
    var i.e: int64
    var i.j: int64
    var i.f.1: int64
    var i.e.1: int64
    i.n = max(n, 0)
    for i.o in 0 .. i.n step 4 independent:
        allocate i.d: uint16[4]
        allocate i.k: uint16[4]
        allocate i.b: int64[3] = 0
        for i.a in 0 .. min(i.n - i.o, 4):
            i.c = 0
            i.c = int64((b[i.o + i.a] if i.o + i.a >= 0 and i.o + i.a < size(b, 0) else 0.0) > 0.0)
            i.k[i.a] = uint16(i.c)
        for i.h in 0 .. min(i.n - i.o, 4):
            i.b[min(int64(i.k[i.h]), 1) + 1] = i.b[min(int64(i.k[i.h]), 1) + 1] + 1
        for i.s in 0 .. 2:
            i.b[i.s + 1] = i.b[i.s + 1] + i.b[i.s]
        for i.p in 0 .. min(i.n - i.o, 4):
            i.d[max(min(i.b[min(int64(i.k[i.p]), 1)], 3), 0)] = uint16(i.p)
            i.b[min(int64(i.k[i.p]), 1)] = i.b[min(int64(i.k[i.p]), 1)] + 1
        i.f = max(i.b[0], 0)
        i.e = min(i.b[1], min(i.n - i.o, 4))
        for i.g in i.f .. i.e independent:
            i.j = i.o + int64(i.d[i.g])
            a[i.j] = 1.0
        i.f.1 = 0
        i.e.1 = min(i.b[0], min(i.n - i.o, 4))
        for i.g.1 in i.f.1 .. i.e.1 independent:
            i.j = i.o + int64(i.d[i.g.1])
            a[i.j] = a[i.j] * 2.0
    """

    name: ClassVar[str] = "group"
    grammar: ClassVar[str] = "LOOP [ROWS]"
    loop: str
    rows: From1 = ROWS

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        if self.rows > MOST_ROWS:
            return Rejection(f"a stretch has at most {MOST_ROWS} iterations")
        if (rejection := Redirect(self.loop).illegal(kernel, facts, strict)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        paths = paths_of(path_of(loop, facts, names_of(kernel)))
        return too_large(kernel, (len(paths) + 2) * size_of(loop.body))

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        loop = the_loop(kernel, self.loop)
        made = _Grouped(loop, facts, self.rows, names_of(kernel))
        return finished(with_statement(kernel, loop, made.result()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name) for name, loop in loops(kernel).items() if isinstance(loop, For))


# ---- paths ------------------------------------------------------------------------------------------------------


def branches_of(vector: PathVector) -> tuple[Decided, ...]:
    """Those that paths are told apart by: the first ones of the text, each after those around it."""
    return tuple(one for one in vector.decided if isinstance(one.stmt, If))[:MOST_BRANCHES]


def paths_of(vector: PathVector) -> list[dict[str, int]]:
    """The paths that iterations can take: whether the conditions hold that each comes to, by scalar."""
    found: list[dict[str, int]] = [{}]
    for one in branches_of(vector):
        found = [
            {**path, one.scalar: taken}
            for path in found
            for taken in ((1, 0) if all(path.get(name) == wanted for name, wanted in one.under) else (-1,))
        ]
    return [{name: taken for name, taken in path.items() if taken >= 0} for path in found]


@dataclass(frozen=True, slots=True)
class _Key:
    """A number for each path, and in it one for each class of trip counts. classes: of each path."""

    branches: tuple[Decided, ...]
    trips: tuple[str, ...]

    @property
    def classes(self) -> int:
        return CLASSES >> len(self.branches) if self.trips else 1

    @property
    def count(self) -> int:
        """Of all keys."""
        return self.classes << len(self.branches)

    def first_of(self, path: Mapping[str, int]) -> int:
        """The least key of a path."""
        return sum(
            path.get(one.scalar, 0) * (self.classes << place) for place, one in enumerate(reversed(self.branches))
        )

    def of_iteration(self) -> Expr:
        """Over the scalars of the path vector. The longest come first."""
        key: Expr = number(0)
        if self.trips:
            total: Expr = variable(self.trips[0])
            for name in self.trips[1:]:
                total = Binary("add", total, variable(name))
            exact = self.classes // 2
            root = Call("sqrt", (Call("sqrt", (Cast(total, FLOAT64),), FLOAT64),), FLOAT64)
            scaled = Cast(Binary("mul", root, Const(exact / FARTHEST, FLOAT64)), INT64)
            among_long = plus(scaled, exact - int(exact**0.25 * exact / FARTHEST))
            length = Select(Compare("lt", total, number(exact)), total, least(among_long, number(self.classes - 1)))
            key = minus(number(self.classes - 1), length)
        for place, one in enumerate(reversed(self.branches)):
            key = plus(key, times(Var(one.scalar, INT64), self.classes << place))
        return key


def resolved(body: Body, path: Mapping[str, int], branches: Sequence[Decided], facts: Facts) -> Body:
    """The body of an iteration that takes a path. Conditions that may fail are computed as before."""
    scalars = {id(one.stmt): one.scalar for one in branches}

    def of(part: Body) -> Body:
        found: list[Stmt] = []
        for stmt in part:
            taken = path.get(scalars.get(id(stmt), ""))
            if taken is not None and isinstance(stmt, If) and _cannot_fail(stmt.condition, facts):
                found += of(stmt.then if taken else stmt.otherwise)
                continue
            found.append(with_bodies(stmt, (of(stmt.then), of(stmt.otherwise))) if isinstance(stmt, If) else stmt)
        return tuple(found)

    return of(body)


def _cannot_fail(expr: Expr, facts: Facts) -> bool:
    loads = subexpressions(expr, Load)
    return not has(expr, Checked) and all(one.kind == "proven" for load in loads for one in facts.bounds_of(load))


# ---- what it becomes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grouped:
    """taken: names that nothing new may have."""

    loop: For
    facts: Facts
    rows: int
    taken: set[str]

    def result(self) -> Body:
        """All that takes the place of the loop."""
        loop, new = self.loop, self._new
        counted: Body = ()
        length = trips_of(loop)
        if not isinstance(length, Const):
            name = new(f"{loop.name}.n")
            counted = (Assign(name, length, at=loop.at),)
            length = variable(name)
        stretch = new(f"{loop.name}.o")
        keys, order, begins = (new(f"{loop.name}.{end}") for end in "kdb")
        vector = path_of(loop, self.facts, self.taken)
        trips = tuple(one.scalar for one in vector.decided if isinstance(one.stmt, For))
        key = _Key(branches_of(vector), trips)
        here = least(minus(length, variable(stretch)), number(self.rows))
        body = (
            Allocate(order, UINT16, (number(self.rows),), None),
            Allocate(keys, UINT16, (number(self.rows),), None),
            Allocate(begins, INT64, (number(key.count + 1),), Const(0, INT64)),
            self._keys(stretch, keys, vector, key, here),
            *self._sorted(keys, order, begins, key.count, here),
            *self._paths(stretch, order, begins, vector, key, here),
        )
        stretches = For(stretch, number(0), length, number(self.rows), body, asserted="independent", at=loop.at)
        return (*counted, stretches)

    def _new(self, wanted: str) -> str:
        self.taken.add(name := fresh(wanted, self.taken))
        return name

    def _number(self, stretch: str, place: Expr) -> Expr:
        """The loop's variable in an iteration that is counted from where a stretch begins."""
        return plus(times(plus(variable(stretch), place), step_of(self.loop)), self.loop.lower)

    def _over(self, end: str, upper: Expr, inside: Callable[[Expr], Body]) -> For:
        name = self._new(f"{self.loop.name}.{end}")
        return For(name, number(0), upper, number(1), inside(variable(name)))

    def _keys(self, stretch: str, keys: str, vector: PathVector, key: _Key, here: Expr) -> For:
        def inside(at: Expr) -> Body:
            given = Assign(self.loop.name, self._number(stretch, at))
            return (given, *vector.body, Store(keys, (at,), Cast(key.of_iteration(), UINT16)))

        return self._over("a", here, inside)

    def _sorted(self, keys: str, order: str, begins: str, count: int, here: Expr) -> Body:
        """The loops that sort by counting. Afterwards each key begins where the one before did."""

        def key_at(at: Expr) -> Expr:
            return least(Cast(Load(keys, (at,), UINT16), INT64), number(count - 1))

        def increased(index: Expr) -> Store:
            return Store(begins, (index,), plus(Load(begins, (index,), INT64), 1))

        def added(at: Expr) -> Body:
            total = plus(Load(begins, (plus(at, 1),), INT64), Load(begins, (at,), INT64))
            return (Store(begins, (plus(at, 1),), total),)

        def placed(at: Expr) -> Body:
            place = most(least(Load(begins, (key_at(at),), INT64), number(self.rows - 1)), number(0))
            return (Store(order, (place,), Cast(at, UINT16)), increased(key_at(at)))

        return (
            self._over("h", here, lambda at: (increased(plus(key_at(at), 1)),)),
            self._over("s", number(count), added),
            self._over("p", here, placed),
        )

    def _paths(self, stretch: str, order: str, begins: str, vector: PathVector, key: _Key, here: Expr) -> Body:
        """A loop for each path."""
        found: list[Stmt] = []
        job = self._new(f"{self.loop.name}.j")
        for path in paths_of(vector):
            first = key.first_of(path)
            lower = number(0) if first == 0 else most(Load(begins, (number(first - 1),), INT64), number(0))
            upper = least(Load(begins, (number(first + key.classes - 1),), INT64), here)
            name = self._new(f"{self.loop.name}.{PATHS}")
            iteration = Cast(Load(order, (variable(name),), UINT16), INT64)
            body = (
                Assign(job, self._number(stretch, iteration)),
                Assign(self.loop.name, variable(job)),
                *resolved(self.loop.body, path, key.branches, self.facts),
            )
            begin, end = self._new(f"{self.loop.name}.f"), self._new(f"{self.loop.name}.e")
            found += (Assign(begin, lower), Assign(end, upper))
            found.append(replace(self.loop, name=name, lower=variable(begin), upper=variable(end), step=number(1),
                                 asserted="independent", body=body))  # fmt: skip
        return tuple(found)
