"""Where conditions on a loop's variable all hold: the iterations between two points, found from the conditions' text.

Whole numbers only, and only sums: `j + k < n` and `max(j - 1, 0)` and `(j + 1) % n`, with numbers that stay the same in
the loop, and variables of inner loops between constants, whose worst value counts. Bounds of loops that wrap around
are what the guard forbids (analysis/guard.py), so that sums are read as sums here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from loopwright.ir.linear import Linear, apart, least, linear, most, number, plus, variable
from loopwright.ir.nodes import (
    Binary,
    Body,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import own_expressions, statements, subexpressions
from loopwright.steps.extent import ends_of, starts_of, trip_of

SHORT = 16
"""An inner loop with at most so many iterations is looked through: its worst one counts."""


@dataclass
class Steady:
    """The iterations from all of `lows` on, below all of `highs`, and other than `hole`, for which `tests` hold, which
    are the same for all of them. known: what expressions are worth there. outside: what the one condition that there
    is, is worth in all others; empty where there are several, or where it may be either."""

    lows: list[Expr] = field(default_factory=list)
    highs: list[Expr] = field(default_factory=list)
    tests: list[Expr] = field(default_factory=list)
    hole: Expr | None = None
    known: dict[Expr, Expr] = field(default_factory=dict)
    outside: dict[Expr, Expr] = field(default_factory=dict)

    @property
    def low(self) -> Expr | None:
        """The point from which on they run."""
        return _joined(self.lows, most)

    @property
    def high(self) -> Expr | None:
        """The point below which they run."""
        return _joined(self.highs, least)


def _joined(points: list[Expr], join: object) -> Expr | None:
    assert callable(join)
    found: Expr | None = None
    for point in dict.fromkeys(points):
        found = point if found is None else join(found, point)
    return found


def steady_iterations(loop: For) -> Steady | None:
    """Where the conditions in a loop hold; None where there are no such iterations to tell from others."""
    finder = _Finder(loop)
    roots = list(dict.fromkeys(_conditions(loop.body)))
    others = list(dict.fromkeys(_piecewise(loop.body)))
    for root in roots:
        finder.condition(root, wanted=True)
    for other in others:
        finder.piece(other)
    found = finder.found
    if not (found.lows or found.highs or found.hole is not None):
        return None
    if found.hole is not None and (found.lows or found.highs):
        return None
    telling = [root for root in roots if any(part in found.known for part in subexpressions(root))]
    if len(telling) == 1 and not finder.is_loose and not any(other in found.known for other in others):
        found.outside = _outside(telling[0], found.known)
    return found


def _conditions(body: Body) -> Iterator[Expr]:
    for stmt in statements(body):
        if isinstance(stmt, If):
            yield stmt.condition
        for own in own_expressions(stmt):
            yield from (part.condition for part in subexpressions(own, Select))


def _piecewise(body: Body) -> Iterator[Binary]:
    """Minima, maxima and remainders of whole numbers."""
    for stmt in statements(body):
        for own in own_expressions(stmt):
            for part in subexpressions(own, Binary):
                if part.type == INT64 and part.op in ("min", "max", "mod"):
                    yield part


def _outside(root: Expr, known: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """What a condition is worth where one of its parts is not what it is in the steady state."""
    for op, value in (("and", True), ("or", False)):
        parts = list(_parts(root, op))
        asked = [part for part in parts if any(one in known for one in subexpressions(part))]
        if all(known.get(part) == Const(value, BOOL) for part in asked):
            return {root: Const(not value, BOOL)}
    return {}


def _parts(expr: Expr, op: str) -> Iterator[Expr]:
    if isinstance(expr, Logical) and expr.op == op:
        yield from _parts(expr.left, op)
        yield from _parts(expr.right, op)
    else:
        yield expr


class _Finder:
    """Reads conditions one after the other; one that cannot be read changes nothing. is_loose: what holds in the steady
    state may hold elsewhere too."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.changed = names_assigned(loop.body)
        self.inner = {stmt.name: stmt for stmt in statements(loop.body, For)}
        self.found = Steady()
        self.is_loose = False

    def condition(self, expr: Expr, wanted: bool) -> None:
        """Find where a condition is as wanted; what `and` joins should hold, what `or` joins should not."""
        match expr:
            case Logical():
                self.condition(expr.left, expr.op == "and")
                self.condition(expr.right, expr.op == "and")
            case Unary(op="not"):
                self.condition(expr.operand, not wanted)
            case Compare() if expr not in self.found.known and expr.left.type == INT64:
                if expr.op in ("eq", "ne"):
                    wanted = expr.op == "ne"
                if self._holds(expr, wanted):
                    self.found.known[expr] = Const(wanted, BOOL)
            case _:
                pass

    def piece(self, expr: Binary) -> None:
        """Find where one part of a minimum, a maximum or a remainder is all of it."""
        left, right = linear(expr.left), linear(expr.right)
        if expr.op == "mod":
            self._remainder(expr, right)
            return
        if not self._moves(left):
            left, right = right, left
        difference = _difference(left, right)
        if self._moves(left) and self._asked(difference if expr.op == "min" else _negated(difference)):
            self.found.known[expr] = left.expr

    def _remainder(self, expr: Binary, divisor: Linear) -> None:
        modulus = expr.right.value if isinstance(expr.right, Checked) else expr.right
        divisor = linear(modulus)
        x = linear(expr.left)
        if not self._moves(x) or self._moves(divisor) or len(divisor.terms) > 1:
            return
        times = x.coefficient_of(divisor.terms[0][0]) if divisor.terms else 0
        x = _difference(x, Linear(divisor.terms, divisor.constant), times)
        if self._asked(_negated(x), _plus(_difference(x, divisor), 1)):
            self.found.known[expr] = x.expr

    def _moves(self, form: Linear) -> bool:
        """Whether the loop's variable is counted in a form, or that of a loop in it."""
        return any(isinstance(term, Var) and term.name in (self.loop.name, *self.inner) for term, _ in form.terms)

    def _holds(self, test: Compare, wanted: bool) -> bool:
        form = _difference(linear(test.left), linear(test.right))
        if test.op in ("eq", "ne"):
            return self._differs(test, form)
        if test.op in ("gt", "ge"):
            form = _negated(form)
        if test.op in ("lt", "gt"):
            form = _plus(form, 1)
        if not wanted:  # form <= 0 is what should not be: form >= 1
            form = _plus(_negated(form), 1)
        if not self._moves(form):
            return self._same(test, wanted)
        return self._asked(form)

    def _same(self, test: Compare, wanted: bool) -> bool:
        """A test that no iteration changes."""
        if not all(self._is_fixed(term) for term in (test.left, test.right)):
            return False
        self.found.tests.append(test if wanted else Unary("not", test))
        return True

    def _differs(self, test: Compare, form: Linear) -> bool:
        """That a form is not zero: true from the loop's first point on, up to its last one, or but for one point."""
        if not self._moves(form):
            ne = Compare("ne", test.left, test.right)
            return self._same(ne, wanted=True)
        count = form.coefficient(self.loop.name)
        rest = _without(form, self.loop.name)
        if count not in (1, -1) or not all(self._is_fixed(term) for term, _ in rest.terms):
            return False
        point = (_negated(rest) if count == 1 else rest).expr
        if any((gap := apart(point, start)) is not None and gap <= 0 for start in starts_of(self.loop)):
            self.found.lows.append(plus(point, 1))
        elif any((gap := apart(point, end)) is not None and gap >= -1 for end in ends_of(self.loop)):
            self.found.highs.append(point)
        elif self.found.hole in (None, point):
            self.found.hole = point
        else:
            return False
        return True

    def _asked(self, *forms: Linear) -> bool:
        """Ask that all these forms are at most zero."""
        read = [self._bound(form) for form in forms]
        if any(one is None for one in read):
            return False
        for one in read:
            assert one is not None
            kind, point = one
            {"low": self.found.lows, "high": self.found.highs, "test": self.found.tests, "none": []}[kind].append(point)
        self.is_loose = self.is_loose or any(self._has_inner(form) for form in forms)
        return True

    def _has_inner(self, form: Linear) -> bool:
        return any(isinstance(term, Var) and term.name in self.inner for term, _ in form.terms)

    def _bound(self, form: Linear) -> tuple[str, Expr] | None:
        """What makes a form at most zero."""
        count = form.coefficient(self.loop.name)
        rest = self._worst(_without(form, self.loop.name)) if count in (-1, 0, 1) else None
        if rest is None:
            return None
        if count == 0:
            if rest.is_constant:
                return ("none", rest.expr) if rest.constant <= 0 else None
            return "test", Compare("le", rest.expr, number(0))
        if count == 1:
            high = _plus(_negated(rest), 1).expr
            known = any((gap := apart(high, end)) is not None and gap >= 0 for end in ends_of(self.loop))
            return ("none" if known else "high"), high
        low = rest.expr
        known = any((gap := apart(low, start)) is not None and gap <= 0 for start in starts_of(self.loop))
        return ("none" if known else "low"), low

    def _worst(self, form: Linear) -> Linear | None:
        """The greatest value of a form for any values of inner loops' variables; None where there is no telling."""
        constant, terms = form.constant, []
        for term, count in form.terms:
            if isinstance(term, Var) and term.name in self.inner:
                ends = _values(self.inner[term.name])
                if ends is None:
                    return None
                constant += max(count * ends[0], count * ends[1])
            elif self._is_fixed(term):
                terms.append((term, count))
            else:
                return None
        return Linear(tuple(terms), constant)

    def _is_fixed(self, expr: Expr) -> bool:
        names = names_in(expr)
        return not (has(expr, Load, Checked) or names & self.changed or names & {self.loop.name, *self.inner})


def _values(loop: For) -> tuple[int, int] | None:
    """The least and greatest value of a short loop's variable."""
    trip = trip_of(loop)
    if not trip or trip > SHORT or not isinstance(loop.lower, Const) or not isinstance(loop.step, Const):
        return None
    first = int(loop.lower.value)
    last = first + (trip - 1) * int(loop.step.value)
    return min(first, last), max(first, last)


def _without(form: Linear, name: str) -> Linear:
    return Linear(tuple(one for one in form.terms if one[0] != variable(name)), form.constant)


def _negated(form: Linear) -> Linear:
    return Linear(tuple((term, -count) for term, count in form.terms), -form.constant)


def _plus(form: Linear, constant: int) -> Linear:
    return Linear(form.terms, form.constant + constant)


def _difference(left: Linear, right: Linear, times: int = 1) -> Linear:
    """left - times * right."""
    counts = dict(left.terms)
    for term, count in right.terms:
        counts[term] = counts.get(term, 0) - times * count
    return Linear(tuple(one for one in counts.items() if one[1]), left.constant - times * right.constant)
