"""The step `unroll`: several iterations of a loop in a row as straight-line code. The order of everything stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.linear import least, minus, most, number, plus, times, variable
from loopwright.ir.nodes import Assign, Binary, Body, Break, Const, Continue, Expr, For, Kernel
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import loops, subexpressions
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import marked, trip_of, used_outside
from loopwright.steps.grammar import From2
from loopwright.steps.nest import changes_inside, missing, size_of, step_of, the_loop, too_large
from loopwright.steps.step import Rejection, Step

FACTORS = (2, 4, 8)
MOST = 16  # iterations of a loop that `instances` writes out altogether


@dataclass(frozen=True, slots=True)
class Unroll(Step):
    """Write the body of a loop several times in a row; what is left over runs after it. Without a number, the loop has
    a constant number of iterations, and nothing of it is left. `unroll i 2`:

    for i in 0 .. n:
        a[i] = 0.0
    ->
    for i.u in 0 .. n - 1 step 2:
        a[i.u] = 0.0
        a[i.u + 1] = 0.0
    for i in max(n, 0) // 2 * 2 .. n:
        a[i] = 0.0
    """

    name: ClassVar[str] = "unroll"
    grammar: ClassVar[str] = "LOOP [NUMBER]"
    loop: str
    factor: From2 = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        trip = trip_of(loop)
        if not self.factor and trip is None:
            return Rejection(f"'{self.loop}' has no constant number of iterations")
        return not_repeated(kernel, loop, self.factor or trip or 1) or marked((loop,)) or changes_inside(loop)

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        if not self.factor or trip_of(loop) == self.factor:
            return finished(with_statement(kernel, loop, in_a_row(loop, loop.lower, trip_of(loop) or 0)), kernel)
        main, rest = parts(kernel, loop, self.factor)
        main = replace(main, body=in_a_row(loop, variable(main.name), self.factor))
        return finished(with_statement(kernel, loop, (main, *rest)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterator[Self]:
        for name, loop in loops(kernel).items():
            if isinstance(loop, For) and (trip := trip_of(loop)) is not None and trip <= MOST:
                yield cls(name)
            yield from (cls(name, factor) for factor in FACTORS)


def not_repeated(kernel: Kernel, loop: For, count: int) -> Rejection | None:
    """Why the body of a loop cannot stand somewhere so many times."""
    for jump in (jump for stmt in loop.body for jump in escapes(stmt)):
        if isinstance(jump, Break | Continue) and jump.loop == loop.name:
            word = "break" if isinstance(jump, Break) else "continue"
            return Rejection(f"'{word}' ends iterations of '{loop.name}' in the middle")
    local = frozenset(arrays_made(loop.body))
    if (array := used_outside(kernel, loop.body, local)) is not None:
        return Rejection(f"'{array}' is made in '{loop.name}', and used outside of it")
    return too_large(kernel, size_of(loop.body) * count)


def in_a_row(loop: For, start: Expr, count: int) -> Body:
    """The iterations of a loop from one on."""
    result: Body = ()
    for position in range(count):
        result = (*result, Assign(loop.name, plus(start, position * step_of(loop))), *loop.body)
    return result


def parts(kernel: Kernel, loop: For, factor: int) -> tuple[For, Body]:
    """The loop over groups of iterations, and the loop over what is left, if anything may be."""
    step = step_of(loop)
    name = fresh(f"{loop.name}.u", names_of(kernel))
    main = replace(loop, name=name, upper=minus(loop.upper, step * (factor - 1)), step=number(step * factor))
    trip = trip_of(loop)
    if trip is not None:
        done: Expr = number(trip // factor * factor * step)
        main = replace(main, upper=plus(loop.lower, done))
        return main, () if trip % factor == 0 else (replace(loop, lower=plus(loop.lower, done)),)
    ahead = minus(loop.upper, loop.lower) if step > 0 else minus(loop.lower, loop.upper)
    ahead = most(ahead, number(0))
    if abs(step) > 1:
        ahead = Binary("floordiv", plus(ahead, abs(step) - 1), number(abs(step)))
    done = times(Binary("floordiv", ahead, number(factor)), factor * step)
    start = done if loop.lower == number(0) else plus(loop.lower, done)
    if abs(step) > 1:  # it says nothing new, but so that the analysis need not divide
        start = most(loop.lower, start) if step > 0 else least(loop.lower, start)
    return main, (replace(loop, lower=start),)


def is_rest(loop: For) -> bool:
    """Whether a loop runs the few iterations that are left over when others are unrolled (`parts`)."""
    divided = (part for part in subexpressions(loop.lower, Binary) if part.op == "floordiv")
    return any(isinstance(part.right, Const) and loop.upper in subexpressions(part.left) for part in divided)
