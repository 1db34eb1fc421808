"""The step `swap`: two neighbouring statements in the body of a loop change places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Dim, For, Kernel, Load, Stmt
from loopwright.ir.queries import arrays_made, arrays_stored, names_assigned, names_read
from loopwright.ir.walk import expressions, loops
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.fission import LONGEST
from loopwright.steps.grammar import From2
from loopwright.steps.nest import missing, reordering, the_loop, unfit
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Swap(Step):
    """Run a statement in the body of a loop (counted from 1) before the one that stands before it (statement
    reordering): what `fuse` and `fission` are to keep together then stands together. `swap i 2`:

    for i in 0 .. n:
        a[i] = 1.0
        b[i] = 2.0
    ->
    for i in 0 .. n:
        b[i] = 2.0
        a[i] = 1.0
    """

    name: ClassVar[str] = "swap"
    grammar: ClassVar[str] = "LOOP PLACE, the statement of its body that runs before the one before it"
    loop: str
    place: From2

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,))
        if rejection is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if not 2 <= self.place <= len(loop.body):
            return Rejection(f"'{self.loop}' holds {len(loop.body)} statements: name a place from 2 on")
        first, second = loop.body[self.place - 2 : self.place]
        return unfit(kernel, (loop,)) or _tied(first, second) or reordering(kernel, self._draft(kernel), strict, facts)

    def apply(self, kernel: Kernel) -> Kernel:
        return finished(self._draft(kernel), kernel)

    def _draft(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        before, (first, second), behind = (
            loop.body[: self.place - 2],
            loop.body[self.place - 2 : self.place],
            loop.body[self.place :],
        )
        return with_statement(kernel, loop, (replace(loop, body=(*before, second, first, *behind)),))

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (
            cls(name, place)
            for name, loop in loops(kernel).items()
            if isinstance(loop, For) and len(loop.body) <= LONGEST
            for place in range(2, len(loop.body) + 1)
        )


def _tied(first: Stmt, second: Stmt) -> Rejection | None:
    """Why one of the statements needs a scalar or a local array of the other one."""
    for one, other in ((first, second), (second, first)):
        if names := names_assigned((one,)) & (names_assigned((other,)) | names_read((other,))):
            return Rejection(f"both statements use '{min(names)}'")
        used = {part.array for part in expressions((other,), Load, Dim)}
        if made := arrays_made((one,)) & (used | arrays_stored((other,)) | arrays_made((other,))):
            return Rejection(f"both statements use the local array '{min(made)}'")
    return None
