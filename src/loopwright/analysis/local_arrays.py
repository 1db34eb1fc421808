"""Local arrays that each iteration of a loop may have for itself, though they were allocated outside of it.

Each read in the loop must see a value written earlier in the same iteration, and nothing may read the array outside
the loop. Only writes that surely happen count, and only those that stand before the read in the text: whatever an
earlier turn of an inner loop wrote is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula
from loopwright.analysis.dependence import Elements, Layout, symbols_of
from loopwright.analysis.sets import build, ordered, without
from loopwright.analysis.trace import Access


def is_private(elements: Elements, loop: str, accesses: Sequence[Access]) -> bool:
    """Whether a local array is private to a loop. `accesses`: all of the array in the kernel."""
    reads = [access for access in accesses if not access.is_write]
    writes = [access for access in accesses if access.is_write and loop in access.stack]
    layout: Layout = tuple(None for _ in accesses[0].index)
    return all(_is_covered(elements, layout, loop, read, writes) for read in reads)


def _is_covered(elements: Elements, layout: Layout, loop: str, read: Access, writes: Sequence[Access]) -> bool:
    """Whether every element of a read was written before it in the same iteration of the loop; outside of the loop
    there is none."""
    rest = elements.whole_of(read, layout).intersect(_within(read))
    for write in writes:
        common = _common(read.stack, write.stack)
        if write.number < read.number and loop in common and _is_sure(write, len(common)):
            inner = {s.name for s in ordered(symbols_of(write)) if len(s.birth) > len(common)}
            rest = rest.subtract(without(elements.whole_of(write, layout), inner))
            if rest.is_empty():
                return True
    return False


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
