"""The step `reschedule`: all loops of a kernel or of a nest anew, in an order that polyhedral scheduling finds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, get_args

from loopwright.analysis.facts import Facts
from loopwright.analysis.isl_schedule import Fusion, Wanted
from loopwright.analysis.reschedule import rescheduled
from loopwright.errors import LoopwrightError
from loopwright.ir.linear import minus, number, plus
from loopwright.ir.nodes import Allocate, Binary, Compare, Dim, Expr, For, If, Kernel, Logical
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops, statements
from loopwright.steps.draft import finished, names_of, with_statement
from loopwright.steps.grammar import whole_number
from loopwright.steps.nest import outermost_alone, overlapping, reordering, size_of, step_of, too_large
from loopwright.steps.step import Rejection, Step, legal

CHOICES = (
    Wanted("smart"),
    Wanted("smart", (16, 32), wavefront=True),
)


@dataclass(frozen=True, slots=True)
class Reschedule(Step):
    """Put every statement under new loops, as isl's scheduler (Pluto's way) orders them: what depends on one another
    close together, and as many loops as possible that may be interchanged. Sums keep their order. The innermost loop
    goes along the rows of arrays; statements that need not share it have one each.

    min, smart (where nothing is said) or max say how much of what could be in one loop is put into one. `tile 32` cuts
    every loop of such a band, `tile 16 64` the first two. With `wavefront`, where each of these loops needs its order,
    diagonals of tiles (or of iterations) come one after the other, and the tiles of one diagonal at once. With `inner`,
    where the outermost loop needs its order, another one (or the sum of all) is put around the rest, so that as many
    loops as possible inside it need none.

    A new loop that is the user's `i` for every statement in it is called `i`; one that is made of `i` and others
    (`2 * t + i`) `i.s`; the one over tiles `i.o`, the one over diagonals `i.w`; further ones of a name `i.o.1`, `i.o.2`
    in the order of the text. With `above 4194304` at the end the new order is for calls whose arrays have more bytes
    than that in all, with `above 4194304 16` whose only outermost loop runs more than 16 times too; for others the
    loops stay, as a version of their own. With `in i`, of a kernel that does other things too, it is the outermost loop
    `i` alone that gets new loops, and `above` looks at the arrays in it. `reschedule smart tile 32 wavefront`:

    for i in 1 .. n:
        for j in 1 .. m:
            c[i, j] = c[i - 1, j] + c[i, j - 1]
    ->
    for i.w in 0 .. (n + m - 2) // 32 + 1:
        for j.o in max(0, i.w + -n // 32 + 1) .. min(i.w + 1, (m - 1) // 32 + 1):
            for i in max(1, 32 * i.w - 32 * j.o) .. min(n, 32 * i.w - 32 * j.o + 32):
                for j in max(1, 32 * j.o) .. min(m, 32 * j.o + 32):
                    c[i, j] = c[i - 1, j] + c[i, j - 1]
    """

    name: ClassVar[str] = "reschedule"
    wanted: Wanted
    above: int = 0
    often: int = 0
    nest: str = ""

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := self.unfit(kernel)) is not None:
            return rejection
        part = self._part(kernel)
        assert isinstance(part, Kernel)
        draft = self._draft(kernel, part)
        assert isinstance(draft, Kernel)
        return reordering(part, draft, strict)

    def unfit(self, kernel: Kernel) -> Rejection | None:
        """Why there is no new order that could be asked whether it is legal, which takes longer."""
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        marked = [loop.name for loop in loops(kernel).values() if isinstance(loop, For) and loop.run != "sequential"]
        if marked:
            return Rejection(f"how '{marked[0]}' runs is decided already")
        part = self._part(kernel)
        if isinstance(part, Rejection):
            return part
        if self.often and _only_loop(part) is None:
            return Rejection("there is not just one outermost loop, or it does not count by ones")
        draft = self._draft(kernel, part)
        if isinstance(draft, str):
            return Rejection(draft)
        try:
            after = self._joined(kernel, part, draft)
            verify(after)
        except LoopwrightError:
            return Rejection("in the new order a scalar might be read before it has a value")
        if self.above and (array := _made_inside(part)) is not None:
            return Rejection(f"'{array}' is made inside the loops that would get two versions")
        return too_large(kernel, size_of(after.body) - size_of(kernel.body))

    def apply(self, kernel: Kernel) -> Kernel:
        part = self._part(kernel)
        assert isinstance(part, Kernel)
        draft = self._draft(kernel, part)
        assert isinstance(draft, Kernel)
        return self._joined(kernel, part, draft)

    def _part(self, kernel: Kernel) -> Kernel | Rejection:
        """What gets new loops, as a kernel."""
        return outermost_alone(kernel, self.nest) if self.nest else kernel

    def _joined(self, kernel: Kernel, part: Kernel, draft: Kernel) -> Kernel:
        """The kernel with the draft of that part in its place, or with both as two versions."""
        body = draft.body
        if self.above:
            large: Expr = Compare("gt", _bytes_of(part), number(self.above))
            if self.often and (outer := _only_loop(part)) is not None:
                large = Logical("and", large, Compare("gt", minus(outer.upper, outer.lower), number(self.often)))
            body = (If(large, draft.body, part.body),)
        whole = with_statement(kernel, part.body[0], body) if self.nest else replace(kernel, body=body)
        return finished(whole, kernel)

    def _draft(self, kernel: Kernel, part: Kernel) -> Kernel | str:
        return rescheduled(part, self.wanted, names_of(kernel))

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        if not any(fact.verdict == "sequential" for fact in facts.loops.values()):
            return ()
        outer = [stmt.name for stmt in kernel.body if isinstance(stmt, For)] if len(kernel.body) > 1 else []
        several = (cls(CHOICES[-1], nest=name) for name in outer if facts.loops[name].verdict == "sequential")
        return legal((*map(cls, CHOICES), *several), kernel, facts, strict)

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        rest = list(words)
        fusion: Fusion = "smart"
        if rest and rest[0] in get_args(Fusion):
            fusion = rest.pop(0)  # type: ignore[assignment]
        sizes: list[int] = []
        if rest and rest[0] == "tile":
            rest.pop(0)
            while rest and rest[0] not in ("wavefront", "inner", "in", "above"):
                sizes.append(whole_number(rest.pop(0), "SIZE", least=2))
            if not sizes:
                raise ValueError("tile SIZE ...")
        above, often = 0, 0
        if "above" in rest:
            at = rest.index("above")
            limits = [whole_number(word, what) for word, what in zip(rest[at + 1 :], ("BYTES", "TIMES"), strict=False)]
            if not limits or len(rest) > at + 3:
                raise ValueError("above BYTES, or above BYTES TIMES")
            above, often = limits[0], limits[1] if len(limits) == 2 else 0
            del rest[at:]
        nest = ""
        if "in" in rest[:-1]:
            at = rest.index("in")
            nest = rest[at + 1]
            del rest[at : at + 2]
        wavefront, inner = rest == ["wavefront"], rest == ["inner"] and not sizes
        if rest and not (wavefront or inner):
            raise ValueError("reschedule [min|smart|max] [tile SIZE ...] [wavefront] [in LOOP] [above BYTES [TIMES]], "
                             "or reschedule [min|smart|max] inner [in LOOP] [above BYTES [TIMES]]")  # fmt: skip
        return cls(Wanted(fusion, tuple(sizes), wavefront, inner), above, often, nest)

    def __str__(self) -> str:
        words: list[str] = [self.wanted.fusion]
        if self.wanted.sizes:
            words += ["tile", *map(str, self.wanted.sizes)]
        words += ["wavefront"] if self.wanted.wavefront else []
        words += ["inner"] if self.wanted.inner else []
        words += ["in", self.nest] if self.nest else []
        words += ["above", str(self.above)] if self.above else []
        words += [str(self.often)] if self.often else []
        return " ".join(["reschedule", *words])


def _made_inside(kernel: Kernel) -> str | None:
    """An array that the kernel makes for itself."""
    return next((stmt.array for stmt in statements(kernel.body, Allocate)), None)


def _only_loop(kernel: Kernel) -> For | None:
    """The loop that is all of the kernel, if it counts up by ones."""
    only = kernel.body[0] if len(kernel.body) == 1 else None
    return only if isinstance(only, For) and step_of(only) == 1 else None


def _bytes_of(kernel: Kernel) -> Expr:
    """The size of all arrays that the call hands over."""
    total: Expr = number(0)
    for array in kernel.arrays:
        size: Expr = number(array.element.size_bytes)
        for axis in range(array.rank):
            size = Binary("mul", size, Dim(array.name, axis))
        total = plus(total, size)
    return total
