"""Loops over the entries of rows, as sparse matrices and graphs have them: for row `i` from `p[i]` to `p[i + 1]`. The
entries of neighbouring rows stand side by side, wherever `p` does not decrease. What is found here rests on the form
of the code alone; what `p` holds is for whoever relies on it to test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.ir.linear import apart, linear
from loopwright.ir.nodes import (
    Assign,
    Body,
    Cast,
    Checked,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, expressions, own_expressions, statements, subexpressions


def is_next(first: Expr, second: Expr, loop: For) -> bool:
    """Whether the second index is one more than the first, which climbs with the loop's variable and is otherwise
    known where the loop is entered."""
    form = linear(first)
    changing = {stmt.name for stmt in statements(loop.body, Assign, For)}
    names = {term.name for term, _ in form.terms if isinstance(term, Var)}
    is_known = len(names) == len(form.terms) and not names & changing
    return is_known and form.coefficient(loop.name) == 1 and apart(second, first) == 1


class NotRows(Exception):
    """Why loops are not what RowNest describes, in the user's words."""


@dataclass(frozen=True, slots=True)
class RowNest:
    """A loop over rows that holds one loop over their entries. lower, upper: where the entries of row `row.name` begin
    and end, of nothing but that name and what the loop does not change: `upper` is the next row's `lower`. before,
    after: what a row does besides: scalars are set before, and anything but loops is done after. each: an array that
    has an element for each entry, as its size: where no access is out of bounds, there are not more entries."""

    row: For
    entry: For
    before: Body
    after: Body
    lower: Expr
    upper: Expr
    each: Dim


def row_nest(row: For, entry: For) -> RowNest:
    """What stands in a loop over rows whose entries can be shared out whatever the rows. Raises NotRows."""
    if entry not in row.body:
        raise NotRows(f"'{entry.name}' does not stand directly in '{row.name}'")
    for loop in (row, entry):
        if loop.step != Const(1, INT64):
            raise NotRows(f"the step of '{loop.name}' is not 1")
    at = next(k for k, stmt in enumerate(row.body) if stmt is entry)
    before, after = row.body[:at], row.body[at + 1 :]
    _plain_statements(row, before, (Assign, If), "before")
    _plain_statements(row, after, (Assign, If, Store), "after")
    _plain_statements(entry, entry.body, (Assign, If), "in")
    lower, upper = (_resolved(bound, row, before) for bound in (entry.lower, entry.upper))
    if not _meet(lower, upper, row):
        raise NotRows(f"the entries of one row of '{row.name}' do not begin where those of the row before end: "
                      "that takes bounds like p[i] and p[i + 1]")  # fmt: skip
    _independent(row, entry)
    return RowNest(row, entry, before, after, lower, upper, _each(entry))


def pointer_arrays(kernel: Kernel) -> tuple[str, ...]:
    """The arrays of a kernel that say where rows begin: `p` of each loop from `p[i]` to `p[i + 1]` directly inside a
    loop over `i`, whatever else the two do."""
    found: list[str] = []
    for row in statements(kernel.body, For):
        for at, entry in enumerate(row.body):
            if isinstance(entry, For):
                lower, upper = (_resolved(bound, row, row.body[:at]) for bound in (entry.lower, entry.upper))
                if _meet(lower, upper, row):
                    found += [part.array for part in subexpressions(lower, Load)]
    return tuple(dict.fromkeys(found))


def _plain_statements(loop: For, body: Body, kinds: tuple[type[Stmt], ...], where: str) -> None:
    for stmt in statements(body):
        if not isinstance(stmt, kinds):
            what = "writes to an array" if isinstance(stmt, Store) else "holds another loop, an array or a jump"
            place = f"inside '{loop.name}'" if where == "in" else f"{where} the loop over the entries"
            raise NotRows(f"what stands {place} {what}")


def _resolved(bound: Expr, row: For, before: Body) -> Expr:
    """A bound with the one value of a scalar in its place, where it is set before the loop and nowhere else."""
    inside = list(statements(row.body, Assign))
    while isinstance(bound, Var):
        values = [stmt for stmt in inside if stmt.name == bound.name]
        if len(values) != 1 or not any(stmt is values[0] for stmt in before):
            break
        bound = values[0].value
    if isinstance(bound, Cast) and isinstance(bound.operand, Var):
        return Cast(_resolved(bound.operand, row, before), bound.type)
    return bound


