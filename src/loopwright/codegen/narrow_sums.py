"""Sums of narrow integers in narrow lanes: a sum of int8 has the type int64, and in lanes of 64 bits the additions wait
for elements that are widened. For a strip of iterations that is short enough, nothing overflows in 32 bits, or in 16;
sums of strips go into the wide one. Masks that are counted are such sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import CodegenInput, LoopLowering, VectorLanes
from loopwright.codegen.function import Writer
from loopwright.codegen.loop_versions import is_plain
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import Assign, Binary, Cast, Const, Expr, For, Load
from loopwright.ir.queries import arrays_stored
from loopwright.ir.types import INT16, INT32, Scalar
from loopwright.ir.walk import expressions, statements

STRIPS = {INT16: 128, INT32: 4096}  # iterations in which sums of elements of 8 bits, and of 16, fit


def narrow_sums(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """For loops in lanes that do nothing else but add up what they read in at most 16 bits."""
    found: dict[str, Scalar] = {}
    for loop in statements(given.kernel.body, For):
        lanes = lowering.lanes.get(loop.name)
        if lanes is not None and loop.name not in lowering.inspections and (width := _width(loop, lanes)) is not None:
            found[loop.name] = width
    return replace(lowering, narrow=found)


def _width(loop: For, lanes: VectorLanes) -> Scalar | None:
    """The type of the sums of a strip; None for any other loop."""
    targets = {one.reduction.target for one in lanes.partials if one.store is None and one.reduction.op == "add"}
    assigned = [stmt.name for stmt in statements(loop.body, Assign)]
    if not targets or len(targets) != len(lanes.partials) or sorted(assigned) != sorted(targets):
        return None
    if not is_plain(loop.body) or arrays_stored(loop.body) or loop.step != Const(1, loop.step.type):
        return None
    if not all(_adds_little(stmt) for stmt in statements(loop.body, Assign)):
        return None
    bits = [part.type.bits if part.type.kind != "bool" else 8 for part in expressions(loop.body, Load)]
    if not bits or max(bits) > 16 or any(part.type.is_float for part in expressions(loop.body)):
        return None
    return INT16 if max(bits) == 8 else INT32


def _adds_little(stmt: Assign) -> bool:
    """Whether a statement adds one element to a wide integer."""
    match stmt.value:
        case Binary(op="add", left=left, right=right) if stmt.value.type.is_integer and stmt.value.type.bits == 64:
            return _is_little(left) or _is_little(right)
    return False


def _is_little(expr: Expr) -> bool:
    match expr:
        case Const(value=value):
            return abs(value) < 128
        case Cast(operand=operand) if operand.type.kind == "bool":
            return True
        case Cast(operand=Load(type=kind)):
            return kind.is_integer and kind.bits <= 16
    return False


# ---- text -------------------------------------------------------------------------------------------------------


def write_narrow(
    loop: For, begin: str, end: str, lanes: Lanes | None, w: Writer, write: Callable[[str, str, Lanes | None], None]
) -> None:
    """Have `write` write the iterations from `begin` to `end` (C texts), with sums of their own for each strip."""
    width = w.decided.narrow.get(loop.name)
    if width is None or lanes is None or not lanes.sums:
        write(begin, end, lanes)
        return
    targets = [one.reduction.target for one in w.decided.lanes[loop.name].partials]
    wide = {name: w.function.renamed[name] for name in targets}
    narrow = {name: w.names.fresh(f"{w.names.of(name)}part") for name in targets}
    before = w.function.renamed
    with w.block():
        w.line(f"const int64_t lw_all = {end};")
        with w.loop(f"int64_t lw_part = {begin}, lw_then; lw_part < lw_all; lw_part = lw_then"):
            w.line(f"lw_then = lw_ahead(lw_part, lw_all, {STRIPS[width]});")
            for name in targets:
                w.line(f"{VALUE_TYPE[width.name]} {narrow[name]} = 0;")
                w.function.scoped.add(narrow[name])
            w.function.renamed = before | narrow
            write("lw_part", "lw_then", replace(lanes, sums=tuple(("+", narrow[name]) for name in targets)))
            w.function.renamed = before
            for name in targets:
                w.line(f"{wide[name]} += {narrow[name]};")
