"""The step `bind`: give a loop's iterations to the blocks of a GPU grid, or to the threads of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self, cast

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.nodes import Allocate, Body, Checked, For, Kernel, Load, Run, Stmt
from loopwright.ir.walk import bodies, loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.extent import around, extent_of, names_assigned
from loopwright.steps.nest import missing, names_in, step_of, the_loop
from loopwright.steps.step import Rejection, order_needed, whole_number

BLOCKS = ("block.x", "block.y", "block.z")
THREADS = ("thread.x", "thread.y", "thread.z")
MOST_THREADS = {"thread.x": 1024, "thread.y": 1024, "thread.z": 64}
"""Of a block, along each axis; and 1024 in all."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Run every iteration of a loop in a block of its own, or share its iterations out among the threads of a block: as
    many threads as it has iterations, or a number of them that take turns. `bind i thread.x 32`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i in 0 .. n thread.x 32:
        a[i] = 0.0
    """

    name: ClassVar[str] = "bind"
    loop: str
    axis: Run
    threads: int = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        if kernel.overlap:
            return Rejection("arguments overlap in memory, so that any write may change any array")
        loop = the_loop(kernel, self.loop)
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already")
        if any(escapes(stmt) for stmt in loop.body):
            return Rejection(f"'{self.loop}' can be left in the middle")
        return (
            _needs_order(loop, facts, strict)
            or _out_of_place(kernel, loop, self.axis)
            or (_bounds(kernel, loop) if self.axis in BLOCKS else self._too_many(loop))
        )

    def _too_many(self, loop: For) -> Rejection | None:
        threads = self.threads or -(-(extent_of(loop) or 0) // step_of(loop))
        if not threads:
            return Rejection(f"'{self.loop}' has no constant number of iterations: name a number of threads for it")
        most = MOST_THREADS[self.axis]
        return None if threads <= most else Rejection(f"a block has at most {most} threads along {self.axis[-1]}")

    def apply(self, kernel: Kernel) -> Kernel:
        def mark(stmt: Stmt) -> tuple[Stmt, ...]:
            if isinstance(stmt, For) and stmt.name == self.loop:
                return (replace(stmt, run=self.axis, threads=self.threads),)
            return (stmt,)

        return replace(kernel, body=rewrite_body(kernel.body, stmt=mark))

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        steps = [cls(name, cast(Run, axis)) for name in loops(kernel) for axis in (*BLOCKS, *THREADS)]
        return tuple(step for step in steps if step.illegal(kernel, facts, strict) is None)

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        if len(words) == 2 and words[1] in (*BLOCKS, *THREADS):
            return cls(words[0], cast(Run, words[1]))
        if len(words) == 3 and words[1] in THREADS:
            return cls(words[0], cast(Run, words[1]), whole_number(words[2], "THREADS"))
        raise ValueError("bind LOOP block.x (or .y, .z), or bind LOOP thread.x [THREADS] (or .y, .z)")

    def __str__(self) -> str:
        return f"bind {self.loop} {self.axis}{f' {self.threads}' if self.threads else ''}"


def _needs_order(loop: For, facts: Facts, strict: bool) -> Rejection | None:
    found = facts.loops[loop.name]
    if found.verdict == "reduction":
        targets = ", ".join(f"'{reduction.target}'" for reduction in found.reductions)
        return Rejection(f"its iterations all add to {targets}")
    if (rejection := order_needed(found, loop.asserted, strict)) is not None:
        return rejection
    if found.last:
        return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
    inside = {stmt.array for stmt in statements(loop.body) if isinstance(stmt, Allocate)}
    outside = [name for name in found.private if name not in inside and name not in names_assigned(loop.body)]
    return Rejection(f"each iteration would need an array '{outside[0]}' of its own") if outside else None


def _out_of_place(kernel: Kernel, loop: For, axis: Run) -> Rejection | None:
    outer = [stmt for stmt in around(kernel, loop) if isinstance(stmt, For)]
    for other in (*outer, *_loops(loop.body)):
        if other.run == axis:
            return Rejection(f"'{other.name}' is bound to {axis} already")
        if other.run == "parallel":
            return Rejection(f"'{other.name}' is marked to run {other.run} already")
    if axis in BLOCKS and (thread := next((one for one in outer if one.run in THREADS), None)) is not None:
        return Rejection(f"it stands inside '{thread.name}', which threads of a block share")
    if axis in THREADS and (block := next((one for one in _loops(loop.body) if one.run in BLOCKS), None)) is not None:
        return Rejection(f"'{block.name}' inside it is bound to {block.run} already")
    return None


def _bounds(kernel: Kernel, loop: For) -> Rejection | None:
    """Why the number of blocks is not known before they start."""
    outer = [stmt for stmt in around(kernel, loop) if isinstance(stmt, For) and stmt.run in BLOCKS]
    band = [*outer, loop, *(inner for inner in _loops(loop.body) if inner.run in BLOCKS)]
    for above, below in pairwise(band):
        if len(above.body) != 1 or above.body[0] is not below:
            return Rejection(f"other statements stand between '{above.name}' and '{below.name}'")
    for number, one in enumerate(band):
        names = {above.name for above in band[:number]}
        for expr in own_expressions(one):
            if any(isinstance(part, Load | Checked) for part in subexpressions(expr)):
                return Rejection("its bounds are read from an array: the host does not know them")
            if names_in(expr) & names:
                what, other = (
                    "its bounds" if one is loop else f"the bounds of '{one.name}'",
                    min(names_in(expr) & names),
                )
                return Rejection(f"{what} depend on '{other}': blocks of both would start at once")
    return None


def _loops(body: Body) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For):
            yield stmt
        for inner in bodies(stmt):
            yield from _loops(inner)
