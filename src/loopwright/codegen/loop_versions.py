"""Which innermost loops get two versions: where one test at the entry shows that the indices of some accesses stay
inside their arrays for all iterations, those accesses run without checks; else each one is checked as it happens, so
that a wrong index fails at exactly the access at which Python fails.

An index qualifies where it is the loop's variable, or minus it, or a few times that, plus what the loop does not
change; or where the loop does not change it at all.

The same of nests of short loops whose lengths are known, such as a window around a place that data give: there the
indices may move with several loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Var,
    While,
)  # fmt: skip
from loopwright.ir.queries import arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, own_expressions, rewrite_expr, statements, subexpressions

STEEPEST = 16  # by how many elements an index may move, so that a test of the first and the last one tells all
FEWEST_IN_NEST, MOST_IN_NEST = 8, 1024  # iterations of a nest of short loops that are worth it
FEWEST = 16  # iterations of a loop that are worth vector lanes, or a test at its entry


def version_loops(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Two versions of what a test at the entry frees of checks. A parallel loop without a region runs as written."""
    found = dict(_of_nests(given.kernel.body, given))
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


def _of_nests(body: Body, given: CodegenInput) -> Iterator[tuple[str, EntryTest]]:
    """The tests of nests of short loops, by the names of their outermost ones."""
    for stmt in body:
        if isinstance(stmt, For) and FEWEST_IN_NEST <= _most_inside(stmt) <= MOST_IN_NEST and not given.check_all:
            search = _TestSearch(stmt, given, extents={one.name: extent for one, extent in _extents(stmt)})
            search.all()
            if search.inside:
                yield stmt.name, replace(search.found(), of_nest=True)
        else:
            for part in bodies(stmt):
                yield from _of_nests(part, given)


def _extents(loop: For) -> Iterator[tuple[For, range]]:
    """The loops of a nest, each with the numbers that it counts; none for a loop that data or sizes bound."""
    for one in (loop, *statements(loop.body, For)):
        match one:
            case For(lower=Const(value=int(first)), upper=Const(value=int(bound)), step=Const(value=1)):
                yield one, range(first, bound)
            case _:
                yield one, range(0)


def _most_inside(nest: For) -> int:
    """How many iterations the loops of a nest of short ones have together; 0 where it is no such nest."""
    is_nest = nest.run == "sequential" and contains(nest.body, For) and not contains(nest.body, While, Allocate, Block)
    if not is_nest or any(one.run == "parallel" or not 0 < len(extent) < FEWEST for one, extent in _extents(nest)):
        return 0
    return _iterations(nest)


def _iterations(loop: For) -> int:
    (_, extent), *_ = _extents(loop)
    return len(extent) * (sum(map(_iterations, _next_inside(loop.body))) or 1)


def _next_inside(body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For):
            yield stmt
        else:
            for part in bodies(stmt):
                yield from _next_inside(part)


def _entry_test(loop: For, given: CodegenInput) -> EntryTest | None:
    """The test that frees accesses of a loop from their checks; None where there is nothing to free, or where the
    loop is no innermost one with a constant step."""
    if given.check_all or not isinstance(loop.step, Const) or loop.step.value == 0 or is_short(loop):
        return None
    if contains(loop.body, For, While, Allocate):
        return None
    search = _TestSearch(loop, given)
    search.all()
    return search.found() if search.inside else None


@dataclass
class _TestSearch:
    """Tests in an order in which each may rely on those before it: an index that is itself read from an array is only
    read once that array's own index is known to be inside. extents: of the loops of a nest, what they count."""

    loop: For
    given: CodegenInput
    extents: Mapping[str, range] = field(default_factory=dict)
    tests: list[IndexTest] = field(default_factory=list)
    inside: set[tuple[int, int]] = field(default_factory=set)
    arrays: list[str] = field(default_factory=list)

    def all(self) -> None:
        """Add the tests of all accesses."""
        for stmt in statements(self.loop.body):
            for expr in own_expressions(stmt):
                for part in subexpressions(expr, Load):
                    self.access(part)
            if isinstance(stmt, Store):
                self.access(stmt)

    def found(self) -> EntryTest:
        """All tests."""
        return EntryTest(tuple(self.tests), frozenset(self.inside), tuple(dict.fromkeys(self.arrays)))

    def access(self, node: Load | Store) -> None:
        """Add the tests for each axis of an access that would be checked."""
        for axis, bounds in enumerate(self.given.bounds_of(node)):
            if bounds.kind == "checked" and self._axis(node, axis):
                self.inside.add((id(node), axis))
                self.arrays.append(user_name(node.array))

    def _axis(self, node: Load | Store, axis: int) -> bool:
        index = node.index[axis]
        if self.extents:
            return self._axis_in_nest(node, axis)
        slope = slope_of(index, self.loop, STEEPEST)
        if slope is None or not self._readable(index):
            return False
        self.tests.append(IndexTest(node.array, axis, index, slope))
        return True

    def _axis_in_nest(self, node: Load | Store, axis: int) -> bool:
        index = node.index[axis]
        form, changing = linear(index), names_assigned(self.loop.body) | self.extents.keys()
        slopes = {name: form.coefficient(name) or 0 for name in self.extents}
        others = (term for term, _ in form.terms if not (isinstance(term, Var) and term.name in self.extents))
        if has(index, Checked, Call) or any(names_in(term) & changing for term in others):
            return False
        if any(abs(slope) > STEEPEST for slope in slopes.values()) or not self._readable(index):
            return False
        least = {name: extent[0 if slopes[name] >= 0 else -1] for name, extent in self.extents.items()}
        most = {name: extent[-1 if slopes[name] >= 0 else 0] for name, extent in self.extents.items()}
        moves = any(slopes.values())
        self.tests.append(IndexTest(node.array, axis, _at(index, least), 0, _at(index, most) if moves else None))
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


def _at(index: Expr, values: Mapping[str, int]) -> Expr:
    """An index for these values of loops' variables."""
    known = {Var(name, INT64): Const(value, INT64) for name, value in values.items()}
    return rewrite_expr(index, lambda part: known.get(part, part) if isinstance(part, Var) else part)


def slope_of(expr: Expr, loop: For, steepest: int = 1) -> int | None:
    """How an index moves when the loop's variable grows by one: by no more than `steepest`; None for anything else."""
    form, changing = linear(expr), names_assigned(loop.body)
    moving = any(names_in(term) & changing for term, _ in form.terms)
    slope = None if moving or has(expr, Checked, Call) else form.coefficient(loop.name)
    return slope if slope is not None and abs(slope) <= steepest else None
