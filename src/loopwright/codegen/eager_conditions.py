"""Conditions of two comparisons of which both are asked, though one may tell: `a[i] == 1 or b[i] == 1` in lanes. All
lanes run both anyway, but the C compiler masks the loads of the second one, and that takes longer than to load. And of
pairs that are compared both ways without lanes.

The first comparison may be what keeps the second one's elements inside their array: it must compare elements, with
others or with numbers of the program text, which says nothing of indices that are no elements; or the second one reads
none.
"""

from __future__ import annotations

from functools import reduce

from loopwright.codegen.chosen_stores import compares_elements, is_inside
from loopwright.codegen.decisions import NONE, Accesses, CodegenInput
from loopwright.ir.nodes import Binary, Cast, Compare, Const, Dim, Expr, Load, Logical, Unary, Var
from loopwright.ir.queries import names_in
from loopwright.ir.walk import subexpressions

MOST_PARTS = 48  # of the second comparison, or of those behind the first
_SIMPLE = ("add", "sub", "mul", "and", "or", "xor", "min", "max")


def asks_both(expr: Logical, given: CodegenInput, freed: Accesses = NONE) -> bool:
    """Whether both sides can be evaluated, for next to nothing. freed: accesses that a test before the loop has shown
    to be inside, whatever conditions say."""
    if len(list(subexpressions(expr.right))) > MOST_PARTS or not is_simple(expr.right, given, freed):
        return False
    return not any(True for _ in subexpressions(expr.right, Load)) or _is_of_elements(expr.left, given)


def _is_of_elements(condition: Expr, given: CodegenInput) -> bool:
    match condition:
        case Logical(left=left, right=right):
            return _is_of_elements(left, given) and _is_of_elements(right, given)
        case Unary(op="not", operand=operand):
            return _is_of_elements(operand, given)
        case Compare():
            return compares_elements(condition, given)
        case Load():
            return is_inside(condition, given)
        case _:
            return False


def asks_at_once(expr: Logical, given: CodegenInput) -> bool:
    """Whether one jump for two comparisons is better than one for each, without lanes: of parts of two things with each
    other, both ways, as of `low[i] < high[j] and low[j] < high[i]`, where stretches overlap. Each half is as good as
    drawn, and both together seldom hold. What one thing has beside itself, such as peaks, is mostly smooth."""
    match expr:
        case Logical(op="and", left=Compare() as left, right=Compare() as right) if not given.check_all:
            first, second = _things(left), _things(right)
        case _:
            return False
    in_order = all(one.op in ("lt", "le", "gt", "ge") for one in (left, right))
    arrays, others = ({array for array, _ in things} for things in (first, second))
    by, others_by = ({names for _, names in things} for things in (first, second))
    return in_order and arrays == others and by == others_by and len(by) == 2 and _is_there(left, right, given)


def in_pairs(expr: Logical, given: CodegenInput) -> Expr:
    """The same condition with those comparisons together of which one jump is better than two; the same object where
    there are none."""
    parts = _parts(expr, expr.op)
    for place, first in enumerate(parts):
        if place + 1 < len(parts) and asks_at_once(pair := Logical(expr.op, first, parts[place + 1]), given):
            parts[place : place + 2] = [pair]
    paired = reduce(lambda left, right: Logical(expr.op, left, right), parts)
    return expr if len(parts) == len(_parts(expr, expr.op)) or paired == expr else paired


def _parts(expr: Expr, op: str) -> list[Expr]:
    if isinstance(expr, Logical) and expr.op == op:
        return [*_parts(expr.left, op), *_parts(expr.right, op)]
    return [expr]


def _is_there(first: Compare, second: Compare, given: CodegenInput) -> bool:
    """Whether the second comparison can be made wherever the first one is: that says nothing of indices."""
    return (first.left.type.is_float or compares_elements(first, given)) and is_simple(second, given)


def _things(expr: Expr) -> set[tuple[str, frozenset[str]]]:
    """The arrays that a comparison reads, and by what variables."""
    return {(load.array, frozenset().union(*map(names_in, load.index))) for load in subexpressions(expr, Load)}


def is_simple(condition: Expr, given: CodegenInput, freed: Accesses = NONE) -> bool:
    """Whether it is a comparison, or several, that cannot fail and read only elements that are always there."""
    match condition:
        case Logical(left=left, right=right) | Compare(left=Compare() as left, right=Compare() as right):
            return is_simple(left, given, freed) and is_simple(right, given, freed)
        case Unary(op="not", operand=operand):
            return is_simple(operand, given, freed)
        case Compare(left=left, right=right):
            return is_number(left, given, freed) and is_number(right, given, freed)
        case Load():
            return is_inside(condition, given, freed)
        case _:
            return False


def is_number(value: Expr, given: CodegenInput, freed: Accesses = NONE) -> bool:
    """Whether a number is computed in a few cycles, and nothing can fail."""
    match value:
        case Const() | Var() | Dim():
            return True
        case Load():
            return is_inside(value, given, freed)
        case Cast(operand=operand) | Unary(op="neg" | "abs", operand=operand):
            return value.type.is_float >= operand.type.is_float and is_number(operand, given, freed)
        case Binary(op=op, left=left, right=right):
            return op in _SIMPLE and is_number(left, given, freed) and is_number(right, given, freed)
        case _:
            return False
