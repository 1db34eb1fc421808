"""Which loops a compiler is asked to write out, and how many iterations of them: those of a few iterations around
others of a constant number, so that elements of arrays stay in registers; and on a GPU innermost ones, so that their
loads overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.safepoints import is_long
from loopwright.ir.nodes import Const, For, If, Select, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import expressions, statements
from loopwright.steps.extent import extent_of

UNROLLED = 16  # iterations of a loop that is written out
TOGETHER = 8  # iterations of a longer one, on a GPU
AHEAD = 4  # iterations of an innermost loop on a GPU that are written out, so that their loads overlap


def unroll_loops(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops of a CPU that run as they are written. Tests of their own in iterations of a constant number are a loop: a
    compiler would write out all of them, and take long."""
    written = (loop for loop in statements(given.kernel.body, For) if loop.name not in lowering.regions)
    counts = {
        loop.name: 1 if _holds_tests(loop) else trip
        for loop in written
        if loop.name not in lowering.strips
        and (trip := given.constant_trip(loop)) is not None
        and trip <= UNROLLED
        and (contains(loop.body, For, While) or _holds_tests(loop))
        and _are_constant(loop, given)
    }
    return replace(lowering, unrolled=counts)


def _holds_tests(loop: For) -> bool:
    return contains(loop.body, If) or next(expressions(loop.body, Select), None) is not None


def unroll_on_device(given: CodegenInput) -> LoopLowering:
    """Loops inside threads of a GPU."""
    return LoopLowering(unrolled=dict(_on_device(given)))


def _on_device(given: CodegenInput) -> Iterator[tuple[str, int]]:
    for loop in statements(given.kernel.body, For):
        trip = None if is_long(loop) else given.constant_trip(loop)
        if trip is None:
            if not isinstance(loop.upper, Const) and (count := _of_any_number(loop)) is not None:
                yield loop.name, count
        elif _are_constant(loop, given):
            yield loop.name, trip if trip <= UNROLLED else TOGETHER


def _of_any_number(loop: For) -> int | None:
    # The rest of a stretch is short, and what it holds is written out already; registers are left to whole ones.
    extent = extent_of(loop)
    if contains(loop.body, For, While):
        return 1 if extent else None
    return 1 if extent and extent <= TOGETHER else AHEAD


def _are_constant(loop: For, given: CodegenInput) -> bool:
    """Whether all loops inside have a constant number of iterations."""
    inner = statements(loop.body, For, While)
    return all(isinstance(one, For) and given.constant_trip(one) is not None for one in inner)
