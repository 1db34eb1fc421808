"""Loops that exchange elements in pairs, each with a partner that its index tells, as sorting networks, butterflies and
gates on the bits of an index do:

    other = i ^ step
    if other > i:
        a[i], a[other] = a[other], a[i]

An iteration touches elements `i` and `p(i)`. No two of them meet where p gives different elements different partners,
and the test that lets an iteration in turns its partner away. That is so for

    i ^ c                    where  i ^ c > i
    i | c, i ^ c or i + c    where  i & c == 0
    i + c                    where  i // c % 2 == 0, or i % (2 * c) < c

with any c that stays the same throughout the loop, and is not negative in the latter two rows, as no index may count
from the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from loopwright.analysis.dependence import goes_on
from loopwright.analysis.trace import LoopNote, Trace
from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Checked,
    Compare,
    CompareOp,
    Const,
    Continue,
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
from loopwright.ir.queries import has, names_in, settled_by, unsettled_in
from loopwright.ir.walk import bodies, children, own_expressions, rewrite_expr, statements

MOST_BITS = 16
"""A constant of no more bits, shifted left, is past the end of every array before it is negative."""

OPPOSITE: dict[CompareOp, CompareOp] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def in_pairs(notes: Trace, note: LoopNote, array: str) -> bool:
    """Whether no two iterations of a loop touch the same element of the array, as pairs of indices along one axis
    tell. The indices may be those of a loop inside. Raises TooHard."""
    for loop in (note.loop, *statements(note.loop.body, For)):
        own = notes.loops.get(loop.name)
        if own is None or own.step <= 0 or own.lower.interval(0)[0] < 0:
            continue
        places = IndexedPlaces(note.loop, loop.name, array).of(note.loop.body, ())
        found = _may_be_paired(Var(loop.name, loop.lower.type), places)
        if found and any(_paired(notes, own, found, axis) for axis in range(len(found[0].index))):
            return own is note or goes_on(note, own)
    return False


@dataclass(frozen=True, slots=True)
class IndexedPlace:
    """An access: its index, and what holds there, in terms of the loop's variable and what is constant in the loop."""

    index: tuple[Expr, ...]
    where: tuple[Expr, ...]


def _may_be_paired(own: Var, places: Iterable[IndexedPlace]) -> list[IndexedPlace]:
    """The places; none where along each axis there are other indices than the variable and one partner. Most loops are
    known by their first accesses to have no pairs: the others are not looked for."""
    found: list[IndexedPlace] = []
    partners: dict[int, Expr] = {}  # by axis; the variable itself before there is any
    for place in places:
        if not found:
            partners = dict.fromkeys(range(len(place.index)), own)
        found.append(place)
        for axis, partner in tuple(partners.items()):
            index = place.index[axis]
            if index in (own, partner):
                continue
            if partner != own or not isinstance(index, Binary):
                del partners[axis]
            else:
                partners[axis] = index
        if not partners:
            return []
    return found


def _paired(notes: Trace, note: LoopNote, places: Sequence[IndexedPlace], axis: int) -> bool:
    own = Var(note.loop.name, note.loop.lower.type)
    partners = {place.index[axis] for place in places} - {own}
    if len(partners) != 1:
        return False
    partner = partners.pop()
    return all(any(_turns_away(notes, note, test, partner) for test in place.where) for place in places)


def _turns_away(notes: Trace, note: LoopNote, test: Expr, partner: Expr) -> bool:
    """Whether a test that holds for an iteration cannot hold for its partner, and no two have the same one."""
    own = Var(note.loop.name, note.loop.lower.type)
    if not isinstance(partner, Binary) or not isinstance(test, Compare):
        return False
    by = next((right for left, right in _sides(partner) if left == own), None)
    if by is None or own.name in names_in(by):
        return False
    if partner.op == "xor" and (test.op, test.left, test.right) in (("gt", partner, own), ("lt", own, partner)):
        return True
    if not _is_not_negative(notes, note.loop, by):
        return False
    if partner.op in ("or", "xor", "add") and _is_zero(test) and _is(test.left, "and", own, by):
        return True
    return partner.op == "add" and (_in_even_block(test, own, by) or _in_lower_half(test, own, by))


def _sides(expr: Binary) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
    return (expr.left, expr.right), (expr.right, expr.left)


def _is(expr: Expr, op: str, one: Expr, other: Expr) -> bool:
    return isinstance(expr, Binary) and expr.op == op and (one, other) in _sides(expr)


def _is_zero(test: Compare) -> bool:
    return test.op == "eq" and test.right == Const(0, test.right.type)


def _in_even_block(test: Compare, own: Expr, by: Expr) -> bool:
    """Whether it is `own // by % 2 == 0`."""
    match test.left:
        case Binary(
            op="mod" | "and" as op, left=Binary(op="floordiv", left=left, right=right), right=Const(value=value)
        ):
            return _is_zero(test) and (left, right) == (own, by) and value == (2 if op == "mod" else 1)
    return False


def _in_lower_half(test: Compare, own: Expr, by: Expr) -> bool:
    """Whether it is `own % (2 * by) < by`."""
    match test:
        case Compare(op="lt", left=Binary(op="mod", left=left, right=whole), right=right) if (left, right) == (own, by):
            return _is(whole, "mul", by, Const(2, by.type)) or _is(whole, "add", by, by)
    return False


