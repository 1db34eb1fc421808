"""Two comparisons that ask whether a whole number is below a size and not below 0, as one of numbers without a sign:
`0 <= j < n`, `j >= 0 and j < n`, or `j < 0 or j >= n`. It is one jump in place of two, and what is the other half of a
jump that data decide is guessed wrong as often. The C compiler does so where it knows that the bound is not below 0,
which it does of constants, and of loops that begin at 0 it knows half.

What stands between the two is asked after both of them then; so it must not fail. Vector lanes have the comparisons
with a sign.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce

from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.eager_conditions import asks_at_once
from loopwright.ir.nodes import Binary, Cast, Compare, CompareOp, Const, Dim, Expr, Logical, Var
from loopwright.ir.queries import names_in
from loopwright.ir.types import INT64, UINT64
from loopwright.ir.walk import children

TURNED: dict[CompareOp, CompareOp] = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
OPPOSITE: dict[CompareOp, CompareOp] = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
ZERO = Const(0, INT64)


def with_pairs(expr: Logical, given: CodegenInput) -> Expr:
    """The same condition with such pairs as one comparison, and those together of which one jump is better than two;
    the same object where nothing changes."""
    parts = _parts(with_ranges(expr, given.loops), expr.op)
    for place, first in enumerate(parts):
        if place + 1 < len(parts) and asks_at_once(pair := Logical(expr.op, first, parts[place + 1]), given):
            parts[place : place + 2] = [pair]
    paired = reduce(lambda left, right: Logical(expr.op, left, right), parts)
    return expr if len(parts) == len(_parts(expr, expr.op)) or paired == expr else paired


def with_ranges(expr: Logical, loops: Collection[str]) -> Expr:
    """The same condition with such ranges as one comparison; the same object where it has none. loops: of whose
    variables nothing is asked so."""
    parts = _parts(expr, expr.op)
    count = len(parts)
    for place, first in enumerate(parts):
        for behind in range(place + 1, len(parts)):
            if (one := _range(first, parts[behind], expr, loops)) is not None:
                parts[place], parts[behind : behind + 1] = one, []
                break
            if not _cannot_fail(parts[behind]):
                break
    return expr if len(parts) == count else reduce(lambda left, right: Logical(expr.op, left, right), parts)


def _parts(expr: Expr, op: str) -> list[Expr]:
    if isinstance(expr, Logical) and expr.op == op:
        return [*_parts(expr.left, op), *_parts(expr.right, op)]
    return [expr]


def _range(first: Expr, second: Expr, whole: Logical, loops: Collection[str]) -> Compare | None:
    """Two of the parts of a condition as one, if one of them asks for the sign of a number and the other for a size."""
    asked = [_asked(one, whole.op == "or") for one in (first, second)]
    for sign, size in (asked, asked[::-1]):
        if sign is None or size is None or sign.op != "ge" or sign.right != ZERO or size.op != "lt":
            continue
        number, bound = size.left, size.right
        is_ours = isinstance(bound, Dim) and not names_in(number) <= set(loops)
        if number == sign.left and is_ours and _cannot_fail(number):
            return Compare("lt" if whole.op == "and" else "ge", Cast(number, UINT64), Cast(bound, UINT64))
    return None


def _asked(expr: Expr, turned: bool) -> Compare | None:
    """A comparison of whole numbers with what is a number in the text, or a size, on its right. turned: the opposite
    of what it asks."""
    if not isinstance(expr, Compare) or expr.op not in TURNED or expr.left.type != INT64:
        return None
    if isinstance(expr.left, Const | Dim):
        expr = Compare(TURNED[expr.op], expr.right, expr.left)
    return Compare(OPPOSITE[expr.op], expr.left, expr.right) if turned else expr


def _cannot_fail(expr: Expr) -> bool:
    match expr:
        case Var() | Const() | Dim():
            return True
        case Binary(op="add" | "sub" | "mul" | "min" | "max") | Compare() | Logical():
            return all(map(_cannot_fail, children(expr)))
        case _:
            return False
