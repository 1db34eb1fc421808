"""Loops whose iterations each go through a range of their own, as the rows of a sparse matrix in CSR form do: the loop
needs no order if the ranges do not meet, which the arrays that hold their ends tell when the loop starts.

    for i in 0 .. n:
        for k in p[i] .. p[i + 1]:
            out[k] = 2.0 * x[k]

What follows from that is asked of the analysis itself: about the same loop with `out[i, k]` instead of `out[k]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from loopwright.analysis.analyse import analyse
from loopwright.ir.by_identity import by_identity
from loopwright.ir.linear import apart, minus, plus, variable
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Body,
    Break,
    Checked,
    Const,
    Continue,
    Expr,
    For,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, fresh, has, names_assigned, names_in, names_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, expressions, rewrite_body, rewrite_expr, statements, subexpressions

ONE = Const(1, INT64)


@dataclass(frozen=True, slots=True)
class DisjointRanges:
    """From lower up to upper, both in terms of the loop's variable and of what it leaves alone. loops: those inside
    that go through them; arrays: those whose elements in the range of an iteration are its own. is_whole: the range of
    an iteration ends where that of the next one begins."""

    lower: Expr
    upper: Expr
    loops: frozenset[str]
    arrays: frozenset[str]
    is_whole: bool


def disjoint_ranges(kernel: Kernel, loop: For) -> DisjointRanges | None:
    """Ranges of a loop's iterations that make it parallel where none of them meet; None where there are no such."""
    known = _asked_before(kernel)
    if loop.name not in known:
        known[loop.name] = _found(kernel, loop)
    return known[loop.name]


@by_identity
def _asked_before(kernel: Kernel) -> dict[str, DisjointRanges | None]:
    return {}


def _found(kernel: Kernel, loop: For) -> DisjointRanges | None:
    if not _counts_up(loop) or kernel.overlap:
        return None
    for one in _candidates(loop):
        verdict = analyse(_each_with_elements_of_its_own(kernel, loop, one)).loops[loop.name]
        if verdict.verdict == "parallel" and not verdict.last:
            return one
    return None


def _candidates(loop: For) -> Iterator[DisjointRanges]:
    stored = arrays_stored(loop.body)
    shared = stored - arrays_made(loop.body)
    grouped: dict[tuple[Expr, Expr], set[str]] = {}
    for inner, values in _inner_loops(loop.body, {}, _settled_once(loop)):
        ends = (_with_values(inner.lower, values), _with_values(inner.upper, values))
        if _counts_up(inner) and _are_settled(ends, loop, stored):
            grouped.setdefault(ends, set()).add(inner.name)
    for (lower, upper), names in grouped.items():
        if not names & _in_each_iteration(loop):
            continue  # where the ranges end may be read under a condition only, and lie outside of the arrays elsewhere
        arrays = frozenset(name for name in shared if _axis(loop, name, names) is not None)
        if arrays:
            following = _in_the_next(lower, loop.name)
            is_whole = following == upper or apart(following, upper) == 0
            yield DisjointRanges(lower, upper, frozenset(names), arrays, is_whole)


def _in_each_iteration(loop: For) -> set[str]:
    """The loops in a body that each of its iterations comes to."""
    found = set[str]()
    for stmt in loop.body:
        if isinstance(stmt, For):
            found.add(stmt.name)
        if next(statements((stmt,), Continue, Break, Leave, Return), None) is not None:
            break
    return found


def _in_the_next(expr: Expr, name: str) -> Expr:
    """What an expression is where a variable is one more."""

    def change(part: Expr) -> Expr:
        match part:
            case Var() if part.name == name:
                return plus(part, 1)
            case Binary(op="add", right=Const() as known):
                return plus(part.left, int(known.value))
        return part

    return rewrite_expr(expr, change)


def _counts_up(loop: For) -> bool:
    return loop.step == ONE and loop.lower.type == INT64


def _settled_once(loop: For) -> frozenset[str]:
    """Scalars that the body of a loop assigns in one place."""
    names = [stmt.name for stmt in statements(loop.body, Assign)]
    return frozenset(name for name in names if names.count(name) == 1)


def _inner_loops(body: Body, values: Mapping[str, Expr], once: frozenset[str]) -> Iterator[tuple[For, dict[str, Expr]]]:
    """The loops in a body, and what scalars are where they begin that are assigned before, in this body."""
    known = dict(values)
    for stmt in body:
        if isinstance(stmt, Assign):
            if stmt.name in once:
                known[stmt.name] = _with_values(stmt.value, known)
        elif isinstance(stmt, For):
            yield stmt, dict(known)
        for below in bodies(stmt):
            yield from _inner_loops(below, known, once)


def _with_values(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    return rewrite_expr(expr, lambda part: values.get(part.name, part) if isinstance(part, Var) else part)


def _are_settled(ends: tuple[Expr, Expr], loop: For, stored: set[str]) -> bool:
    """Whether the ends of a range are elements of arrays that the loop does not write, and depend on nothing else that
    changes in it but its variable."""
    changing = names_assigned(loop.body) | {stmt.name for stmt in statements(loop.body, For)}
    loads = [part for end in ends for part in subexpressions(end, Load)]
    return (
        bool(loads)
        and all(loop.name in names_in(end) and not names_in(end) & changing for end in ends)
        and all(end.type == INT64 and not has(end, Checked) for end in ends)
        and not any(load.array in stored or load.array in arrays_made(loop.body) for load in loads)
    )


def _axis(loop: For, array: str, names: set[str]) -> int | None:
    """The axis along which all accesses of an array use variables of these loops; None where there is none."""
    found = _accesses(loop, array)
    for axis in range(len(found[0].index)):
        indices = [one.index[axis] for one in found]
        if all(isinstance(index, Var) and index.name in names for index in indices):
            return axis
    return None


def _accesses(loop: For, array: str) -> list[Load | Store]:
    found: list[Load | Store] = [one for one in expressions(loop.body, Load) if one.array == array]
    return found + [one for one in statements(loop.body, Store) if one.array == array]


def _each_with_elements_of_its_own(kernel: Kernel, loop: For, found: DisjointRanges) -> Kernel:
    """The kernel with an axis more for these arrays in the loop, along which its iterations lie."""
    taken, names = names_of(kernel), dict[str, str]()
    params: list[ArrayParam] = []
    for array in sorted(found.arrays):
        names[array] = fresh(f"{array}.own", taken)
        taken.add(names[array])
        access = _accesses(loop, array)[0]
        element = access.type if isinstance(access, Load) else access.value.type
        params.append(ArrayParam(names[array], element, kernel.results_from + len(params), len(access.index) + 1))
    place = minus(variable(loop.name), loop.lower)

    def read(expr: Expr) -> Expr:
        if isinstance(expr, Load) and expr.array in names:
            return replace(expr, array=names[expr.array], index=(place, *expr.index), key=object())
        return expr

    def write(stmt: Stmt) -> Body:
        if isinstance(stmt, Store) and stmt.array in names:
            return (replace(stmt, array=names[stmt.array], index=(place, *stmt.index), key=object()),)
        return (stmt,)

    own = replace(loop, body=rewrite_body(loop.body, write, read))
    body = rewrite_body(kernel.body, lambda stmt: (own,) if stmt is loop else (stmt,))
    return replace(kernel, params=(*kernel.params, *params), body=body)
