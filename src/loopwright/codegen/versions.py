"""C text of loops in two versions, behind the test at their entry that says which one runs (loop_versions.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import Accesses, EntryTest
from loopwright.codegen.function import Writer
from loopwright.codegen.index_tests import HIGH, LOW, freed, texts_of_tests
from loopwright.codegen.loops import write_sequential
from loopwright.ir.nodes import Const, For, Load, Var
from loopwright.ir.queries import arrays_stored, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import expressions, statements, subexpressions

FROM, TO = "lw_from", "lw_to"  # C names of its bounds


def write_versions(loop: For, w: Writer, write: Callable[[For], None]) -> None:
    """The loop by `write`, with all accesses freed that its entry test can free, beside the loop as it stands."""
    entry = w.decided.versions.get(loop.name)
    if entry is None:
        write(loop)
        return
    tests = tests_of(entry, loop, w)
    if entry.of_nest:  # its bounds stay as they are: the C compiler may write its loops out
        with w.branch(f"!LW_SELDOM(!({tests}))"), freed(entry.inside, w), _kept(entry.inside, loop, w):
            write(loop)
        with w.otherwise():
            write_sequential(loop, w)
        return
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
    with w.branch(f"!LW_SELDOM(!({tests}))"), freed(inside, w), _kept(inside, loop, w):
        fast()
    with w.otherwise():
        careful()


@contextmanager
def _kept(inside: Accesses, loop: For, w: Writer) -> Iterator[None]:
    """Within, elements that give indices and stay the same in all iterations are constants. The C compiler would look
    them up in each, and take what they name for elements that are anywhere."""
    inner = (one.name for one in statements(loop.body, For))
    before, changing = w.function.replaced, {loop.name, *inner, *names_assigned(loop.body)}
    w.function.replaced = dict(before)
    stored = arrays_stored(loop.body)
    for load in (load for load in _loads_of_indices(inside, loop) if not stored or not w.given.kernel.overlap):
        key = load.array, load.index
        if load.type.kind == "bool" or load.array in stored or names_in(load) & changing or key in w.function.replaced:
            continue
        name = w.names.fresh("lw_looked_up")
        w.line(f"const {VALUE_TYPE[load.type.name]} {name} = {w.text(load)};")
        w.function.replaced[key] = name
    yield
    w.function.replaced = before


def _loads_of_indices(inside: Accesses, loop: For) -> Iterator[Load]:
    """What the freed indices of a loop are read from, each after those that its own indices are read from."""
    for expr in expressions(loop.body, Load):
        for axis, index in enumerate(expr.index):
            if (id(expr), axis) in inside:
                yield from reversed(list(subexpressions(index, Load)))


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
