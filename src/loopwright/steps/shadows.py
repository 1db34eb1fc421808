"""Shadows: local arrays that hold the elements of an array, or of the fields of an array of records, in another layout
while a stretch of the kernel runs: which there are, where an element is in them, and the loops that convert. Whether
that is legal is for `steps/relayout.py` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

from loopwright.ir.data_layout import DataLayout, StoredAxis
from loopwright.ir.linear import least, number, plus, times, variable
from loopwright.ir.nodes import (
    RESERVED,
    Allocate,
    Body,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Original,
    Stmt,
    Store,
)
from loopwright.ir.queries import accesses, accesses_by_array, allocations, arrays_made, fresh, names_of
from loopwright.ir.types import Scalar
from loopwright.ir.walk import rewrite_body
from loopwright.steps.step import Rejection

TILE = 16
"""Elements along each side of a tile in which axes are turned: lines of both arrays are used up while they stay."""


@dataclass(frozen=True, slots=True)
class Component:
    """One array of the kernel: a plain one, or a field. rank: axes, without those of a sub-array field; tail: the sizes
    of these; first: which component of a record its first element is, among those of its shadow. columns: of a plain
    array, the indices along its last axis, which `rank` does not count, where only these numbers are used: it is an
    array of records in disguise."""

    name: str
    element: Scalar
    rank: int
    tail: tuple[int, ...] = ()
    first: int = 0
    columns: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many components of a record it is."""
        return len(self.columns) or prod(self.tail)


def members_of(kernel: Kernel, array: str) -> tuple[Component, ...] | Rejection:
    """What of the kernel an array's name means: that array, or the fields of records that it uses."""
    made = {name: Component(name, one.element, len(one.shape)) for name, one in allocations(kernel).items()}
    whole = {one.name: Component(one.name, one.element, one.rank) for one in kernel.arrays}
    whole |= {one.name: Component(one.name, one.element, one.rank) for one in kernel.results}
    if (plain := whole.get(array) or made.get(array)) is not None and not _is_field(kernel, array):
        return (plain,)
    fields = [one for one in kernel.arrays if one.name.startswith(f"{array}.") and _is_field(kernel, one.name)]
    if fields and len({one.argument for one in fields}) == 1:
        return tuple(
            Component(one.name, one.element, one.rank - len(one.tail), tuple(size for size, _ in one.tail))
            for one in fields
        )
    known = dict.fromkeys(array_of(kernel, name) for name in (*whole, *made))
    return Rejection(f"there is no array '{array}' (there are: {', '.join(known) or 'none'})")


def array_of(kernel: Kernel, name: str) -> str:
    """The name by which a step knows an array, or the array of records that it is a field of."""
    if not _is_field(kernel, name):
        return name
    argument = next(one.argument for one in kernel.arrays if one.name == name)
    paths = [one.name.split(".")[:-1] for one in kernel.arrays if one.argument == argument]
    common = takewhile(lambda words: len(set(words)) == 1, zip(*paths, strict=False))
    return ".".join(words[0] for words in common)


def _is_field(kernel: Kernel, array: str) -> bool:
    """Whether an array is a field of an array of records."""
    param = next((one for one in kernel.arrays if one.name == array), None)
    if param is None:
        return False
    siblings = sum(one.argument == param.argument for one in kernel.arrays)
    return siblings > 1 or (param.layout == "strided" and "." in param.name) or bool(param.tail) or param.offset > 0


