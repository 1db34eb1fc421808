"""Which innermost loops get two versions: where one test at the entry shows that the indices of some accesses stay
inside their arrays for all iterations, those accesses run without checks; else each one is checked as it happens, so
that a wrong index fails at exactly the access at which Python fails.

An index qualifies where it is the loop's variable, or minus it, or a few times that, plus what the loop does not
change; or where the loop does not change it at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from loopwright.codegen.decisions import CodegenInput, EntryTest, IndexTest, LoopLowering
from loopwright.ir.linear import linear
from loopwright.ir.nodes import (
    Allocate,
    Block,
    Body,
    Break,
    Call,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    Leave,
    Load,
    Return,
    Store,
    While,
)  # fmt: skip
from loopwright.ir.queries import arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import own_expressions, statements, subexpressions

STEEPEST = 16  # by how many elements an index may move, so that a test of the first and the last one tells all
FEWEST = 16  # iterations of a loop that are worth vector lanes, or a test at its entry


def version_loops(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Two versions of what a test at the entry frees of checks. A parallel loop without a region runs as written."""
    found: dict[str, EntryTest] = {}
    for loop in statements(given.kernel.body, For):
        alone = loop.run == "parallel" and loop.name not in lowering.regions
        if not alone and (test := _entry_test(loop, given)) is not None:
            found[loop.name] = test
    return replace(lowering, versions=found)


def is_plain(body: Body) -> bool:
    """Whether a body only assigns, stores and chooses."""
    return not contains(body, Allocate, For, While, Block, Break, Continue, Leave, Return)


def is_short(loop: For) -> bool:
    """Whether a loop is known to have too few iterations for vector lanes, or for a test at its entry."""
    bounds = (loop.lower, loop.upper, loop.step)
    values = [int(bound.value) for bound in bounds if isinstance(bound, Const)]
    return len(values) == 3 and values[2] != 0 and len(range(*values)) < FEWEST


def _entry_test(loop: For, given: CodegenInput) -> EntryTest | None:
    """The test that frees accesses of a loop from their checks; None where there is nothing to free, or where the
    loop is no innermost one with a constant step."""
    if given.check_all or not isinstance(loop.step, Const) or loop.step.value == 0 or is_short(loop):
        return None
    if contains(loop.body, For, While, Allocate):
        return None
    search = _TestSearch(loop, given)
    for stmt in statements(loop.body):
        for expr in own_expressions(stmt):
            for part in subexpressions(expr, Load):
                search.access(part)
        if isinstance(stmt, Store):
            search.access(stmt)
    if not search.inside:
        return None
    return EntryTest(tuple(search.tests), frozenset(search.inside), tuple(dict.fromkeys(search.arrays)))


@dataclass
class _TestSearch:
    """Tests in an order in which each may rely on those before it: an index that is itself read from an array is only
    read once that array's own index is known to be inside."""

    loop: For
    given: CodegenInput
    tests: list[IndexTest] = field(default_factory=list)
    inside: set[tuple[int, int]] = field(default_factory=set)
    arrays: list[str] = field(default_factory=list)

    def access(self, node: Load | Store) -> None:
        """Add the tests for each axis of an access that would be checked."""
        for axis, bounds in enumerate(self.given.bounds_of(node)):
            if bounds.kind == "checked" and self._axis(node, axis):
                self.inside.add((id(node), axis))
                self.arrays.append(user_name(node.array))

    def _axis(self, node: Load | Store, axis: int) -> bool:
        index = node.index[axis]
        slope = slope_of(index, self.loop, STEEPEST)
        if slope is None or not self._readable(index):
            return False
        self.tests.append(IndexTest(node.array, axis, index, slope))
        return True

    def _readable(self, expr: Expr) -> bool:
        """Whether the arrays that an index is read from may be read at the loop's entry, once their own indices are
        tested there. (That they are proven in the loop says nothing: a condition in the loop may be the reason.)"""
        return all(
            self._unchanged(load.array) and all(self._axis(load, axis) for axis in range(len(load.index)))
            for load in subexpressions(expr, Load)
        )

    def _unchanged(self, array: str) -> bool:
        stored = arrays_stored(self.loop.body)
        return not stored if self.given.kernel.overlap else array not in stored


def slope_of(expr: Expr, loop: For, steepest: int = 1) -> int | None:
    """How an index moves when the loop's variable grows by one: by no more than `steepest`; None for anything else."""
    form, changing = linear(expr), names_assigned(loop.body)
    moving = any(names_in(term) & changing for term, _ in form.terms)
    slope = None if moving or has(expr, Checked, Call) else form.coefficient(loop.name)
    return slope if slope is not None and abs(slope) <= steepest else None
