"""The steady part of a loop whose tiles arrive ahead: iterations in which everything is whole, as most are.

There no test stands between what arrives and what is computed, so that the compiler can mix them, and a thread only
moves on in the arrays that it copies from: where it begins, how far apart its copies are, and how far on those of the
next iteration lie is found out before the loop. Of this there are two texts, between which a block decides once: where
its tiles are whole and arrays are aligned, several elements are copied at once; else one by one, with zeros beyond the
ends. What this does not fit, and what is left of the loop, `codegen/double_buffering.py` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeGuard

from loopwright.analysis.prefetch import Rounds
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.lowered import DoubleBuffered, Flows, Lowering, SoftwarePipeline, StreamedCopy
from loopwright.codegen.unrolling import UNROLLED
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Body, Checked, Compare, Expr, For, If, Load, Select, Stmt, Store, Var
from loopwright.ir.queries import has, names_in
from loopwright.ir.walk import statements
from loopwright.steps.draft import substituted
from loopwright.steps.extent import ends_of, stretch_of, trip_of
from loopwright.steps.limits import all_of, terms
from loopwright.steps.threads import THREADS

MOST_COPIES = 64
"""Of a thread out of one array in one iteration."""
MOST_TESTS = 32
"""Copies of a thread that a word says of whether they are inside."""


def software_pipelines(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[SoftwarePipeline]:
    """The steady parts of loops with double buffering that have one."""
    sizes = {one.stmt.name: one.size for one in nest.together() if isinstance(one.stmt, For)}
    loops = {loop.name: loop for loop in statements(nest.body, For)}
    for ahead in before.every(DoubleBuffered):
        loop = loops[ahead.loop]
        found = _steady(loop, ahead.rounds, sizes[loop.name], before, given)
        if found is not None:
            yield found


def _steady(
    loop: For, found: Rounds, size: Sequence[int], before: Lowering, given: CodegenInput
) -> SoftwarePipeline | None:
    """size: of the block."""
    if found.conditions:
        return None
    tests = [test for stmt in found.copies if isinstance(stmt, If) for test in terms(stmt.condition)]
    if any(has(test, Load, Checked) for test in tests):
        return None
    moving = [test for test in tests if loop.name in names_in(test)]
    conditions = tuple(test for test in moving if is_end(test, loop))
    if len(conditions) < len(moving):
        return None
    search = _StreamSearch(loop, size, before, given, conditions)
    whole = search.flows([stmt.then[0] if isinstance(stmt, If) else stmt for stmt in found.copies])
    if whole is None:
        return None
    wide = tuple(dict.fromkeys(test for flow in whole.flows for test in flow.tests))
    ends = None
    if all(isinstance(stmt, If) and stmt.otherwise for stmt in found.copies):
        ends = search.flows([stmt.otherwise[0] for stmt in found.copies if isinstance(stmt, If)])
    body, needed, rest = _body(found.body, loop)
    rest = rest if ends is not None else found.body
    fixed = tuple(test for test in tests if test not in moving)
    among = search.written_out(body)
    return SoftwarePipeline(loop.name, whole, ends, fixed, wide, conditions, needed, body, rest, among)


def is_end(test: Expr, loop: For) -> TypeGuard[Compare]:
    """Whether a condition says that what goes along with the loop's variable has not come to an end."""
    if not isinstance(test, Compare) or test.op != "le" or loop.name in names_in(test.right):
        return False
    return coefficient(test.left, loop.name) == 1


