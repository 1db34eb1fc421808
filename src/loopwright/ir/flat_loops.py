"""Loops that go through all elements of an array by one number become nests over its axes, one loop for each.

`for t in 0 .. size(a, 0) * size(a, 1)` with `a[t // size(a, 1), t % size(a, 1)]` is what `a.flat[t]`,
`np.ndenumerate(a)` and an array given another shape come to. The quotients and remainders are the digits of t in a
mixed radix, whose places are the axes; in the nest each is a loop's variable, so that everything after this sees affine
indices, and no division. The order of the iterations stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Break,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    Kernel,
    Load,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import (
    children,
    expressions,
    loops,
    own_expressions,
    rewrite_body,
    statements,
    subexpressions,
    with_children,
    with_own_expressions,
)

Factors = tuple[Dim, ...]
"""What a size is the product of, in an order that means nothing."""


def flat_loops_as_nests(kernel: Kernel) -> Kernel:
    """The same kernel, its flat loops as nests."""
    taken = {*loops(kernel), *(one.name for one in kernel.params), *names_assigned(kernel.body)}
    shapes = _shapes(kernel)
    outside = Counter(one.name for one in expressions(kernel.body, Var))

    def nested(stmt: Stmt) -> Body:
        if not isinstance(stmt, For) or factors_of(stmt.upper) is None:
            return (stmt,)
        found = _nest_of(_plain(stmt, outside), shapes)
        return (stmt if found is None else found.written(taken),)

    body = rewrite_body(kernel.body, nested)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _shapes(kernel: Kernel) -> dict[str, tuple[Expr, ...]]:
    """The sizes of the arrays that the kernel makes, and those of its parameters."""
    made = {one.array: one.shape for one in statements(kernel.body, Allocate)}
    results = {one.name: one.shape for one in kernel.results}
    given = {one.name: tuple(Dim(one.name, axis) for axis in range(one.rank)) for one in kernel.arrays}
    return made | results | given


def factors_of(size: Expr) -> Factors | None:
    """The sizes of axes that a size is the product of; None for any other size."""
    match size:
        case Dim():
            return (size,)
        case Binary(op="mul", left=left, right=right):
            first, second = factors_of(left), factors_of(right)
            return None if first is None or second is None else first + second
    return None


def _without(whole: Factors, part: Factors) -> Factors | None:
    """The factors that are left of a product divided by another; None where it is no multiple."""
    left = Counter(whole)
    left.subtract(Counter(part))
    return None if any(times < 0 for times in left.values()) else tuple(left.elements())


# ---- what the loop does with its number -----------------------------------------------------------------------


def _plain(loop: For, outside: Counter[str]) -> For:
    """The loop without tests that its number is below its end, and without other names for its number."""
    body = rewrite_body(loop.body, expr=lambda expr: _sure(expr, loop))
    while (alias := _alias(body, loop, outside)) is not None:
        body = _renamed(body, alias, loop.name)
    return replace(loop, body=body)


def _renamed(body: Body, alias: str, name: str) -> Body:
    return rewrite_body(
        body,
        lambda stmt: () if isinstance(stmt, Assign) and stmt.name == alias else (stmt,),
        lambda expr: Var(name, INT64) if expr == Var(alias, INT64) else expr,
    )


def _sure(expr: Expr, loop: For) -> Expr:
    match expr:
        case Checked(value=value, condition=Const(value=True)):
            return value
        case Compare(op="lt", left=Var(name=name), right=end) if name == loop.name and end == loop.upper:
            return Const(True, BOOL)
    return expr


def _alias(body: Body, loop: For, outside: Counter[str]) -> str | None:
    """A scalar that is the loop's number, where the loop alone uses it, and only behind its assignment: before that it
    would be the number of the iteration before."""
    assigned = Counter(one.name for one in statements(body, Assign))
    for place, stmt in enumerate(body):
        if isinstance(stmt, Assign) and stmt.value == Var(loop.name, INT64) and assigned[stmt.name] == 1:
            behind = sum(one.name == stmt.name for one in expressions(body[place + 1 :], Var))
            if behind == outside[stmt.name]:
                return stmt.name
    return None


@dataclass(frozen=True, slots=True)
class Digit:
    """t // below % radix, as an expression of the loop; radix is None where nothing is cut off."""

    expr: Expr
    below: Factors
    radix: Factors | None


def _digit(expr: Expr, name: str) -> Digit | None:
    match expr:
        case Binary(op="mod", left=Binary(op="floordiv", left=Var(name=of), right=right), right=radix) if of == name:
            below, place = factors_of(right), factors_of(radix)
            return None if below is None or place is None else Digit(expr, below, place)
        case Binary(op="mod", left=Var(name=of), right=radix) if of == name:
            place = factors_of(radix)
            return None if place is None else Digit(expr, (), place)
        case Binary(op="floordiv", left=Var(name=of), right=right) if of == name:
            below = factors_of(right)
            return None if below is None else Digit(expr, below, None)
    return None


