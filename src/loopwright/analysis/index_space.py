"""Index spaces: things that a kernel counts in one numbering, such as the nodes of a mesh (Ding and Kennedy, 1999, on
reordering data and computation together; Zhang's thesis, section 3.2). A *table* is an array whose elements are numbers
of such things; *axes* are those of arrays that count them; *loops* go over all of them in any order. Which belong
together follows from how a stretch of the kernel uses them: what stands where a number of a thing stands is one.

It owns no decision: whether another numbering is legal, and which one, is for `steps/renumber.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from loopwright.ir.nodes import Assign, Body, Cast, Dim, Expr, For, Load, Store, Var
from loopwright.ir.queries import accesses_by_array, arrays_made, arrays_stored, names_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import own_expressions, statements, subexpressions


class NoSpace(Exception):
    """A table counts nothing that could have another numbering."""


@dataclass(frozen=True, slots=True)
class IndexSpace:
    """tables: arrays whose elements are numbers of things; axes: of each array that they count, which axis; loops: over
    all things in any order; scalars: that hold such numbers; count: how many things there are."""

    tables: frozenset[str]
    axes: Mapping[str, int]
    loops: frozenset[str]
    scalars: frozenset[str]
    count: Expr

    def is_told(self, index: Expr) -> bool:
        """Whether an index is the number of a thing because a table says so."""
        index = plain(index)
        if isinstance(index, Var):
            return index.name in self.scalars
        return isinstance(index, Load) and index.array in self.tables

    def is_member(self, index: Expr) -> bool:
        """Whether an index is the number of a thing, as a table or a loop says it."""
        index = plain(index)
        return self.is_told(index) or (isinstance(index, Var) and index.name in self.loops)


def index_space(inside: Body, table: str, ranks: Mapping[str, int], is_free: Callable[[For], bool]) -> IndexSpace:
    """The space that the elements of a table count, as far as a stretch of a kernel shows it. ranks: of the arrays that
    the stretch is given; is_free: whether iterations of a loop may run in any order. Raises NoSpace."""
    search = _SpaceSearch(inside, ranks, is_free)
    search.add_table(table)
    while search.grown() or search.rows_are_things():
        pass
    return search.space()


@dataclass
class _SpaceSearch:
    inside: Body
    ranks: Mapping[str, int]
    is_free: Callable[[For], bool]
    tables: set[str] = field(default_factory=set)
    axes: dict[str, int] = field(default_factory=dict)
    loops: dict[str, For] = field(default_factory=dict)
    scalars: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.accesses = accesses_by_array(self.inside)
        self.stored, self.made = arrays_stored(self.inside), arrays_made(self.inside)
        self.all_loops = {one.name: one for one in statements(self.inside, For)}
        self.given: dict[str, list[Expr]] = {}
        for stmt in statements(self.inside, Assign):
            self.given.setdefault(stmt.name, []).append(stmt.value)

    def add_table(self, name: str) -> None:
        """Raises NoSpace where its elements change."""
        if name in self.stored or name in self.made or name not in self.ranks:
            raise NoSpace(f"'{name}' is written there")
        self.tables.add(name)

    def grown(self) -> bool:
        """Whether one more round has found more."""
        before = self._size()
        self._axes_of_members()
        self._members_on_axes()
        self._axes_of_loops()
        self._loops_of_sizes()
        return self._size() != before

    def _size(self) -> int:
        return len(self.tables) + len(self.axes) + len(self.loops) + len(self.scalars)

    def _is_told(self, index: Expr) -> bool:
        """Whether an index is the number of a thing because a table says so."""
        index = plain(index)
        if isinstance(index, Var):
            return index.name in self.scalars
        return isinstance(index, Load) and index.array in self.tables

    def _axes_of_members(self) -> None:
        for name, values in self.given.items():
            if values and all(self._is_told(value) for value in values):
                self.scalars.add(name)
        for array, axis, index in self._indices():
            if self._is_told(index):
                self._add_axis(array, axis)

    def _members_on_axes(self) -> None:
        """What else stands where a number of a thing stands."""
        for array, axis, index in self._indices():
            if self.axes.get(array) != axis:
                continue
            index = plain(index)
            if isinstance(index, Load) and self._may_be_table(index.array):
                self.tables.add(index.array)
            elif isinstance(index, Var) and index.name in self.all_loops:
                self._add_loop(self.all_loops[index.name])
            elif isinstance(index, Var):
                values = [plain(value) for value in self.given.get(index.name, ())]
                loads = [value for value in values if isinstance(value, Load) and self._may_be_table(value.array)]
                if values and len(loads) == len(values):
                    self.scalars.add(index.name)
                    self.tables |= {load.array for load in loads}

    def _axes_of_loops(self) -> None:
        """An array of which each iteration of such loops, and of others that could be, has a part goes along."""
        for array, nodes in self.accesses.items():
            if array in self.axes or array in self.made:
                continue
            for axis in range(len(nodes[0].index)):
                indices = [plain(node.index[axis]) for node in nodes]
                names = {index.name if isinstance(index, Var) else "" for index in indices}
                if names & self.loops.keys() and all(self._may_go_over(name) for name in names):
                    self._add_axis(array, axis)
                    break

    def _loops_of_sizes(self) -> None:
        """Loops that run as often as an array has things, or other such loops do, go over things."""
        sizes: list[Expr] = [loop.upper for loop in self.loops.values()]
        sizes += [Dim(array, axis) for array, axis in self.axes.items()]
        indices = {plain(index) for _, _, index in self._indices()}
        for loop in self.all_loops.values():
            if loop.upper in sizes and Var(loop.name, INT64) in indices:
                self._add_loop(loop)

    def rows_are_things(self) -> bool:
        """Whether loops over all rows of a table are found to go over things, as none else does."""
        if not self.loops and self.axes:
            rows = [Dim(table, axis) for table in self.tables for axis in range(self.ranks[table])]
            of_tables, of_others = (
                {plain(index) for array, _, index in self._indices() if (array in self.tables) == is_table}
                for is_table in (True, False)
            )
            for loop in self.all_loops.values():
                if loop.upper in rows and Var(loop.name, INT64) in of_tables & of_others:
                    self._add_loop(loop)
            return bool(self.loops)
        return False

    def _may_go_over(self, name: str) -> bool:
        loop = self.all_loops.get(name)
        return name in self.loops or (loop is not None and self._is_whole(loop) and self.is_free(loop))

    def _indices(self) -> Iterator[tuple[str, int, Expr]]:
        for array, nodes in self.accesses.items():
            for node in nodes:
                for axis, index in enumerate(node.index):
                    yield array, axis, index

    def _may_be_table(self, array: str) -> bool:
        return array in self.ranks and array not in self.stored and array not in self.made

    def _add_axis(self, array: str, axis: int) -> None:
        if array in self.made:
            raise NoSpace(f"'{array}' is made anew there")
        if self.axes.setdefault(array, axis) != axis:
            raise NoSpace(f"'{array}' has two axes that it counts")

    def _add_loop(self, loop: For) -> None:
        if loop.name not in self.loops and self._is_whole(loop) and self.is_free(loop):
            self.loops[loop.name] = loop

    def _is_whole(self, loop: For) -> bool:
        """Whether it begins at the first thing, goes on by ones, and how many things there are is known before."""
        lower, upper, step = own_expressions(loop)
        changing = names_assigned(self.inside) | self.all_loops.keys()
        parts = list(subexpressions(upper))
        is_known = not any(isinstance(part, Load) or part.type.is_float for part in parts)
        is_known &= not any(isinstance(part, Var) and part.name in changing for part in parts)
        is_known &= not any(isinstance(part, Dim) and part.array in self.made for part in parts)
        return is_known and [getattr(one, "value", None) for one in (lower, step)] == [0, 1]

    def space(self) -> IndexSpace:
        """What was found. Raises NoSpace where no loop goes over all things in any order."""
        told = {array for array, _, index in self._indices() if self._is_told(index)}
        if not told:
            raise NoSpace("its elements are no subscripts there")
        if not self.loops:
            raise NoSpace("no loop goes over all that it counts in any order")
        count = next(iter(self.loops.values())).upper
        return IndexSpace(
            frozenset(self.tables), dict(self.axes), frozenset(self.loops), frozenset(self.scalars), count
        )


def plain(expr: Expr) -> Expr:
    """An expression without conversions of whole numbers that keep them as they are, or make them subscripts."""
    while isinstance(expr, Cast) and expr.operand.type.is_integer and _keeps(expr):
        expr = expr.operand
    return expr


def _keeps(expr: Cast) -> bool:
    inner = expr.operand.type
    return expr.type == INT64 or (expr.type.minimum <= inner.minimum and inner.maximum <= expr.type.maximum)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where a loop over things finds the numbers of others: `loops`, outermost first, in one of its iterations, and in
    them an element of a table."""

    loop: For
    loops: tuple[For, ...]
    found: Load


