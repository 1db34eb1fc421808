"""Comparisons: chains such as `0 <= i < n`, `is None`, `in` a tuple, equality of tuples and strings."""

from __future__ import annotations

import ast

from loopwright.deferred import deferred
from loopwright.frontend import operators
from loopwright.frontend.characters import codes, is_text, letters, text_of
from loopwright.frontend.chosen_texts import may_be_long
from loopwright.frontend.context import Context
from loopwright.frontend.convert import negated, truth
from loopwright.frontend.decide import is_equal, is_same
from loopwright.frontend.elementwise import any_array, map_elements
from loopwright.frontend.inline import run_written
from loopwright.frontend.keyed import has_key
from loopwright.frontend.lazy import LazyOperand, chain
from loopwright.frontend.list_methods import is_among, lists_equal
from loopwright.frontend.made_texts import compared, is_made
from loopwright.frontend.named_tuples import objects_differ
from loopwright.frontend.operands import kept, operands, twice
from loopwright.frontend.operators import binary_operation
from loopwright.frontend.tables import contains
from loopwright.frontend.text_methods import has_part
from loopwright.frontend.values import (
    Character,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Number,
    RangeValue,
    TableValue,
    Value,
    describe,
)
from loopwright.frontend.variables import freeze, is_present, presence
from loopwright.frontend.views import is_array
from loopwright.ir.nodes import Checked, CompareOp, Expr, Logical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopwright.frontend import more
else:
    more = deferred("loopwright.frontend.more")


def _is_number(cx: Context, node: ast.expr) -> Expr | None:
    found = presence(cx, node)
    return None if found is None else found[0]


def comparisons(cx: Context, node: ast.Compare) -> Value:
    """`a < b <= c`: each operand once, from left to right, the rest only while it is true."""
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        sides = [node.left, node.comparators[0]]
        by_name = is_present if isinstance(node.ops[0], ast.Is | ast.IsNot) else _is_number
        flag = by_name(cx, sides[_is_none(node.left)]) if any(map(_is_none, sides)) else None
        if flag is not None:
            asks_presence = isinstance(node.ops[0], ast.IsNot | ast.NotEq)
            return Number(flag if asks_presence else negated(flag), weak=True)
        if any(map(_is_none, sides)) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            value = cx.evaluate(sides[_is_none(node.left)])
            if isinstance(value, Number) and isinstance(value.expr, Checked) and value.expr.kind == "none":
                flag = value.expr.condition
                return Number(flag if isinstance(node.ops[0], ast.IsNot) else negated(flag), weak=True)
            return _compare(cx, node.ops[0], value, Fixed(None), node)
    nodes = [node.left, *node.comparators]
    parts: list[LazyOperand] = []
    left: Value = Literal(0)
    for number, op in enumerate(node.ops):
        with cx.inner_body(nested=number > 0) as body:
            if number == 0:
                left, right = operands(cx, nodes[:2])
            else:
                right = cx.evaluate(nodes[number + 1])
                left = kept(cx, left, 0, nodes[number])
            right, again = twice(cx, right, nodes[number + 1]) if number < len(node.ops) - 1 else (right, right)
            parts.append(LazyOperand(_compare(cx, op, left, right, node), body))
            left = again
    return chain(cx, False, parts, node)


