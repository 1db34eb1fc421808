"""Loops that write to one element in so many iterations, as what keeps every r-th sample does:

    if i % r == c:
        out[i // r] = ...

`i` is `r * (i // r) + i % r`, so that two iterations with the same remainder that come to the same element are the same
one. That is so for any r and c that stay the same throughout the loop, and for `i` plus a constant in place of `i`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from loopwright.analysis.pairs import IndexedPlace, IndexedPlaces
from loopwright.analysis.trace import Access, LoopNote
from loopwright.ir.linear import parted
from loopwright.ir.nodes import Binary, Compare, Const, Expr, Var
from loopwright.ir.queries import names_in


class _Quotient(NamedTuple):
    """A loop's variable plus a constant, `number`, divided `by` something, plus a constant, `offset`."""

    number: Expr
    by: Expr
    offset: int


def is_decimated(note: LoopNote, accesses: Sequence[Access], never_from_end: Callable[[Access, int], bool]) -> bool:
    """Whether no two iterations of a loop touch the same element of an array, as a quotient along one axis tells.
    never_from_end: whether an index is known not to count from the end of an axis."""
    own, places = Var(note.loop.name, note.loop.lower.type), list[IndexedPlace]()
    for place in IndexedPlaces(note.loop, note.loop.name, accesses[0].array).of(note.loop.body, ()):
        if all(_quotient(index, own) is None for index in place.index):
            return False  # most loops are known by their first accesses to be none
        places.append(place)
    first = note.lower.interval(0)[0] if note.step > 0 else None
    for axis in range(len(accesses[0].index)):
        quotients = {_quotient(place.index[axis], own) for place in places}
        if len(quotients) != 1 or (quotient := quotients.pop()) is None:
            continue
        is_place = all(never_from_end(access, axis) for access in accesses)
        counts_up = first is not None and first + parted(quotient.number)[1] >= 0 and quotient.offset >= 0
        kept = [{one for test in place.where if (one := _remainder(test, quotient)) is not None} for place in places]
        for remainder in kept[0].intersection(*kept[1:]):
            is_above = counts_up and _is_above_zero(remainder, quotient)
            if own.name not in names_in(remainder) and (is_place or is_above):
                return True
    return False


def _quotient(index: Expr, own: Var) -> _Quotient | None:
    match parted(index):
        case Binary(op="floordiv", left=number, right=by), offset if own.name not in names_in(by):
            return _Quotient(number, by, offset) if parted(number)[0] == own else None
    return None


def _remainder(test: Expr, quotient: _Quotient) -> Expr | None:
    """The remainder that iterations have which a test lets pass; None where it does not tell."""
    if not isinstance(test, Compare) or test.op != "eq":
        return None
    whole = Binary("mod", quotient.number, quotient.by)
    return test.right if test.left == whole else test.left if test.right == whole else None


def _is_above_zero(remainder: Expr, quotient: _Quotient) -> bool:
    """Whether no negative number leaves such a remainder: then what is divided by is none, nor is the quotient of what
    is none."""
    return (isinstance(remainder, Const) and remainder.value > 0) or parted(remainder) == (quotient.by, -1)
