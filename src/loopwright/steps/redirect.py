"""The step `redirect`: the iterations of a loop in the order of what data makes them do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.path_keys import CLASSES as CLASSES
from loopwright.analysis.path_keys import key_of
from loopwright.analysis.path_vectors import PathVector, path_vector, trips_of
from loopwright.ir.linear import least, minus, most, number, plus, times, variable
from loopwright.ir.nodes import Allocate, Assign, Body, Cast, Const, Expr, For, Kernel, Load, Store
from loopwright.ir.queries import arrays_made, fresh, names_assigned, names_of
from loopwright.ir.types import INT64, UINT8
from loopwright.ir.walk import loops
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.nest import (
    changes_inside,
    left_early,
    missing,
    overlapping,
    size_of,
    step_of,
    the_loop,
    too_large,
    without_arrays,
)
from loopwright.steps.step import Rejection, Step, order_needed


@dataclass(frozen=True, slots=True)
class Redirect(Step):
    """Run the iterations of a loop in the order of their keys, of which data decides: iterations that go the same way
    and take about as long stand together, so that neighbouring threads do not wait for one another (thread-data
    remapping by reference redirection; Zhang and others, 2010, section 3.1). The first loop finds the keys, the second
    one sorts them, and the third one runs iteration `i.d[t]` as its t-th. `redirect i`:

    for i in 0 .. n:
        for j in 0 .. int64(b[i]):
            a[i] = a[i] + c[i, j]
    ->
    var i.n: int64
    var i.v: int64
    var i.j: int64
    i.n = max(n, 0)
    allocate i.d: int64[i.n]
    allocate i.k: uint8[i.n]
    allocate i.b: int64[257] = 0
    for i.a in 0 .. i.n:
        i.v = 0
        i.v = max(int64(b[i.a] if i.a >= 0 and i.a < size(b, 0) else 0.0), 0)
        i.k[i.a] = uint8(255 - min(int64(floor(log2(float64(i.v + 1)) * 8.0)), 255))
    for i.s in 0 .. 1 sorted:
        for i.s.c in 0 .. i.n sorted:
            i.b[int64(i.k[i.s.c]) + 1] = i.b[int64(i.k[i.s.c]) + 1] + 1
        for i.s.a in 0 .. 256 sorted:
            i.b[i.s.a + 1] = i.b[i.s.a + 1] + i.b[i.s.a]
        for i.s.p in 0 .. i.n sorted:
            i.d[max(min(i.b[int64(i.k[i.s.p])], i.n - 1), 0)] = i.s.p
            i.b[int64(i.k[i.s.p])] = i.b[int64(i.k[i.s.p])] + 1
    for i.t in 0 .. i.n independent:
        i.j = i.d[i.t]
        for j in 0 .. int64(b[i.j]):
            a[i.j] = a[i.j] + c[i.j, j]
    """

    name: ClassVar[str] = "redirect"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already: that comes last in a schedule")
        return (
            left_early(loop)
            or changes_inside(loop)
            or _needs_order(loop, facts, strict)
            or _undecided(path_of(loop, facts, set()))
            or too_large(kernel, 3 * size_of(loop.body))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        loop = the_loop(kernel, self.loop)
        made = _Redirected(loop, facts, names_of(kernel))
        return finished(with_statement(kernel, loop, made.result()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name) for name, loop in loops(kernel).items() if isinstance(loop, For))


def path_of(loop: For, facts: Facts, taken: set[str]) -> PathVector:
    """What data decides about the iterations of a loop; `taken` gets the names that the slice has."""
    return path_vector(loop, facts, _namer(taken)).of_entries()


def _namer(taken: set[str]) -> Callable[[str], str]:
    def new(wanted: str) -> str:
        taken.add(name := fresh(wanted, taken))
        return name

    return new


def _needs_order(loop: For, facts: Facts, strict: bool) -> Rejection | None:
    found = facts.loops[loop.name]
    if (rejection := order_needed(found, loop.asserted, strict)) is not None:
        return rejection
    if found.last:
        return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
    if found.reductions:
        return Rejection(f"its iterations all add to '{found.reductions[0].target}'")
    made = arrays_made(loop.body) | names_assigned(loop.body)
    return without_arrays(found.private, made) if found.private else None


def _undecided(path: PathVector) -> Rejection | None:
    """Why there is nothing to sort by."""
    if path.known:
        return None
    if not path.entries:
        return Rejection(f"neither a branch nor a trip count in '{path.loop}' depends on data")
    entry = path.entries[0]
    return Rejection(f"what '{entry.text}' is in an iteration of '{path.loop}' is not known before: {entry.reason}")


# ---- what it becomes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Redirected:
    """The loops that a loop becomes. taken: names that nothing new may have."""

    loop: For
    facts: Facts
    taken: set[str]

    def result(self) -> Body:
        """All that takes the place of the loop."""
        loop, new = self.loop, _namer(self.taken)
        counted: Body = ()
        length = trips_of(loop)
        if not isinstance(length, Const):
            name = new(f"{loop.name}.n")
            counted = (Assign(name, length, at=loop.at),)
            length = variable(name)
        keys, order, begins = (new(f"{loop.name}.{end}") for end in "kdb")
        first, places, thread, job = (new(f"{loop.name}.{end}") for end in "astj")
        path = path_of(loop, self.facts, self.taken)
        key = key_of(path.known)
        assert key is not None
        found = Store(keys, (variable(first),), Cast(key, UINT8))
        iteration = Load(order, (variable(thread),), INT64)
        return (
            *counted,
            Allocate(order, INT64, (length,), None),
            Allocate(keys, UINT8, (length,), None),
            Allocate(begins, INT64, (number(CLASSES + 1),), Const(0, INT64)),
            over(first, length, (Assign(loop.name, self._number(variable(first))), *path.body, found)),
            sorted_loop(places, length, keys, order, begins, new),
            replace(
                loop,
                name=thread,
                lower=number(0),
                upper=length,
                step=number(1),
                asserted="independent",
                body=(
                    Assign(job, self._number(iteration)),
                    Assign(loop.name, variable(job)),
                    *loop.body,
                ),
            ),
        )

    def _number(self, place: Expr) -> Expr:
        """The loop's variable in an iteration that is counted from 0."""
        return plus(times(place, step_of(self.loop)), self.loop.lower)


