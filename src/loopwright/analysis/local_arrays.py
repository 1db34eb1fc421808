"""Arrays that each iteration of a loop may have for itself, though they were made outside of it.

Each read in the loop must see a value written earlier in the same iteration, and nothing may read the array outside
the loop, unless what the last iteration leaves behind is put there. Only writes that surely happen count: those that
stand before the read in the text, and those of earlier turns of an inner loop around both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula
from loopwright.analysis.bounds import prove
from loopwright.analysis.dependence import OTHER, Elements, Layout, symbols_of
from loopwright.analysis.effort import LOCK, TooHard
from loopwright.analysis.facts import Known
from loopwright.analysis.notes import LoopNote
from loopwright.analysis.sets import build, minus, ordered, parsed, renamed, without
from loopwright.analysis.trace import Access, Trace, traced
from loopwright.analysis.whole_fills import fills
from loopwright.ir.nodes import Kernel, Store


def is_private(elements: Elements, notes: Trace, loop: str, accesses: Sequence[Access]) -> bool:
    """Whether a local array is private to a loop. `accesses`: all of the array in the kernel."""
    reads = [access for access in accesses if not access.is_write]
    writes = [access for access in accesses if access.is_write and loop in access.stack]
    layout: Layout = tuple(None for _ in accesses[0].index)
    return all(_is_covered(elements, notes, layout, loop, read, writes) for read in reads)


def _is_covered(
    elements: Elements, notes: Trace, layout: Layout, loop: str, read: Access, writes: Sequence[Access]
) -> bool:
    """Whether every element of a read was written before it in the same iteration of the loop; outside of the loop
    there is none."""
    rest = elements.whole_of(read, layout).intersect(_within(read))
    for write in writes:
        common = _common(read.stack, write.stack)
        if write.number > read.number or loop not in common:
            continue
        if _is_sure(write, len(common)):
            inner = {s.name for s in ordered(symbols_of(write)) if len(s.birth) > len(common)}
            rest = minus(rest, without(elements.whole_of(write, layout), inner))
            if rest.is_empty():
                return True
        elif fills(elements, write, len(common), read):
            return True
    for write in writes:
        common = _common(read.stack, write.stack)
        for depth in range(common.index(loop) + 1 if loop in common else len(common), len(common)):
            note = notes.loops.get(common[depth])  # none of a `while`
            written = None if note is None else _in_earlier_turns(elements, layout, write, note)
            if written is not None:
                rest = minus(rest, written)
                if rest.is_empty():
                    return True
    return False


def _in_earlier_turns(elements: Elements, layout: Layout, write: Access, note: LoopNote) -> isl.Set | None:
    """The elements that a write has surely written in turns of a loop around it before the one at hand, as a set with
    the loop's variable as a parameter; None where that is not known."""
    depth = len(note.stack)
    if not note.step or not note.regular or not _is_sure(write, depth):
        return None
    points, x = elements.whole_of(write, layout), note.symbol.name
    if x not in {s.name for s in ordered(symbols_of(write))}:
        return None
    inner = {s.name for s in ordered(symbols_of(write)) if len(s.birth) > depth} - {x}
    before = parsed(f"{OTHER} < {x}" if note.step > 0 else f"{OTHER} > {x}", (x, OTHER))
    return without(renamed(points, x, OTHER).intersect_params(before), inner | {OTHER})


def _within(read: Access) -> isl.Set:
    """All elements of the array: where an index is none of them, the read fails, and nothing else matters."""
    dims = [f"e{axis}" for axis in range(len(read.sizes))]
    within = [Formula(f"0 <= {e} < {size.text()}", size.symbols) for e, size in zip(dims, read.sizes, strict=True)]
    return build((), dims, within)


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """The loops around both."""
    length = 0
    while length < min(len(left), len(right)) and left[length] == right[length]:
        length += 1
    return left[:length]


def _is_sure(write: Access, depth: int) -> bool:
    """Whether a write happens for its whole domain, with nothing open inside the loops that it does not share."""
    return write.exact and not any(s.loose and len(s.birth) > depth for s in ordered(symbols_of(write)))


def is_apart(kernel: Kernel, loop: str, array: str, known: Known) -> bool:
    """Whether each iteration of a loop reads of an array only what it has written itself. known: the bounds of accesses
    that were proven before."""
    with LOCK:
        notes = traced(kernel)
        accesses = [access for access in notes.accesses if access.array == array and loop in access.stack]
        elements = Elements(prove(kernel, notes, {id(access.node) for access in accesses}, known))
        try:
            with elements.proof.effort.bounded():
                return not accesses or is_private(elements, notes, loop, accesses)
        except TooHard:
            return False


def leaves_all(kernel: Kernel, loops: Sequence[str], store: Store, known: Known) -> bool:
    """Whether a store by itself writes, in each iteration of the innermost of these loops, all elements of its array
    that any iteration writes: then after the loops all is there as the last iteration has left it."""
    with LOCK:
        notes = traced(kernel)
        inside = [access for access in notes.accesses if access.array == store.array and loops[-1] in access.stack]
        elements = Elements(prove(kernel, notes, {id(access.node) for access in inside}, known))
        (write,) = (access for access in inside if access.node is store)
        try:
            with elements.proof.effort.bounded():
                return _writes_all(elements, notes, loops, write, [access for access in inside if access.is_write])
        except TooHard:
            return False


def never_meet(
    kernel: Kernel, some: Collection[int], others: Collection[int], stack: Sequence[str], known: Known
) -> bool:
    """Whether the accesses with some ids and those with others touch no element in common within one iteration of the
    loops of a stack, whatever runs inside. All are of one array."""
    with LOCK:
        notes = traced(kernel)
        both = [access for access in notes.accesses if id(access.node) in some or id(access.node) in others]
        if len(both) < len(some) + len(others):
            return False
        elements = Elements(prove(kernel, notes, {id(access.node) for access in both}, known))
        layout = elements.layout(both)
        depth = len(stack)
        try:
            with elements.proof.effort.bounded():
                touched = {id(one.node): _within_one(elements, layout, one, depth) for one in both}
                return all(touched[one].intersect(touched[other]).is_empty() for one in some for other in others)
        except TooHard:
            return False


def _within_one(elements: Elements, layout: Layout, access: Access, depth: int) -> isl.Set:
    """The elements that an access touches in one iteration of so many loops around it."""
    inner = {s.name for s in ordered(symbols_of(access)) if len(s.birth) > depth}
    return without(elements.whole_of(access, layout), inner)


def _writes_all(
    elements: Elements, notes: Trace, loops: Sequence[str], write: Access, others: Sequence[Access]
) -> bool:
    depth = write.stack.index(loops[-1]) + 1
    if not _is_sure(write, depth):
        return False
    layout: Layout = tuple(None for _ in write.index)
    each = _within_one(elements, layout, write, depth)
    varying = {s.name for s in ordered(symbols_of(write)) if loops[0] in s.birth}
    inside = build([formula for name in loops for formula in notes.loops[name].domain])
    for other in others:
        names = varying | {s.name for s in ordered(symbols_of(other)) if loops[0] in s.birth}
        ever = without(elements.whole_of(other, layout), names)
        if not minus(ever.intersect_params(inside), each).is_empty():
            return False
    return True
