"""Products whose depth ends, or begins, where a row stands, as in triangular systems and products with a triangle
(`for k in range(i): b[i, j] -= a[i, k] * b[k, j]`): rows go in blocks, and for each block the depth is cut in two
(index-set splitting). Most of it is the same for all rows of the block: a rectangle, which `register_blocking` takes.
What is left is a triangle for each block, as it was written.

This is how blocked algorithms for triangles are derived (Golub and Van Loan, Matrix Computations, 3.1). It knows none
of them: that the rectangle may come before, or after, the triangles of all of its rows is for `fission` to prove.
"""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.ir.linear import Linear, linear
from loopwright.ir.nodes import Expr, For, Var
from loopwright.ir.queries import names_in
from loopwright.ir.user_text import user_name
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule, made
from loopwright.recipe.register_blocking import Roles, wanted
from loopwright.recipe.tunable import Tunable
from loopwright.steps.cut import Cut
from loopwright.steps.extent import ends_of, starts_of, trip_of
from loopwright.steps.nest import step_of
from loopwright.steps.reorder import Reorder
from loopwright.steps.reverse import Reverse
from loopwright.steps.specialize import LARGE, Specialize
from loopwright.steps.split import Split
from loopwright.steps.swap import Swap

ROWS = Tunable(
    "rows of a block of a triangle",
    96,
    (24, 48, 96, 192),
    "what so many rows have in common is one product, in whole blocks of registers; what is left of each, a triangle, "
    "grows with them",
)


@dataclass(frozen=True, slots=True)
class Triangle:
    """row, depth: loops by name. offset: the depth begins, or ends, so much behind the row's place; is_upper: it begins
    there, and goes on to an end that all rows have in common."""

    row: str
    depth: str
    offset: int
    is_upper: bool


def in_blocks(partial: PartialSchedule) -> None:
    """Cut every triangle in two as far as that is legal."""
    before = partial.kernel
    for chain in partial.chains():
        with partial.together(), partial.in_nest(chain):
            _cut(partial, chain, partial.number(ROWS))
    if partial.kernel is not before:
        partial.begin_again()  # a rectangle needs less order than its triangle


def _cut(partial: PartialSchedule, chain: Chain, length: int) -> None:
    """Raises NotTaken."""
    inner = chain[-1].name
    roles = wanted(partial, chain)
    if len(roles.depths) > 1:
        raise NotTaken
    known = {loop.name: loop for loop in partial.around(inner)}
    if _ends_at(known[roles.rows], roles.depth) is not None:
        why = f"'{user_name(roles.rows)}' ends where '{user_name(roles.depth)}' stands: turned round, that ends there"
        partial.take(Reorder((roles.rows, roles.depth, roles.vector)), why)
        inner = roles.vector
    triangle = triangle_of(partial.around(inner), roles)
    if triangle is None or abs(step_of(known[triangle.row])) != 1:
        raise NotTaken
    row, depth = user_name(triangle.row), user_name(triangle.depth)
    why = (
        f"'{depth}' {'begins' if triangle.is_upper else 'ends'} where '{row}' stands: for {length} iterations of "
        f"'{row}' together most of it is the same"
    )
    _for_few(partial, triangle.row, length)
    (outer,) = (name for name in made(partial, Split(triangle.row, length), why) if name != triangle.row)
    place = triangle.offset + _farthest(known[triangle.row], triangle.is_upper, length)
    new = made(partial, Cut(triangle.depth, outer, place), why)
    rectangle = next(name for name in new if name.startswith(triangle.depth)) if triangle.is_upper else triangle.depth
    inner = next(one[-1].name for one in partial.chains() if any(loop.name == rectangle for loop in one))
    _apart(partial, inner, rectangle, triangle, why)


def _farthest(row: For, is_upper: bool, length: int) -> int:
    """Of the rows of a block the place, from its first row on, of the one whose depth is shortest."""
    if step_of(row) > 0:
        return length - 1 if is_upper else 0
    return 0 if is_upper else 1 - length


def _apart(partial: PartialSchedule, inner: str, rectangle: str, triangle: Triangle, why: str) -> None:
    """The rectangle in loops of its own: before the triangle or behind it. Raises NotTaken."""
    kernel = partial.kernel
    with partial.together():
        isolate(partial, inner, triangle.row, why)
    if partial.kernel is kernel:
        above = partial.around(rectangle)[-2]
        at = 1 + next(at for at, stmt in enumerate(above.body) if isinstance(stmt, For) and stmt.name == rectangle)
        if len(above.body) == 1:
            raise NotTaken
        partial.take(Swap(above.name, max(at, 2)), why)
        isolate(partial, inner, triangle.row, why)
    own = (loop for loop in partial.around(inner) if loop.name.split(".")[0] == triangle.row.split(".")[0])
    rows = next(loop for loop in own if abs(step_of(loop)) == 1)
    if step_of(rows) < 0:
        partial.take(Reverse(rows.name), f"the rows of the rectangle '{user_name(rectangle)}' need no order")


def _for_few(partial: PartialSchedule, row: str, length: int) -> None:
    """A version as it is for few rows, which are no block."""
    few = f"fewer iterations of '{user_name(row)}' are a triangle and nothing else"
    with partial.together():
        partial.take(Specialize((row,), LARGE, length, row), few)


def triangle_of(chain: Chain, roles: Roles) -> Triangle | None:
    """The triangle of a nest; None where it has none, or few rows."""
    known = {loop.name: loop for loop in chain}
    row, depth = known[roles.rows], known[roles.depth]
    found = _ends_at(depth, row.name) if chain.index(row) < chain.index(depth) and trip_of(row) is None else None
    return None if found is None else Triangle(row.name, depth.name, *found)


def _ends_at(depth: For, row: str) -> tuple[int, bool] | None:
    """How far from a row's place a loop ends, or begins; None where it does neither, or something else too."""
    starts, ends = ([one for one in some if row in names_in(one)] for some in (starts_of(depth), ends_of(depth)))
    if len(starts) + len(ends) != 1:
        return None
    offset = _offset(*starts, *ends, row=row)
    return None if offset is None else (offset, bool(starts))


def _offset(place: Expr, *, row: str) -> int | None:
    match linear(place):
        case Linear(terms=((Var(name=name), 1),), constant=constant) if name == row:
            return constant
    return None
