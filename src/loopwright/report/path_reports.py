"""What `kernel.irregular` returns: it runs the inspector of each loop of a call, on the CPU, and with it what stands
before the loop, on copies.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.facts import Facts
from loopwright.analysis.path_inspector import path_inspector
from loopwright.errors import LoopwrightError
from loopwright.ir.interp import window
from loopwright.ir.nodes import Body, For, Kernel
from loopwright.ir.walk import bodies
from loopwright.memory.device_array import version_of
from loopwright.report.irregular import ArrayPlace, IrregularLoop, IrregularReport, measured
from loopwright.tuning.path_inspection import inspected


def irregular(kernel: Kernel, facts: Facts, arguments: tuple[object, ...]) -> IrregularReport:
    """What data decides about the iterations of loops in a call with these arguments, and what that costs warps.
    kernel, facts: as the user wrote it."""
    loops = tuple(_irregular_loop(kernel, facts, loop, arguments) for loop in _free_loops(kernel.body, facts))
    return IrregularReport(kernel.name, loops)


def _free_loops(body: Body, facts: Facts) -> Iterator[For]:
    """The outermost loops whose iterations need no order."""
    for stmt in body:
        if isinstance(stmt, For) and (stmt.asserted or facts.loops[stmt.name].verdict in ("parallel", "reduction")):
            yield stmt
            continue
        for inner in bodies(stmt):
            yield from _free_loops(inner, facts)


def _irregular_loop(kernel: Kernel, facts: Facts, loop: For, arguments: tuple[object, ...]) -> IrregularLoop:
    line = loop.at.line if loop.at is not None else 0
    found = path_inspector(kernel, facts, loop.name)
    if isinstance(found, str):
        return IrregularLoop(loop.name, line, reason=found)
    if not found.vector.entries and not any(one.arrays for one in found.vector.references):
        return IrregularLoop(loop.name, line, reason="its iterations do not depend on data")
    try:
        rows = inspected(found, arguments)
    except LoopwrightError as error:
        return IrregularLoop(loop.name, line, reason=f"its inspector failed: {error}")
    params = {param.name: param for param in kernel.arrays}
    windows = {name: window(param, arguments[param.argument]) for name, param in params.items()}  # type: ignore[arg-type]
    places = {name: ArrayPlace(array.strides, array.itemsize) for name, array in windows.items()}
    versions = {name: str(version_of(arguments[param.argument])) for name, param in params.items()}
    return measured(found, rows, line, places, versions)
