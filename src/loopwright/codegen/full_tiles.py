"""Launches with whole tiles only: sizes are multiples of tiles, and arrays are aligned. Most launches of a product are
such. They have a kernel of their own, without the text for all other tiles: that is most of the text, and compilers
take their time for it. The kernel for any tiles is compiled when the first launch needs it.

It owns what has to hold: the tests on which the text of a kernel branches, said of all blocks and of all iterations at
once, so that the host can ask before it starts the kernel. A test that cannot be said so stays in the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import FLAG, GpuWriter
from loopwright.codegen.lowered import (
    Alignment,
    DoubleBuffered,
    FullTiles,
    Lowering,
    SoftwarePipeline,
    VectorAccesses,
)
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Checked, Compare, Const, Expr, For, If, Load, Stmt
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.walk import statements
from loopwright.steps.limits import terms
from loopwright.steps.nest import step_of
from loopwright.steps.threads import BLOCKS, THREADS, has_threads

MOST_ROUNDS = 1 << 30
"""As many iterations as the steady part of a loop does at most (lw_rounds in loopwright.cuh)."""


def full_tiles(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[FullTiles]:
    """A kernel for whole tiles only, where it spares much: with tiles that arrive ahead, and others beside the whole
    ones."""
    ahead = {one.loop: one.rounds for one in before.every(DoubleBuffered)}
    if not any(isinstance(stmt, If) and stmt.otherwise for rounds in ahead.values() for stmt in rounds.copies):
        return
    search = _HostTests(nest, before)
    for one in nest.together():
        search.visit(one.stmt)
    if search.tests or search.aligned:
        used = {name for test in search.tests for name in names_in(test.left) & search.inside}
        loops = tuple(search.loops[name] for name in sorted(used))
        yield FullTiles(nest.loop.name, tuple(search.tests), tuple(search.aligned), loops, frozenset(search.pipelines))


class _HostTests:
    """For tests on which the text of a kernel branches, in its order. inside: names of its loops, and of scalars that
    it sets: what the host does not know. asked: conditions that the steady part of a loop has instead."""

    def __init__(self, nest: BoundNest, before: Lowering) -> None:
        self.before = before
        self.loops = {loop.name: loop for loop in (*nest.blocks, *statements(nest.body, For))}
        self.inside = {*self.loops, *names_assigned(nest.body)}
        self.tests: dict[Compare, None] = {}
        self.aligned: dict[Alignment, None] = {}
        self.pipelines: set[str] = set()
        self.asked: set[int] = set()

    def visit(self, stmt: Stmt) -> None:
        """A statement that the threads of a block run together."""
        if isinstance(stmt, For) and (ahead := self.before.of(DoubleBuffered, stmt.name)) is not None:
            self._pipeline(ahead)
        elif isinstance(stmt, If) and stmt.otherwise and has_threads(stmt) and id(stmt) not in self.asked:
            self._ask(tuple(terms(stmt.condition)))
        elif isinstance(stmt, For) and stmt.run in THREADS:
            for loop in statements((stmt,), For):
                found = self.before.of(VectorAccesses, loop.name) or self.before.copy(loop.body[0])
                if isinstance(found, VectorAccesses) or (found is not None and isinstance(found.store.value, Load)):
                    self.aligned |= dict.fromkeys(found.tests)

    def _pipeline(self, ahead: DoubleBuffered) -> None:
        found = self.before.of(SoftwarePipeline, ahead.loop)
        if found is None or found.ends is None:
            return
        copies = [test for stmt in ahead.rounds.copies if isinstance(stmt, If) for test in terms(stmt.condition)]
        if self._ask([*copies, *found.needed]):
            self.aligned |= dict.fromkeys(found.aligned)
            self.pipelines.add(found.loop)
        if found.rest is not ahead.rounds.body:
            self.asked.add(id(ahead.rounds.body[0]))

    def _ask(self, tests: Sequence[Expr]) -> bool:
        """Whether all of these can be asked before the launch; then they will be."""
        found = [test for test in tests if isinstance(test, Compare) and self._is_said(test)]
        if not tests or len(found) < len(tests):
            return False
        self.tests |= dict.fromkeys(found)
        return True

    def _is_said(self, test: Compare) -> bool:
        if test.op != "le" or has(test, Load, Checked):
            return False
        moving = names_in(test.left) & self.inside
        known = not names_in(test.right) & self.inside and all(coefficient(test.left, name) == 1 for name in moving)
        return known and all(name in self.loops and self._is_counted(self.loops[name]) for name in moving)

    def _is_counted(self, loop: For) -> bool:
        """Whether the host can tell the last value of a loop's variable: its bounds are known before the launch."""
        bounds = (loop.lower, loop.upper)
        known = not any(names_in(one) & self.inside or has(one, Load, Checked) for one in bounds)
        return known and isinstance(loop.step, Const) and loop.step.value >= 1


def condition(found: FullTiles, w: GpuWriter) -> str:
    """C text of the host: whether all of it holds. It stands where lw_lower and lw_trip tell of the blocks."""
    before, renamed = w.function.renamed, dict(w.function.renamed)
    parts = []
    for loop in found.loops:
        start, trip = w.text(loop.lower), f"lw_trip({w.text(loop.lower)}, {w.text(loop.upper)}, {step_of(loop)})"
        if loop.run in BLOCKS:
            start, trip = f"lw_lower_{w.places[loop.name]}", f"lw_trip_{w.places[loop.name]}"
        else:
            parts.append(f"{trip} <= {MOST_ROUNDS}")
        renamed[loop.name] = f"({start} + ({trip} - 1) * {step_of(loop)})"
    w.function.renamed = renamed
    parts += (w.text(test) for test in found.tests)
    w.function.renamed = before
    return " && ".join((*parts, *(test.text for test in found.aligned)))


def if_full(text: str, tests: Sequence[Expr], w: GpuWriter) -> str:
    """The condition `text`, which says that all of these hold, as the kernel for whole tiles only knows it too."""
    full = w.full_tiles
    return f"{text} || {FLAG}" if full is not None and tests and set(tests) <= set(full.tests) else text


def or_full(tests: Sequence[Alignment], w: GpuWriter) -> str:
    """C text of whether wide accesses are aligned, as the kernel for whole tiles only knows it too."""
    text = " && ".join(w.aligned(tests))
    return text if w.full_tiles is None else f"{text} || {FLAG}"
