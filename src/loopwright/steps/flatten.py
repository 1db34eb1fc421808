"""The step `flatten`: one loop over all iterations of a ragged nest (loop flattening). Their order stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts, Verdict
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.ir.linear import least, minus, most, number, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Asserted,
    Assign,
    Binary,
    Body,
    Break,
    Checked,
    Compare,
    Const,
    Continue,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Return,
    Select,
    Store,
    While,
)
from loopwright.ir.queries import arrays_made, arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops, rewrite_body, subexpressions
from loopwright.steps.draft import finished, fresh, jumps_renamed, names_of, renamed, substituted, with_statement
from loopwright.steps.extent import marked, used_outside
from loopwright.steps.nest import jumps_in, missing, overlapping, size_of, step_of, the_loop, too_large
from loopwright.steps.redirect import over
from loopwright.steps.step import Rejection, Step

MOST = 1 << 28
"""Iterations: it takes eight bytes for each to know whose it is."""


@dataclass(frozen=True, slots=True)
class Flatten(Step):
    """Count all iterations of two loops in one, in the same order, where how often the inner one runs differs from one
    iteration of the outer one to the next: ranges that arrays tell, as of rows, groups and boxes. First these are
    counted (a prefix sum); then each iteration looks up whose it is. Where there are too many of them to keep that,
    the loops stay as they were. `flatten i k`:

    for i in 0 .. n:
        for k in e[i] .. e[i + 1]:
            a[k] = b[i]
    ->
    var i.t: int64
    var i.n: int64
    var i.l: int64
    var i.h: int64
    var i.m: int64
    var i.i: int64
    var k.i: int64
    i.t = 0
    allocate i.e: int64[max(n, 0) + 1] = 0
    for i.c in 0 .. max(n, 0):
        i.n = e[i.c + 1] - e[i.c]
        i.t = i.t + ((268435457 if i.n < 0 else min(i.n, 268435457)) if e[i.c] < e[i.c + 1] else 0)
        i.e[i.c + 1] = i.t
    if i.t <= 268435456:
        allocate i.w: int64[i.t]
        for i.p in 0 .. i.t independent:
            i.l = 0
            i.h = max(n, 0) - 1
            while i.l < i.h named i.f:
                i.m = (i.l + i.h) // 2
                if i.e[i.m + 1] <= i.p:
                    i.l = i.m + 1
                else:
                    i.h = i.m
            i.w[i.p] = i.l
        for i.k in 0 .. i.t:
            i.i = max(min(i.w[i.k], max(n, 0) - 1), 0)
            k.i = i.k - i.e[i.i] + e[i.i]
            a[k.i] = b[i.i]
    else:
        for i in 0 .. n:
            for k in e[i] .. e[i + 1]:
                a[k] = b[i]
    """

    name: ClassVar[str] = "flatten"
    grammar: ClassVar[str] = "LOOP LOOP, from outside to inside"
    outer: str
    inner: str

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.outer, self.inner)) or overlapping(kernel)) is not None:
            return rejection
        outer, inner = the_loop(kernel, self.outer), the_loop(kernel, self.inner)
        if not outer.body or outer.body[-1] is not inner or not all(isinstance(s, Assign) for s in outer.body[:-1]):
            return Rejection(f"'{self.outer}' has to hold '{self.inner}', and nothing else but scalars before it")
        for loop in (outer, inner):
            if step_of(loop) != 1:
                return Rejection(f"'{loop.name}' does not count by ones")
        if strict and (outer.asserted or inner.asserted) and (rejection := _inexact((outer, inner), facts)) is not None:
            return rejection
        return (
            marked((outer,))
            or jumps_in(outer, Break)
            or jumps_in(outer, Continue)
            or jumps_in(inner, Break)
            or _changes(kernel, outer, inner)
            or _unproven(outer, inner, facts)
            or too_large(kernel, size_of((outer,)) + 24)
            or _used_outside(kernel, outer)
        )

    def apply(self, kernel: Kernel) -> Kernel:
        return self.applied(kernel, analyse(kernel))

    def applied(self, kernel: Kernel, facts: Facts) -> Kernel:
        outer, inner = the_loop(kernel, self.outer), the_loop(kernel, self.inner)
        is_free = all(_needs_no_order(one, facts, "parallel") for one in (outer, inner))
        meets = all(_needs_no_order(one, facts, "parallel", "reduction") for one in (outer, inner))
        kinds = scalars_of(outer, live_after(kernel)[outer.name])
        private = set(kinds.private) - set(kinds.last)
        asserted: Asserted = "independent" if is_free else meets and bool(outer.asserted or inner.asserted)
        flat = _Flat(outer, inner, asserted, private, names_of(kernel))
        return finished(with_statement(kernel, outer, flat.result()), kernel)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (cls(outer.name, inner.name) for outer, inner in ragged(kernel))


def ragged(kernel: Kernel) -> Iterator[tuple[For, For]]:
    """Loops that hold scalars and one other loop, whose ends differ from one iteration of theirs to the next."""
    for outer in loops(kernel).values():
        if not isinstance(outer, For) or not outer.body or not isinstance(inner := outer.body[-1], For):
            continue
        own = names_assigned(outer.body[:-1]) | {outer.name}
        is_alone = all(isinstance(one, Assign) for one in outer.body[:-1])
        if is_alone and not own.isdisjoint(names_in(inner.lower) | names_in(inner.upper)):
            yield outer, inner


def _changes(kernel: Kernel, outer: For, inner: For) -> Rejection | None:
    """Why what stands before the inner loop cannot be found again in each of its iterations."""
    before = outer.body[:-1]
    own, later = names_assigned(before), names_assigned(inner.body)
    known: set[str] = set()
    for stmt in before:
        assert isinstance(stmt, Assign)
        if (names_in(stmt.value) - known) & (own | later):
            return Rejection(f"'{stmt.name}' depends on iterations of '{outer.name}' before")
        known.add(stmt.name)
    if own & later:
        return Rejection(f"'{min(own & later)}' changes in '{inner.name}'")
    kinds = scalars_of(outer, live_after(kernel)[outer.name])
    if kept := own & {*kinds.last, *kinds.kept, *kinds.carried}:
        return Rejection(f"'{min(kept)}' is needed after '{outer.name}'")
    if has(outer.lower, Load, Checked) or has(outer.upper, Load, Checked):
        return Rejection(f"an array tells how often '{outer.name}' runs")
    ends = names_in(inner.lower) | names_in(inner.upper) | names_in(outer.lower) | names_in(outer.upper)
    if changed := ends & later:
        return Rejection(f"'{min(changed)}', which tells how often '{inner.name}' runs, changes in it")
    read = {one.array for part in _told_before(outer, inner) for one in subexpressions(part, Load)}
    if changed := read & (arrays_stored(inner.body) | arrays_made(outer.body)):
        return Rejection(f"'{min(changed)}' is read before '{inner.name}' and changes in it")
    return None


def _used_outside(kernel: Kernel, outer: For) -> Rejection | None:
    array = used_outside(kernel, (outer,), frozenset(arrays_made((outer,))))
    return None if array is None else Rejection(f"'{array}' is made inside the loops and used outside of them")


def _told_before(outer: For, inner: For) -> tuple[Expr, ...]:
    """What is computed between the two loops."""
    values = tuple(stmt.value for stmt in outer.body[:-1] if isinstance(stmt, Assign))
    return (*values, inner.lower, inner.upper)


def _slice(outer: For, inner: For) -> Body:
    """The statements before the inner loop that tell how often it runs."""
    wanted, found = names_in(inner.lower) | names_in(inner.upper), list[Assign]()
    for stmt in reversed(outer.body[:-1]):
        assert isinstance(stmt, Assign)
        if stmt.name in wanted:
            found.insert(0, stmt)
            wanted |= names_in(stmt.value)
    return tuple(found)


def _inexact(pair: tuple[For, For], facts: Facts) -> Rejection | None:
    """Why additions of what is known to need no order keep theirs."""
    found = [one for loop in pair if loop.name in facts.loops for one in facts.loops[loop.name].reductions]
    targets = ", ".join(dict.fromkeys(f"'{one.target}'" for one in found if not one.exact))
    return Rejection(f"strict keeps the order of the floating-point reduction into {targets}") if targets else None


def _needs_no_order(loop: For, facts: Facts, *verdicts: Verdict) -> bool:
    """Whether a loop has one of these verdicts, or is known to need no order: that of additions, which `prange` leaves
    to us, only where "reduction" is one of them."""
    found = facts.loops.get(loop.name)
    if found is None or found.alike:  # iterations do touch what others write
        return False
    return found.verdict in verdicts or (bool(loop.asserted) and ("reduction" in verdicts or not found.reductions))


def _unproven(outer: For, inner: For, facts: Facts) -> Rejection | None:
    """Why it would make a difference that all ranges are looked at before the first iteration, and what stands before
    the inner loop only where that has iterations."""
    if contains(outer.body, Return):
        return Rejection(f"'{outer.name}' may be left early")
    told = _told_before(outer, inner)
    if any(has(expr, Checked) for expr in told):
        return Rejection(f"what stands before '{inner.name}' is only found where a test allows it")
    if not all(facts.cannot_fail(part) for expr in told for part in subexpressions(expr, Load)):
        return Rejection(f"what stands before '{inner.name}' is read from elements that may not be there")
    return None


@dataclass(frozen=True, slots=True)
class _Flat:
    """What the two loops become. asserted: what is known of the new one, of which the text tells less than of the two;
    private: scalars that each iteration sets before it reads them, and nobody else; taken: names that nothing new may
    have."""

    outer: For
    inner: For
    asserted: Asserted
    private: set[str]
    taken: set[str]

    def result(self) -> Body:
        """All that takes the place of the outer loop."""
        outer, inner = self.outer, self.inner
        total, ends, owner, place, job = (self._new(f"{outer.name}.{end}") for end in ("t", "e", "w", inner.name, "i"))
        at = self._new(f"{inner.name}.i")
        trips = most(minus(outer.upper, outer.lower), number(0))
        here, mine = variable(place), variable(job)
        body: Body = (
            Assign(job, most(least(Load(owner, (here,), INT64), minus(trips, 1)), number(0))),
            Assign(outer.name, plus(mine, outer.lower)),
            *outer.body[:-1],
            Assign(at, plus(minus(here, Load(ends, (mine,), INT64)), inner.lower)),
            Assign(inner.name, variable(at)),
            *jumps_renamed(inner.body, inner.name, place),
        )
        whole = replace(outer, name=place, lower=number(0), upper=variable(total), body=body, asserted=self.asserted)
        own = {name: self._new(f"{name}.1") for name in sorted(self.private)}
        return (
            Assign(total, number(0), at=outer.at),
            Allocate(ends, INT64, (plus(trips, 1),), Const(0, INT64)),
            self._counted(total, ends, trips),
            If(
                Compare("le", variable(total), number(MOST)),
                (
                    Allocate(owner, INT64, (variable(total),), None),
                    self._looked_up(total, ends, owner, trips),
                    replace(whole, at=inner.at),
                ),
                renamed((outer,), own),
            ),
        )

    def _counted(self, total: str, ends: str, trips: Expr) -> For:
        """How often the inner loop has run when each iteration of the outer one ends."""
        outer, inner = self.outer, self.inner
        place, before = self._new(f"{outer.name}.c"), _slice(outer, inner)
        names = {name: self._new(name) for name in sorted(names_assigned(before))}
        ranged = replace(inner, body=())
        *told, again = renamed((*before, ranged), names)
        assert isinstance(again, For)
        length, many = variable(name := self._new(f"{outer.name}.n")), number(MOST + 1)  # as good as more: sums fit
        some = Select(Compare("lt", length, number(0)), many, least(length, many))  # where it wraps around, it is more
        count = Select(Compare("lt", again.lower, again.upper), some, number(0))
        body = (
            *told,
            Assign(name, minus(again.upper, again.lower)),
            Assign(total, plus(variable(total), count)),
            Store(ends, (plus(variable(place), 1),), variable(total)),
        )
        value = {outer.name: plus(variable(place), outer.lower)}
        return over(place, trips, rewrite_body(substituted(body, value), expr=_anew))

    def _looked_up(self, total: str, ends: str, owner: str, trips: Expr) -> For:
        """In which iteration of the outer loop each of the inner one is: the first that ends behind it."""
        place, low, high, middle = (self._new(f"{self.outer.name}.{end}") for end in "plhm")
        found, half = variable(low), variable(middle)
        is_before = Compare("le", Load(ends, (plus(half, 1),), INT64), variable(place))
        step = If(is_before, (Assign(low, plus(half, 1)),), (Assign(high, half),))
        middle_of = Assign(middle, Binary("floordiv", plus(found, variable(high)), number(2)))
        search = While(self._new(f"{self.outer.name}.f"), Compare("lt", found, variable(high)), (middle_of, step))
        body = (
            Assign(low, number(0)),
            Assign(high, minus(trips, 1)),
            search,
            Store(owner, (variable(place),), found),
        )
        return replace(over(place, variable(total), body), asserted="independent")

    def _new(self, wanted: str) -> str:
        self.taken.add(name := fresh(wanted, self.taken))
        return name


def _anew(expr: Expr) -> Expr:
    """An access as one of its own: what is proven of it where it stands is no proof for other places."""
    return replace(expr, key=object()) if isinstance(expr, Load) else expr
