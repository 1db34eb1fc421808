"""Facts as text, complete and in a fixed order: what `loopwright show --facts` prints and golden files hold."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.facts import Bounds, Conflict, Facts, LoopFacts
from loopwright.ir.nodes import Checked, Kernel, Load, Location, Store
from loopwright.ir.walk import expressions, loops, statements


def facts_text(kernel: Kernel, facts: Facts) -> str:
    """Every loop, access, check and the guard; places are `line:column`, counted from 1. Without a trailing newline."""
    return "\n".join([*_loops(kernel, facts), *_accesses(kernel, facts), *_guard(facts)])


def _loops(kernel: Kernel, facts: Facts) -> Iterator[str]:
    for name in loops(kernel):
        yield from _loop(facts.loops[name])


def _loop(loop: LoopFacts) -> Iterator[str]:
    yield f"loop {loop.name}: {loop.verdict}" + (f" ({loop.reason})" if loop.reason else "")
    if loop.conflict is not None:
        yield f"  {_conflict(loop.conflict)}"
    for reduction in loop.reductions:
        exact = "exact" if reduction.exact else "rounds"
        along = f", along with {reduction.by}" if reduction.by else ""
        yield f"  reduction {reduction.op} into {reduction.target} ({reduction.kind}, {exact}{along})"
    if loop.private:
        yield f"  private {', '.join(loop.private)}"
    if loop.last:
        yield f"  last value of {', '.join(loop.last)}"
    if loop.trip_count is not None:
        yield f"  iterations {loop.trip_count}"


def _conflict(conflict: Conflict) -> str:
    first = f"{conflict.first}{_place(conflict.first_at)}"
    second = f"{conflict.second}{_place(conflict.second_at)}"
    return f"{conflict.kind} on {conflict.target}: {first} then {second}, distance {conflict.distance}"


def _accesses(kernel: Kernel, facts: Facts) -> Iterator[str]:
    for access in facts.accesses:
        verb = "write" if access.is_write else "read"
        stride = f", stride {access.stride}" if access.stride else ""
        yield f"{verb} {access.text}{_place(access.at)}: {', '.join(access.pattern)}{stride}"
    nodes: list[Load | Store | Checked] = list(expressions(kernel.body, Load, Checked))
    nodes += list(statements(kernel.body, Store))
    for node in sorted(nodes, key=_order):
        for axis, bounds in enumerate(facts.bounds.get(id(node), ())):
            what = node.kind if isinstance(node, Checked) else f"{node.array} axis {axis}"
            yield f"check of {what}{_place(node.at)}: {_bounds(bounds)}"


def _order(node: Load | Store | Checked) -> tuple[int, int]:
    return (node.at.line, node.at.column) if node.at else (0, 0)


def _bounds(bounds: Bounds) -> str:
    parts: list[str] = [bounds.kind]
    if bounds.condition:
        parts.append(f"where {bounds.condition}")
    if bounds.certain:
        parts.append("certain")
    if bounds.may_be_negative:
        parts.append("may be negative")
    return ", ".join(parts) + (f" ({bounds.reason})" if bounds.reason else "")


def _guard(facts: Facts) -> Iterator[str]:
    if not facts.guard.c_text:
        yield "guard always true"
        return
    yield f"guard {facts.guard.text}"
    for name, (source, position, axis) in facts.guard.parameters:
        yield f"  {name} is " + (
            f"argument {position}" if source == "scalar" else f"size {axis} of argument {position}"
        )


def _place(at: Location | None) -> str:
    return "" if at is None else f" at {at.line}:{at.column + 1}"
