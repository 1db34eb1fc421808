"""The step `cut`: a loop's range in two at a point, one part after the other (index-set splitting)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import apart, coefficient, least, most, number, plus, variable
from loopwright.ir.nodes import Assign, Body, Break, Const, Continue, Expr, For, Kernel, Stmt
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops, rewrite_body
from loopwright.steps.draft import finished, fresh, names_of, substituted_in, with_statement
from loopwright.steps.extent import ends_of, loops_around, never_above, never_below, starts_of
from loopwright.steps.nest import balanced, changes_inside, jumps_in, missing, size_of, step_of, the_loop, too_large
from loopwright.steps.step import Rejection, Step

_POINT = re.compile(r"(?P<name>[A-Za-z_][\w.]*)?(?P<offset>[+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Cut(Step):
    """Run the iterations below a point, then those from the point on: where what happens at one point is all that ties
    iterations together, the parts on either side of it are free. The point is a loop around it or a scalar argument,
    plus a constant. Ends of inner loops that a part decides are left out there. `cut i m+1`:

    for i in 0 .. n:
        a[i] = a[m]
    ->
    for i in 0 .. min(n, m + 1):
        a[i] = a[m]
    for i.1 in max(0, m + 1) .. n:
        a[i.1] = a[m]
    """

    name: ClassVar[str] = "cut"
    loop: str
    at: str
    offset: int = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.loop,)) or changes_inside(the_loop(kernel, self.loop))
        if rejection is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := balanced(loop) or jumps_in(loop, Break) or jumps_in(loop, Continue)) is not None:
            return rejection
        if step_of(loop) != 1:
            return Rejection(f"the step of '{self.loop}' is not 1")
        if self.at and self.at not in _visible(kernel, loop):
            return Rejection(f"'{self.at}' is no loop around '{self.loop}' and no whole-number argument")
        return too_large(kernel, size_of(loop.body))

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        point: Expr = plus(variable(self.at), self.offset) if self.at else number(self.offset)
        name = fresh(loop.name, names_of(kernel))
        around = loops_around(kernel, loop)
        upper = point if never_below(loop.upper, point, around) else least(loop.upper, point)
        first = replace(loop, upper=upper, body=_narrowed(loop.body, loop.name, point, -1))
        is_behind = never_above(loop.lower, point, around) or (apart(point, loop.lower) or -1) >= 0
        rest = (Assign(loop.name, variable(name)), *_narrowed(loop.body, loop.name, point, 1))
        second = replace(loop, name=name, lower=point if is_behind else most(loop.lower, point), body=rest)
        return finished(with_statement(kernel, loop, (first, second)), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (
            cls(name, at, offset)
            for name, loop in loops(kernel).items()
            if isinstance(loop, For)
            for at in sorted(_visible(kernel, loop))
            for offset in (0, 1)
        )

    @classmethod
    def parse(cls, words: tuple[str, ...]) -> Self:
        found = _POINT.fullmatch(words[1]) if len(words) == 2 else None
        if found is None or not words[1]:
            raise ValueError("cut LOOP POINT, the point as in k, k+1, m-2 or 8")
        return cls(words[0], found["name"] or "", int(found["offset"] or 0))

    def __str__(self) -> str:
        offset = f"{self.offset:+d}" if self.at and self.offset else "" if self.at else str(self.offset)
        return f"cut {self.loop} {self.at}{offset}"


def _narrowed(body: Body, name: str, point: Expr, side: int) -> Body:
    """A body whose inner loops begin and end as they do for a variable from a point on (side 1), or below it (-1)."""
    nearest = point if side > 0 else plus(point, -1)

    def needed(ends: tuple[Expr, ...], way: int) -> list[Expr]:
        """Of the ends of which the least is meant (the greatest: way -1) those that are not decided by another one."""
        kept = list(ends)
        for end in ends:
            if (coefficient(end, name) or 0) * side * way > 0:
                limit = substituted_in(end, {name: nearest})  # it is never on the other side of that
                others = (other for other in kept if coefficient(other, name) == 0)
                if any((room := apart(limit, other)) is not None and room * way >= 0 for other in others):
                    kept.remove(end)
        return kept

    def narrowed(stmt: Stmt) -> Body:
        if not isinstance(stmt, For) or not isinstance(stmt.step, Const) or int(stmt.step.value) <= 0:
            return (stmt,)
        starts, ends = starts_of(stmt), ends_of(stmt)
        lower, upper = needed(starts, -1), needed(ends, 1)
        if len(lower) < len(starts):
            stmt = replace(stmt, lower=reduce(most, lower))
        return (replace(stmt, upper=reduce(least, upper)) if len(upper) < len(ends) else stmt,)

    return rewrite_body(body, narrowed)


def _visible(kernel: Kernel, loop: For) -> set[str]:
    """The whole numbers that are known where a loop begins and stay the same in it."""
    around = {
        name
        for name, other in loops(kernel).items()
        if isinstance(other, For) and other is not loop and loop.name in loops(replace(kernel, body=other.body))
    }
    return around | {param.name for param in kernel.scalars if param.type == INT64}