def neighbours(inside: Body, space: IndexSpace) -> Neighbours | None:
    """The first place where an iteration of a loop over all things goes through numbers of others in a way that asks
    nothing else: loops inside one another whose bounds, and subscripts of the table, need the thing alone."""
    changing = names_assigned(inside) | arrays_stored(inside)
    counting = {loop.name for loop in statements(inside, For)}
    for loop in statements(inside, For):
        if loop.name in space.loops:
            others = counting - {one.name for one in statements((loop,), For)}
            found = _below(loop.body, (), loop, space, changing | others)
            if found is not None:
                return found
    return None


def _below(
    body: Sequence[object], around: tuple[For, ...], loop: For, space: IndexSpace, changing: set[str]
) -> Neighbours | None:
    for stmt in body:
        if isinstance(stmt, For):
            if _depends_on(own_expressions(stmt), changing):
                continue
            if (found := _below(stmt.body, (*around, stmt), loop, space, changing)) is not None:
                return found
        elif isinstance(stmt, Assign | Store):
            for expr in own_expressions(stmt):
                for load in subexpressions(expr, Load):
                    if load.array in space.tables and not _depends_on(load.index, changing):
                        needed = {part.name for index in load.index for part in subexpressions(index, Var)}
                        return Neighbours(loop, _needed(around, needed), load)
    return None


def _depends_on(exprs: Sequence[Expr], changing: set[str]) -> bool:
    parts = [part for expr in exprs for part in subexpressions(expr, Load, Var)]
    return any((part.array if isinstance(part, Load) else part.name) in changing for part in parts)


def _needed(around: tuple[For, ...], names: set[str]) -> tuple[For, ...]:
    """Those of the loops that tell these names."""
    found: list[For] = []
    for loop in reversed(around):
        if loop.name in names:
            found.insert(0, loop)
            names |= {part.name for bound in own_expressions(loop) for part in subexpressions(bound, Var)}
    return tuple(found)
