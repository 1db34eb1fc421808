"""The step `bind`: give a loop's iterations to the blocks of a GPU grid, or to the threads of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts, LoopFacts, Reduction
from loopwright.analysis.reductions import addend, array_updates
from loopwright.analysis.running_totals import RunningTotal, running_totals
from loopwright.ir.gpu_target import GpuTarget
from loopwright.ir.nodes import Body, Checked, For, Kernel, Load, Run, Store
from loopwright.ir.queries import arrays_made, has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, loops, own_expressions, statements
from loopwright.steps.extent import around, extent_of
from loopwright.steps.grammar import From1, parsed
from loopwright.steps.grids import misbound
from loopwright.steps.nest import left_early, missing, overlapping, running, step_of, the_loop, without_arrays
from loopwright.steps.step import Rejection, Step, order_needed
from loopwright.steps.threads import BLOCKS, THREADS


@dataclass(frozen=True, slots=True)
class Bind(Step):
    """Run every iteration of a loop in a block of its own (several loops along one axis of a grid count its blocks
    together), or share its iterations out among the threads of a block: as many threads as it has iterations, or a
    number of them that take turns. Threads that share a sum (or product, or least or greatest value) have a part of it
    each, and put these together; those of a loop that puts the chunks of a `scan` together find what comes before their
    own from one another. `bind i thread.x 32`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i in 0 .. n thread.x 32:
        a[i] = 0.0
    """

    name: ClassVar[str] = "bind"
    grammar: ClassVar[str] = "LOOP AXIS [THREADS]"
    loop: str
    axis: Run
    threads: From1 = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if loop.run != "sequential":
            return Rejection(f"'{self.loop}' is marked to run {loop.run} already")
        if (rejection := left_early(loop)) is not None:
            return rejection
        return (
            _needs_order(kernel, loop, facts, strict, self.axis)
            or _out_of_place(kernel, loop, self.axis)
            or (_bounds(kernel, loop) if self.axis in BLOCKS else self._too_many(loop, facts.gpu))
            or misbound(self.apply(kernel), facts, self.loop)
        )

    def _too_many(self, loop: For, gpu: GpuTarget) -> Rejection | None:
        threads = self.threads or -(-(extent_of(loop) or 0) // step_of(loop))
        if not threads:
            return Rejection(f"'{self.loop}' has no constant number of iterations: name a number of threads for it")
        most = gpu.most_threads(self.axis)
        return None if threads <= most else Rejection(f"a block has at most {most} threads along {self.axis[-1]}")

    def has_no_threads(self, kernel: Kernel) -> bool:
        """Whether nothing tells how many threads share the loop, as where it counts down."""
        return self.axis in THREADS and not self.threads and not extent_of(the_loop(kernel, self.loop))

    def apply(self, kernel: Kernel) -> Kernel:
        return running(kernel, {self.loop: self.axis}, {self.loop: self.threads})

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name, axis) for name in loops(kernel) for axis in (*BLOCKS, *THREADS))

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        axes = THREADS if len(words) == 3 else (*BLOCKS, *THREADS)
        if len(words) not in (2, 3) or words[1] not in axes:
            raise ValueError("bind LOOP block.x (or .y, .z), or bind LOOP thread.x [THREADS] (or .y, .z)")
        return parsed(cls, words)


def _needs_order(kernel: Kernel, loop: For, facts: Facts, strict: bool, axis: Run) -> Rejection | None:
    found = facts.loops[loop.name]
    if axis == "thread.x" and (totals := running_totals(loop)):
        return _one_after_another(totals, strict)
    if found.verdict == "reduction" and (rejection := _together(kernel, loop, found, axis, facts.gpu)) is not None:
        return rejection
    if (rejection := order_needed(found, loop.asserted, strict)) is not None:
        return rejection
    if found.last:
        return Rejection(f"the value of '{found.last[0]}' after its last iteration is needed")
    made = arrays_made(loop.body) | names_assigned(loop.body) if found.private else set[str]()
    return without_arrays(found.private, made)


def _one_after_another(totals: Sequence[RunningTotal], strict: bool) -> Rejection | None:
    """Why the threads of a block cannot put totals together, each those of the threads before it."""
    inexact = [f"'{user_name(one.name)}'" for one in totals if not one.exact]
    if strict and inexact:
        return Rejection(f"strict keeps the order of the floating-point updates of {' and '.join(inexact)}")
    return None


def _together(kernel: Kernel, loop: For, found: LoopFacts, axis: Run, gpu: GpuTarget) -> Rejection | None:
    """Why several threads cannot work at a reduction: into scalars they have parts, elements they update at once."""
    for reduction in found.reductions:
        adds = f"its iterations all add to '{reduction.target}'"
        if reduction.kind == "element":
            return Rejection(f"{adds}: `promote` keeps an element in a scalar")
        if reduction.by and not reduction.position:
            return Rejection(f"which iteration sets '{reduction.target}' would be lost: `reduce` keeps track of it")
        if reduction.kind == "scalar" and axis in BLOCKS:
            return Rejection(f"{adds}: `reduce` makes partial results")
        if reduction.kind == "scatter" and (why := _not_atomic(loop, reduction, gpu)):
            return Rejection(f"{adds}, {why}")
        if reduction.kind == "scatter" and _lies_in_records(kernel, reduction.target):
            what = f"elements of '{reduction.target}' lie in records"
            return Rejection(f"{what}: they cannot be updated by several threads at once")
    return None


def _not_atomic(loop: For, reduction: Reduction, gpu: GpuTarget) -> str:
    """Why an update of an element cannot be done by several threads at once, '' where it can."""
    type_ = next(s.value.type for s in statements(loop.body, Store) if s.array == reduction.target)
    if (reduction.op.removesuffix("imum"), type_.name) not in gpu.atomics:
        return f"and a GPU has no atomic '{reduction.op}' of {type_.name}"
    if not reduction.alone:
        return "and other elements of it are read there"
    updates = array_updates(loop, reduction.target, type_)
    return "in a way that no atomic operation has" if any(addend(one, type_) is None for one in updates) else ""


def _lies_in_records(kernel: Kernel, array: str) -> bool:
    """Whether other fields stand between the elements of an array."""
    param = next((one for one in kernel.arrays if one.name == array), None)
    fields = () if param is None else [one for one in kernel.arrays if one.argument == param.argument]
    return param is not None and not param.is_pairs and bool(param.offset or param.tail or len(fields) > 1)


def _out_of_place(kernel: Kernel, loop: For, axis: Run) -> Rejection | None:
    outer = [stmt for stmt in around(kernel, loop) if isinstance(stmt, For)]
    for other in (*outer, *_loops(loop.body)):
        if other.run == axis and axis in THREADS:
            return Rejection(f"'{other.name}' is bound to {axis} already")
        if other.run in ("parallel", "balanced", "entries"):
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
            if has(expr, Load, Checked):
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
