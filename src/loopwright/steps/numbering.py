"""Another numbering of what index arrays count: the loops that find it, the copies of arrays that lie in it, and what
becomes of the loop that works on these. Whether that is legal is for `steps/renumber.py` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from loopwright.analysis.index_space import IndexSpace, neighbours
from loopwright.analysis.path_vectors import trips_of
from loopwright.ir.linear import minus, most, number, plus, times, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import accesses, allocations, arrays_stored, fresh, names_of
from loopwright.ir.types import INT32, INT64, Scalar
from loopwright.ir.walk import (
    bodies,
    children,
    expressions,
    own_expressions,
    statements,
    with_bodies,
    with_children,
    with_own_expressions,
)
from loopwright.steps.cluster_order import Clusters
from loopwright.steps.node_order import LINES, NEAR, PROBED, SAMPLED, Numbers, Things, far_sample, over, wide

MOST = 2**31 - 1
"""So many things have numbers of 32 bits."""


def elements_of(kernel: Kernel) -> dict[str, tuple[Scalar, int]]:
    """The type and the rank of each array of a kernel."""
    found = {one.name: (one.element, one.rank) for one in kernel.arrays}
    found |= {one.name: (one.element, one.rank) for one in kernel.results}
    return found | {name: (one.element, len(one.shape)) for name, one in allocations(kernel).items()}


class NumberingOptions(Protocol):
    """What is asked for: see `Renumber`. array: the table; packed, clusters: which order, that of a search where it is
    neither; beyond: only where the elements that tables lead to take more bytes than that, and are far apart; times:
    only where the loop runs so often."""

    @property
    def array(self) -> str: ...
    @property
    def packed(self) -> bool: ...
    @property
    def clusters(self) -> bool: ...
    @property
    def beyond(self) -> int: ...
    @property
    def times(self) -> int: ...


@dataclass
class Renumbered:
    """A loop of a kernel with another numbering of what a table counts."""

    kernel: Kernel
    loop: For | While
    wanted: NumberingOptions
    space: IndexSpace
    taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.taken |= names_of(self.kernel)
        self.inside: Body = (self.loop,)
        self.table = self.wanted.array
        self.things = Things(self.table, self.space, self.new(f"{self.table}.n"), elements_of(self.kernel), self.new)
        self.count, self.elements = self.things.count, self.things.elements
        self.bad, self.far, self.seen = (self.things.name(word) for word in ("bad", "far", "seen"))
        self.place, self.order = self.things.name("place"), self.things.name("order")
        self.copies = {array: self.new(f"{array}.r") for array in sorted(self.space.axes)}
        self.numbers = {array: self.new(f"{array}.m") for array in sorted(self.space.tables)}
        self.scalars = {name: self.new(f"{name}.m") for name in sorted(self.space.scalars)}
        self.loops = {name: self.new(f"{name}.r") for name in sorted(self.space.loops)}
        self.members = {name: self.new(f"{name}.j") for name in sorted(self.space.loops)}
        self.plain: set[str] = set()  # scalars of which more than the number is asked for
        self._body(self.inside)
        self.neighbours = None if self.wanted.packed else neighbours(self.inside, self.space)

    def new(self, wanted: str) -> str:
        """A name that nothing else has."""
        self.taken.add(name := fresh(wanted, self.taken))
        return name

    # ---- all together

    def result(self) -> Body:
        """What takes the place of the loop."""
        sizes = self._sizes_agree()
        fits = Logical("and", sizes, Compare("eq", variable(self.bad), number(0)))
        inspected: Body = (Assign(self.bad, number(0)), *map(self._inspected, sorted(self.space.tables)))
        return (
            Assign(self.count, most(self.space.count, number(0))),
            Assign(self.bad, number(1)),
            If(sizes, self._where_it_pays(inspected) if self.wanted.beyond else inspected),
            If(fits, self._renumbered(), self.inside),
        )

    def _sizes_agree(self) -> Expr:
        """Whether all that counts things counts as many, and not too many, and, where that is asked, whether these are
        enough for a gain."""
        n = variable(self.count)
        wanted: list[Expr] = [Dim(array, axis) for array, axis in sorted(self.space.axes.items())]
        for loop in statements(self.inside, For):
            wanted += [loop.upper] if loop.name in self.space.loops and loop.upper != self.space.count else []
        tests = [Compare("eq", one, n) for one in dict.fromkeys(wanted) if one != self.space.count]
        found: Expr = Compare("le", n, number(MOST))
        if self.wanted.times and isinstance(self.loop, For) and isinstance(self.loop.step, Const):
            tests.append(Compare("ge", trips_of(self.loop), number(self.wanted.times)))
        if self.wanted.beyond:
            tests.append(Compare("gt", Binary("mul", n, self._bytes_of_one()), number(self.wanted.beyond)))
        for test in tests:
            found = Logical("and", found, test)
        return found

    def _bytes_of_one(self) -> Expr:
        """Of all elements, of one thing, that tables lead to."""
        total: Expr = number(0)
        for array in sorted(self._led_to()):
            element, rank = self.elements[array]
            size: Expr = number(element.size_bytes)
            for axis in range(rank):
                if axis != self.space.axes[array]:
                    size = Binary("mul", size, Dim(array, axis))
            total = plus(total, size)
        return total

    def _led_to(self) -> set[str]:
        return {
            node.array
            for node in accesses(self.inside)
            for axis, index in enumerate(node.index)
            if self.space.axes.get(node.array) == axis and self.space.is_told(index)
        }

    def _inspected(self, table: str) -> Stmt:
        """Loops that count the elements of a table that are no numbers of things."""
        n = variable(self.count)

        def counted(value: Load) -> Body:
            wrong = Binary("or", Compare("lt", wide(value), minus(number(0), n)), Compare("ge", wide(value), n))
            return (Assign(self.bad, plus(variable(self.bad), Cast(wrong, INT64))),)

        return self.things.over_table(table, "t", counted)

    def _where_it_pays(self, then: Body) -> Body:
        """First look at some rows of the table: where neighbours have numbers near one another, nothing is to be
        gained. Then search a part of all things: where it comes to all others at once, no numbering is better."""
        far, seen = variable(self.far), variable(self.seen)
        nothing = Assign(self.far, number(0)), Assign(self.seen, number(0))
        mostly_far = Compare("gt", times(far, 2), seen)
        distance = Binary("floordiv", number(self.wanted.beyond // LINES), most(self._bytes_of_one(), number(1)))
        if self.neighbours is not None and not self.wanted.clusters:
            numbers = Numbers(self.things, *(self.things.name(word) for word in ("place.q", "order.q", "tail.q")))
            limit = self.things.name("limit")
            part = most(Binary("floordiv", variable(self.count), number(PROBED)), number(SAMPLED))
            mostly_near = Compare("lt", times(far, 2), seen)
            near = Binary("floordiv", variable(numbers.tail), number(NEAR))
            then = (
                *self._numbers(numbers),
                Assign(limit, part),
                *numbers.breadth_first(self.neighbours, variable(limit)),
                *nothing,
                *numbers.far(self.neighbours, near, self.far, self.seen),
                If(mostly_near, then),
            )
        return *nothing, *far_sample(self.things, distance, self.far, self.seen), If(mostly_far, then)

    def _numbers(self, numbers: Numbers) -> Body:
        n = variable(self.count)
        fill = Const(-1, INT32)
        return Allocate(numbers.place, INT32, (n,), fill), Allocate(numbers.order, INT32, (n,), None), numbers.begin()

    def _renumbered(self) -> Body:
        numbers = Numbers(self.things, self.place, self.order, self.things.name("tail"))
        body = self._body(self.inside)
        used = {node.array for node in accesses(body)}
        plain = [array for array in sorted(self.space.axes) if self.copies[array] in used]
        stored = arrays_stored(self.inside)
        if self.neighbours is None:
            searched = numbers.packed()
        elif self.wanted.clusters:
            searched = Clusters(self.things, self.neighbours, self.place, self.order).numbers()
        else:
            searched = numbers.breadth_first(self.neighbours, variable(self.count))
        return (
            *self._numbers(numbers),
            *searched,
            *(stmt for table in sorted(self.space.tables) for stmt in self._mapped(table)),
            *(stmt for array in plain for stmt in self._copied(array)),
            *body,
            *(self._copied_back(array) for array in plain if array in stored),
        )

    # ---- copies

    def _mapped(self, table: str) -> Body:
        """What has the elements of a table as new numbers, in the new order."""
        there = self.new(f"{table}.v")

        def number_of(value: Expr) -> tuple[Body, Expr]:
            return self.things.told(there, value), Load(self.place, (variable(there),), INT32)

        return self._filled(table, self.numbers[table], INT32, number_of)

    def _copied(self, array: str) -> Body:
        return self._filled(array, self.copies[array], self.elements[array][0], lambda value: ((), value))

    def _copied_back(self, array: str) -> Stmt:
        names, index, first = self._places(array, "back", self.place)
        value = Load(self.copies[array], index, self.elements[array][0])
        return over(names, self._shape(array), (*first, Store(array, tuple(map(variable, names)), value)))

    def _filled(self, array: str, copy: str, element: Scalar, of: Callable[[Expr], tuple[Body, Expr]]) -> Body:
        names, index, first = self._places(array, "in", self.order)
        before, value = of(self.things.element(array, index))
        stored = Store(copy, tuple(map(variable, names)), value)
        shape = self._shape(array)
        return Allocate(copy, element, tuple(shape), None), over(names, shape, (*first, *before, stored))

    def _places(self, array: str, word: str, numbers: str) -> tuple[list[str], tuple[Expr, ...], Body]:
        """Loops over an array in one order, and where each element is in the other one; what finds that first."""
        names = [self.new(f"{array}.{word}{axis}") for axis in range(self.elements[array][1])]
        moved = self.space.axes.get(array)
        if moved is None:
            return names, tuple(map(variable, names)), ()
        other = self.new(f"{array}.{word}")
        found = Assign(other, self.things.within(self.things.at(numbers, variable(names[moved]))))
        return names, tuple(variable(other if axis == moved else name) for axis, name in enumerate(names)), (found,)

    def _thing_at(self, name: str) -> Expr:
        """Which thing has a number."""
        return self.things.within(self.things.at(self.order, variable(name)))

    def _shape(self, array: str) -> list[Expr]:
        moved = self.space.axes.get(array)
        axes = range(self.elements[array][1])
        return [variable(self.count) if axis == moved else Dim(array, axis) for axis in axes]

    # ---- the loop itself

    def _body(self, body: Body) -> Body:
        return tuple(one for stmt in body for one in self._statements(stmt))

    def _statements(self, stmt: Stmt) -> Body:
        if not isinstance(stmt, Assign) or stmt.name not in self.scalars:
            return (self._statement(stmt),)
        number_of = Assign(self.scalars[stmt.name], self._member(stmt.value), at=stmt.at)
        return (number_of, self._statement(stmt)) if stmt.name in self.plain else (number_of,)

    def _statement(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, Continue) and stmt.loop in self.loops:
            return replace(stmt, loop=self.loops[stmt.loop])
        if isinstance(stmt, Store):
            array, index = self._access(stmt)
            return replace(stmt, array=array, index=index, value=self._expr(stmt.value))
        new = with_own_expressions(stmt, tuple(map(self._expr, own_expressions(stmt))))
        new = with_bodies(new, tuple(map(self._body, bodies(new))))
        if isinstance(new, For) and new.name in self.loops:
            return self._over_things(new)
        return new

    def _over_things(self, loop: For) -> For:
        """A loop over all things, in the new order; which one it is about is found only where it asks for that."""
        name, thing = self.loops[loop.name], self.members[loop.name]
        body = loop.body
        if any(part.name == thing for part in expressions(body, Var)):
            body = (Assign(thing, self._thing_at(name)), *body)
        return replace(loop, name=name, upper=variable(self.count), body=body)

    def _expr(self, expr: Expr) -> Expr:
        match expr:
            case Var() if expr.name in self.members:
                return variable(self.members[expr.name])
            case Var() if expr.name in self.scalars:
                self.plain.add(expr.name)
                return expr
            case Load():
                array, index = self._access(expr)
                return replace(expr, array=array, index=index)
        return with_children(expr, tuple(map(self._expr, children(expr))))

    def _access(self, node: Load | Store) -> tuple[str, tuple[Expr, ...]]:
        """The array, and the place in it, that stand for those of an access."""
        moved = self.space.axes.get(node.array)
        if moved is None:
            return node.array, tuple(map(self._expr, node.index))
        index = [self._member(one) if axis == moved else self._expr(one) for axis, one in enumerate(node.index)]
        return self.copies[node.array], tuple(index)

    def _member(self, index: Expr) -> Expr:
        """The new number of what an index is the number of."""
        match index:
            case Cast(operand=inner) if self.space.is_member(inner):
                return self._member(inner)
            case Var() if index.name in self.loops:
                return variable(self.loops[index.name])
            case Var() if index.name in self.scalars:
                return self.things.within(variable(self.scalars[index.name]))
            case Load() if index.array in self.numbers:
                _, place = self._access(index)
                return self.things.within(Cast(Load(self.numbers[index.array], place, INT32), INT64))
        return self.things.within(self.things.at(self.place, self._expr(index)))
