"""What is known of whole numbers that a loop carries from one iteration to the next, such as the length of a block that
each round doubles, or a counter: they never fall below some number, as a counter that goes down does not while it is
tested before (`while k > 0: ... k -= 1`); where the condition of a `while` limits them they stay below a multiple of
its limit; and what only falls, or only rises, stays on one side of what it was before the loop. A value that could grow
past 64 bits, and so become negative, has no range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from loopwright.analysis.affine import LEVELS, Affine, End, Interval, Symbol, roots_of, scale
from loopwright.analysis.values import State, value_of
from loopwright.ir.nodes import Assign, Binary, Body, Compare, Const, Expr, For, If, Load, Logical, Select, Var, While
from loopwright.ir.queries import has, names_in, names_read, settled_by, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, statements

MOST_ADDED = 1024
"""What an iteration may add."""

AGES = 52
"""So many bits has the number of iterations after which a call would run for weeks: what it adds in them is no more."""

BEGINS = (56, 58, 60, 61, 62)
"""How many bits the values may have that scalars begin with: the fewest that do, so that sums of what loops inside of
each other make of them still fit."""

FAR = 2**56
"""A scalar that may be larger has no limit."""

NONE: frozenset[str] = frozenset()

MOST_TIMES = 4096
"""By what an iteration may multiply."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a scalar is at least and at most, by the levels of what is assumed of arguments, and the arguments whose
    levels decide. ends: what else limits it."""

    intervals: tuple[Interval, ...]
    roots: frozenset[Symbol] = frozenset()
    ends: tuple[End, ...] = ()


def carried_ranges(loop: For | While, state: State) -> dict[str, Range]:
    """The scalars that the loop assigns and that are in a range before, after, and at the beginning of each iteration.
    state: as it is before the loop."""
    guards = ((loop.condition, loop.body),) if isinstance(loop, While) else ()
    given = list(_given(loop.body, loop, guards))
    floors: dict[str, int] = {}
    first, inside = _set_first(loop), set[str]()  # inside: those that may be as before afterwards
    for one in (each.stmt for each in given):
        known = state.scalars.get(one.name) if one.name in state.types else None
        if one.value.type == INT64 and known is not None and known.interval(0)[0] > INT64.minimum:
            floors[one.name] = known.interval(0)[0]
        elif one.value.type == INT64 and (one.name in first or one.name not in state.types):
            floors[one.name] = 0  # nothing is read before it is given a value here
            inside |= {one.name} & state.types.keys()
    changing = unsettled_in((loop,)) | {loop.name}
    asked = _Ranges(state, changing, floors, given, first)
    while floors:
        lower = {one.stmt.name: asked.least(one.stmt) for one in given if one.stmt.name in floors}
        wrong = [name for name, floor in lower.items() if floor is None or floor < floors[name]]
        if not wrong:
            break
        for name in wrong:
            floor, least = floors.pop(name), lower[name]
            if floor > 0:
                floors[name] = 0
            elif floor == 0 and least == -1:  # a search from the end, which ends there
                floors[name] = -1
    floors = {name: floor for name, floor in floors.items() if name not in inside}
    before = {name: state.scalars[name] for name in floors if name in state.types}
    most = _most(state, asked, (*asked.begins, *before.values()))
    if most is None:
        return {}  # what is added could carry it past 64 bits
    ranges = {name: _range(before.get(name), floor, asked.limits.get(name), most) for name, floor in floors.items()}
    return {name: _one_sided(name, one, before.get(name), asked) for name, one in ranges.items()}


def _set_first(loop: For | While) -> set[str]:
    """The scalars that each iteration gives a value before it reads them."""
    first, read = set[str](), names_in(loop.condition) if isinstance(loop, While) else set[str]()
    for stmt in loop.body:
        if isinstance(stmt, Assign) and stmt.name not in read | names_in(stmt.value):
            first.add(stmt.name)
        read = read | names_read((stmt,))
    return first


def _most(state: State, asked: _Ranges, begins: tuple[Affine, ...]) -> int | None:
    """What scalars are at most that begin with such values; None where it has more than 64 bits."""
    if not (asked.adds or asked.halves or asked.limits):
        return max((one.interval(0)[1] for one in begins), default=INT64.maximum)
    for bits in BEGINS:
        if all(state.table.fits(one, INT64.minimum, 2**bits) for one in begins):
            most = 2**bits + (asked.adds << AGES)
            if most > INT64.maximum or (asked.halves and 2 * most > INT64.maximum):
                return None
            return most if not asked.limits else INT64.maximum
    return None


def _range(before: Affine | None, least: int, limit: Affine | None, most: int) -> Range:
    if limit is None or before is None:
        return Range(((least, most),) * len(LEVELS))
    ends = (max(form.interval(level)[1] for form in (before, limit)) for level in range(len(LEVELS)))
    return Range(tuple((least, end) for end in ends), roots_of((before, limit)))


def _one_sided(name: str, known: Range, before: Affine | None, asked: _Ranges) -> Range:
    """What is known of a scalar that never becomes more, or never less, than it was before the loop."""
    updates = [one.stmt.value for one in asked.given if one.stmt.name == name]
    if before is None:
        return known
    if all(asked.keeps_side(value, name, "<=") for value in updates):
        spans = zip(known.intervals, (before.interval(level)[1] for level in range(len(LEVELS))), strict=True)
        intervals = tuple((least, min(most, end)) for (least, most), end in spans)
        ends: tuple[End, ...] = () if before.is_constant else (("<=", before),)
        return Range(intervals, known.roots | roots_of((before,)), ends)
    if not before.is_constant and all(asked.keeps_side(value, name, ">=") for value in updates):
        return Range(known.intervals, known.roots, ((">=", before),))
    return known


@dataclass(frozen=True, slots=True)
class _Update:
    """An assignment. around: the innermost loop around it. guards: the conditions under which it runs, from that loop
    on, with what runs under them: it does at most once each time that they hold."""

    stmt: Assign
    around: For | While
    guards: tuple[tuple[Expr, Body], ...]


def _given(body: Body, around: For | While, guards: tuple[tuple[Expr, Body], ...]) -> Iterator[_Update]:
    """Every assignment."""
    for stmt in body:
        match stmt:
            case Assign():
                yield _Update(stmt, around, guards)
            case While(condition=condition, body=inner):
                yield from _given(inner, stmt, ((condition, inner),))
            case For(body=inner):
                yield from _given(inner, stmt, ())
            case If(condition=condition, then=then, otherwise=otherwise):
                yield from _given(then, around, (*guards, (condition, then)))
                yield from _given(otherwise, around, guards)
            case _:
                for inner in bodies(stmt):
                    yield from _given(inner, around, guards)


@dataclass(slots=True)
class _Ranges:
    """What expressions are at least, where the scalars that change in a loop are at least `floors`. limits: what those
    that are multiplied are at most. begins: the values that scalars are given from outside the loop. adds: whether
    anything is added to them."""

    state: State
    changing: set[str]
    floors: dict[str, int]
    given: list[_Update]
    first: set[str]
    limits: dict[str, Affine] = field(default_factory=dict)
    begins: list[Affine] = field(default_factory=list)
    adds: int = 0
    halves: bool = False

    def least(self, stmt: Assign) -> int | None:
        """What every assignment to a scalar gives it at least; None where nobody knows."""
        found = [self._value(one.stmt.value, one) for one in self.given if one.stmt.name == stmt.name]
        return None if None in found else min(floor for floor in found if floor is not None)

    def _value(self, expr: Expr, given: _Update) -> int | None:
        if isinstance(expr, Var) and expr.name in self.changing:
            return self.floors.get(expr.name)
        if settled_by(expr).isdisjoint(self.changing):
            if has(expr, Load):
                return None
            self.begins.append(value_of(self.state, expr))
            return self.begins[-1].interval(0)[0]
        if isinstance(expr, Select):
            return _least(self._value(side, given) for side in (expr.then, expr.otherwise))
        if not isinstance(expr, Binary):
            return None
        if (middle := _sum_of_half(expr)) is not None:
            floor = _least(self._value(side, given) for side in middle)
            self.halves |= floor is not None
            return None if floor is None or floor < 0 else floor
        if expr.op == "min":
            return _least(self._value(side, given) for side in (expr.left, expr.right))
        if expr.op == "sub" and self._is_tested_against(expr, given):
            return 0
        for side, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(other, Const) and (other is expr.right or expr.op in ("add", "mul")):
                floor = self._value(side, given)
                number = int(other.value)
                if floor is not None and expr.op == "sub":
                    tested = self._tested(side, given)
                    return None if tested is None or number <= 0 else max(floor, tested) - number
                return None if floor is None else self._by_number(expr.op, floor, number, given)
        return None

    def _by_number(self, op: str, floor: int, number: int, given: _Update) -> int | None:
        """The least of `value op number`, for a value of at least `floor`."""
        if op == "add" and 0 <= number <= MOST_ADDED:
            self.adds = max(self.adds, number)
            return floor + number
        if op == "floordiv" and number > 0:
            return floor // number
        if op == "shr" and number >= 0:
            return floor >> number
        times = 1 << number if op == "shl" and 0 <= number < 12 else number if op == "mul" else 0
        if 1 <= times <= MOST_TIMES and floor >= 0 and self._is_limited(given, times):
            return floor * times
        return None

    def _tested(self, expr: Expr, given: _Update) -> int | None:
        """What a scalar is at least by the conditions under which it, or another, is given a value of it, and by them
        alone."""
        if not isinstance(expr, Var):
            return None
        return max((least for condition, body in given.guards for least in _least_by(condition, expr.name, self.floors)
                    if _is_as_tested(expr.name, given.stmt, body)), default=None)  # fmt: skip

    def _is_tested_against(self, expr: Binary, given: _Update) -> bool:
        """Whether a scalar becomes less by a number that it is tested to be no less than, which is not negative."""
        own = isinstance(expr.left, Var) and expr.left.name == given.stmt.name
        return own and self._is_never_negative(expr.right) and any(
            _is_no_less(condition, expr.left, expr.right) and _is_given_once(given.stmt.name, body)
            for condition, body in given.guards
        )  # fmt: skip

    def _is_never_negative(self, expr: Expr) -> bool:
        is_settled = settled_by(expr).isdisjoint(self.changing) and not has(expr, Load)
        return is_settled and value_of(self.state, expr).interval(0)[0] >= 0

    def keeps_side(self, expr: Expr, name: str, side: Literal["<=", ">="], others: frozenset[str] = NONE) -> bool:
        """Whether a value is on this side of what the scalar was before the loop, where the scalar itself and others
        are. What has a floor does not wrap around."""
        match expr:
            case Var(name=other) if other in self.first and other != name and other not in others:
                updates = [one.stmt.value for one in self.given if one.stmt.name == other]
                return all(self.keeps_side(value, name, side, others | {other}) for value in updates)
            case Var(name=other):
                return other == name or other in others
            case Select(then=then, otherwise=otherwise):
                return all(self.keeps_side(one, name, side, others) for one in (then, otherwise))
            case Binary(op="min" | "max" as op, left=left, right=right) if (op == "min") == (side == "<="):
                return any(self.keeps_side(one, name, side, others) for one in (left, right))
            case Binary(op="add" | "sub" as op, left=left, right=right) if (op == "sub") == (side == "<="):
                return self._is_never_negative(right) and self.keeps_side(left, name, side, others)
            case Binary(op="floordiv" | "shr" as op, left=left, right=Const(value=number)):
                is_smaller = side == "<=" and self.floors[name] >= 0 and number >= (op == "floordiv")
                return is_smaller and self.keeps_side(left, name, side, others)  # less than none is less, too
            case _:
                return False

    def _is_limited(self, given: _Update, times: int) -> bool:
        """Whether the loop goes on only while the scalar is so small that this many times its value has 64 bits, and an
        iteration gives it that value and no other."""
        stmt, around = given.stmt, given.around
        alone = sum(one.stmt.name == stmt.name for one in self.given) == 1
        own = isinstance(stmt.value, Binary) and Var(stmt.name, INT64) in (stmt.value.left, stmt.value.right)
        if not alone or not own or not isinstance(around, While):
            return False
        for limit in _limits(around.condition, stmt.name):
            if settled_by(limit).isdisjoint(self.changing) and not has(limit, Load):
                most = scale(value_of(self.state, limit), times)
                if self.state.table.fits(most, INT64.minimum, INT64.maximum):
                    self.limits[stmt.name] = most
                    return True
        return False


def _sum_of_half(expr: Binary) -> tuple[Expr, Expr] | None:
    """The two numbers of which an expression is the middle, rounded down, or less."""
    match expr:
        case Binary(
            op="shr" | "floordiv" as op, left=Binary(op="add", left=left, right=right), right=Const(value=value)
        ):
            is_whole = not isinstance(left, Const) and not isinstance(right, Const)
            return (left, right) if is_whole and value >= (1 if op == "shr" else 2) else None
    return None


def _least(floors: Iterator[int | None]) -> int | None:
    known = list(floors)
    return None if None in known else min(floor for floor in known if floor is not None)


def _is_as_tested(name: str, reader: Assign, body: Body) -> bool:
    """Whether a scalar still is what it was at the beginning of a body where an assignment of the body reads it."""
    if reader.name == name:
        return _is_given_once(name, body)
    before = next((body[:place] for place, stmt in enumerate(body) if stmt is reader), None)
    return before is not None and all(one.name != name for one in statements(before, Assign))


def _is_given_once(name: str, body: Body) -> bool:
    return sum(one.name == name for one in statements(body, Assign)) == 1


def _is_no_less(condition: Expr, scalar: Expr, other: Expr) -> bool:
    """Whether a scalar is at least another number wherever a condition holds."""
    match condition:
        case Logical(op="and", left=left, right=right):
            return _is_no_less(left, scalar, other) or _is_no_less(right, scalar, other)
        case Compare(op="gt" | "ge", left=left, right=right):
            return (left, right) == (scalar, other)
        case Compare(op="lt" | "le", left=left, right=right):
            return (right, left) == (scalar, other)
        case _:
            return False


def _least_by(condition: Expr, name: str, floors: Mapping[str, int]) -> Iterator[int]:
    """The numbers that a scalar is at least wherever a condition holds. floors: what others are at least."""
    match condition:
        case Logical(op="and", left=left, right=right):
            yield from _least_by(left, name, floors)
            yield from _least_by(right, name, floors)
        case Compare(op="gt" | "ge" as op, left=Var(name=tested), right=other) if tested == name:
            yield from _one_more(other, floors, op == "gt")
        case Compare(op="lt" | "le" as op, left=other, right=Var(name=tested)) if tested == name:
            yield from _one_more(other, floors, op == "lt")


def _one_more(other: Expr, floors: Mapping[str, int], is_more: bool) -> Iterator[int]:
    match other:
        case Const(value=value):
            yield int(value) + is_more
        case Var(name=name) if name in floors:
            yield floors[name] + is_more


def _limits(condition: Expr, name: str) -> Iterator[Expr]:
    """What a scalar is at most wherever a condition holds."""
    if isinstance(condition, Logical) and condition.op == "and":
        yield from _limits(condition.left, name)
        yield from _limits(condition.right, name)
    elif isinstance(condition, Compare):
        sides = {"lt": (condition.left, condition.right), "gt": (condition.right, condition.left)}
        smaller, larger = sides.get(condition.op.replace("le", "lt").replace("ge", "gt"), (None, None))
        if isinstance(smaller, Var) and smaller.name == name and larger is not None:
            yield larger
