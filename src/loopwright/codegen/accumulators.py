"""Reductions with several accumulators. An addition of floats takes four cycles, a maximum of wide integers three, and
one or two could begin in each: with one accumulator, registers wait for one another. So a range of iterations is cut
into pieces of equal length, which run side by side, each with partial results of its own; what is left over follows.
(Interleaving, in the words of compilers.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering, PartialResult
from loopwright.codegen.function import Writer
from loopwright.codegen.loop_versions import is_plain
from loopwright.codegen.partial_results import declare, named, put_into, standing_in
from loopwright.codegen.safepoints import operations_in, write_iteration
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import Const, For
from loopwright.ir.queries import arrays_stored
from loopwright.ir.walk import statements

PIECES = 4
WHOLE = 16  # iterations: a length of pieces that fills registers of any width and type
FEWEST = 128  # iterations that are worth cutting
MOST_RESULTS = 2  # of a loop
LARGEST = 48  # operations of a body, whose own ones overlap in a larger one


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The partial results of each piece but the first, and the lanes that work on all of them."""

    more: tuple[tuple[PartialResult, ...], ...]
    lanes: Lanes


def interleave_reductions(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Loops in lanes with a slow partial result that do nothing else. With more results, their chains overlap, and
    registers run out."""
    names = (loop.name for loop in statements(given.kernel.body, For) if _is_possible(loop, given, lowering))
    return replace(lowering, interleaved=frozenset(names))


def _is_possible(loop: For, given: CodegenInput, lowering: LoopLowering) -> bool:
    lanes = lowering.lanes.get(loop.name)
    if lanes is None or lanes.last or not any(map(_is_slow, lanes.partials)):
        return False
    if len(lanes.partials) > MOST_RESULTS or loop.name in lowering.narrow or loop.step != Const(1, loop.step.type):
        return False
    stored = {one.store.array for one in lanes.partials if one.store is not None}
    return (
        is_plain(loop.body)
        and not any(one.reduction.by for one in lanes.partials)
        and arrays_stored(loop.body) <= stored
        and operations_in(loop.body) <= LARGEST
        and given.constant_trip(loop) is None
    )


def _is_slow(one: PartialResult) -> bool:
    """Whether one result takes longer than a cycle after the one before."""
    return one.scalar.is_float or (one.scalar.bits == 64 and one.reduction.op not in ("add", "and", "or", "xor"))


# ---- text -------------------------------------------------------------------------------------------------------


@contextmanager
def accumulating(
    loop: For, partials: tuple[PartialResult, ...], lanes: Lanes | None, w: Writer
) -> Iterator[Accumulators | None]:
    """Accumulators for a loop with these partial results, where it is to have several; behind the block they are put
    into the partial results."""
    if loop.name not in w.decided.interleaved or lanes is None:
        yield None
        return
    more = tuple(named(partials, w) for _ in range(1, PIECES))
    every = [one for piece in more for one in piece]
    declare(every, loop, w)
    operators = [operator for operator, _ in lanes.sums] * len(more)
    added = zip(operators, (one.variable for one in every), strict=True)
    yield Accumulators(more, replace(lanes, sums=(*lanes.sums, *added)))
    for piece in more:
        for one, into in zip(piece, partials, strict=True):
            put_into(into.variable, one, w)


@contextmanager
def in_pieces(
    loop: For, begin: str, end: str, found: Accumulators | None, w: Writer, body: Callable[[], None]
) -> Iterator[str]:
    """Write the iterations from `begin` to `end` (C texts) in pieces, as far as they fill these. Yields where those
    begin that are left over, for the block to write them. body: writes an iteration."""
    if found is None:
        yield begin
        return
    variable = w.names.of(loop.name)
    with w.block():
        w.line(f"const int64_t lw_first_one = {begin}, lw_rest = {end} - lw_first_one;")
        w.line(f"const int64_t lw_piece = lw_rest < {FEWEST} ? 0 : lw_rest / ({PIECES} * {WHOLE}) * {WHOLE};")
        lanes = w.loop("int64_t lw_k = 0; lw_k < lw_piece; ++lw_k", loop.name, lanes=found.lanes)
        with w.branch("lw_piece"), lanes:  # few iterations do not pay for putting all lanes together
            for number in range(PIECES):
                with w.block(), standing_in(found.more[number - 1], w) if number else nullcontext():
                    w.line(f"const int64_t {variable} = lw_first_one + {number} * lw_piece + lw_k;")
                    write_iteration(loop, w, body)
        yield f"lw_first_one + {PIECES} * lw_piece"
