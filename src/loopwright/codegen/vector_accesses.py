"""A loop marked `vector` inside a thread of a GPU: neighbouring elements are read and written 8 or 16 bytes at a time.

All wide reads come first, then the iterations, then all wide writes: the loop's verdict says that no iteration needs
another one. An access is wide where it goes by ones along the axis whose elements are neighbours, and where its place
in a row is known to be a multiple of the width. Whether rows and the array itself begin at such places is known at run
time only: a test in the text chooses between wide accesses and the loop as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.full_tiles import or_full
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.lowered import (
    Alignment,
    AtomicUpdates,
    DoubleBuffered,
    Lowering,
    TensorProduct,
    VectorAccesses,
    WideAccess,
)
from loopwright.codegen.statements import write_body
from loopwright.codegen.tensor_cores import write_tensor_product
from loopwright.ir.code import WideLoad, WideStore, WideVariable
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Assign, Body, Const, Expr, For, Load, Logical, Select, Store, Var
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, own_expressions, statements, subexpressions
from loopwright.steps.extent import residue
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS

Named = tuple[str, WideAccess]
"""An access, and the C name of where its elements are kept."""


def vector_accesses(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[VectorAccesses]:
    """The loops inside threads that are marked `vector` and have wide accesses, but for those that only copy ahead."""
    ahead = {loop.name for one in before.every(DoubleBuffered) for loop in statements(one.rounds.copies, For)}
    for one in nest.together():
        if one.inside or (isinstance(one.stmt, For) and one.stmt.run in THREADS):
            for loop in statements((one.stmt,), For):
                if loop.run == "vector" and loop.name not in ahead:
                    yield from _vector(loop, nest, before, given)
                    ahead.add(loop.name)


def _vector(loop: For, nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[VectorAccesses]:
    trip = given.constant_trip(loop)
    if trip is None or trip < 2 or step_of(loop) != 1 or given.may_fail(loop.body):
        return
    if found := tuple(_wide(loop, trip, nest, before, given)):
        tests = [test for one in found for test in aligned(one.node, one.count, nest, given)]
        yield VectorAccesses(loop.name, trip, found, tuple(dict.fromkeys(tests)))


def write_in_thread(loop: For, w: GpuWriter) -> None:
    """Any loop inside a thread."""
    if (product := w.lowering.of(TensorProduct, loop.name)) is not None:
        write_tensor_product(loop, product, w)
        return
    found = w.lowering.of(VectorAccesses, loop.name)
    if found is None:
        write_sequential(loop, w)
        return
    variables = [w.names.fresh(f"lw_wide_{w.names.of(one.node.array)}") for one in found.accesses]
    wide = list(zip(variables, found.accesses, strict=True))
    if not found.tests:
        _written_wide(loop, found.trip, wide, w)
        return
    with w.branch(or_full(found.tests, w), versions=True):
        _written_wide(loop, found.trip, wide, w)
    with w.otherwise():
        write_sequential(loop, w)


def _written_wide(loop: For, trip: int, wide: Sequence[Named], w: GpuWriter) -> None:
    part, variable = w.function, w.names.of(loop.name)
    with w.block():
        w.line(f"const int64_t lw_lower = {w.text(loop.lower)};")
        part.scoped.add(variable)
        for name, one in wide:
            element = w.arrays[one.node.array].memory_type
            w.add(WideVariable(element, one.count, name, trip // one.count))
        with w.block():
            w.line(f"const int64_t {variable} = lw_lower;")
            for given in _parts((one for one in wide if one[1].is_read), trip, w):
                w.add(WideLoad(*given))
        part.counters[loop.name] = "lw_k"
        before = part.replaced
        part.replaced = before | {(one.node.array, one.node.index): _element(name, one, trip) for name, one in wide}
        with w.loop(f"int lw_k = 0; lw_k < {trip}; ++lw_k", loop.name, trips=trip, unroll=trip):
            w.line(f"const int64_t {variable} = lw_lower + lw_k;")
            write_body(loop.body, w)
        part.replaced = before
        with w.block():
            w.line(f"const int64_t {variable} = lw_lower;")
            for given in _parts((one for one in wide if one[1].is_written), trip, w):
                w.add(WideStore(*given))
    part.scoped.discard(variable)


def _parts(wide: Iterable[Named], trip: int, w: GpuWriter) -> Iterator[tuple[str, int, str, str]]:
    """Of each access the vector, of so many elements, and where in which array these are; C texts."""
    for name, one in wide:
        for number in range(trip // one.count):
            pointer, index = place_of(one.node, w)
            place = f"{index}{f' + {number * one.count}' if number else ''}"
            yield f"{name}[{number}]", one.count, pointer, place


def _element(name: str, one: WideAccess, trip: int) -> str:
    """C text of the element of iteration lw_k."""
    return f"{name}[0].v[lw_k]" if one.count == trip else f"{name}[lw_k / {one.count}].v[lw_k % {one.count}]"


def _wide(loop: For, trip: int, nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[WideAccess]:
    """The accesses of a loop that can be wide."""
    if any(not isinstance(stmt, Store | Assign) for stmt in loop.body):
        return
    changing, stored = {loop.name} | names_assigned(loop.body), arrays_stored(loop.body)
    sure = {id(load) for load in _sure(loop.body)}
    nodes: dict[str, list[Load | Store]] = {}
    for stmt in loop.body:
        for own in own_expressions(stmt):
            for part in subexpressions(own, Load):
                nodes.setdefault(part.array, []).append(part)
        if isinstance(stmt, Store):
            nodes.setdefault(stmt.array, []).append(stmt)
    for array, accesses in nodes.items():
        if before.of(AtomicUpdates, array) is not None:
            continue  # what other threads add meanwhile would be overwritten
        places = dict.fromkeys(access.index for access in accesses)
        if array in stored and len(places) > 1:
            continue  # in one iteration, these may be one element: then each access has to happen where it stands
        for place in places:
            same = [access for access in accesses if access.index == place]
            reads = any(isinstance(access, Load) for access in same)
            if reads and not any(id(access) in sure for access in same):
                continue
            count = width_of(same[0], loop, changing, trip, nest.registers(before), given)
            if count > 1:
                yield WideAccess(same[0], count, reads, array in stored)


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


def width_of(
    node: Load | Store, loop: For, changing: set[str], trip: int, registers: set[str], given: CodegenInput
) -> int:
    """How many elements one access of an array may have, where its index goes along with a loop; 1 for no more."""
    array = given.arrays[node.array]
    axis = {"C": array.rank - 1, "last": array.rank - 1, "F": 0, "first": 0}.get(array.layout)
    if array.bytes or axis is None or not array.rank or node.array in registers:
        return 1
    if given.bounds_of(node)[axis].may_be_negative:
        return 1
    for number, expr in enumerate(node.index):
        if has(expr, Load):
            return 1
        if names_in(expr) & (changing if number != axis else changing - {loop.name}):
            return 1
    count = 1
    while 2 * count * array.element.size_bytes <= given.facts.gpu.widest and trip % (2 * count) == 0:
        count *= 2
    along = node.index[axis]
    starts = _starts(given, count)
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


def _starts(given: CodegenInput, count: int) -> dict[Expr, int]:
    """What the variables of loops leave when divided by the width, where all of their values leave the same."""
    known: dict[Expr, int] = {}
    for name, loop in given.loops.items():
        start = residue(loop.lower, count, known)
        if start is not None and isinstance(loop.step, Const) and int(loop.step.value) % count == 0:
            known[Var(name, INT64)] = start
    return known


def aligned(node: Load | Store, count: int, nest: BoundNest, given: CodegenInput) -> Iterator[Alignment]:
    """What has to hold at run time for accesses of so many elements."""
    array = given.arrays[node.array]
    if node.array not in nest.local:  # arrays in shared memory begin at multiples of 16 bytes
        yield Alignment(array.pointer, count * array.element.size_bytes, True)
    for text in _distances(array):
        if not text[0].isdigit():
            yield Alignment(text, count, False)


def place_of(node: Load | Store, w: GpuWriter) -> tuple[str, str]:
    """C text of an array's pointer and of the place of an element behind it."""
    array = w.arrays[node.array]
    return array.pointer, array.place_of(w.index_of(node))
