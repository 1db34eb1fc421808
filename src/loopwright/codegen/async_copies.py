"""Copies into shared memory that arrive later, without a register on the way: one element at a time or neighbours at
once, and zeros where a tile ends early.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.full_tiles import or_full
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.lowered import AsyncCopy, DoubleBuffered, Lowering
from loopwright.codegen.statements import write_body, write_store
from loopwright.codegen.vector_accesses import aligned, place_of, width_of
from loopwright.ir.code import CopyToShared
from loopwright.ir.nodes import Const, For, Load, Select, Store
from loopwright.ir.walk import statements
from loopwright.steps.nest import step_of

ZEROS = ("0", "0.0", "False")
"""The values all of whose bits are zeros, as Python writes them."""


def async_copies(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[AsyncCopy]:
    """The copies of loops with double buffering that need no register."""
    for ahead in before.every(DoubleBuffered):
        around = {id(loop.body[0]): loop for loop in statements(ahead.rounds.copies, For) if len(loop.body) == 1}
        for store in statements(ahead.rounds.copies, Store):
            source = _source(store)
            if source is not None and _fits(store, source, nest, given):
                one = given.arrays[store.array].element.size_bytes in given.facts.gpu.copies
                many = _at_once(store, source, around.get(id(store)), nest.registers(before), given)
                tests = tuple(aligned(source, many, nest, given)) if many else ()
                if one or many:
                    yield AsyncCopy(ahead.loop, store, source, one, many, tests)


def _source(store: Store) -> Load | None:
    """What a store copies as it is, or else zeros; None where it does anything else."""
    value = store.value
    if isinstance(value, Select):
        if not isinstance(value.otherwise, Const) or repr(value.otherwise.value) not in ZEROS:
            return None
        value = value.then
    return value if isinstance(value, Load) else None


def _fits(store: Store, value: Load, nest: BoundNest, given: CodegenInput) -> bool:
    """Whether elements are copied from global memory as they are."""
    source, tile = given.arrays[value.array], given.arrays[store.array]
    is_global = value.array not in nest.local
    return is_global and not source.bytes and source.element == tile.element and not given.is_checked(value)


def _at_once(store: Store, source: Load, loop: For | None, registers: set[str], given: CodegenInput) -> int:
    """How many neighbours are one copy: all those of the loop around, or 0."""
    trip = given.constant_trip(loop) if loop is not None and loop.run == "vector" else None
    if loop is None or trip is None:
        return 0
    count = min(width_of(node, loop, {loop.name}, trip, registers, given) for node in (store, source))
    return (
        count if count == trip and count * given.arrays[store.array].element.size_bytes in given.facts.gpu.copies else 0
    )


def write_copies(loop: For, w: GpuWriter) -> None:
    """A loop inside a thread that only copies: neighbours at once, where they are aligned."""
    if has_ends(loop):
        _write_rolled(loop, w)
        return
    inner = loop.body[0]
    found = w.lowering.copy(inner)
    if found is None or not found.many or loop.run != "vector":
        write_sequential(loop, w)
        return
    variable = w.names.of(loop.name)
    with w.branch(or_full(found.tests, w), versions=True):
        w.function.scoped.add(variable)
        w.line(f"const int64_t {variable} = {w.text(loop.lower)};")
        write_copy(found.store, w, found.many)
        w.function.scoped.discard(variable)
    with w.otherwise():
        write_sequential(loop, w)


def has_ends(loop: For) -> bool:
    """Whether a loop copies up to an end that may come early."""
    return any(isinstance(stmt.value, Select) for stmt in statements(loop.body, Store))


def _write_rolled(loop: For, w: GpuWriter) -> None:
    """A loop of copies that few blocks do: registers for their addresses are left to what all blocks do."""
    variable = w.names.of(loop.name)
    with w.block():
        w.line(f"const int64_t lw_upper = {w.text(loop.upper)};")
        head = f"int64_t {variable} = {w.text(loop.lower)}; {variable} < lw_upper; {variable} += {step_of(loop)}"
        with w.loop(head, loop.name, unroll=1):
            w.function.scoped.add(variable)
            write_body(loop.body, w)
            w.function.scoped.discard(variable)


def write_copy(stmt: Store, w: GpuWriter, count: int = 1) -> None:
    """A copy of so many neighbours, which may arrive later; at once, where it cannot."""
    found = w.lowering.copy(stmt)
    if found is None or not (found.one or count > 1):
        write_store(stmt, w)
        return
    (tile, to), (source, index) = place_of(stmt, w), place_of(found.source, w)
    inside = w.text(stmt.value.condition) if isinstance(stmt.value, Select) else ""
    w.add(CopyToShared(tile, to, source, index, count, inside))
