"""Elements at places that a table shifts, as in the streaming of a lattice Boltzmann method:

    for x in 0 .. nx:
        for k in 0 .. 9:
            g[k, (x + cx[k]) % nx] = f[k, x]

What is in the table only a call knows. Yet no two iterations of x meet: elements are the same only where k is, so that
the shift is the same as well, and then x is, as all of its values lie within one period. (A sum of an index and an
entry that left the whole numbers of 64 bits would be another matter: entries near their end are no shifts.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopwright.analysis.dependence import goes_on
from loopwright.analysis.trace import Access, LoopNote, Trace
from loopwright.ir.linear import Linear, linear
from loopwright.ir.nodes import Assign, Binary, Const, Expr, For, Load, Var
from loopwright.ir.queries import arrays_stored, has, names_in, unsettled_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import rewrite_expr, statements, subexpressions

MOST_ACCESSES = 64
"""Of one array in a loop, all of whose pairs are looked at."""


def shifted_apart(
    notes: Trace, note: LoopNote, accesses: Sequence[Access], never_from_end: Callable[[Access, int], bool]
) -> bool:
    """Whether no two iterations of a loop touch the same element of an array, some index of which is the loop's
    variable and a shift that is the same wherever other indices are. accesses: all of that array in the loop.
    never_from_end: whether an index is known not to be negative. Raises TooHard."""
    loop = note.loop
    if len(accesses) > MOST_ACCESSES or not any(_is_shifted(access, loop) for access in accesses):
        return False
    known = _scalars(loop)
    places = [
        _Element(
            tuple(_resolved(index, known) for index in access.node.index),
            frozenset(axis for axis in range(len(access.node.index)) if never_from_end(access, axis)),
        )
        for access in accesses
    ]
    written = [place for place, access in zip(places, accesses, strict=True) if access.is_write]
    telling = [note, *_telling(notes, note)]
    return all(any(_never_meet(loop, one, here, there) for one in telling) for here in written for there in places)


def _telling(notes: Trace, note: LoopNote) -> Iterator[LoopNote]:
    """The loops inside whose variable tells that of the loop, as those over a part of its iterations do."""
    for inner in statements(note.loop.body, For):
        own = notes.loops.get(inner.name)
        if (
            note.loop.name in names_in(inner.lower)
            and own is not None
            and own.step > 0 < note.step
            and goes_on(note, own)
        ):
            yield own


@dataclass(frozen=True, slots=True)
class _Element:
    """The indices of an access, and the axes along which none counts from the end."""

    index: tuple[Expr, ...]
    from_start: frozenset[int]


def _never_meet(loop: For, telling: LoopNote, here: _Element, there: _Element) -> bool:
    """Whether two places are the same element in the same iteration only, if at all. telling: a loop whose variable
    tells which iteration that is."""
    for axis, (one, other) in enumerate(zip(here.index, there.index, strict=True)):
        if axis not in here.from_start & there.from_start:
            continue
        if isinstance(one, Const) and isinstance(other, Const) and one != other:
            return True
        if _tells(loop, telling, one, other, _keys(loop, here, there), _keys(loop, there, here)):
            return True
    return False


def _keys(loop: For, place: _Element, other: _Element) -> Mapping[str, Expr]:
    """The variables of loops inside that the indices of a place tell, each as the number of an axis."""
    inside = {one.name for one in statements(loop.body, For)}
    axes = sorted(place.from_start & other.from_start)
    told = [(axis, place.index[axis]) for axis in axes]
    return {
        index.name: Var(f"{axis}", INT64) for axis, index in told if isinstance(index, Var) and index.name in inside
    }


def _is_shifted(access: Access, loop: For) -> bool:
    """Whether an index may be one that a table shifts: most accesses are known by their looks to be none."""
    if any(has(index, Load, Binary) for index in access.node.index):
        return True
    return any(isinstance(index, Var) and index.name != loop.name for index in access.node.index)


def _scalars(loop: For) -> Mapping[str, Expr]:
    """Scalars with one assignment in a loop, and what they stand for: sums and tables of what stands still in an
    iteration."""
    counts = Counter(one.name for one in statements(loop.body, Assign))
    stored, known = arrays_stored(loop.body), dict[str, Expr]()
    for stmt in statements(loop.body, Assign):
        if counts[stmt.name] == 1 and stmt.value.type == INT64:
            value = _resolved(stmt.value, known)
            if _stands_still(value, loop, stored):
                known[stmt.name] = value
    return known


def _stands_still(expr: Expr, loop: For, stored: Collection[str]) -> bool:
    """Whether it follows from the variables of loops and what the loop does not change."""
    variables = {loop.name, *(one.name for one in statements(loop.body, For))}
    changing = unsettled_in(loop.body) - variables
    return names_in(expr).isdisjoint(changing) and all(one.array not in stored for one in subexpressions(expr, Load))


def _resolved(expr: Expr, known: Mapping[str, Expr]) -> Expr:
    return rewrite_expr(expr, lambda part: known.get(part.name, part) if isinstance(part, Var) else part)


def _tells(
    loop: For, telling: LoopNote, one: Expr, other: Expr, keys: Mapping[str, Expr], other_keys: Mapping[str, Expr]
) -> bool:
    """Whether a variable is the same where two indices along one axis are. keys: what else is."""
    first, second = _along(loop, telling, one), _along(loop, telling, other)
    if first is None or second is None or _period(one) != _period(other):
        return False
    if (first[0], first[1].constant) != (second[0], second[1].constant):
        return False
    terms = _with_keys(loop, first[1], keys)
    return terms is not None and terms == _with_keys(loop, second[1], other_keys)


def _along(loop: For, telling: LoopNote, index: Expr) -> tuple[int, Linear] | None:
    """How often an index counts a variable, and what is added to that. None where it does not, or where the variable
    may go through more than a period."""
    period, own = _period(index), telling.loop
    form = linear(index.left if period is not None and isinstance(index, Binary) else index)
    count = form.coefficient(own.name)
    if not count:
        return None
    if period is not None and (
        abs(count) != 1 or not _is_settled(loop, period) or not _is_within(loop, telling, period)
    ):
        return None
    return count, Linear(tuple(one for one in form.terms if one[0] != Var(own.name, INT64)), form.constant)


def _is_within(loop: For, telling: LoopNote, period: Expr) -> bool:
    """Whether all values that a variable has in all iterations of a loop lie within one period."""
    own, lowest = telling.loop, telling.lower.interval(0)[0]
    if telling.step > 0 and lowest >= 0 and any(_is_at_most(end, period) for end in _ends(own.upper)):
        return True
    # A loop inside goes on from one iteration of the other to the next: how far it goes in one tells nothing.
    if own is not loop or not telling.step:
        return False
    first, end = (own.lower, own.upper) if telling.step > 0 else (own.upper, own.lower)
    return _is_at_most(Binary("sub", end, first), period)


def _is_at_most(expr: Expr, most: Expr) -> bool:
    form = linear(Binary("sub", expr, most))
    return form.is_constant and form.constant <= 0


def _ends(expr: Expr) -> Iterator[Expr]:
    """What an expression does not exceed."""
    yield expr
    if isinstance(expr, Binary) and expr.op == "min":
        yield from (*_ends(expr.left), *_ends(expr.right))


def _period(index: Expr) -> Expr | None:
    match index:
        case Binary(op="mod", left=left, right=period) if left.type == INT64:
            return period
    return None


def _is_settled(loop: For, expr: Expr) -> bool:
    """Whether it is the same throughout a loop."""
    inside = {loop.name, *(one.name for one in statements(loop.body, For))}
    return names_in(expr).isdisjoint(inside) and _stands_still(expr, loop, arrays_stored(loop.body))


def _with_keys(loop: For, form: Linear, keys: Mapping[str, Expr]) -> Counter[Expr] | None:
    """The terms of a sum, with axes instead of the variables that they tell. None where the variable of another loop
    stands in it, or what may differ between iterations."""
    inside = {loop.name, *(one.name for one in statements(loop.body, For))} - keys.keys()
    found, stored = Counter[Expr](), arrays_stored(loop.body)
    for term, count in form.terms:
        if names_in(term) & inside or not _stands_still(term, loop, stored):
            return None
        found[_resolved(term, keys)] += count
    return found