@dataclass(frozen=True, slots=True)
class _StreamSearch:
    """For flows. whole: conditions that hold in the steady part."""

    loop: For
    size: Sequence[int]
    before: Lowering
    given: CodegenInput
    whole: tuple[Compare, ...]

    def flows(self, copies: Sequence[Stmt]) -> Flows | None:
        """One flow for each of the copies; None where one of them does not flow."""
        found = [self._flow(stmt) for stmt in copies]
        flows = tuple(flow for flow in found if flow is not None)
        return Flows(tuple(copies), flows) if found and len(flows) == len(found) else None

    def written_out(self, body: Body) -> For | None:
        """The loop that is all that each thread of the block runs, where it is written out."""
        band: list[For] = []
        while len(body) == 1 and isinstance(stmt := body[0], For):
            if stmt.run not in THREADS:
                trip = self.given.constant_trip(stmt) or 0
                inside = self._all_take_part(band) and stmt.run == "sequential"
                return stmt if inside and 1 < trip <= UNROLLED else None
            band.append(stmt)
            body = stmt.body
        return None

    def _flow(self, stmt: Stmt) -> StreamedCopy | None:
        band: list[For] = []
        while isinstance(stmt, For):
            band.append(stmt)
            stmt = stmt.body[0] if len(stmt.body) == 1 else None  # type: ignore[assignment]
        threads = [one for one in band if one.run in THREADS]
        inner = tuple(band[len(threads) :])
        if not isinstance(stmt, Store) or threads != band[: len(threads)] or not self._all_take_part(threads):
            return None
        if (copy := self.before.copy(stmt)) is None or not self._is_even(copy.source, inner):
            return None
        asked = terms(stmt.value.condition) if isinstance(stmt.value, Select) else ()
        limits = tuple(test for test in asked if not self._holds(test))
        count = copy.many or 1
        if limits and (
            count > 1 or prod(_trips(inner, self.given)) > MOST_TESTS or self.loop.name in names_in(all_of(limits))
        ):
            return None
        return StreamedCopy(stmt, copy.source, tuple(threads), inner, count, limits, copy.tests)

    def _all_take_part(self, threads: Sequence[For]) -> bool:
        """Whether each thread of the block has one iteration of the loops over threads."""
        counts: dict[str, int] = {one.run: trip_of(one) or 0 for one in threads if one.threads in (0, trip_of(one))}
        return all(counts.get(run, 1) == size for run, size in zip(THREADS, self.size, strict=True)) and len(
            counts
        ) == len(threads)

    def _is_even(self, source: Load, inner: tuple[For, ...]) -> bool:
        """Whether the place of the source is a sum in which the loops' variables are counted."""
        if any(bounds.kind == "checked" or bounds.may_be_negative for bounds in self.given.bounds_of(source)):
            return False
        trips = _trips(inner, self.given)
        names = {self.loop.name, *(one.name for one in inner)}
        if not all(trips) or prod(trips) > MOST_COPIES:
            return False
        bounds = [one.lower for one in inner]
        return all(coefficient(expr, name) is not None for expr in (*source.index, *bounds) for name in names)

    def _holds(self, test: Expr) -> bool:
        """Whether a limit is kept to wherever tiles are whole: `stage` asks for the end of a whole tile there, and for
        each element elsewhere."""
        return self.loop.name in names_in(test) and any(
            isinstance(test, Compare) and test.op == "lt" and test.right == whole.right for whole in self.whole
        )


def _trips(inner: Sequence[For], given: CodegenInput) -> list[int]:
    return [given.constant_trip(one) or 0 for one in inner]


def _body(body: Body, loop: For) -> tuple[Body, tuple[Compare, ...], Body]:
    """What is done with whole tiles, the conditions for that, and what does the same with any."""
    if len(body) != 1 or not isinstance(stmt := body[0], If) or not stmt.otherwise:
        return body, (), body
    tests = tuple(terms(stmt.condition))
    needed = tuple(test for test in tests if is_end(test, loop))
    if len(needed) < len(tests) or has(stmt.condition, Load, Checked):
        return body, (), body
    return stmt.then, needed, stmt.otherwise if is_shorter(stmt) else body


def is_shorter(stmt: If) -> bool:
    """Whether the condition only lets loops go to the ends of their stretches: then what stands under `else` does the
    same as what stands under it."""
    known = set(terms(stmt.condition))
    loops, others = (list(statements(body, For)) for body in (stmt.then, stmt.otherwise))
    if len(loops) != len(others):
        return False
    ours = {other.name: one for one, other in zip(loops, others, strict=True)}
    names = {other.name: Var(one.name, one.lower.type) for one, other in zip(loops, others, strict=True)}

    def same(left: Body, right: Body) -> bool:
        return len(left) == len(right) and all(map(alike, left, right))

    def alike(left: Stmt, right: Stmt) -> bool:
        if not isinstance(left, For) or not isinstance(right, For):
            return left == right
        stretch = stretch_of(right)
        if right.upper != left.upper:
            ends = [end for end in ends_of(right) if stretch is not None and end != stretch[1]]
            if stretch is None or stretch != (left.lower, left.upper):
                return False
            if not all(Compare("le", stretch[1], end) in known for end in ends):
                return False
        right_as_left = replace(right, name=left.name, upper=left.upper, body=left.body)
        return right_as_left == left and same(left.body, right.body)

    return bool(ours) and same(stmt.then, substituted(stmt.otherwise, dict(names)))