def over(name: str, upper: Expr, body: Body) -> For:
    """A loop from 0 on, one at a time."""
    return For(name, number(0), upper, number(1), body)


def sorted_loop(name: str, length: Expr, keys: str, order: str, begins: str, new: Callable[[str], str]) -> For:
    """The loop, of one iteration, that sorts by counting: where each class begins, then the place of each iteration.
    keys, order, begins: names of arrays, of which the last one is filled with 0."""
    count, add, place = (new(f"{name}.{end}") for end in "cap")

    def key(of: str) -> Expr:
        return Cast(Load(keys, (variable(of),), UINT8), INT64)

    def increased(index: Expr, again: Expr) -> Store:
        return Store(begins, (index,), plus(Load(begins, (again,), INT64), 1))

    at = most(least(Load(begins, (key(place),), INT64), minus(length, 1)), number(0))
    total = Load(begins, (variable(add),), INT64)
    both = plus(Load(begins, (plus(variable(add), 1),), INT64), total)
    inside = (
        over(count, length, (increased(plus(key(count), 1), plus(key(count), 1)),)),
        over(add, number(CLASSES), (Store(begins, (plus(variable(add), 1),), both),)),
        over(place, length, (Store(order, (at,), variable(place)), increased(key(place), key(place)))),
    )
    return replace(over(name, number(1), tuple(replace(one, run="sorted") for one in inside)), run="sorted")


@dataclass(frozen=True, slots=True)
class SortedKeys:
    """What a sorted loop is about: arrays of the keys, of where classes begin, and of the order that it finds; length:
    of the first and the last."""

    keys: str
    begins: str
    order: str
    length: Expr


def sorted_keys(loop: For) -> SortedKeys:
    """Of a loop that runs `sorted`, which `redirect` has made."""
    place = loop.body[-1]
    assert isinstance(place, For)
    found, increased = place.body
    assert isinstance(found, Store) and isinstance(increased, Store)
    key = increased.index[0]
    assert isinstance(key, Cast) and isinstance(key.operand, Load)
    return SortedKeys(key.operand.array, increased.array, found.array, place.upper)
