"""Copies into shared memory that arrive later, without a register on the way: one element at a time or neighbours at
once, and zeros where a tile ends early.
"""

from __future__ import annotations

from loopwright.codegen.full_tiles import or_even
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.loops import constant_trip, write_sequential
from loopwright.codegen.statements import write_body, write_store
from loopwright.codegen.vector_accesses import aligned, place_of, width_of
from loopwright.ir.nodes import Const, For, Load, Select, Store
from loopwright.ir.walk import statements
from loopwright.steps.nest import step_of

ZEROS = ("0", "0.0", "False")
"""The values all of whose bits are zeros, as Python writes them."""


def write_copies(loop: For, w: GpuWriter) -> None:
    """A loop inside a thread that only copies: neighbours at once, where they are aligned."""
    if has_ends(loop):
        _write_rolled(loop, w)
        return
    trip = constant_trip(loop, w) if loop.run == "vector" else None
    inner = loop.body[0]
    if trip is None or len(loop.body) != 1 or not isinstance(inner, Store) or not isinstance(inner.value, Load):
        write_sequential(loop, w)
        return
    count = min(width_of(node, loop, {loop.name}, trip, w) for node in (inner, inner.value))
    if count < trip or not can_arrive(inner, count, w):
        write_sequential(loop, w)
        return
    variable = w.names.of(loop.name)
    tests = tuple(aligned(inner.value, count, w))
    with w.branch(or_even(" && ".join(tests), w.even, aligned=tests), indent=0, versions=True):
        w.function.scoped.add(variable)
        w.line(f"  const int64_t {variable} = {w.text(loop.lower)};")
        write_copy(inner, w, count)
        w.function.scoped.discard(variable)
    with w.otherwise():
        write_sequential(loop, w)


def has_ends(loop: For) -> bool:
    """Whether a loop copies up to an end that may come early."""
    return any(isinstance(stmt, Store) and isinstance(stmt.value, Select) for stmt in statements(loop.body))


def _write_rolled(loop: For, w: GpuWriter) -> None:
    """A loop of copies that few blocks do: registers for their addresses are left to what all blocks do."""
    variable = w.names.of(loop.name)
    with w.block(begin=f"const int64_t lw_upper = {w.text(loop.upper)};", indent=0, joined=True):
        head = f"int64_t {variable} = {w.text(loop.lower)}; {variable} < lw_upper; {variable} += {step_of(loop)}"
        with w.loop(head, loop.name, unroll=1):
            w.function.scoped.add(variable)
            write_body(loop.body, w)
            w.function.scoped.discard(variable)


def write_copy(stmt: Store, w: GpuWriter, count: int = 1) -> None:
    """A copy of so many neighbours, which may arrive later; at once, where it cannot."""
    if not can_arrive(stmt, count, w):
        write_store(stmt, w)
        return
    value = stmt.value
    source_of = value.then if isinstance(value, Select) else value
    assert isinstance(source_of, Load)
    (tile, to), (source, index) = place_of(stmt, w), place_of(source_of, w)
    if isinstance(value, Select):
        w.line(f"lw_arrive_or_zero<{count}>({tile}, {to}, {source}, {index}, {w.text(value.condition)});")
    else:
        w.line(f"lw_arrive<{count}>({tile}, {to}, {source}, {index});")


def can_arrive(stmt: Store, count: int, w: GpuWriter) -> bool:
    """Whether a store copies from global memory as it is, or else zeros, and so many bytes that no register is needed
    for it."""
    value = stmt.value
    if isinstance(value, Select):
        if not isinstance(value.otherwise, Const) or repr(value.otherwise.value) not in ZEROS:
            return False
        value = value.then
    if not isinstance(value, Load):
        return False
    source, tile = w.arrays[value.array], w.arrays[stmt.array]
    known = source.on_device and not source.bytes and source.element == tile.element
    return known and not w.may_fail(value) and count * tile.element.size_bytes in w.facts.gpu.copies
