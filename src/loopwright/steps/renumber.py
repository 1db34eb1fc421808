"""The step `renumber`: what index arrays count gets another numbering while a loop runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.analysis.index_space import IndexSpace, NoSpace, index_space, neighbours
from loopwright.analysis.trace import escapes
from loopwright.ir.nodes import Checked, For, Kernel, While
from loopwright.ir.queries import accesses, arrays_loaded, arrays_made, names_read
from loopwright.ir.walk import expressions, loops, statements
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.grammar import From1
from loopwright.steps.nest import overlapping, size_of, too_large
from loopwright.steps.numbering import Renumbered, elements_of
from loopwright.steps.step import Rejection, Step, order_needed

_SPACES: list[tuple[Kernel, str, str, IndexSpace]] = []
"""Of the kernels that were last asked about: `apply` is told no facts."""


@dataclass(frozen=True, slots=True)
class Renumber(Step):
    """While a loop runs, number what an index array counts, such as the nodes of a mesh, so that neighbours have
    numbers near one another, and their elements lie near one another in memory: arrays that are indexed by these
    numbers are copied into the new order before, and back behind; loops over all of them go through them in the new
    order (data reordering; Zhang's thesis, section 3.2). Numbers are given in the order of a breadth-first search
    (Cuthill and McKee, 1969), or, with the word `packed`, as they come in the index array (Ding and Kennedy, 1999).
    Where sizes differ, or an element is no number of anything, the loop runs as it stands. `clusters` are numbers that
    all threads of a GPU find together. With `beyond` and `times`, the loop is renumbered only in calls where it runs so
    often, where the elements that index arrays lead to take so many bytes, and where tests of samples say that
    neighbours are far apart, and need not be. `renumber e in k packed`:

    for k in 0 .. m:
        for i in 0 .. size(a, 0):
            b[i] = b[i] + a[e[i]]
    ->
    var e.n: int64
    var e.bad: int64
    var e.tail: int64
    var e.there: int64
    var e.in: int64
    var e.v: int64
    var a.in: int64
    var b.in: int64
    var b.back: int64
    e.n = max(size(a, 0), 0)
    e.bad = 1
    if e.n <= 2147483647 and size(b, 0) == e.n and size(e, 0) == e.n:
        e.bad = 0
        for e.t0 in 0 .. size(e, 0):
            e.bad = e.bad + int64((e[e.t0] < 0 - e.n) | (e[e.t0] >= e.n))
    if e.n <= 2147483647 and size(b, 0) == e.n and size(e, 0) == e.n and e.bad == 0:
        allocate e.place: int32[e.n] = -1i32
        allocate e.order: int32[e.n]
        e.tail = 0
        for e.u0 in 0 .. size(e, 0):
            e.there = e[e.u0]
            e.there = max(min(e.there + e.n if e.there < 0 else e.there, e.n - 1), 0)
            if e.place[e.there] < 0i32:
                e.place[e.there] = int32(e.tail)
                e.order[max(min(e.tail, e.n - 1), 0)] = int32(e.there)
                e.tail = e.tail + 1
        for e.s in 0 .. e.n:
            if e.place[e.s] < 0i32:
                e.place[e.s] = int32(e.tail)
                e.order[max(min(e.tail, e.n - 1), 0)] = int32(e.s)
                e.tail = e.tail + 1
        allocate e.m: int32[e.n]
        for e.in0 in 0 .. e.n:
            e.in = max(min(int64(e.order[e.in0]), e.n - 1), 0)
            e.v = e[e.in]
            e.v = max(min(e.v + e.n if e.v < 0 else e.v, e.n - 1), 0)
            e.m[e.in0] = e.place[e.v]
        allocate a.r: float64[e.n]
        for a.in0 in 0 .. e.n:
            a.in = max(min(int64(e.order[a.in0]), e.n - 1), 0)
            a.r[a.in0] = a[a.in]
        allocate b.r: float64[e.n]
        for b.in0 in 0 .. e.n:
            b.in = max(min(int64(e.order[b.in0]), e.n - 1), 0)
            b.r[b.in0] = b[b.in]
        for k in 0 .. m:
            for i.r in 0 .. e.n:
                b.r[i.r] = b.r[i.r] + a.r[max(min(int64(e.m[i.r]), e.n - 1), 0)]
        for b.back0 in 0 .. e.n:
            b.back = max(min(int64(e.place[b.back0]), e.n - 1), 0)
            b[b.back0] = b.r[b.back]
    else:
        for k.1 in 0 .. m:
            for i in 0 .. size(a, 0):
                b[i] = b[i] + a[e[i]]
    """

    name: ClassVar[str] = "renumber"
    grammar: ClassVar[str] = "ARRAY in LOOP [packed] [clusters] [beyond BYTES] [times TRIPS]"
    array: str
    loop: str
    packed: bool = False
    clusters: bool = False
    beyond: From1 = 0
    times: From1 = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        loop = loops(kernel).get(self.loop)
        if loop is None:
            there = ", ".join(loops(kernel)) or "none"
            return Rejection(f"there is no loop '{self.loop}' (there are: {there})")
        kinds = elements_of(kernel)
        if self.array not in kinds:
            return Rejection(f"there is no array '{self.array}' (there are: {', '.join(kinds) or 'none'})")
        if not kinds[self.array][0].is_integer:
            return Rejection(f"the elements of '{self.array}' are no whole numbers")
        try:
            space = space_of(kernel, loop, self.array, facts, strict)
        except NoSpace as why:
            return Rejection(f"'{self.array}': {why}")
        return (
            marked((loop,))
            or _seen_outside(kernel, loop, space)
            or _fails(loop, space, facts)
            or too_large(kernel, 3 * size_of((loop,)))
        )

    def apply(self, kernel: Kernel) -> Kernel:
        loop = loops(kernel)[self.loop]
        known = (found for one, *key, found in _SPACES if one is kernel and key == [self.array, self.loop])
        space = next(known, None) or space_of(kernel, loop, self.array, analyse(kernel), True)
        return finished(with_statement(kernel, loop, Renumbered(kernel, loop, self, space).result()), kernel)

    def has_neighbours(self, kernel: Kernel, facts: Facts, strict: bool) -> bool:
        """Whether the loop shows who neighbours whom, without which there is no search, and goes over all of them again
        and again."""
        loop = loops(kernel)[self.loop]
        with suppress(NoSpace):
            space = space_of(kernel, loop, self.array, facts, strict)
            return self.loop not in space.loops and neighbours((loop,), space) is not None
        return False

    @property
    def looks_around(self) -> bool:
        return True

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        whole = [name for name, (element, _) in elements_of(kernel).items() if element.is_integer]
        for name, loop in loops(kernel).items():
            for array in whole:
                if array in arrays_loaded((loop,)):
                    yield cls(array, name)


def space_of(kernel: Kernel, loop: For | While, array: str, facts: Facts, strict: bool) -> IndexSpace:
    """What the elements of a table count in a loop. Raises NoSpace."""

    def is_free(one: For) -> bool:
        found = facts.loops[one.name]
        inexact = any(not each.exact and each.kind != "scalar" for each in found.reductions)
        return order_needed(found, one.asserted, strict) is None and not found.last and not inexact

    made = arrays_made((loop,))
    ranks = {name: rank for name, (_, rank) in elements_of(kernel).items() if name not in made}
    space = index_space((loop,), array, ranks, is_free)
    _SPACES[:] = [*_SPACES[-7:], (kernel, array, loop.name, space)]
    return space


def _seen_outside(kernel: Kernel, loop: For | While, space: IndexSpace) -> Rejection | None:
    """Why something outside would find numbers, or elements, that are not up to date."""
    if escapes(loop):
        return Rejection(f"'{loop.name}' can be left in the middle, before arrays are up to date")
    if read := sorted(space.scalars & _read_outside(kernel, loop)):
        return Rejection(f"'{read[0]}' is read outside '{loop.name}'")
    return None


def _read_outside(kernel: Kernel, loop: For | While) -> set[str]:
    """The names that are read where a loop does not stand."""
    return names_read(with_statement(kernel, loop, ()).body)


def _fails(loop: For | While, space: IndexSpace, facts: Facts) -> Rejection | None:
    """Why an error may end the loop in the middle, or an index mean something else."""
    for part in (*expressions((loop,)), *statements((loop,))):
        if isinstance(part, Checked) and any(one.kind == "checked" for one in facts.bounds_of(part)):
            return Rejection(f"an error may end '{loop.name}' in the middle, before arrays are up to date")
    for node in accesses((loop,)):
        for axis, bounds in enumerate(facts.bounds_of(node)):
            if space.axes.get(node.array) == axis and space.is_member(node.index[axis]):
                continue
            if bounds.kind == "checked":
                return Rejection(
                    f"whether index {axis} of '{node.array}' is there has to be tested while '{loop.name}' runs"
                )
            if bounds.may_be_negative and space.axes.get(node.array) == axis:
                return Rejection(f"index {axis} of '{node.array}' may be negative")
    return None
