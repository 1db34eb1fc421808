"""C text of loops in two versions, behind the test at their entry that says which one runs (loop_versions.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from loopwright.codegen.decisions import Accesses, EntryTest, IndexTest
from loopwright.codegen.function import Writer
from loopwright.codegen.loops import write_sequential
from loopwright.ir.nodes import Const, Expr, For, Load, Var
from loopwright.ir.types import INT64
from loopwright.ir.walk import subexpressions

LOW, HIGH = "lw_low", "lw_high"  # C names of the least and the greatest value of the loop's variable
FROM, TO = "lw_from", "lw_to"  # C names of its bounds


def write_versions(loop: For, w: Writer, write: Callable[[For], None]) -> None:
    """The loop by `write`, with all accesses freed that its entry test can free, beside the loop as it stands."""
    entry = w.decided.versions.get(loop.name)
    if entry is None:
        write(loop)
        return
    tests = tests_of(entry, loop, w)
    with w.block():
        loop = with_bounds(loop, w)
        lower, upper, step = (w.text(bound) for bound in (loop.lower, loop.upper, loop.step))
        first, last = lower, f"({lower} + (lw_trip({lower}, {upper}, {step}) - 1) * {step})"
        if isinstance(loop.step, Const) and loop.step.value in (1, -1):
            last = f"({upper} {'-' if loop.step.value == 1 else '+'} 1)"
        write_both(tests, entry.inside, first, last, w, loop, lambda: write(loop), lambda: write_sequential(loop, w))


def write_both(
    tests: str, inside: Accesses, first: str, last: str, w: Writer, loop: For,
    fast: Callable[[], None], careful: Callable[[], None],
) -> None:  # fmt: skip
    """Write `fast`, where the tests free the accesses inside, and `careful` for where they fail. `first` and `last`:
    C texts of the values of the loop's variable, for a loop with iterations; without any, either version does."""
    up = isinstance(loop.step, Const) and loop.step.value > 0
    w.line(f"const int64_t {LOW} = {first if up else last}, {HIGH} = {last if up else first};")
    with w.branch(f"!LW_RARE(!({tests}))"), freed(inside, w):
        fast()
    with w.otherwise():
        careful()


def with_bounds(loop: For, w: Writer) -> For:
    """The loop with its bounds in C constants, so that several versions evaluate them once."""
    if isinstance(loop.lower, Var) and loop.lower.name == FROM:
        return loop
    lower, upper = w.text(loop.lower), w.text(loop.upper)
    w.line(f"const int64_t {FROM} = {lower}, {TO} = {upper};")
    return replace(loop, lower=bound_named(FROM, w), upper=bound_named(TO, w))


def bound_named(identifier: str, w: Writer) -> Var:
    """An expression whose C text is this identifier."""
    w.function.renamed[identifier] = identifier
    return Var(identifier, INT64)


@contextmanager
def freed(accesses: Accesses, w: Writer) -> Iterator[None]:
    """Inside, these accesses need no check."""
    before = w.inside
    w.inside = before | accesses
    yield
    w.inside = before


def tests_of(entry: EntryTest, loop: For, w: Writer) -> str:
    """C text of the test at a loop's entry, over LOW and HIGH."""
    return " && ".join(dict.fromkeys(_test(one, loop, w) for one in entry.tests))


def _test(test: IndexTest, loop: For, w: Writer) -> str:
    size = w.size(test.array, test.axis)
    if test.slope == 0:
        return f"(uint64_t){_at(test.index, LOW, loop, w)} < (uint64_t){size}"
    low, high = (LOW, HIGH) if test.slope > 0 else (HIGH, LOW)
    return f"lw_climbs({_at(test.index, low, loop, w)}, {_at(test.index, high, loop, w)}, {size})"


def _at(index: Expr, value: str, loop: For, w: Writer) -> str:
    """C text of an index for one value of the loop's variable, its own loads unchecked."""
    known = ((id(load), axis) for load in subexpressions(index, Load) for axis in range(len(load.index)))
    before = w.function.renamed
    w.function.renamed = before | {loop.name: value}
    with freed(frozenset(known), w):
        text = w.text(index)
    w.function.renamed = before
    return text
