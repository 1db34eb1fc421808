"""Orders of what index arrays count, and whether another one promises a gain: the loops that find out. Every index in
them is held within its array, so that they cannot fail, whatever an index array says.

`breadth_first`: numbers along a breadth-first search, in which neighbours come soon after one another (Cuthill and
McKee, 1969, without their order by degree). `packed`: as they come in the index array (Ding and Kennedy, 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopwright.analysis.index_space import IndexSpace, Neighbours
from loopwright.ir.linear import least, minus, most, number, plus, variable
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.types import INT32, INT64, Scalar
from loopwright.ir.walk import rewrite_body

SAMPLED = 1024
"""So many rows of an index array are looked at, evenly apart."""
PROBED = 64
"""One part in so many of all things is searched before all are."""
NEAR = 4
"""Numbers that differ by one part in so many of those that a probe gave are near one another."""
LINES = 8
"""Elements are far apart that differ by one part in so many of the bytes of a cache."""


@dataclass(frozen=True, slots=True)
class Things:
    """What a table counts. count: the scalar that says how many there are; elements: type and rank of each array; new:
    makes a name that nothing else has."""

    table: str
    space: IndexSpace
    count: str
    elements: Mapping[str, tuple[Scalar, int]]
    new: Callable[[str], str]

    def name(self, word: str) -> str:
        """A new name that begins with that of the table."""
        return self.new(f"{self.table}.{word}")

    def within(self, index: Expr) -> Expr:
        """An index that is the number of a thing, whatever it was."""
        return most(least(index, minus(variable(self.count), 1)), number(0))

    def at(self, array: str, index: Expr) -> Expr:
        """An element of a local array of numbers."""
        return Cast(Load(array, (index,), INT32), INT64)

    def told(self, name: str, value: Expr) -> Body:
        """Give a scalar the number of the thing that an element of a table is: negative ones are counted from the
        end."""
        one = variable(name)
        counted = Select(Compare("lt", one, number(0)), plus(one, variable(self.count)), one)
        return Assign(name, wide(value)), Assign(name, self.within(counted))

    def element(self, array: str, index: Sequence[Expr]) -> Load:
        """An element of an array that the kernel has."""
        return Load(array, tuple(index), self.elements[array][0])

    def over_table(self, table: str, word: str, body: Callable[[Load], Body]) -> For:
        """Loops over all elements of a table."""
        names = [self.new(f"{table}.{word}{axis}") for axis in range(self.elements[table][1])]
        value = self.element(table, [variable(name) for name in names])
        return over(names, [Dim(table, axis) for axis in range(len(names))], body(value))


def wide(value: Expr) -> Expr:
    """A whole number as an int64."""
    return value if value.type == INT64 else Cast(value, INT64)


def over(names: Sequence[str], sizes: Sequence[Expr], body: Body) -> For:
    """Loops over all places of an array."""
    for name, size in zip(reversed(names), reversed(sizes), strict=True):
        body = (For(name, number(0), size, number(1), body),)
    assert isinstance(body[0], For)
    return body[0]


# ---- orders -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers that things are given one after the other. place: the number of each, -1 where it has none; order: the
    thing with each number; tail: the next number."""

    things: Things
    place: str
    order: str
    tail: str

    def begin(self) -> Stmt:
        """Nothing has a number yet."""
        return Assign(self.tail, number(0))

    def packed(self) -> Body:
        """Numbers as things come in the table, and behind these all others."""
        start = self.things.name("s")
        first = self.things.over_table(self.things.table, "u", self._numbered)
        rest = over([start], [variable(self.things.count)], (self._given(variable(start)),))
        return first, rest

    def breadth_first(self, found: Neighbours, limit: Expr) -> Body:
        """Numbers along a search from the first thing that has none, until so many have one."""
        things = self.things
        start, head, here = (things.name(word) for word in ("s", "head", "here"))
        inner: Body = self._numbered(found.found)
        for loop in reversed(found.loops):
            inner = (replace(loop, body=inner),)
        unfinished = Compare("lt", variable(head), variable(self.tail))
        below = Compare("lt", variable(self.tail), limit)
        search = While(
            things.name("w"),
            unfinished if limit == variable(things.count) else Logical("and", unfinished, below),
            (
                Assign(here, things.within(things.at(self.order, things.within(variable(head))))),
                Assign(head, plus(variable(head), 1)),
                *with_values(inner, {found.loop.name: variable(here)}),
            ),
        )
        given = self._given(variable(start))
        first = Assign(head, variable(self.tail))
        is_new = given.condition if limit == variable(things.count) else Logical("and", below, given.condition)
        whole = replace(given, condition=is_new, then=(first, *given.then, search))
        return (over([start], [variable(things.count)], (whole,)),)

    def _numbered(self, value: Expr) -> Body:
        there = self.things.name("there")
        return *self.things.told(there, value), self._given(variable(there))

    def _given(self, thing: Expr) -> If:
        """Give a thing the next number, where it has none."""
        tail = variable(self.tail)
        return If(
            Compare("lt", Load(self.place, (thing,), INT32), Const(0, INT32)),
            (
                Store(self.place, (thing,), Cast(tail, INT32)),
                Store(self.order, (self.things.within(tail),), Cast(thing, INT32)),
                Assign(self.tail, plus(tail, 1)),
            ),
        )

    def far(self, found: Neighbours, distance: Expr, counted: str, seen: str) -> Body:
        """Count, of the first things that have numbers, the neighbours with numbers and those of these that differ by
        more than so much."""
        things = self.things
        first, here, there = (things.name(word) for word in ("q", "here", "there"))
        number_of = things.at(self.place, variable(there))
        apart = Compare("gt", Unary("abs", minus(number_of, variable(first))), distance)
        inner: Body = (
            *things.told(there, found.found),
            Assign(seen, plus(variable(seen), 1)),
            Assign(counted, plus(variable(counted), Cast(apart, INT64))),
        )
        for loop in reversed(found.loops):
            inner = (replace(loop, body=inner),)
        told = Assign(here, things.within(things.at(self.order, variable(first))))
        searched = Binary("floordiv", variable(self.tail), number(2))
        looked = least(searched, minus(variable(things.count), 1))
        return (
            For(first, number(0), looked, number(1), (told, *with_values(inner, {found.loop.name: variable(here)}))),
        )


