"""Two versions of an innermost loop: where one test at its entry shows that the indices of some accesses stay inside
their arrays for all of its iterations, those accesses run without checks; else each one is checked as it happens, so
that a wrong index fails at exactly the access at which Python fails.

It owns that test. An index qualifies where it is the loop's variable, or minus it, plus what the loop does not
change; or where the loop does not change it at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from loopwright.codegen.function import Writer
from loopwright.codegen.loops import is_short, write_sequential
from loopwright.ir.linear import linear
from loopwright.ir.nodes import (
    Allocate,
    Call,
    Checked,
    Const,
    Expr,
    For,
    Load,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import own_expressions, statements, subexpressions

LOW, HIGH = "lw_low", "lw_high"  # C names of the least and the greatest value of the loop's variable
FROM, TO = "lw_from", "lw_to"  # C names of its bounds


@dataclass(frozen=True, slots=True)
class EntryTest:
    """`conditions`: C texts over LOW and HIGH, to be tested in this order. `inside`: the accesses, as (id of the node,
    axis), that need no check where all of them hold. `arrays`: the names of what they access."""

    conditions: tuple[str, ...]
    inside: frozenset[tuple[int, int]]
    arrays: tuple[str, ...]


def entry_test(loop: For, w: Writer) -> EntryTest | None:
    """The test that frees accesses of a loop from their checks; None where there is nothing to free, or where the
    loop is no innermost one with a constant step."""
    if w.check_all or not isinstance(loop.step, Const) or loop.step.value == 0 or is_short(loop):
        return None
    if any(isinstance(stmt, For | While | Allocate) for stmt in statements(loop.body)):
        return None
    search = _TestSearch(loop, w)
    for stmt in statements(loop.body):
        for expr in own_expressions(stmt):
            for part in subexpressions(expr):
                if isinstance(part, Load):
                    search.access(part)
        if isinstance(stmt, Store):
            search.access(stmt)
    if not search.inside:
        return None
    return EntryTest(tuple(search.conditions), frozenset(search.inside), tuple(dict.fromkeys(search.arrays)))


def write_versions(loop: For, w: Writer, write: Callable[[For], None]) -> None:
    """The loop by `write`, with all accesses freed that its entry test can free, beside the loop as it stands."""
    entry = entry_test(loop, w)
    if entry is None:
        write(loop)
        return
    with w.block():
        loop = with_bounds(loop, w)
        lower, upper, step = (w.text(bound) for bound in (loop.lower, loop.upper, loop.step))
        first, last = lower, f"({lower} + (lw_trip({lower}, {upper}, {step}) - 1) * {step})"
        if isinstance(loop.step, Const) and loop.step.value in (1, -1):
            last = f"({upper} {'-' if loop.step.value == 1 else '+'} 1)"
        write_both(entry, first, last, w, loop, lambda: write(loop), lambda: write_sequential(loop, w))


def write_both(
    entry: EntryTest, first: str, last: str, w: Writer, loop: For, fast: Callable[[], None], careful: Callable[[], None]
) -> None:
    """Write `fast`, freed by the entry test, and `careful` for where the test fails. `first` and `last`: C texts of
    the values of the loop's variable, for a loop with iterations; without any, either version does."""
    w.notes.append((loop.name, f"tests: indices of {' and '.join(entry.arrays)} at once, before the first iteration"))
    up = isinstance(loop.step, Const) and loop.step.value > 0
    w.line(f"const int64_t {LOW} = {first if up else last}, {HIGH} = {last if up else first};")
    with w.branch(f"!LW_RARE(!({' && '.join(entry.conditions)}))"), freed(entry.inside, w):
        fast()
    with w.otherwise():
        before, w.twice = w.twice, False
        careful()
        w.twice = before


def with_bounds(loop: For, w: Writer) -> For:
    """The loop with its bounds in C constants, so that several versions evaluate them once."""
    if isinstance(loop.lower, Var) and loop.lower.name == FROM:
        return loop
    lower, upper = w.text(loop.lower), w.text(loop.upper)
    w.line(f"const int64_t {FROM} = {lower}, {TO} = {upper};")
    return replace(loop, lower=named(FROM, w), upper=named(TO, w))


def named(identifier: str, w: Writer) -> Var:
    """An expression whose C text is this identifier."""
    w.function.renamed[identifier] = identifier
    return Var(identifier, INT64)


@contextmanager
def freed(accesses: frozenset[tuple[int, int]], w: Writer) -> Iterator[None]:
    """Inside, these accesses need no check."""
    before = w.inside
    w.inside = before | accesses
    yield
    w.inside = before


@dataclass
class _TestSearch:
    """Conditions in an order in which each may rely on those before it: an index that is itself read from an array
    is only read once that array's own index is known to be inside."""

    loop: For
    w: Writer
    conditions: dict[str, None] = field(default_factory=dict)
    inside: set[tuple[int, int]] = field(default_factory=set)
    arrays: list[str] = field(default_factory=list)

    def access(self, node: Load | Store) -> None:
        """Add the conditions for each axis of an access that would be checked."""
        for axis, bounds in enumerate(self.w.bounds_of(node)):
            if bounds.kind == "checked" and self._axis(node, axis):
                self.inside.add((id(node), axis))
                self.arrays.append(user_name(node.array))

    def _axis(self, node: Load | Store, axis: int) -> bool:
        slope = slope_of(node.index[axis], self.loop)
        if slope is None or not self._readable(node.index[axis]):
            return False
        self.conditions[self._condition(node, axis, slope)] = None
        return True

    def _readable(self, expr: Expr) -> bool:
        """Whether the arrays that an index is read from may be read at the loop's entry, once their own indices are
        tested there. (That they are proven in the loop says nothing: a condition in the loop may be the reason.)"""
        for load in (part for part in subexpressions(expr) if isinstance(part, Load)):
            if not self._unchanged(load.array) or not all(self._axis(load, axis) for axis in range(len(load.index))):
                return False
        return True

    def _unchanged(self, array: str) -> bool:
        stores = [stmt for stmt in statements(self.loop.body) if isinstance(stmt, Store)]
        return not stores if self.w.kernel.overlap else all(store.array != array for store in stores)

    def _condition(self, node: Load | Store, axis: int, slope: int) -> str:
        index, size = node.index[axis], self.w.size(node.array, axis)
        if slope == 0:
            return f"(uint64_t){self._at(index, LOW)} < (uint64_t){size}"
        low, high = (LOW, HIGH) if slope > 0 else (HIGH, LOW)
        return f"lw_climbs({self._at(index, low)}, {self._at(index, high)}, {size})"

    def _at(self, index: Expr, value: str) -> str:
        """C text of an index for one value of the loop's variable, its own loads unchecked."""
        loads = [part for part in subexpressions(index) if isinstance(part, Load)]
        known = frozenset((id(load), axis) for load in loads for axis in range(len(load.index)))
        renamed, name = self.w.function.renamed, self.loop.name
        before = renamed.get(name)
        renamed[name] = value
        with freed(known, self.w):
            text = self.w.text(index)
        del renamed[name]
        if before is not None:
            renamed[name] = before
        return text


def slope_of(expr: Expr, loop: For) -> int | None:
    """How an index moves when the loop's variable grows by one: 1, -1, 0; None where it is none of these."""
    form, changing = linear(expr), names_assigned(loop.body)
    moving = any(names_in(term) & changing for term, _ in form.terms)
    slope = None if moving or has(expr, Checked, Call) else form.coefficient(loop.name)
    return slope if slope in (-1, 0, 1) else None
