"""C text of the tests that free accesses of a loop from checks: that an index stays inside for a stretch of its
iterations (`IndexTest`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from loopwright.codegen.decisions import Accesses, IndexTest
from loopwright.codegen.function import Writer
from loopwright.ir.nodes import Expr, For, Load
from loopwright.ir.walk import subexpressions

LOW, HIGH = "lw_low", "lw_high"  # C names of the least and the greatest value of the loop's variable


@contextmanager
def freed(accesses: Accesses, w: Writer) -> Iterator[None]:
    """Inside, these accesses need no check."""
    before = w.inside
    w.inside = before | accesses
    yield
    w.inside = before


def texts_of_tests(tests: Iterable[IndexTest], loop: For, w: Writer) -> tuple[str, ...]:
    """C texts of tests of indices, over LOW and HIGH, each once."""
    return tuple(dict.fromkeys(_test(one, loop, w) for one in tests))


def _test(test: IndexTest, loop: For, w: Writer) -> str:
    size = w.size(test.array, test.axis)
    if test.greatest is not None:
        return f"lw_climbs({_at(test.index, LOW, loop, w)}, {_at(test.greatest, LOW, loop, w)}, {size})"
    if test.slope == 0:
        return f"(uint64_t){_at(test.index, LOW, loop, w)} < (uint64_t){size}"
    low, high = (LOW, HIGH) if test.slope > 0 else (HIGH, LOW)
    climbs = f"lw_climbs({_at(test.index, low, loop, w)}, {_at(test.index, high, loop, w)}, {size})"
    if abs(test.slope) == 1:
        return climbs
    # Of fewer iterations than that, the last index cannot have gone once around all numbers.
    return f"(uint64_t){HIGH} - (uint64_t){LOW} < UINT64_C(1) << 58 && {climbs}"


def _at(index: Expr, value: str, loop: For, w: Writer) -> str:
    """C text of an index for one value of the loop's variable, its own loads unchecked."""
    known = ((id(load), axis) for load in subexpressions(index, Load) for axis in range(len(load.index)))
    before = w.function.renamed
    w.function.renamed = before | {loop.name: value}
    with freed(frozenset(known), w):
        text = w.text(index)
    w.function.renamed = before
    return text
