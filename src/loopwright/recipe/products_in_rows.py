"""Products in rows, for the default recipe of a GPU: a loop over rows that, among other things, multiplies each of them
with the same matrix (`for j: for c: t += q[i, c] * k[j, c]`), as attention does. Where what such a row keeps is in
memory anyway, the product of all rows is a nest of its own, which tiles make fast: each element of the matrix is then
used for many rows at once. So it is where such a row keeps nothing but scalars beside what is in arrays anyway, as the
sums of a mixture do: a thread, or a block, for each row would read the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.strides import AccessStrides
from loopwright.ir.nodes import Allocate, Binary, Body, Cast, Expr, For, If, Load, Store, While
from loopwright.ir.queries import contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, own_expressions, statements, subexpressions
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.expand import Expand
from loopwright.steps.fission import Fission


def products_of_all_rows(partial: PartialSchedule) -> None:
    """Take products out of loops over rows that need no order, and that keep nothing but scalars from one part to the
    next."""
    before = partial.kernel
    for name, loop in list(loops(partial.kernel).items()):
        if isinstance(loop, For) and is_outermost(partial, loop) and is_free_now(partial, loop):
            columns = [stmt for stmt in loop.body if isinstance(stmt, For)]
            if len(columns) < 2 or contains(loop.body, Allocate, While, If):
                continue  # a product alone is found as it stands
            if all(_has_elements(column) for column in columns if contains(column.body, For)):
                products_apart(partial, name)
    if partial.kernel is not before:
        partial.begin_again()


def _has_elements(column: For) -> bool:
    """Whether each iteration ends in an element, and is not only added to what others have found."""
    return any(isinstance(stmt, Store) for stmt in column.body) or any(
        isinstance(stmt, Store) for inner in column.body if isinstance(inner, For) for stmt in inner.body
    )


def products_apart(partial: PartialSchedule, rows: str, around: int = 0) -> None:
    """Take the products of a loop over rows out of it, each into a nest of its own. around: how many loops, with
    nothing between them, stand around it in such a nest, too."""
    done: set[str] = set()
    names = [rows]
    while names:
        name = names.pop()
        loop = loops(partial.kernel)[name]
        assert isinstance(loop, For)
        found = next((one for one in loop.body if isinstance(one, For) and one.name not in done
                      and _is_product(partial, loop, one)), None)  # fmt: skip
        if found is None:
            continue
        done.add(found.name)
        before = set(loops(partial.kernel))
        with partial.together():
            _apart(partial, name, found.name, around)
        names += [name, *(one for one in loops(partial.kernel) if one not in before and _stands_with(partial, one))]


def _stands_with(partial: PartialSchedule, name: str) -> bool:
    return any(isinstance(stmt, For) for stmt in getattr(loops(partial.kernel)[name], "body", ()))


def _is_product(partial: PartialSchedule, row: For, column: For) -> bool:
    """Whether each iteration of a loop in a row adds up products of an element of the row and one that all rows use."""
    sums = [stmt for stmt in column.body if isinstance(stmt, For)]
    if len(sums) != 1 or contains(sums[0].body, For, If):
        return False
    depth = sums[0]
    inside = {id(stmt) for stmt in statements(depth.body)}
    walks = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    nodes = {id(walk.node): walk for walk in walks if isinstance(walk.node, Load)}
    for expr in (expr for stmt in statements(depth.body) for expr in own_expressions(stmt)):
        for part in subexpressions(expr, Binary):
            factors = [nodes.get(id(one)) for one in _factors(part)]
            if part.op == "mul" and _is_pair(factors, row.name, column.name, depth.name):
                return True
    return False


def _factors(expr: Expr) -> Iterator[Expr]:
    """What a product is made of, as it was before it was converted."""
    match expr:
        case Binary(op="mul"):
            yield from _factors(expr.left)
            yield from _factors(expr.right)
        case Cast():
            yield from _factors(expr.operand)
        case _:
            yield expr


def _is_pair(factors: list[AccessStrides | None], row: str, column: str, depth: str) -> bool:
    """Whether one of them is an element of a row, another one of what all rows use, and none depends on both."""
    names = (row, column, depth)
    moves = [{name for name in names if one.strides.get(name) != 0} for one in factors if one is not None]
    is_mixed = any({row, column} <= one for one in moves)
    return {row, depth} in moves and {column, depth} in moves and not is_mixed


def _apart(partial: PartialSchedule, row: str, column: str, around: int) -> None:
    """Raises NotTaken."""
    why = f"the products of '{user_name(column)}' with all '{user_name(row)}' are one, in a nest of its own"
    loop = loops(partial.kernel)[column]
    assert isinstance(loop, For)
    if (end := _end(loop.body)) < len(loop.body):
        partial.take(Fission(column, end + 1, kept=True), why, anew=True)
    nest_apart(partial, row, column, why, around)


def nest_apart(partial: PartialSchedule, row: str, column: str, why: str, around: int = 0) -> None:
    """Take one of the loops in the body of another one out of it, into a nest of its own, with so many loops around
    it. Raises NotTaken."""
    run = tuple(one.name for one in partial.around(row)[-1 - around :])
    for name in _crossing(partial, row, column):
        partial.take(Expand(name, run), why, anew=True)
    for after in (True, False):
        body = _body(partial, row)
        place = 1 + next(at for at, stmt in enumerate(body) if isinstance(stmt, For) and stmt.name == column) + after
        if 1 < place <= len(body):
            partial.take(Fission(row, place), why, anew=True)
            for outer in reversed(run[:-1]):
                partial.take(Fission(outer, 2), why, anew=True)


def _crossing(partial: PartialSchedule, row: str, column: str) -> list[str]:
    """The scalars of a row that are set before a loop and used in it or behind, or set in it and used behind."""
    body = _body(partial, row)
    at = next(at for at, stmt in enumerate(body) if isinstance(stmt, For) and stmt.name == column)
    return sorted({name for cut in (at, at + 1) for name in names_assigned(body[:cut]) & _used(body[cut:])})


def _used(body: Body) -> set[str]:
    return names_read(body) | names_assigned(body)


def _end(body: Body) -> int:
    """Where the statements end that make an element: those behind the sum, to the first store."""
    start = next(at for at, stmt in enumerate(body) if isinstance(stmt, For))
    return next((at + 1 for at, stmt in enumerate(body) if at > start and isinstance(stmt, Store)), len(body))


def _body(partial: PartialSchedule, name: str) -> Body:
    loop = loops(partial.kernel)[name]
    assert isinstance(loop, For)
    return loop.body
