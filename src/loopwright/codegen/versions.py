"""C text of loops in two versions, behind the test at their entry that says which one runs (loop_versions.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopwright.codegen.decisions import Accesses, EntryTest
from loopwright.codegen.function import Writer
from loopwright.codegen.index_tests import HIGH, LOW, freed, texts_of_tests
from loopwright.codegen.loops import write_sequential
from loopwright.ir.nodes import Const, For, Var
from loopwright.ir.types import INT64

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
    with w.branch(f"!LW_SELDOM(!({tests}))"), freed(inside, w):
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


def tests_of(entry: EntryTest, loop: For, w: Writer) -> str:
    """C text of the test at a loop's entry, over LOW and HIGH."""
    return " && ".join(texts_of_tests(entry.tests, loop, w))