@dataclass(frozen=True, slots=True)
class Shadow:
    """A local array. members: what it holds, in the order of their components; for fields, the last axis of what
    `layout` is about counts components, and where there is one only, it is left out."""

    name: str
    members: tuple[Component, ...]
    layout: DataLayout
    is_record: bool

    @property
    def components(self) -> int:
        """How many there are of a record; 0 of a plain array."""
        return sum(one.count for one in self.members) if self.is_record else 0

    @property
    def axes(self) -> tuple[StoredAxis, ...]:
        """The axes of memory."""
        rank = self.members[0].rank
        if not self.is_record:
            return self.layout.axes(rank)
        return tuple(one for one in self.layout.axes(rank + 1) if one.axis < rank or self.components > 1)

    def index(self, member: Component, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """Where an element of a member is."""
        if self.is_record:
            component: Expr = number(0)
            if member.columns:
                component = number(member.columns.index(_column(index)))
            for place, size in zip(index[member.rank :], member.tail, strict=False):
                component = plus(times(component, size), place)
            index = (*index[: member.rank], plus(component, member.first))
        return tuple(one.of(index[one.axis]) for one in self.axes)

    def allocate(self) -> Allocate:
        """What makes it."""
        first = self.members[0]
        sizes: list[Expr] = [Dim(first.name, axis) for axis in range(first.rank)]
        if self.is_record:
            sizes.append(number(self.components))
        shape = [one.size_of(sizes[one.axis]) for one in self.axes]
        shape[-1] = plus(shape[-1], self.layout.pad)
        original = Original(first.name, tuple(one.axis for one in self.axes))
        return Allocate(self.name, first.element, tuple(shape), None, original=original)

    def keeps(self, axis: int) -> bool:
        """Whether an index along this axis of the array means the same, whatever it is: negative, or beyond the end."""
        padded = bool(self.layout.pad) and self.axes[-1].axis == axis
        return not padded and any(one.axis == axis and one.part == "whole" for one in self.axes)


def _column(index: Sequence[Expr]) -> int:
    last = index[-1]
    assert isinstance(last, Const)
    return int(last.value)


def _columns(inside: Body, array: str) -> tuple[int, ...]:
    """The numbers that are the last index of all accesses to an array; none where others are, or where one is counted
    from the end."""
    last = [node.index[-1] for node in accesses_by_array(inside)[array]]
    found = sorted({int(index.value) for index in last if isinstance(index, Const)})
    return tuple(found) if all(isinstance(index, Const) for index in last) and found[0] >= 0 else ()


def shadows_of(kernel: Kernel, array: str, inside: Body, layout: DataLayout) -> tuple[Shadow, ...] | Rejection:
    """The shadows for what a stretch of the kernel uses of an array: in planes each field has one of its own; else
    fields of one type share one, as records without what is not used. A plain array of which only some columns are used
    is one of records."""
    members = members_of(kernel, array)
    if isinstance(members, Rejection):
        return members
    is_record = members[0].name != array
    used = {node.array for node in accesses(inside)}
    members = tuple(one for one in members if one.name in used)
    if not members:
        return Rejection(f"'{array}' is not used there")
    if unfit := layout.unfit(members[0].rank + is_record) or ("it has no axes" if not members[0].rank else ""):
        return Rejection(f"'{array}' cannot be laid out as '{layout}': {unfit}")
    if not is_record and members[0].rank > 1 and layout.kind != "order" and (columns := _columns(inside, array)):
        is_record, members = True, (replace(members[0], rank=members[0].rank - 1, columns=columns),)
    if array in arrays_made(inside):
        return Rejection(f"'{array}' is made anew there")
    if _is_list(kernel, array):
        return Rejection(f"'{array}' is a list, of which mostly little is used")
    groups: dict[object, list[Component]] = {}
    for one in members:
        groups.setdefault(one.name if layout.kind == "soa" else one.element, []).append(one)
    taken, found = names_of(kernel), []
    for group in groups.values():
        placed: list[Component] = []
        for one in group:
            placed.append(replace(one, first=sum(before.count for before in placed)))
        name = fresh(f"{group[0].name if len(group) == 1 else array}.l", taken)
        taken.add(name)
        found.append(Shadow(name, tuple(placed), layout, is_record))
    return tuple(found)


def _is_list(kernel: Kernel, array: str) -> bool:
    made = allocations(kernel).get(array)
    return made is not None and any(isinstance(size, Const) and int(size.value) >= RESERVED for size in made.shape)


def redirected(body: Body, shadows: Sequence[Shadow]) -> Body:
    """The body with accesses to the shadows instead."""
    places = {member.name: (shadow, member) for shadow in shadows for member in shadow.members}

    def load(expr: Expr) -> Expr:
        if not isinstance(expr, Load) or expr.array not in places:
            return expr
        shadow, member = places[expr.array]
        return replace(expr, array=shadow.name, index=shadow.index(member, expr.index))

    def store(stmt: Stmt) -> Body:
        if not isinstance(stmt, Store) or stmt.array not in places:
            return (stmt,)
        shadow, member = places[stmt.array]
        return (replace(stmt, array=shadow.name, index=shadow.index(member, stmt.index)),)

    return rewrite_body(body, store, load)


def conversion(array: str, shadows: Sequence[Shadow], only: set[str], taken: set[str], back: bool) -> Body:
    """The loops that fill the shadows, or write them back: of the members `only`, in one loop over all records."""
    members = [(shadow, one) for shadow in shadows for one in shadow.members if one.name in only]
    if not members:
        return ()
    first, word = members[0][1], "back" if back else "in"

    def new(axis: int | str) -> str:
        name = fresh(f"{array}.{word}{axis}", taken)
        taken.add(name)
        return name

    names = [new(axis) for axis in range(first.rank)]
    body: list[Stmt] = []
    for shadow, one in members:
        tail = [new(one.rank + axis) for axis in range(len(one.tail))]
        for column in one.columns or (None,):
            index = (*map(variable, (*names, *tail)), *(() if column is None else (number(column),)))
            place = shadow.index(one, index)
            copied = (
                Store(one.name, index, Load(shadow.name, place, one.element))
                if back
                else Store(shadow.name, place, Load(one.name, index, one.element))
            )
            body += _around((copied,), tail, [number(size) for size in one.tail])
    sizes: list[Expr] = [Dim(first.name, axis) for axis in range(first.rank)]
    loops = _tiled(tuple(body), names, sizes, _turned(members), new) or _around(tuple(body), names, sizes)
    if not first.columns:
        return loops
    # The stretch may use no element at all, and then the columns need not be there.
    return (If(Compare("gt", Dim(first.name, first.rank), number(first.columns[-1])), loops),)


def _turned(members: Sequence[tuple[Shadow, Component]]) -> tuple[int, int] | None:
    """The two axes of which one is innermost in the array, and the other one in its shadow, where these are not the
    same: in no order of two loops are both gone through as they lie."""
    shadow, one = members[0]
    inner = shadow.axes[-1].axis
    return (inner, one.rank - 1) if not shadow.is_record and inner != one.rank - 1 else None


def _tiled(
    body: Body, names: Sequence[str], sizes: Sequence[Expr], axes: tuple[int, int] | None, new: Callable[[str], str]
) -> Body:
    """The loops over all elements, in square tiles along two of the axes, which a small cache holds; none where there
    are no such axes."""
    if axes is None:
        return ()
    tiles = {axis: new(f"{axis}.o") for axis in axes}
    for axis in reversed(axes):
        begin = variable(tiles[axis])
        body = (For(names[axis], begin, least(plus(begin, TILE), sizes[axis]), number(1), body),)
    for axis in reversed(range(len(names))):
        if axis in tiles:
            body = (For(tiles[axis], number(0), sizes[axis], number(TILE), body),)
        else:
            body = (For(names[axis], number(0), sizes[axis], number(1), body),)
    return body


def _around(body: Body, names: Sequence[str], sizes: Sequence[Expr]) -> Body:
    for name, size in zip(reversed(names), reversed(sizes), strict=True):
        body = (For(name, number(0), size, number(1), body),)
    return body
