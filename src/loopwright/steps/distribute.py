"""The step `distribute`: a nest becomes as many nests as its dependences allow (maximal loop distribution)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.distribution import SharedLoop, distributed
from loopwright.analysis.facts import Facts
from loopwright.ir.linear import variable
from loopwright.ir.nodes import Assign, Body, For, Kernel, Stmt, While
from loopwright.ir.walk import loops, statements
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import around
from loopwright.steps.nest import changes_inside, missing, overlapping, reordering, size_of, the_loop, too_large, unfit
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Distribute(Step):
    """Give every statement of a nest loops of its own, as far as dependences allow; those that need one another in turn
    stay together (Allen and Kennedy 2001, 2.5). It does what `swap` and `fission` do in many steps. With `distribute i
    a c` only what sets these scalars or arrays gets its own; the rest stays together as far as it can. `distribute i`:

    for i in 1 .. n:
        a[i] = a[i - 1] + 2.0
        c[i, 0] = b[i - 1]
        b[i] = a[i]
    ->
    for i in 1 .. n:
        a[i] = a[i - 1] + 2.0
    for i.1 in 1 .. n:
        b[i.1] = a[i.1]
    for i.2 in 1 .. n:
        c[i.2, 0] = b[i.2 - 1]
    """

    name: ClassVar[str] = "distribute"
    grammar: ClassVar[str] = "LOOP [SCALAR_OR_ARRAY] ..., the outermost one of a nest"
    loop: str
    targets: tuple[str, ...] = ()

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        inside = [loop, *statements(loop.body, For)]
        rejection = unfit(kernel, (loop,))
        for one in inside:
            rejection = rejection or changes_inside(one)
        if rejection is not None:
            return rejection
        if (marked := next((one for one in inside if one.run != "sequential"), None)) is not None:
            return Rejection(f"'{marked.name}' is marked to run {marked.run} already: that comes last in a schedule")
        draft = self._draft(kernel)
        if draft is kernel:
            return Rejection(f"all statements of '{self.loop}' need one another")
        return too_large(kernel, size_of(draft.body) - size_of(kernel.body)) or reordering(kernel, draft, strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _draft(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        outer = tuple(stmt.name for stmt in around(kernel, loop) if isinstance(stmt, For | While))
        parts = distributed(kernel, loop, outer, self.targets)
        if parts is None or parts == _as_written(loop):
            return kernel
        return with_statement(kernel, loop, _Nests(names_of(kernel)).body(parts))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(name) for name, loop in loops(kernel).items() if isinstance(loop, For))


def _as_written(loop: For) -> tuple[SharedLoop, ...]:
    parts = (part for stmt in loop.body for part in (_as_written(stmt) if isinstance(stmt, For) else (stmt,)))
    return (SharedLoop(loop, tuple(parts)),)


class _Nests:
    """Loops for the parts of a nest: those that are made first keep the names."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.made: set[str] = set()

    def body(self, parts: tuple[SharedLoop | Stmt, ...]) -> Body:
        """The statements under their loops, as a draft."""
        return tuple(self._nest(part) if isinstance(part, SharedLoop) else part for part in parts)

    def _nest(self, part: SharedLoop) -> For:
        old = part.loop.name
        if old not in self.made:
            self.made.add(old)
            return replace(part.loop, body=self.body(part.parts))
        name = fresh(old, self.taken)
        self.taken.add(name)
        return replace(part.loop, name=name, body=(Assign(old, variable(name)), *self.body(part.parts)))