def _is_not_negative(notes: Trace, loop: For, expr: Expr) -> bool:
    """Whether it is not negative, or so far below zero that there is no such element in any array."""
    match expr:
        case Const():
            return expr.value >= 0
        case Var():
            known = next((values.get(expr.name) for stmt, values in notes.values if stmt is loop), None)
            return known is not None and known.interval(0)[0] >= 0
        case Binary(op="shl", left=Const(value=value)):
            return 0 <= value < 1 << MOST_BITS
    return False


@by_identity
def _changing_in(loop: For) -> frozenset[str]:
    """What may have several values in a loop: variables of loops too."""
    return frozenset(unsettled_in(loop.body) | {one.name for one in statements((loop,), For)})


@by_identity
def _assigned_once(loop: For) -> frozenset[str]:
    """The scalars with one assignment in a loop."""
    counts = Counter(one.name for one in statements(loop.body, Assign))
    return frozenset(name for name, count in counts.items() if count == 1)


@dataclass(slots=True)
class IndexedPlaces:
    """The accesses of an array in a loop. own: the variable that tells its indices, of this loop or of one inside.
    known: scalars that have one value for each of it, once it is given."""

    loop: For
    own: str
    array: str
    known: dict[str, Expr] = field(default_factory=dict)
    changing: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.changing = _changing_in(self.loop) - {self.own}

    def of(self, body: Body, where: tuple[Expr, ...]) -> Iterator[IndexedPlace]:
        for stmt in body:
            yield from self._own(stmt, where)
            if isinstance(stmt, If):
                yield from self.of(stmt.then, (*where, *self._tests(stmt.condition)))
                yield from self.of(stmt.otherwise, (*where, *self._tests_not(stmt.condition)))
                if not stmt.otherwise and self._leaves(stmt.then):
                    where = (*where, *self._tests_not(stmt.condition))
            else:
                for inner in bodies(stmt):
                    yield from self.of(inner, where)
            if isinstance(stmt, Assign):
                self._assigned(stmt)

    def _own(self, stmt: Stmt, where: tuple[Expr, ...]) -> Iterator[IndexedPlace]:
        for expr in own_expressions(stmt):
            yield from self._in(expr, where)
        if isinstance(stmt, Store) and stmt.array == self.array:
            yield self._place(stmt.index, where)

    def _in(self, expr: Expr, where: tuple[Expr, ...]) -> Iterator[IndexedPlace]:
        if isinstance(expr, Load) and expr.array == self.array:
            yield self._place(expr.index, where)
        if isinstance(expr, Logical):
            yield from self._in(expr.left, where)
            right = self._tests(expr.left) if expr.op == "and" else self._tests_not(expr.left)
            yield from self._in(expr.right, (*where, *right))
        elif isinstance(expr, Select):
            yield from self._in(expr.condition, where)
            yield from self._in(expr.then, (*where, *self._tests(expr.condition)))
            yield from self._in(expr.otherwise, (*where, *self._tests_not(expr.condition)))
        else:
            for child in children(expr):
                yield from self._in(child, where)

    def _place(self, index: tuple[Expr, ...], where: tuple[Expr, ...]) -> IndexedPlace:
        return IndexedPlace(tuple(map(self._resolved, index)), where)

    def _assigned(self, stmt: Assign) -> None:
        """A scalar with one assignment has, after it, the value that it gives, as far as that stays the same."""
        if stmt.name in _assigned_once(self.loop) and self._is_fixed(value := self._resolved(stmt.value)):
            self.known[stmt.name] = value

    def _resolved(self, expr: Expr) -> Expr:
        def change(part: Expr) -> Expr:
            if isinstance(part, Checked):
                return part.value
            return self.known.get(part.name, part) if isinstance(part, Var) else part

        return rewrite_expr(expr, change)

    def _is_fixed(self, expr: Expr) -> bool:
        """Whether it has one value throughout an iteration."""
        return settled_by(expr).isdisjoint(self.changing) and not has(expr, Load)

    def _tests(self, condition: Expr) -> Iterator[Expr]:
        """What holds where a condition does, in terms that stay the same."""
        if isinstance(condition, Logical) and condition.op == "and":
            yield from self._tests(condition.left)
            yield from self._tests(condition.right)
        elif isinstance(condition, Unary) and condition.op == "not":
            yield from self._tests_not(condition.operand)
        elif self._is_fixed(test := self._resolved(condition)):
            yield test

    def _tests_not(self, condition: Expr) -> Iterator[Expr]:
        """What holds where a condition does not."""
        if isinstance(condition, Logical) and condition.op == "or":
            yield from self._tests_not(condition.left)
            yield from self._tests_not(condition.right)
        elif isinstance(condition, Unary) and condition.op == "not":
            yield from self._tests(condition.operand)
        elif isinstance(condition, Compare) and not condition.left.type.is_float:
            yield from self._tests(Compare(OPPOSITE[condition.op], condition.left, condition.right))

    def _leaves(self, body: Body) -> bool:
        """Whether a branch ends with the iteration."""
        return bool(body) and isinstance(body[-1], Continue) and body[-1].loop == self.own
