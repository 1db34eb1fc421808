"""The step `fuse`: two loops of one body become one, with a loop before and after it where only one of them runs (loop
fusion)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Self

from loopwright.analysis.equal_sizes import distance_by_tests
from loopwright.analysis.facts import Facts
from loopwright.analysis.trips import distance, offsets
from loopwright.analysis.values import fields_overlap
from loopwright.ir.linear import least, minus, most, number, plus, variable
from loopwright.ir.nodes import Allocate, Assign, Body, Checked, Expr, For, Kernel, Load, Stmt
from loopwright.ir.queries import (
    accesses,
    arrays_stored,
    escapes,
    has,
    names_assigned,
    names_in,
    settled_by,
    unsettled_in,
)
from loopwright.ir.sizes import is_never_negative
from loopwright.ir.walk import all_bodies, expressions, own_expressions, statements
from loopwright.steps.draft import again, finished, fresh, names_of, substituted, with_statement
from loopwright.steps.elements import are_apart, meet_in_one_iteration
from loopwright.steps.grammar import MaybeNumber
from loopwright.steps.nest import (
    missing,
    overlapping,
    reordering,
    size_of,
    step_of,
    the_loop,
    too_large,
    unfit,
    without_value,
)
from loopwright.steps.step import Rejection, Step, legal

DELAYS = (None, 1)
LONGEST = 64  # iterations that one loop may be delayed: beyond it, what the other one left is no longer near


@dataclass(frozen=True, slots=True)
class Fuse(Step):
    """Run two loops that follow one another as one: what an iteration leaves in the cache is used while it is there.
    What stands between them goes before the first one, or stays behind where only the second one does not need it.
    Where they run equally often, the k-th iteration of the second goes with the k-th of the first, otherwise those of
    one number go together; fuse i j 2 lets j = 5 go with i = 7. What has no partner stays in a loop of its own.
    `fuse i j`:

    for i in 0 .. n:
        a[i] = 3.0
    for j in 1 .. n + 1:
        b[j] = 2.0 * a[j - 1]
    ->
    for i in 0 .. n:
        a[i] = 3.0
        b[i + 1] = 2.0 * a[i]
    """

    name: ClassVar[str] = "fuse"
    grammar: ClassVar[str] = "LOOP LOOP [DELAY], the loops in the order of the text"
    first: str
    second: str
    delay: MaybeNumber = None

    @property
    def looks_around(self) -> bool:
        return True

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        rejection = missing(kernel, (self.first, self.second))
        if rejection is not None:
            return rejection
        first, second = the_loop(kernel, self.first), the_loop(kernel, self.second)
        between = what_is_between(kernel, first, second)
        if between is None:
            return Rejection(f"'{self.second}' does not stand after '{self.first}' in the same body")
        if between and (rejection := _held_back(kernel, facts, first, between, second)) is not None:
            return rejection
        if (rejection := self._unfit(kernel, first, second)) is not None:
            return rejection
        draft = self._draft(kernel)
        if isinstance(draft, Rejection):
            return draft
        grown = size_of(draft.body) - size_of(kernel.body)
        if (rejection := too_large(kernel, grown)) is not None:
            return rejection
        if self._meet_in_one_iteration(kernel, facts, first, second):
            return without_value(draft)
        return reordering(kernel, draft, strict, facts)

    def _unfit(self, kernel: Kernel, first: For, second: For) -> Rejection | None:
        """Why the loops cannot be taken apart; of bounds that are known to stay as they are nobody else is asked."""
        is_plain = not any(escapes(stmt) for loop in (first, second) for stmt in loop.body)
        if is_plain and first.run == second.run == "sequential" and constant_ahead(kernel, first, second) is not None:
            return None
        return unfit(kernel, (first, second))

    def _meet_in_one_iteration(self, kernel: Kernel, facts: Facts, first: For, second: For) -> bool:
        """Whether all that the loops have in common belongs to one iteration of both: isl need not be asked then."""
        ahead = _ahead(kernel, first, second) if self.delay is None else None
        if ahead is None:
            return False
        rest = substituted(second.body, {second.name: plus(variable(first.name), ahead)})
        return meet_in_one_iteration(kernel, facts, replace(first, body=(*first.body, *rest)), first.body, rest)

    def apply(self, kernel: Kernel) -> Kernel:
        draft = self._draft(kernel)
        assert not isinstance(draft, Rejection)
        return finished(draft, kernel)

    def _draft(self, kernel: Kernel) -> Kernel | Rejection:
        first, second = the_loop(kernel, self.first), the_loop(kernel, self.second)
        ahead = _ahead(kernel, first, second) if self.delay is None else None
        if ahead is not None:
            loops: Body | Rejection = (_both(first, second, plus(variable(first.name), ahead)),)
        else:
            loops = _in_pieces(kernel, first, second, self.delay or 0)
        if isinstance(loops, Rejection):
            return loops
        between = what_is_between(kernel, first, second) or ()
        aside = _aside(first, between, second)
        assert aside is not None
        draft = kernel
        for stmt in (*between, second):
            draft = with_statement(draft, stmt, ())
        return with_statement(draft, first, (*aside[0], *loops, *aside[1]))

    @classmethod
    def instances(cls, kernel: Kernel, facts: Facts, strict: bool) -> tuple[Self, ...]:
        found: list[Self] = []
        for first, second in _neighbours(kernel):
            steps = (cls(first.name, second.name, delay) for delay in DELAYS)  # a delay only where it is needed
            found += legal(steps, kernel, facts, strict)[:1]
        return tuple(found)


def _neighbours(kernel: Kernel) -> Iterator[tuple[For, For]]:
    """Pairs of loops that follow one another in the same body, whatever else stands between them."""
    for body in all_bodies(kernel):
        yield from pairwise(stmt for stmt in body if isinstance(stmt, For))


def what_is_between(kernel: Kernel, first: For, second: For) -> Body | None:
    """What stands between two statements of one body; None where the second does not come after the first in one."""
    for body in all_bodies(kernel):
        places = [at for at, stmt in enumerate(body) if stmt is first or stmt is second]
        if len(places) == 2:
            return body[places[0] + 1 : places[1]] if body[places[0]] is first else None
    return None


def _aside(first: For, between: Body, second: For) -> tuple[Body, Body] | None:
    """What stands between two loops: what can go before the first one, and what can stay behind the second one; None
    where something can do neither."""
    before: list[Stmt] = []
    after: list[Stmt] = []
    for stmt in between:
        if all(are_apart((stmt,), (other,)) for other in (first, *after)):
            before.append(stmt)
        elif are_apart((stmt,), (second,)):
            after.append(stmt)
        else:
            return None
    return tuple(before), tuple(after)


def _held_back(kernel: Kernel, facts: Facts, first: For, between: Body, second: For) -> Rejection | None:
    """Why what stands between two loops cannot move out of their way."""
    if overlapping(kernel) is not None or fields_overlap(kernel.arrays):
        return Rejection(f"something stands between '{first.name}' and '{second.name}', and arrays may overlap")
    aside = _aside(first, between, second)
    if aside is None or any(escapes(stmt) for stmt in between):
        return Rejection(f"what stands between '{first.name}' and '{second.name}' has its place there")
    # nobody sees how far a loop came that does not fail itself, and writes to arrays that are gone with an error
    is_unseen = not arrays_stored((first,)) & {one.name for one in kernel.arrays} and not _may_fail(first, facts)
    if any(_may_fail(stmt, facts) for stmt in (aside[1] if is_unseen else between)):
        return Rejection(f"what stands between '{first.name}' and '{second.name}' may end with an error")
    return None


def _may_fail(stmt: Stmt, facts: Facts) -> bool:
    """Whether a statement may end with an error."""
    for part in (*expressions((stmt,), Checked), *accesses((stmt,))):
        if any(bounds.kind == "checked" for bounds in facts.bounds_of(part)):
            return True
    made = statements((stmt,), Allocate)
    return not all(is_never_negative(size) for one in made for size in one.shape)


def constant_ahead(kernel: Kernel, first: For, second: For, across: Body | None = None) -> int | None:
    """How far the second loop's variable is ahead of the first one's in the same iteration, where both run equally
    often, as the texts of their bounds and tests of sizes tell; None where these do not tell it. across: what runs from
    the first loop on until the second one ends, where they do not stand in one body."""
    if across is None:
        between = what_is_between(kernel, first, second)
        if between is None:
            return None
        across = (first, *between, second)
    bounds = (*own_expressions(first), *own_expressions(second))
    if any(has(one, Load, Checked) for one in bounds):
        return None
    changing = unsettled_in(across)
    if any(settled_by(one) & changing for one in bounds):
        return None
    return 0 if own_expressions(first) == own_expressions(second) else distance_by_tests(kernel, first, second)


def _ahead(kernel: Kernel, first: For, second: For) -> Expr | None:
    """The same, where the bounds are the same in any call; also where it is no constant."""
    if (constant := constant_ahead(kernel, first, second)) is not None:
        return number(constant)
    form = distance(kernel, first, second)
    if form is None:
        return None
    if form.is_constant:
        return number(form.constant)
    return None if _changing(first, second) else minus(second.lower, first.lower)


def _changing(first: For, second: For) -> bool:
    """Whether a bound may change while the loops run."""
    assigned = names_assigned((*first.body, *second.body))
    return any(names_in(bound) & assigned for loop in (first, second) for bound in (loop.lower, loop.upper))


def _both(first: For, second: For, value: Expr) -> For:
    """The first loop, with an iteration of the second one in each of its own."""
    # what the user promised of the iterations of each loop, nobody promised of them together
    return replace(first, body=(*first.body, Assign(second.name, value), *second.body), asserted=False)


def _in_pieces(kernel: Kernel, first: For, second: For, delay: int) -> Body | Rejection:
    """The loop over what the two have in common, each iteration of the second one `delay` later than the same of the
    first one, and loops before and after it over what only one of them has."""
    distances = offsets(kernel, first, second)
    if distances is None or step_of(first) != 1 or step_of(second) != 1 or _changing(first, second):
        return Rejection(f"'{first.name}' and '{second.name}' may differ in their trip counts or steps")
    if abs(delay) > LONGEST:
        return Rejection(f"a loop is delayed by at most {LONGEST} iterations")
    before, after = distances[0] + delay, distances[1] + delay
    start = plus(second.lower, delay) if before > 0 else first.lower
    end = plus(second.upper, delay) if after < 0 else first.upper
    taken = names_of(kernel)
    result: list[For] = []
    if before > 0:
        result.append(_piece(first, first.lower, least(start, first.upper), taken))
    elif before < 0:
        result.append(_piece(second, second.lower, least(minus(start, delay), second.upper), taken))
    result.append(replace(_both(first, second, minus(variable(first.name), delay)), lower=start, upper=end))
    if after < 0:
        result.append(_piece(first, most(end, start), first.upper, taken))
    elif after > 0:
        result.append(_piece(second, most(minus(end, delay), minus(start, delay)), second.upper, taken))
    return tuple(result)


def _piece(loop: For, lower: Expr, upper: Expr, taken: set[str]) -> For:
    """A loop over some of the iterations."""
    name = fresh(f"{loop.name}.1", taken)
    taken.add(name)
    body = (Assign(loop.name, variable(name)), *again(loop.body, taken))
    return replace(loop, name=name, lower=lower, upper=upper, body=body)
