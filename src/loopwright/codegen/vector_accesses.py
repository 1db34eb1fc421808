"""A loop marked `vector` inside a thread of a GPU: neighbouring elements are read and written 8 or 16 bytes at a time.

All wide reads come first, then the iterations, then all wide writes: the loop's verdict says that no iteration needs
another one. An access is wide where it goes by ones along the axis whose elements are neighbours, and where its place
in a row is known to be a multiple of the width. Whether rows and the array itself begin at such places is known at run
time only: a test in the text chooses between wide accesses and the loop as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.full_tiles import or_even
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.loops import constant_trip, write_sequential
from loopwright.codegen.statements import may_fail, write_body
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Assign, Body, Const, Expr, For, Load, Logical, Select, Store, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, own_expressions, subexpressions
from loopwright.steps.extent import residue
from loopwright.steps.nest import step_of


@dataclass(frozen=True, slots=True)
class Wide:
    """An element for each iteration: `count` of them in each access, kept in the C variable `variable`."""

    node: Load | Store
    count: int
    variable: str
    is_read: bool
    is_written: bool

    def element(self, trip: int) -> str:
        """C text of the element of iteration lw_k."""
        if self.count == trip:
            return f"{self.variable}[0].v[lw_k]"
        return f"{self.variable}[lw_k / {self.count}].v[lw_k % {self.count}]"


def write_in_thread(loop: For, w: GpuWriter) -> None:
    """Any loop inside a thread."""
    trip = constant_trip(loop, w) if loop.run == "vector" else None
    if trip is None or trip < 2 or step_of(loop) != 1 or may_fail(loop.body, w):
        write_sequential(loop, w)
        return
    found = list(_wide(loop, trip, w))
    if not found:
        write_sequential(loop, w)
        return
    tests = tuple(dict.fromkeys(condition for one in found for condition in aligned(one.node, one.count, w)))
    if tests:
        with w.branch(or_even(" && ".join(tests), w.even, aligned=tests), indent=0, versions=True):
            _written_wide(loop, trip, found, w)
        with w.otherwise():
            write_sequential(loop, w)
    else:
        _written_wide(loop, trip, found, w)


def _written_wide(loop: For, trip: int, found: list[Wide], w: GpuWriter) -> None:
    part, variable = w.function, w.names.of(loop.name)
    with w.block(begin=f"const int64_t lw_lower = {w.text(loop.lower)};", indent=0, joined=True):
        part.scoped.add(variable)
        for one in found:
            element = w.arrays[one.node.array].memory_type
            w.line(f"lw_vector<{element}, {one.count}> {one.variable}[{trip // one.count}];")
        with w.block(begin=f"const int64_t {variable} = lw_lower;", indent=0):
            for one in (one for one in found if one.is_read):
                for number in range(trip // one.count):
                    pointer, index = place_of(one.node, w)
                    place = _further(index, number, one)
                    w.line(f"{one.variable}[{number}] = lw_read<{one.count}>({pointer}, {place});")
        part.counters[loop.name] = "lw_k"
        before = part.replaced
        part.replaced = before | {(one.node.array, one.node.index): one.element(trip) for one in found}
        with w.loop(f"int lw_k = 0; lw_k < {trip}; ++lw_k", loop.name, trips=trip, unroll=trip):
            w.line(f"const int64_t {variable} = lw_lower + lw_k;")
            write_body(loop.body, w)
        part.replaced = before
        with w.block(begin=f"const int64_t {variable} = lw_lower;", indent=0):
            for one in (one for one in found if one.is_written):
                for number in range(trip // one.count):
                    pointer, index = place_of(one.node, w)
                    place = _further(index, number, one)
                    w.line(f"lw_write<{one.count}>({pointer}, {place}, {one.variable}[{number}]);")
    part.scoped.discard(variable)


def _further(index: str, number: int, one: Wide) -> str:
    return f"{index} + {number * one.count}" if number else index


def _wide(loop: For, trip: int, w: GpuWriter) -> Iterator[Wide]:
    """The accesses of a loop that can be wide."""
    if any(not isinstance(stmt, Store | Assign) for stmt in loop.body):
        return
    changing = {loop.name} | {stmt.name for stmt in loop.body if isinstance(stmt, Assign)}
    stored = {stmt.array for stmt in loop.body if isinstance(stmt, Store)}
    sure = {id(load) for load in _sure(loop.body)}
    nodes: dict[str, list[Load | Store]] = {}
    for stmt in loop.body:
        for own in own_expressions(stmt):
            for part in subexpressions(own):
                if isinstance(part, Load):
                    nodes.setdefault(part.array, []).append(part)
        if isinstance(stmt, Store):
            nodes.setdefault(stmt.array, []).append(stmt)
    for array, accesses in nodes.items():
        places = dict.fromkeys(access.index for access in accesses)
        if array in stored and len(places) > 1:
            continue  # in one iteration, these may be one element: then each access has to happen where it stands
        for place in places:
            same = [access for access in accesses if access.index == place]
            reads = any(isinstance(access, Load) for access in same)
            if reads and not any(id(access) in sure for access in same):
                continue
            count = width_of(same[0], loop, changing, trip, w)
            if count > 1:
                yield Wide(same[0], count, w.names.fresh(f"lw_wide_{w.names.of(array)}"), reads, array in stored)


def _sure(body: Body) -> Iterator[Load]:
    """The loads of straight code that happen whatever the data are."""

    def visit(expr: Expr) -> Iterator[Load]:
        if isinstance(expr, Load):
            yield expr
        for child in children(expr)[:1] if isinstance(expr, Select | Logical) else children(expr):
            yield from visit(child)

    for stmt in body:
        for own in own_expressions(stmt):
            yield from visit(own)


def width_of(node: Load | Store, loop: For, changing: set[str], trip: int, w: GpuWriter) -> int:
    """How many elements one access of an array may have, where its index goes along with a loop; 1 for no more."""
    array = w.arrays[node.array]
    axis = {"C": array.rank - 1, "last": array.rank - 1, "F": 0, "first": 0}.get(array.layout)
    own = node.array in w.owned or array.pointer in w.function.declared  # of a thread: registers, not memory
    if array.bytes or axis is None or not array.rank or own or w.bounds_of(node)[axis].may_be_negative:
        return 1
    for number, expr in enumerate(node.index):
        if any(isinstance(part, Load) for part in subexpressions(expr)):
            return 1
        if names_in(expr) & (changing if number != axis else changing - {loop.name}):
            return 1
    count = 1
    while 2 * count * array.element.size_bytes <= w.facts.gpu.widest and trip % (2 * count) == 0:
        count *= 2
    along = node.index[axis]
    starts = _starts(w, count)
    begins = residue(loop.lower, count, starts)
    if count == 1 or begins is None or coefficient(along, loop.name) != 1:
        return 1
    if residue(along, count, {**starts, Var(loop.name, INT64): begins}) != 0:
        return 1
    uneven = any(text[0].isdigit() and int(text) % count for text in _distances(array))
    return 1 if uneven else count


def _distances(array: ArrayText) -> tuple[str, ...]:
    """What the distances between rows of an array are products of: sizes or strides, in elements."""
    match array.layout:
        case "C":
            return array.sizes[-1:] if array.rank > 1 else ()
        case "F":
            return array.sizes[:1] if array.rank > 1 else ()
        case "last":
            return array.strides[:-1]
        case _:
            return array.strides[1:]


def _starts(w: GpuWriter, count: int) -> dict[Expr, int]:
    """What the variables of loops leave when divided by the width, where all of their values leave the same."""
    known: dict[Expr, int] = {}
    for name, loop in w.loops.items():
        start = residue(loop.lower, count, known)
        if start is not None and isinstance(loop.step, Const) and int(loop.step.value) % count == 0:
            known[Var(name, INT64)] = start
    return known


def aligned(node: Load | Store, count: int, w: GpuWriter) -> Iterator[str]:
    """C text of what has to hold at run time for accesses of so many elements."""
    array = w.arrays[node.array]
    if array.on_device:  # arrays in shared memory begin at multiples of 16 bytes
        yield f"LW_ALIGNED({w.use(array.pointer)}, {count * array.element.size_bytes})"
    for text in _distances(array):
        if not text[0].isdigit():
            yield f"{w.use(text)} % {count} == 0"


def place_of(node: Load | Store, w: GpuWriter) -> tuple[str, str]:
    """C text of an array's pointer and of the place of an element behind it."""
    array = w.arrays[node.array]
    return array.pointer, array.place_of(w.index_of(node))