def _compare(cx: Context, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> Value:
    if not isinstance(op, ast.Is | ast.IsNot) and objects_differ(cx, op, left, right, node):
        return Literal(isinstance(op, ast.NotEq))
    if is_made(left) or is_made(right):
        left, right = compared(cx, op, left, right, node)
    is_chosen = any(isinstance(one, Character) and one.is_long for one in (left, right))
    of_run = isinstance(left, Character) or isinstance(right, Character)
    if of_run and isinstance(op, _ORDERS) and (may_be_long(left) or may_be_long(right)):
        raise cx.error(node, "a text that the run chooses is compared for equality only", remedy="write == or !=")
    if is_chosen and isinstance(op, ast.In | ast.NotIn) and not isinstance(right, Items | ListValue):
        raise cx.error(node, "a text that the run chooses is looked for in tuples and lists only",
                       remedy="write a tuple of the texts: x in ('a', 'bc')")  # fmt: skip
    among = text_of(right)
    is_among = isinstance(op, ast.In | ast.NotIn) and among is not None and len(among) != 1
    both = None if is_among or isinstance(op, ast.Is | ast.IsNot) else codes(cx, left, right)
    if both is not None:
        if isinstance(op, ast.In | ast.NotIn):  # a character in a text of one
            op = ast.Eq() if isinstance(op, ast.In) else ast.NotEq()
        left, right = both
    if isinstance(op, _ORDERS) and (texts := (text_of(left), text_of(right))) and None not in texts:
        return Literal(_in_order(op, str(texts[0]), str(texts[1])))
    match op:
        case ast.Is() | ast.IsNot():
            same = is_same(left, right)
            if same is not None:
                return Literal(same is isinstance(op, ast.Is))
            if not any(isinstance(one, Literal) and isinstance(one.value, bool) for one in (left, right)):
                raise cx.error(node, "'is' compares with None, True and False only", remedy="write ==")
            return operators.comparison(cx, "eq" if isinstance(op, ast.Is) else "ne", left, right, node)
        case ast.In():
            return _contains(cx, left, right, node)
        case ast.NotIn():
            return operators.unary_operation(cx, ast.Not(), _contains(cx, left, right, node), node)
        case ast.Eq() | ast.NotEq() if not any_array(left, right):
            equal = lists_equal(cx, left, right, node) if _is_list(left) or _is_list(right) else None
            equal = _equal(cx, left, right, node) if equal is None else equal
            if equal is not None:
                return equal if isinstance(op, ast.Eq) else operators.unary_operation(cx, ast.Not(), equal, node)
    if isinstance(left, Items) and isinstance(right, Items):
        return _as_value(_ordered(cx, op, left, right, node))
    if any_array(left, right):
        return _of_elements(cx, operators.COMPARE[type(op)], left, right, node)
    return operators.comparison(cx, operators.COMPARE[type(op)], left, right, node)


def _is_list(value: Value) -> bool:
    return isinstance(value, ListValue)


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _in_order(op: ast.cmpop, left: str, right: str) -> bool:
    if left == right:
        return isinstance(op, ast.LtE | ast.GtE)
    return (left < right) is isinstance(op, ast.Lt | ast.LtE)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _of_elements(cx: Context, op: CompareOp, left: Value, right: Value, node: ast.expr) -> Value:
    """A comparison with arrays: NumPy's, element by element."""
    return map_elements(cx, lambda cx, a, b: operators.comparison(cx, op, a, b, node), [left, right], node)


def _equal(cx: Context, left: Value, right: Value, node: ast.expr) -> Value | None:
    """`left == right` for what is known now, and for tuples; None for two numbers."""
    same = is_equal(left, right)
    if same is not None:
        return Literal(same)
    if isinstance(left, Fixed) and isinstance(right, Fixed):  # a dtype equals its name
        return Literal(bool(left.value == right.value))
    if is_text(left) or is_text(right):  # and no two characters
        return Literal(False)
    if not isinstance(left, Items) or not isinstance(right, Items):
        return None
    if len(left.items) != len(right.items):
        return Literal(False)
    if None not in (left.is_list, right.is_list) and left.is_list is not right.is_list:  # a list is no tuple
        return Literal(False)
    result: bool | Expr = True
    for a, b in zip(left.items, right.items, strict=True):
        equal = truth(cx, _compare(cx, ast.Eq(), a, b, node), node)
        result = _both(result, equal)
    return _as_value(result)


def _ordered(cx: Context, op: ast.cmpop, left: Items, right: Items, node: ast.expr) -> bool | Expr:
    """`left < right` and the like, of tuples: the first items that are not equal decide, else which one is longer."""
    sizes = Literal(len(left.items)), Literal(len(right.items))
    result = truth(cx, operators.comparison(cx, operators.COMPARE[type(op)], *sizes, node), node)
    pairs = [
        (freeze(cx, a, cx.at(node)), freeze(cx, b, cx.at(node))) for a, b in zip(left.items, right.items, strict=False)
    ]
    for a, b in reversed(pairs):
        equal = truth(cx, _compare(cx, ast.Eq(), a, b, node), node)
        other = not equal if isinstance(equal, bool) else negated(equal)
        result = _either(_both(equal, result), _both(other, truth(cx, _compare(cx, op, a, b, node), node)))
    return result


def _in_range(cx: Context, item: Value, among: RangeValue, node: ast.expr) -> Value:
    """`k in range(start, stop, step)`."""
    item, start, stop, step = (freeze(cx, one, cx.at(node)) for one in (item, *among.bounds))

    def holds(op: ast.cmpop, left: Value, right: Value) -> bool | Expr:
        return truth(cx, _compare(cx, op, left, right, node), node)

    upward = _both(holds(ast.LtE(), start, item), holds(ast.Lt(), item, stop))
    downward = _both(holds(ast.GtE(), start, item), holds(ast.Gt(), item, stop))
    sign = holds(ast.Gt(), step, Literal(0))
    opposite = not sign if isinstance(sign, bool) else negated(sign)
    inside = _either(_both(sign, upward), _both(opposite, downward))
    is_whole = isinstance(item, Literal | Number) and not item.number_type.type.is_float
    if is_whole and isinstance(step, Literal) and abs(step.value) == 1:
        return _as_value(inside)
    steps = binary_operation(cx, "mod", binary_operation(cx, "sub", item, start, node), step, node)
    return _as_value(_both(inside, holds(ast.Eq(), steps, Literal(0))))


def _both(first: bool | Expr, second: bool | Expr) -> bool | Expr:
    if isinstance(first, bool):
        return second if first else False
    if isinstance(second, bool):
        return first if second else False
    return Logical("and", first, second)


def _either(first: bool | Expr, second: bool | Expr) -> bool | Expr:
    if isinstance(first, bool):
        return first or second
    if isinstance(second, bool):
        return second or first
    return Logical("or", first, second)


def _as_value(condition: bool | Expr) -> Literal | Number:
    return Literal(condition) if isinstance(condition, bool) else Number(condition, weak=True)


def _contains(cx: Context, item: Value, items: Value, node: ast.expr) -> Value:
    if isinstance(items, Keyed):
        return has_key(cx, items, item, node)
    if text_of(items) is not None and is_text(item):
        known, among = text_of(item), letters(items)
        if known is not None:
            return Literal(known in str(text_of(items)))
        assert among is not None
        items = among
    if isinstance(items, TableValue):
        return contains(cx, items, item, node)
    part = text_of(item)
    if is_made(items) and (is_made(item) or (part is not None and len(part) != 1)):
        return has_part(cx, items, item, node)
    if isinstance(items, ListValue):
        return is_among(cx, item, items, node)
    if isinstance(items, RangeValue):
        return _in_range(cx, item, items, node)
    if is_array(items):
        return run_written(cx, more.holds, [items, item], node)
    if not isinstance(items, Items):
        remedy = "write a loop that sets a flag and breaks"
        raise cx.error(node, "'in' needs a tuple or a list on its right", f"this is {describe(items)}", remedy)
    if len(items.items) > 1:
        item = freeze(cx, item, cx.at(node))
    result: bool | Expr = False
    for other in items.items:
        result = _either(result, truth(cx, _compare(cx, ast.Eq(), item, other, node), node))
    return _as_value(result)