def _digits(expr: Expr, name: str) -> Iterator[Digit | None]:
    """The digits of the number in an expression; None for each other use of it."""
    if (digit := _digit(expr, name)) is not None:
        yield digit
        return
    if isinstance(expr, Var) and expr.name == name:
        yield None
    for child in children(expr):
        yield from _digits(child, name)


# ---- the nest -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NestOfDigits:
    """A flat loop, and the number of iterations of each loop that takes its place, the outermost first."""

    loop: For
    trips: tuple[Factors, ...]

    def written(self, taken: set[str]) -> For:
        """The nest. taken: names in use, to which its own are added."""
        names = (*(_unused(self.loop.name, taken) for _ in self.trips[1:]), self.loop.name)  # `continue` names the last

        def changed(stmt: Stmt) -> Body:
            new = tuple(self._changed(expr, names) for expr in own_expressions(stmt))
            return (with_own_expressions(stmt, new),)

        body = rewrite_body(self.loop.body, changed)
        for name, trip in zip(reversed(names), reversed(self.trips), strict=True):
            body = (replace(self.loop, name=name, upper=_product(trip), body=body),)
        (outermost,) = body
        assert isinstance(outermost, For)
        return outermost

    def _changed(self, expr: Expr, names: Sequence[str]) -> Expr:
        """The expression over the variables of the nest."""
        if (digit := _digit(expr, self.loop.name)) is not None:
            end = self._place(digit.below)
            return self._number(0 if digit.radix is None else self._place((*digit.below, *digit.radix)), end, names)
        if isinstance(expr, Var) and expr.name == self.loop.name:
            return self._number(0, len(names), names)
        return with_children(expr, tuple(self._changed(child, names) for child in children(expr)))

    def _place(self, below: Factors) -> int:
        """Behind which place stand the digits that make a number below this product."""
        place, passed = len(self.trips), Counter[Dim]()
        while passed != Counter(below):
            place -= 1
            passed.update(self.trips[place])
        return place

    def _number(self, first: int, end: int, names: Sequence[str]) -> Expr:
        """The number that is made of the digits of some places."""
        found: Expr = Var(names[first], INT64)
        for place in range(first + 1, end):
            found = Binary("add", Binary("mul", found, _product(self.trips[place])), Var(names[place], INT64))
        return found


def _nest_of(loop: For, shapes: Mapping[str, tuple[Expr, ...]]) -> NestOfDigits | None:
    """The nest that a loop is; None where it is none, or where it would gain nothing."""
    whole = factors_of(loop.upper)
    if whole is None or (loop.lower, loop.step) != (Const(0, INT64), Const(1, INT64)):
        return None
    if not any(Counter(whole) == Counter(shape) for shape in shapes.values()):
        return None  # it may be no number of elements, and more than fits
    if any(one.loop == loop.name for one in statements(loop.body, Break)):
        return None
    found = [
        one for stmt in statements(loop.body) for expr in own_expressions(stmt) for one in _digits(expr, loop.name)
    ]
    digits = [one for one in found if one is not None]
    trips = _trips(whole, digits)
    if trips is None or len(trips) < 2 or (None in found and not _may_be_made_again(loop, whole, shapes)):
        return None
    return NestOfDigits(loop, trips)


def _trips(whole: Factors, digits: Iterable[Digit]) -> tuple[Factors, ...] | None:
    """The radices of all places, the highest first; None where there are none for which these are digits."""
    borders = {frozenset(Counter(one).items()): one for digit in digits for one in _borders(digit)}
    borders |= {frozenset(Counter(one).items()): one for one in ((), whole)}
    trips: list[Factors] = []
    ordered = sorted(borders.values(), key=len)
    for lower, upper in pairwise(ordered):
        trip = _without(upper, lower)
        if not trip:
            return None
        trips.append(trip)
    return tuple(reversed(trips))


def _borders(digit: Digit) -> Iterator[Factors]:
    yield digit.below
    if digit.radix is not None:
        yield (*digit.below, *digit.radix)


def _may_be_made_again(loop: For, whole: Factors, shapes: Mapping[str, tuple[Expr, ...]]) -> bool:
    """Whether the number itself stands in no index, but in those of arrays that have so many elements along one axis:
    there its digits are found again (analysis/delinearisation.py)."""
    for stmt in statements(loop.body):
        indexed: list[Load | Store] = [one for expr in own_expressions(stmt) for one in subexpressions(expr, Load)]
        indexed += [stmt] if isinstance(stmt, Store) else []
        for one in indexed:
            uses = [use for index in one.index for use in _digits(index, loop.name)]
            size = factors_of(shapes[one.array][0]) if len(shapes[one.array]) == 1 else None
            if None in uses and (size is None or Counter(size) != Counter(whole)):
                return False
    return True


def _product(factors: Factors) -> Expr:
    found: Expr = factors[0]
    for factor in factors[1:]:
        found = Binary("mul", found, factor)
    return found


def _unused(name: str, taken: set[str]) -> str:
    number = next(number for number in count(1) if f"{name}.{number}" not in taken)
    taken.add(f"{name}.{number}")
    return f"{name}.{number}"