def with_values(body: Body, values: Mapping[str, Expr]) -> Body:
    """A body in which names stand for other values."""
    return rewrite_body(body, expr=lambda one: values.get(one.name, one) if isinstance(one, Var) else one)


# ---- how numbers lie --------------------------------------------------------------------------------------------


def far_sample(things: Things, distance: Expr, counted: str, seen: str) -> Iterator[Stmt]:
    """Count, in some rows of the table, the elements that differ by more than so much from those in the row before, and
    all that were looked at. A row is what the table has of one thing, or else along its first axis."""
    table = things.table
    rank, along = things.elements[table][1], things.space.axes.get(table, 0)
    names = [things.name(f"v{axis}") for axis in range(rank)]
    rows = Dim(table, along)
    row = things.name("row")
    index: list[Expr] = [variable(row) if axis == along else variable(name) for axis, name in enumerate(names)]
    before: list[Expr] = [minus(one, 1) if axis == along else one for axis, one in enumerate(index)]
    difference = minus(wide(things.element(table, index)), wide(things.element(table, before)))
    body: Body = (
        Assign(seen, plus(variable(seen), 1)),
        Assign(counted, plus(variable(counted), Cast(Compare("gt", Unary("abs", difference), distance), INT64))),
    )
    others = [axis for axis in range(rank) if axis != along]
    if others:
        body = (over([names[axis] for axis in others], [Dim(table, axis) for axis in others], body),)
    which = Binary("floordiv", Binary("mul", variable(names[along]), minus(rows, 1)), number(SAMPLED))
    held = most(least(plus(which, 1), minus(rows, 1)), number(1))
    yield If(
        Compare("gt", rows, number(1)),
        (over([names[along]], [number(SAMPLED)], (Assign(row, held), *body)),),
    )
