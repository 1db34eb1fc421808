"""Which loops a compiler is asked to write out, and how many iterations of them: those of a few iterations around
others of a constant number, so that elements of arrays stay in registers; innermost ones without lanes, in which
counting and jumping are a large part of the work; and on a GPU innermost ones, so that their loads overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.safepoints import is_long, operations_in
from loopwright.ir.nodes import Allocate, Block, Break, Checked, Const, For, If, Load, Select, Store, While
from loopwright.ir.queries import contains, has, names_assigned, names_in
from loopwright.ir.walk import expressions, statements
from loopwright.steps.extent import extent_of, trip_of

UNROLLED = 16  # iterations of a loop that is written out
TOGETHER = 8  # iterations of a longer one, on a GPU
SEVERAL, FEW = 4, 2  # iterations of an innermost loop without lanes on a CPU
SMALL, LARGEST = 50, 100  # operations of an iteration of which there are several at once, and a few
MOST_DIRECTIONS = 9  # in which a `while` goes that is written out for each
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
    counts |= {
        loop.name: trip
        for loop in statements(given.kernel.body, For)
        if loop.name not in lowering.regions and _walks(loop) and (trip := trip_of(loop)) is not None
    }
    counts |= {
        loop.name: FEW if operations_in(loop.body) > SMALL else SEVERAL
        for loop in statements(given.kernel.body, For)
        if _is_alone(loop, lowering) and _is_any_number(loop, given)
    }
    return replace(lowering, unrolled=counts)


def _is_alone(loop: For, lowering: LoopLowering) -> bool:
    """Whether an innermost loop has no lanes, with which inspectors go, and nothing else is done with it."""
    others = (lowering.lanes, lowering.lockstep, lowering.skipped, lowering.looked_up, lowering.narrow)
    is_compacted = not lowering.compacted.isdisjoint(map(id, statements(loop.body, Store)))
    return not is_compacted and all(loop.name not in other for other in others)


def _is_any_number(loop: For, given: CodegenInput) -> bool:
    """Whether a loop has a small body and as many iterations as arrays are long: what data say is mostly a few, which
    are over before the first of several at once; and few that are known are written out anyway."""
    if contains(loop.body, For, While, Break) or operations_in(loop.body) > LARGEST:
        return False
    if _has_two_ways(loop) or _goes_down_columns(loop):
        return False
    trip = trip_of(loop) or given.constant_trip(loop)
    bounds = (loop.lower, loop.upper)
    is_of_data = any(has(bound, Load, Checked) for bound in bounds)
    is_computed = any(names_in(bound) & names_assigned(given.kernel.body) for bound in bounds)
    return (trip is None or trip > UNROLLED) and not is_of_data and not is_computed


def _has_two_ways(loop: For) -> bool:
    """Whether data choose between two ways: a processor foresees the jumps of one place better than those of four."""
    return any(stmt.otherwise for stmt in statements(loop.body, If))


def _goes_down_columns(loop: For) -> bool:
    """Whether each iteration is in another row, and nothing goes along one: it waits for memory then, and several of
    them only need more registers for addresses."""
    places = [one.index for one in expressions(loop.body, Load)] + [one.index for one in statements(loop.body, Store)]
    along = any(loop.name in names_in(index[-1]) for index in places if index)
    columns = [index[:-1] for index in places if index and not isinstance(index[-1], Const)]  # no fields of records
    return not along and any(loop.name in names_in(axis) for rows in columns for axis in rows)


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


def _walks(loop: For) -> bool:
    """Whether it goes in a few directions, with a small `while` for each: `for dy in range(-1, 2)`. A processor
    foresees the jumps of each direction better than those of all of them in one place."""
    searches = list(statements(loop.body, While))
    directions = 1
    for one in (loop, *statements(loop.body, For)):
        directions *= trip_of(one) or MOST_DIRECTIONS + 1
    inside = (For, While, Block, Allocate)
    is_small = all(operations_in(one.body) <= SMALL and not contains(one.body, *inside) for one in searches)
    return len(searches) == 1 and is_small and 1 < directions <= MOST_DIRECTIONS


def _are_constant(loop: For, given: CodegenInput) -> bool:
    """Whether all loops inside have a constant number of iterations."""
    inner = statements(loop.body, For, While)
    return all(isinstance(one, For) and given.constant_trip(one) is not None for one in inner)
