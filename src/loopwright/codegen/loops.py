"""C text of loops: sequential ones, and innermost ones for vector lanes. Parallel ones are in `codegen/parallel.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from loopwright.codegen.accumulators import Accumulators, accumulating, in_pieces
from loopwright.codegen.c_text import VECTOR_FUNCTIONS
from loopwright.codegen.compaction import write_streams
from loopwright.codegen.decisions import PartialResult, VectorLanes
from loopwright.codegen.fixed_elements import reading_before
from loopwright.codegen.function import Writer
from loopwright.codegen.held_elements import either_way, holding
from loopwright.codegen.inspector import write_inspected
from loopwright.codegen.lane_gains import APART, changes_columns, fewest_for_sums
from loopwright.codegen.loop_versions import FEWEST
from loopwright.codegen.narrow_scalars import narrow_scalars
from loopwright.codegen.narrow_sums import write_narrow
from loopwright.codegen.overlapped_tails import write_overlapped
from loopwright.codegen.partial_results import declare, named, one_by_one, put_into, standing_in, target_of
from loopwright.codegen.rare_updates import skipping
from loopwright.codegen.reduce import simd_operator
from loopwright.codegen.safepoints import (
    countdown,
    in_strips,
    operations_in,
    spend_at_once,
    write_iteration,
    write_range,
)
from loopwright.codegen.statements import write_body
from loopwright.codegen.tail_masking import FEW, write_masked
from loopwright.codegen.vector_code import write_vector_rows
from loopwright.ir.code import Lanes
from loopwright.ir.linear import minus, number, variable
from loopwright.ir.nodes import Binary, Call, Const, For, If
from loopwright.ir.queries import settled_by, unsettled_in
from loopwright.ir.types import FLOAT64, Scalar
from loopwright.ir.walk import expressions, statements

FEW_FUNCTIONS = 32  # iterations with functions of which half a register at once leaves fewer over
FEWEST_FUNCTIONS = 8  # iterations with functions that are worth vector lanes
QUICK = {"exp", "exp2", "log", "log2"}  # functions of a few nanoseconds
WRITTEN_OUT = 4  # iterations of loops with sums that hundreds of iterations do without lanes
LOOKED_UP = 4  # elements that are looked up between two tests of whether there are more


Begun = Callable[[], None]
"""Writes what an iteration begins with."""


def write_sequential(
    loop: For, w: Writer, lanes: Lanes | None = None, first: Begun | None = None, short: bool = False,
    unroll: int | None = None, several: Accumulators | None = None,
) -> None:  # fmt: skip
    """The loop as it stands. lanes: that may do its iterations. unroll: how many of them are asked to be written out.
    first: what writes lines at the beginning of an iteration. short: it is known to have few iterations here. several:
    accumulators for pieces of it."""
    few = w.decided.few.get(loop.name)
    if few is None or w.choosing or w.function.on_device or lanes is not None or first is not None:
        _write_sequential(loop, w, lanes, first, short, unroll, several)
        return
    trip = f"lw_trip({w.text(loop.lower)}, {w.text(loop.upper)}, {w.text(loop.step)})"
    with w.branch(f"{trip} <= {few}"):
        w.choosing = frozenset(map(id, statements(loop.body, If)))
        if loop.name not in w.decided.counted:
            w.line(f"{countdown(w)} -= {trip} * {max(1, operations_in(loop.body))};")
        _write_sequential(loop, w, None, None, True, unroll, several)
        w.choosing = frozenset()
    with w.otherwise():
        _write_sequential(loop, w, None, None, short, unroll, several)


def _write_sequential(
    loop: For, w: Writer, lanes: Lanes | None, first: Begun | None, short: bool, unroll: int | None,
    several: Accumulators | None,
) -> None:  # fmt: skip
    variable = w.names.of(loop.name)
    lower, upper = w.text(loop.lower), w.text(loop.upper)
    w.function.scoped.add(variable)
    step = loop.step.value if isinstance(loop.step, Const) else None
    trip = None if in_strips(loop, w) else w.given.constant_trip(loop)
    first, unroll = _begun(loop, w, first, unroll, lanes)
    body = partial(_write_begun, loop, first, w, lanes)

    def write(head: str, *inside: str, lanes: Lanes | None = lanes, at: str = "") -> None:
        for holds in either_way(loop, lanes, w):
            opened = w.loop(f"int64_t {head}", loop.name, trips=trip, unroll=unroll, lanes=lanes)
            with passed(loop, at, w) as known, opened:
                for line in (*inside, *known):
                    w.line(line)
                with narrow_scalars(loop, lanes, w):
                    write_iteration(loop, w, partial(_write_begun, loop, first, w, lanes, holds), counted)

    def climb(begin: str, end: str) -> None:
        sign, advance = ("<", "++") if step == 1 else (">", "--")

        def part(begin: str, end: str, lanes: Lanes | None) -> None:
            with in_parts(loop, (begin, end), several if lanes else None, w, body) as (start, stop):
                write(f"{variable} = {start}; {variable} {sign} {stop}; {advance}{variable}", lanes=lanes)

        _write_between(loop, begin, end, lanes, w, part)

    def count(begin: str, end: str) -> None:
        value = f"const int64_t {variable} = lw_lower + lw_k * lw_step;"
        write(f"lw_k = {begin}; lw_k < {end}; ++lw_k", value, at="lw_k")

    with w.block():
        counted = spend_at_once(loop, w)
        if trip is not None:
            # From 0 on, so that the compiler sees how often it runs, and may unroll it into registers.
            w.line(f"const int64_t lw_lower = {lower};")
            counter = f"lw_k_{variable}" if w.function.on_device else "lw_k"
            w.function.counters[loop.name] = counter
            value = f"lw_lower + {counter}{'' if step == 1 else f' * {step}'}"
            write(f"{counter} = 0; {counter} < {trip}; ++{counter}", f"const int64_t {variable} = {value};", at=counter)
        elif step in (1, -1):
            if short or not in_strips(loop, w):
                w.line(f"const int64_t lw_upper = {upper};")
                upper = "lw_upper"
            (_write_once if short else write_range)(loop, lower, upper, step == -1, w, climb)
        else:
            # Counting iterations cannot overflow; adding the step to the variable could.
            w.line(f"const int64_t lw_lower = {lower}, lw_step = {w.text(loop.step)};")
            w.line(f"const int64_t lw_count = lw_trip(lw_lower, {upper}, lw_step);")
            (_write_once if short else write_range)(loop, "0", "lw_count", False, w, count)
    w.function.scoped.discard(variable)


def _write_begun(loop: For, first: Begun | None, w: Writer, lanes: Lanes | None, holds: bool = True) -> None:
    """The body of an iteration. holds: see `holding`."""
    if first is not None:
        first()
    with holding(loop, lanes, w, holds):
        write_body(loop.body, w)


def _write_between(
    loop: For, begin: str, end: str, lanes: Lanes | None, w: Writer, part: Callable[[str, str, Lanes | None], None]
) -> None:
    """Have `part` write the iterations from `begin` to `end` (C texts), and write what is around them."""
    if lanes is not None and loop.name in w.decided.overlapped:
        write_overlapped(loop, begin, end, w, lambda begin, end: part(begin, end, lanes))
    elif loop.name in w.decided.narrow:
        write_narrow(loop, begin, end, lanes, w, part)
    else:
        write_streams(loop, begin, end, w, lambda begin, end: write_inspected(loop, begin, end, lanes, w, part))


@contextmanager
def passed(loop: For, counter: str, w: Writer) -> Iterator[tuple[str, ...]]:
    """Within, a body that asks how many iterations were before it, by a division, is told: counters of such a loop have
    become functions of its variable (ir/induction.py). Yields the line it begins with. counter: C text, '' for none."""
    step = loop.step.value if isinstance(loop.step, Const) else 0
    outer, lines = w.function.computed, tuple[str, ...]()
    if step and counter and not settled_by(loop.lower) & unsettled_in(loop.body):
        quotient = Binary("floordiv", minus(variable(loop.name), loop.lower), number(int(step)))
        if any(one == quotient for one in expressions(loop.body, Binary)):
            name = w.fresh("lw_passed", "int64_t")
            lines = (f"const int64_t {name} = {counter};",)
            w.function.computed = outer | {quotient: name}
    yield lines
    w.function.computed = outer


def _begun(
    loop: For, w: Writer, first: Callable[[], None] | None, unroll: int | None, lanes: Lanes | None
) -> tuple[Callable[[], None] | None, int | None]:
    """What writes lines at the beginning of an iteration, and how many iterations are asked to be written out."""
    if first is None and loop.name in w.decided.looked_up:
        return partial(w.line, "LW_ONE_BY_ONE;"), LOOKED_UP
    if unroll is None and (lanes is None or not lanes.sums):
        unroll = w.decided.unrolled.get(loop.name)
    return first, unroll


@contextmanager
def in_parts(
    loop: For, bounds: tuple[str, str], several: Accumulators | None, w: Writer, body: Callable[[], None]
) -> Iterator[tuple[str, str]]:
    """Write what of the iterations between these bounds (C texts) has text of its own; yields the bounds of what is
    left to the block."""
    with in_pieces(loop, *bounds, several, w, body) as rest, skipping(loop, rest, bounds[1], w) as left:
        yield left


def _write_once(loop: For, first: str, bound: str, down: bool, w: Writer, write: Callable[[str, str], None]) -> None:
    write(first, bound)


def write_vector(loop: For, w: Writer) -> None:
    """An innermost loop whose iterations need no order, for the lanes of vector registers."""
    trip = f"lw_trip({w.text(loop.lower)}, {w.text(loop.upper)}, {w.text(loop.step)})"
    with reading_before(loop, trip, w):
        _write_vector(loop, trip, w)


def _write_vector(loop: For, trip: str, w: Writer) -> None:
    if (size := w.decided.vectors.get(loop.name)) is not None:
        write_vector_rows(loop, size, w)
        return
    found = w.decided.lanes.get(loop.name)
    if found is None or not found.partials:
        if (
            found is None
            or w.function.on_device
            or w.given.constant_trip(loop) is not None
            or not changes_columns(loop)
        ):
            write_sequential(loop, w, lanes_of(found, (), w))
            return
        with w.branch(f"{trip} < {APART}"):
            write_sequential(loop, w, short=True, first=partial(w.line, "LW_ONE_BY_ONE;"))
        with w.otherwise():
            write_sequential(loop, w, lanes_of(found, (), w))
        return
    partials = named(found.partials, w)
    # Setting up lanes and adding them together costs more than a short loop does. That one gets the registers: a long
    # loop has time to load what it needs.
    fewest = fewest_for_sums(loop, [one.scalar for one in partials])
    takes_long = found.vector_functions and _takes_long(loop)
    with w.branch(f"LW_SELDOM({trip} >= {FEWEST_FUNCTIONS if takes_long else fewest})"):
        if takes_long and not w.function.on_device:
            # Half a register, which leaves fewer of them over.
            with w.branch(f"LW_MASKS && {trip} < {FEW_FUNCTIONS}"):
                _write_lanes(loop, found, partials, w, 4 if any(_calls(loop, FLOAT64)) else 8)
            with w.otherwise():
                _write_lanes(loop, found, partials, w)
        elif loop.name in w.decided.masked and not w.function.on_device:
            with w.branch(f"LW_MASKS && {trip} < {FEW}"):
                write_masked(loop, partials, w)
            with w.otherwise():
                _write_lanes(loop, found, partials, w)
        else:
            _write_lanes(loop, found, partials, w)
    with w.otherwise():
        write_few(loop, partials, fewest, w)


def write_few(loop: For, partials: tuple[PartialResult, ...], fewest: str, w: Writer) -> None:
    """The iterations of a loop with sums, too few for lanes; several are written out where these may be many."""
    unroll = None if fewest == str(FEWEST) else WRITTEN_OUT
    write_sequential(loop, w, short=True, first=one_by_one(partials, w), unroll=unroll)


def _takes_long(loop: For) -> bool:
    """Whether iterations one by one take longest for their functions: not exponentials and logarithms."""
    return any(call.function in VECTOR_FUNCTIONS - QUICK for call in expressions(loop.body, Call))


def _calls(loop: For, scalar: Scalar) -> Iterator[Call]:
    return (call for call in expressions(loop.body, Call) if call.type == scalar)


def write_on_one_thread(loop: For, partials: tuple[PartialResult, ...], w: Writer) -> None:
    """A loop that threads share, where it does too little for two of them: without a function, and without strips."""
    found = w.decided.lanes.get(loop.name)
    w.line(f"{countdown(w)} -= lw_count * {max(1, operations_in(loop.body))};")
    with reading_before(loop, "lw_count", w):
        if found is None or not partials:
            write_sequential(loop, w, lanes_of(found, (), w), short=True)
        else:
            _write_lanes(loop, found, partials, w, short=True)


def _write_lanes(
    loop: For, found: VectorLanes, partials: tuple[PartialResult, ...], w: Writer, length: int = 0, short: bool = False
) -> None:
    """length: how many iterations at once, of a loop that has few; 0 for as many as the compiler chooses. short: see
    write_sequential."""
    declare(partials, loop, w)
    lanes = lanes_of(found, partials, w)
    with standing_in(partials, w):
        if lanes is not None and length:
            write_sequential(loop, w, replace(lanes, length=length), short=True)
        else:
            with accumulating(loop, partials, lanes, w) as several:
                write_sequential(loop, w, lanes, several=several, short=short)
    for one in partials:
        put_into(target_of(one, w), one, w)


def lanes_of(found: VectorLanes | None, partials: tuple[PartialResult, ...], w: Writer) -> Lanes | None:
    """Lanes with these partial results; None for none."""
    if found is None:
        return None
    sums = ((simd_operator(one.reduction, one.scalar) or "", one.variable) for one in partials)
    # One that is set to a constant has partial results in a loop around this one: then that is what lanes leave behind.
    last = tuple(w.function.renamed.get(name) or w.names.of(name) for name in found.last)
    return Lanes(tuple(sums), tuple(map(w.names.of, found.private)), last, found.vector_functions)
