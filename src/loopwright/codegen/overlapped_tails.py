"""Rows of narrow elements in whole registers: the last ones overlap.

    for j in lo..hi: S(j)   ->   for b in lo..hi by 64: for j in min(b, hi - 64) .. + 64: S(j)

A register holds 64 bytes, and a row of 200 of them leaves eight for the loop that does one iteration after the other,
or, of rows of 215, 23: longer than the rest takes. Here the last register begins earlier, and some iterations are done
twice. That is the same where they store what does not depend on what they store: no array is read and stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.codegen.vector_code import is_row
from loopwright.ir.nodes import Assign, Const, For, If, Load, Store
from loopwright.ir.queries import arrays_loaded, arrays_stored, names_in
from loopwright.ir.walk import expressions, statements

REGISTER = 64  # bytes
WIDEST = 2  # bytes of the narrowest elements: of wider ones few iterations are left over


def overlap_tails(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops in lanes inside of others that only store what they compute from other arrays."""
    found = {
        loop.name: REGISTER // narrowest
        for loop in statements(given.kernel.body, For)
        if _is_alone(loop, lowering) and (narrowest := _narrowest(loop, given)) <= WIDEST
    }
    return replace(lowering, overlapped=found)


def _is_alone(loop: For, lowering: LoopLowering) -> bool:
    """Whether a loop has lanes without results, and nothing else is done with it."""
    lanes = lowering.lanes.get(loop.name)
    if lanes is None or lanes.partials or lanes.last:
        return False
    others = (lowering.inspections, lowering.narrow, lowering.vectors, lowering.lockstep, lowering.skipped)
    is_shared = loop.name in lowering.regions and loop.name not in lowering.alone
    is_compacted = not lowering.compacted.isdisjoint(map(id, statements(loop.body, Store)))
    return not is_shared and not is_compacted and all(loop.name not in other for other in others)


def _narrowest(loop: For, given: CodegenInput) -> int:
    """The bytes of the narrowest elements; more than there are in a register where iterations may not be repeated."""
    parts = list(statements(loop.body))
    if not all(isinstance(part, Assign | If | Store) for part in parts) or given.kernel.overlap:
        return REGISTER + 1
    is_counted = isinstance(loop.step, Const) and loop.step.value == 1 and given.constant_trip(loop) is None
    if not is_counted or arrays_loaded(loop.body) & arrays_stored(loop.body):
        return REGISTER + 1
    accesses: list[Load | Store] = [*expressions(loop.body, Load), *statements(loop.body, Store)]
    if not all(_stays_or_climbs(one, loop, given) for one in accesses):
        return REGISTER + 1
    return min((given.arrays[one.array].element.size_bytes for one in accesses), default=REGISTER + 1)


def _stays_or_climbs(access: Load | Store, loop: For, given: CodegenInput) -> bool:
    """Whether all iterations access one place, or each the next one: others fill no whole registers."""
    if not any(loop.name in names_in(axis) for axis in access.index):
        return True
    return is_row(access, loop.name, given.arrays[access.array].element, given)


def write_overlapped(loop: For, begin: str, end: str, w: Writer, write: Callable[[str, str], None]) -> None:
    """Have `write` write loops for the iterations from `begin` to `end` (C texts)."""
    count = w.decided.overlapped[loop.name]
    blocks = f"int64_t lw_filled = {begin}; lw_filled < {end}; lw_filled += {count}"
    with w.branch(f"{end} - ({begin}) >= {count}"), w.loop(blocks):
        w.line(f"const int64_t lw_register = LW_MIN(int64_t, lw_filled, {end} - {count});")
        write("lw_register", f"lw_register + {count}")
    with w.otherwise():
        write(begin, end)