def _meet(lower: Expr, upper: Expr, row: For) -> bool:
    """Whether a row's upper bound is the next one's lower bound: neighbouring elements of an array that stays."""
    while isinstance(lower, Cast) and isinstance(upper, Cast) and lower.type == upper.type:
        lower, upper = lower.operand, upper.operand
    if not (isinstance(lower, Load) and isinstance(upper, Load) and lower.array == upper.array):
        return False
    if any(isinstance(stmt, Store) and stmt.array == lower.array for stmt in statements(row.body)):
        return False
    return len(lower.index) == 1 and is_next(lower.index[0], upper.index[0], row)


def _independent(row: For, entry: For) -> None:
    """Raises NotRows where what is done for an entry depends on its row."""
    inside = names_assigned(entry.body)
    own = names_assigned(row.body) - inside | {row.name}
    for part in expressions(entry.body, Var):
        if part.name in own:
            raise NotRows(f"what is done for an entry depends on its row, through '{part.name}'")


def _each(entry: For) -> Dim:
    for part in expressions(entry.body, Load):
        for axis, index in enumerate(part.index):
            if index == Var(entry.name, INT64):
                return Dim(part.array, axis)
    raise NotRows(f"no array that is read has an element for each '{entry.name}', to tell how many there may be")


# ---- what can be read ahead -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InspectionStage:
    """Of straight code: scalars that can be set (by the statement that does it), and then elements that can be read,
    once the stages before are done."""

    scalars: tuple[Assign, ...]
    loads: tuple[Load, ...]


def stages(
    body: Body, targets: frozenset[str], held: frozenset[str] = frozenset()
) -> tuple[tuple[InspectionStage, ...], Body]:
    """What can be read ahead of the rest of a body, in stages that only need the ones before: the elements that it
    reads in any case, but for those of arrays in `held`, and the scalars that it sets once and for all, but for
    `targets`. And that rest."""
    assigned = [stmt.name for stmt in statements(body, Assign)]
    ready: dict[str, int] = {}  # scalars, by the stage that sets them
    found: dict[tuple[str, tuple[Expr, ...]], tuple[int, Load]] = {}
    early: list[tuple[int, Assign]] = []
    rest: list[Stmt] = []
    unknown = {name for name in assigned if name in targets or assigned.count(name) > 1}

    def known_at(expr: Expr) -> int | None:
        """The stage before which an expression can be computed; None where that is too early."""
        latest = 0
        for part in subexpressions(expr):
            if isinstance(part, Var) and part.name in assigned:
                if part.name not in ready:
                    return None
                latest = max(latest, ready[part.name])
            elif isinstance(part, Load):
                if (part.array, part.index) not in found:
                    return None
                latest = max(latest, found[part.array, part.index][0] + 1)
        return latest

    for stmt in body:
        for load in (load for expr in own_expressions(stmt) for load in _certain(expr)):
            if load.array not in held and all(known_at(index) is not None for index in load.index):
                needed = max((known_at(index) or 0 for index in load.index), default=0)
                found.setdefault((load.array, load.index), (needed, load))
        at = known_at(stmt.value) if isinstance(stmt, Assign) and stmt.name not in unknown else None
        if isinstance(stmt, Assign) and at is not None:
            ready[stmt.name] = at
            early.append((at, stmt))
        else:
            rest.append(stmt)
    last = max((at for at, _ in (*found.values(), *early)), default=-1)
    made = (
        InspectionStage(tuple(one for at, one in early if at == k), tuple(one for at, one in found.values() if at == k))
        for k in range(last + 1)
    )
    return tuple(made), tuple(rest)


def _certain(expr: Expr) -> Iterator[Load]:
    """The elements that an expression reads in any case, those of an index before what it leads to."""
    match expr:
        case Logical():
            parts: tuple[Expr, ...] = (expr.left,)
        case Select() | Checked():
            parts = (expr.condition,)
        case _:
            parts = children(expr)
    for part in parts:
        yield from _certain(part)
    if isinstance(expr, Load):
        yield expr
