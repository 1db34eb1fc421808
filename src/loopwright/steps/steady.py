"""Where conditions on a loop's variable all hold: the iterations between two points, found from the conditions' text.

Whole numbers only, and only sums: `2 * j + k < n` and `max(j - 1, 0)` and `(j + 1) % n`, with numbers that stay the
same in the loop, and variables of inner loops between constants, whose worst value counts. Bounds of loops that wrap
around are what the guard forbids (analysis/guard.py), so that sums are read as sums here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import reduce

from loopwright.ir.identities import simpler
from loopwright.ir.linear import Linear, apart, least, linear, most, number, plus, variable
from loopwright.ir.nodes import (
    Assign,
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
    Stmt,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import (
    bodies,
    own_expressions,
    rewrite_expr,
    statements,
    subexpressions,
    unless_same,
    with_bodies,
    with_own_expressions,
)
from loopwright.steps.draft import substituted_in
from loopwright.steps.extent import ends_of, starts_of, trip_of
from loopwright.steps.nest import size_of

SHORT = 16
"""An inner loop with at most so many iterations is looked through: its worst one counts."""


Place = tuple[int, Expr]
"""An expression of one statement, which is told by its identity."""


@dataclass
class SteadyState:
    """The iterations from all of `lows` on, below all of `highs`, and other than `hole`, for which `tests` hold, which
    are the same for all of them. known: what expressions are worth there; of an element, that it has another key, so
    that its bounds are proven anew. anew: statements of which that is true. outside: what the one condition that there
    is, is worth in all others; empty where there are several, or where it may be either."""

    lows: list[Expr] = field(default_factory=list)
    highs: list[Expr] = field(default_factory=list)
    tests: list[Expr] = field(default_factory=list)
    hole: Expr | None = None
    known: dict[Place, Expr] = field(default_factory=dict)
    anew: set[int] = field(default_factory=set)
    outside: dict[Place, Expr] = field(default_factory=dict)

    @property
    def low(self) -> Expr | None:
        """The point from which on they run."""
        return reduce(later, self.lows) if self.lows else None

    @property
    def high(self) -> Expr | None:
        """The point below which they run."""
        return reduce(earlier, self.highs) if self.highs else None


def later(first: Expr, second: Expr) -> Expr:
    """The later of two points."""
    gap = apart(first, second)
    return most(first, second) if gap is None else first if gap >= 0 else second


def earlier(first: Expr, second: Expr) -> Expr:
    """The earlier of two points."""
    gap = apart(first, second)
    return least(first, second) if gap is None else first if gap <= 0 else second


def steady_iterations(loop: For) -> SteadyState | None:
    """Where the conditions in a loop hold; None where there are no such iterations to tell from others."""
    finder = _Finder(loop)
    finder.read(loop.body, {})
    found = finder.found
    has_ends = bool(found.lows or found.highs)
    if has_ends == (found.hole is not None):
        return None
    telling = [(stmt, root) for stmt, root in finder.roots if _asked(stmt, root, found.known)]
    if len(telling) == 1 and not finder.is_loose:
        found.outside = _outside(*telling[0], found.known)
    return found


def with_known(body: Body, known: Mapping[Place, Expr], anew: Set[int] = frozenset()) -> Body:
    """A body in which some expressions have other values, and some stores (by identity) other keys."""
    result: list[Stmt] = []
    for stmt in body:
        new = with_own_expressions(stmt, tuple(_with_known(stmt, own, known) for own in own_expressions(stmt)))
        if isinstance(new, Store) and id(stmt) in anew:
            new = replace(new, key=object())
        result.append(with_bodies(new, tuple(with_known(inner, known, anew) for inner in bodies(stmt))))
    return unless_same(body, result)


def _with_known(stmt: Stmt, expr: Expr, known: Mapping[Place, Expr]) -> Expr:
    return rewrite_expr(expr, lambda part: known.get((id(stmt), part), part))


def _asked(stmt: Stmt, root: Expr, known: Mapping[Place, Expr]) -> bool:
    return any((id(stmt), part) in known for part in subexpressions(root))


def _outside(stmt: Stmt, root: Expr, known: Mapping[Place, Expr]) -> dict[Place, Expr]:
    """What a condition is worth where one of its parts is not what it is in the steady state."""
    for op, value in (("and", True), ("or", False)):
        asked = [part for part in _parts(root, op) if _asked(stmt, part, known)]
        if all(known.get((id(stmt), part)) == Const(value, BOOL) for part in asked):
            return {(id(stmt), root): Const(not value, BOOL)}
    return {}


def _parts(expr: Expr, op: str) -> Iterator[Expr]:
    if isinstance(expr, Logical) and expr.op == op:
        yield from _parts(expr.left, op)
        yield from _parts(expr.right, op)
    else:
        yield expr


Values = dict[str, Expr]
"""What scalars that the loop sets are worth at a place, in terms of what it does not set."""


class _Finder:
    """Reads a body as it runs in the steady state; a condition that cannot be read changes nothing. roots: the whole
    conditions that were met, with their statements. is_loose: what holds in the steady state may hold elsewhere too."""

    def __init__(self, loop: For) -> None:
        self.loop = loop
        self.changed = names_assigned(loop.body)
        self.inner = {stmt.name: stmt for stmt in statements(loop.body, For)}
        self.found = SteadyState()
        self.roots: list[tuple[Stmt, Expr]] = []
        self.is_loose = False

    def read(self, body: Body, values: Values) -> None:
        """Read statements in their order; `values` become those behind them."""
        for stmt in body:
            for own in own_expressions(stmt):
                self._read_parts(stmt, own, values)
            match stmt:
                case Assign():
                    self._assign(stmt, values)
                case If():
                    self._branch(stmt, values)
                case _:
                    self._forget(bodies(stmt), values)
                    for inner in bodies(stmt):
                        self.read(inner, dict(values))

    def _assign(self, stmt: Assign, values: Values) -> None:
        values.pop(stmt.name, None)
        value = substituted_in(_with_known(stmt, stmt.value, self.found.known), values)
        if value.type == INT64 and not has(value, Load, Checked) and not names_in(value) & self.changed:
            values[stmt.name] = value

    def _branch(self, stmt: If, values: Values) -> None:
        condition = rewrite_expr(_with_known(stmt, stmt.condition, self.found.known), simpler)
        if isinstance(condition, Const):
            self.read(stmt.then if condition.value else stmt.otherwise, values)
            return
        for branch in (stmt.then, stmt.otherwise):
            self.read(branch, dict(values))
        self._forget(bodies(stmt), values)

    def _forget(self, inside: Iterable[Body], values: Values) -> None:
        for body in inside:
            for name in names_assigned(body):
                values.pop(name, None)

    def _read_parts(self, stmt: Stmt, expr: Expr, values: Values) -> None:
        for part in subexpressions(expr):
            if isinstance(part, Select):
                self._root(stmt, part.condition, values)
            elif isinstance(part, Binary) and part.type == INT64 and part.op in ("min", "max", "mod"):
                self._piece(stmt, part, values)
        self._read_nested(stmt, expr, values)
        if isinstance(stmt, If):
            self._root(stmt, stmt.condition, values)
        for access in subexpressions(expr, Load):
            if self._is_new(access.index, values):
                self.found.known[id(stmt), access] = replace(access, key=object())
        if isinstance(stmt, Store) and self._is_new(stmt.index, values):
            self.found.anew.add(id(stmt))

    def _read_nested(self, stmt: Stmt, expr: Expr, values: Values) -> None:
        """Read minima and maxima of others, as they are where those inside are known: `min(max(j - 1, 0), n - 1)`."""
        for part in reversed(list(subexpressions(expr, Binary))):
            if part.type == INT64 and part.op in ("min", "max", "mod"):
                inside = _with_known(stmt, part, self.found.known)
                if inside != part and isinstance(inside, Binary) and inside.op == part.op:
                    self._piece(stmt, inside, values)

    def _root(self, stmt: Stmt, expr: Expr, values: Values) -> None:
        self.roots.append((stmt, expr))
        self._condition(stmt, expr, self._holds_mostly(stmt, expr), values)

    def _holds_mostly(self, stmt: Stmt, expr: Expr) -> bool:
        """Whether a condition should hold: of one that no iteration changes, what leads to most of the work. One that
        corrects what it asks for (`if x < 0: x = -x`) is for the borders."""
        if isinstance(stmt, If) and _corrects(stmt):
            return False
        is_same = isinstance(expr, Compare) and not names_in(expr) & (self.changed | {self.loop.name, *self.inner})
        return not (is_same and isinstance(stmt, If) and size_of(stmt.then) < size_of(stmt.otherwise))

    def _condition(self, stmt: Stmt, expr: Expr, wanted: bool, values: Values) -> None:
        """Find where a condition is as wanted; what `and` joins should hold, what `or` joins should not."""
        match expr:
            case Logical():
                self._condition(stmt, expr.left, expr.op == "and", values)
                self._condition(stmt, expr.right, expr.op == "and", values)
            case Unary(op="not"):
                self._condition(stmt, expr.operand, not wanted, values)
            case Compare() if expr.left.type == INT64 and (id(stmt), expr) not in self.found.known:
                if expr.op in ("eq", "ne"):
                    wanted = expr.op == "ne"
                meant = Compare(expr.op, substituted_in(expr.left, values), substituted_in(expr.right, values))
                holds = self._holds(meant, wanted)
                if holds is not None:
                    self.found.known[id(stmt), expr] = Const(holds, BOOL)
            case _:
                pass

    def _is_new(self, index: tuple[Expr, ...], values: Values) -> bool:
        """Whether more may be proven of an index in the steady state: it goes by way of what the loop sets, or it is
        such as `j - 1`, and is not to count from the end of its axis."""
        forms = [linear(substituted_in(one, values)) for one in index]
        first = max((int(start.value) for start in starts_of(self.loop) if isinstance(start, Const)), default=None)
        own = [
            form for form in forms
            if first is not None and form.constant < -first and form.terms == ((variable(self.loop.name), 1),)
        ]  # fmt: skip
        asked = bool(own) and self._ask(*map(_negated, own))
        self.is_loose |= asked
        return asked or any(names_in(one) & set(values) for one in index)

    def _piece(self, stmt: Stmt, expr: Binary, values: Values) -> None:
        """Find where one part of a minimum, a maximum or a remainder is all of it."""
        left, right = linear(substituted_in(expr.left, values)), linear(substituted_in(expr.right, values))
        if expr.op == "mod":
            value = self._remainder(expr, left, values)
        else:
            if not self._moves(left):
                left, right = right, left
            difference = _difference(left, right)
            asked = difference if expr.op == "min" else _negated(difference)
            value = left.expr if self._moves(left) and self._ask(asked) else None
        if value is not None:
            self.is_loose = True
            self.found.known[id(stmt), expr] = value

    def _remainder(self, expr: Binary, x: Linear, values: Values) -> Expr | None:
        modulus = expr.right.value if isinstance(expr.right, Checked) else expr.right
        divisor = linear(substituted_in(modulus, values))
        if not self._moves(x) or self._moves(divisor) or len(divisor.terms) > 1:
            return None
        if all(apart(end, divisor.expr) is None for end in ends_of(self.loop)):
            return None  # the loop may go around many times
        if x.coefficient(self.loop.name) not in (-1, 0, 1):
            return None  # or so many times in one loop
        times = x.coefficient_of(divisor.terms[0][0]) if divisor.terms else 0
        x = _difference(x, divisor, times)
        return x.expr if self._ask(_negated(x), _plus(_difference(x, divisor), 1)) else None

    def _moves(self, form: Linear) -> bool:
        """Whether the loop's variable is counted in a form, or that of a loop in it."""
        return any(isinstance(term, Var) and term.name in (self.loop.name, *self.inner) for term, _ in form.terms)

    def _holds(self, test: Compare, wanted: bool) -> bool | None:
        """What a test is worth in the steady state: as wanted, if that may be for more than a few iterations; None
        where it cannot be read."""
        form = _difference(linear(test.left), linear(test.right))
        if not self._moves(form):
            return wanted if self._same(test, wanted) else None
        if test.op in ("eq", "ne"):
            return wanted if self._differs(form) else None
        if test.op in ("gt", "ge"):
            form = _negated(form)
        if test.op in ("lt", "gt"):
            form = _plus(form, 1)
        opposite = _plus(_negated(form), 1)  # of form <= 0: form >= 1
        if self._is_short(form if wanted else opposite):
            wanted = not wanted
        return wanted if self._ask(form if wanted else opposite) else None

    def _is_short(self, form: Linear) -> bool:
        """Whether a form is at most zero in a few iterations only, as far as the text tells."""
        match self._bound(form):
            case ("high", high):
                gaps = [apart(high, start) for start in starts_of(self.loop)]
            case ("low", low):
                gaps = [apart(end, low) for end in ends_of(self.loop)]
            case _:
                return False
        return any(gap is not None and gap <= SHORT for gap in gaps)

    def _same(self, test: Compare, wanted: bool) -> bool:
        """A test that no iteration changes."""
        if not all(self._is_fixed(term) for term in (test.left, test.right)):
            return False
        self.found.tests.append(test if wanted else Unary("not", test))
        return True

    def _differs(self, form: Linear) -> bool:
        """That a form is not zero: true from the loop's first point on, up to its last one, or but for one point."""
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

    def _ask(self, *forms: Linear) -> bool:
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
        rest = self._worst(_without(form, self.loop.name))
        if rest is None or count is None:
            return None
        if count == 0:
            if rest.is_constant:
                return ("none", rest.expr) if rest.constant <= 0 else None
            return "test", Compare("le", rest.expr, number(0))
        if count > 0:
            high = plus(_quotient(_negated(rest), count), 1)
            known = any((gap := apart(high, end)) is not None and gap >= 0 for end in ends_of(self.loop))
            return ("none" if known else "high"), high
        low = _quotient(_plus(rest, -count - 1), -count)
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


def _corrects(stmt: If) -> bool:
    match stmt:
        case If(condition=Compare() as condition, then=(Assign(name=name, value=value),), otherwise=()):
            return value.type == INT64 and name in names_in(condition)
    return False


def _quotient(form: Linear, divisor: int) -> Expr:
    """A form by a positive number, rounded down."""
    if any(count % divisor for _, count in form.terms):
        return Binary("floordiv", form.expr, number(divisor))
    return Linear(tuple((term, count // divisor) for term, count in form.terms), form.constant // divisor).expr


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
