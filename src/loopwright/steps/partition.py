"""The step `partition`: the iterations in which every condition on a loop's variable holds in a loop of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import number, plus, variable
from loopwright.ir.nodes import Assign, Body, Break, Continue, Expr, For, If, Kernel
from loopwright.ir.simplify import simpler_body
from loopwright.steps.draft import finished, fresh, names_of, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.limits import all_of
from loopwright.steps.nest import changes_inside, jumps_in, missing, size_of, step_of, the_loop, too_large
from loopwright.steps.steady import Place, SteadyState, earlier, later, steady_iterations, with_known
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Partition(Step):
    """Run the iterations before and after those in which the conditions on a loop's variable hold in loops of their
    own, so that those have no conditions. `partition j`:

    for j in 0 .. n:
        b[j] = a[max(j - 1, 0)]
    ->
    for j.1 in 0 .. min(n, 1):
        b[j.1] = a[max(j.1 - 1, 0)]
    for j in 1 .. n:
        b[j] = a[j - 1]
    """

    name: ClassVar[str] = "partition"
    grammar: ClassVar[str] = "LOOP"
    loop: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,))) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        rejection = marked((loop,)) or changes_inside(loop) or jumps_in(loop, Break) or jumps_in(loop, Continue)
        if rejection is not None:
            return rejection
        if abs(step_of(loop)) != 1:
            return Rejection(f"the step of '{self.loop}' is neither 1 nor -1")
        if steady_iterations(_upwards(loop)) is None:
            return Rejection(f"no condition on '{self.loop}' holds over a range of iterations")
        return too_large(kernel, 3 * size_of(loop.body))

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        steady = steady_iterations(_upwards(loop))
        assert steady is not None
        parts = _Parts(kernel, loop, steady)
        apart = parts.around_a_point() if steady.hole is not None else parts.around_the_middle()
        if steady.tests:
            apart = (If(all_of(steady.tests), apart, parts.of(parts.lower, parts.upper, steady.outside), at=loop.at),)
        return finished(with_statement(kernel, loop, apart), kernel)


def _upwards(loop: For) -> For:
    """The loop over the same numbers that counts up."""
    if step_of(loop) > 0:
        return loop
    return replace(loop, lower=plus(loop.upper, 1), upper=plus(loop.lower, 1), step=number(1))


class _Parts:
    """The loops that become of one. lower, upper: its iterations are from here on, and below there; a loop that counts
    down begins with the part of the last ones."""

    def __init__(self, kernel: Kernel, loop: For, steady: SteadyState) -> None:
        self.loop, self.steady = loop, steady
        self.lower, self.upper = _upwards(loop).lower, _upwards(loop).upper
        self.taken = names_of(kernel)

    def around_a_point(self) -> Body:
        """All iterations but one are steady."""
        lower, upper, hole, known = self.lower, self.upper, self.steady.hole, self.steady.known
        assert hole is not None
        behind = plus(hole, 1)
        return self._in_order(
            self.of(lower, earlier(upper, hole), known, keeps_name=True),
            self.of(later(lower, hole), earlier(upper, behind), self.steady.outside),
            self.of(later(lower, behind), upper, known),
        )

    def _in_order(self, *parts: Body) -> Body:
        return tuple(stmt for part in parts[:: step_of(self.loop)] for stmt in part)

    def around_the_middle(self) -> Body:
        """The steady iterations have others before and behind them, in any number."""
        low, high, outside = self.steady.low, self.steady.high, self.steady.outside
        lower, upper = self.lower, self.upper
        begin = lower if low is None else later(lower, low)
        before = () if low is None else self.of(lower, earlier(upper, low), outside)
        middle = self.of(begin, upper if high is None else earlier(upper, high), self.steady.known, keeps_name=True)
        return self._in_order(before, middle, () if high is None else self.of(later(begin, high), upper, outside))

    def of(self, lower: Expr, upper: Expr, known: Mapping[Place, Expr], keeps_name: bool = False) -> Body:
        """A loop between two points, in which something is known; nothing where it then does nothing."""
        if step_of(self.loop) < 0:
            lower, upper = plus(upper, -1), plus(lower, -1)
        anew = self.steady.anew if known is self.steady.known else frozenset[int]()
        body = simpler_body(with_known(self.loop.body, known, anew))
        if not body:
            return ()
        if keeps_name:
            return (replace(self.loop, lower=lower, upper=upper, body=body),)
        name = fresh(f"{self.loop.name}.1", self.taken)
        self.taken.add(name)
        renamed = Assign(self.loop.name, variable(name))
        return (replace(self.loop, name=name, lower=lower, upper=upper, body=(renamed, *body)),)
