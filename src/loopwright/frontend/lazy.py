"""What Python evaluates only when needed: `and`, `or`, chained comparisons, conditional expressions.

Where the later operand needs statements of its own, it becomes the inside of an `If`; else a Logical or a Select.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopwright.frontend import operators
from loopwright.frontend.apart import place_of
from loopwright.frontend.array_names import chosen_shows
from loopwright.frontend.chosen_texts import may_be_long, meets_texts, number_of_text
from loopwright.frontend.context import Context, NotYet
from loopwright.frontend.convert import as_number, in_type, negated, truth
from loopwright.frontend.infer import Key
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import Character, Fixed, Items, Literal, Number, Value, describe
from loopwright.frontend.variables import store_variable, taken
from loopwright.frontend.views import is_array
from loopwright.ir.nodes import Assign, Const, Expr, If, Logical, Select, Stmt, Var
from loopwright.ir.types import BOOL


@dataclass(frozen=True, slots=True)
class LazyOperand:
    """An operand and the statements that must run before it, only if it is evaluated at all."""

    value: Value
    body: list[Stmt]


def chain(cx: Context, is_or: bool, parts: Sequence[LazyOperand], node: ast.expr) -> Value:
    """`a or b or c`, or the same with `and`: the value, with what it needs written to `cx.body`."""
    result = parts[-1]
    for part in reversed(parts[:-1]):
        with cx.resumed(part.body):
            value = _pair(cx, is_or, part.value, result, node)
        result = LazyOperand(value, part.body)
    cx.body += result.body
    return result.value


def _pair(cx: Context, is_or: bool, first: Value, second: LazyOperand, node: ast.expr) -> Value:
    known = _known_truth(first)
    if known is not None:
        if known is is_or:
            return first
        cx.body += second.body
        return second.value
    for value in (first, second.value):
        if not isinstance(value, Literal | Number):
            word = "or" if is_or else "and"
            raise cx.error(node, f"'{word}' between {describe(first)} and {describe(second.value)}",
                           remedy="write an 'if' statement")  # fmt: skip
    a, b = as_number(cx, first, node), as_number(cx, second.value, node)
    kind = operators.common_type(cx, [a, b], node)
    if not second.body and kind.type == BOOL:
        x, y = in_type(cx, a, kind, node), in_type(cx, b, kind, node)
        return Number(Logical("or" if is_or else "and", x, y), kind.weak)
    if isinstance(a, Number):
        a = Number(cx.once(a.expr, cx.at(node)), a.weak)
    condition, x = truth(cx, a, node), in_type(cx, a, kind, node)
    assert not isinstance(condition, bool)
    with cx.resumed(second.body):
        y = in_type(cx, b, kind, node)
    if is_or:
        return _select(cx, condition, kind, (x, []), (y, second.body), node)
    return _select(cx, condition, kind, (y, second.body), (x, []), node)


def _known_truth(value: Value) -> bool | None:
    match value:
        case Literal(value=known) | Number(expr=Const(value=known)):
            return bool(known)
        case Fixed(value=None):
            return False
        case _:
            return None


def _select(
    cx: Context,
    condition: Expr,
    kind: NumberType,
    first: tuple[Expr, list[Stmt]],
    second: tuple[Expr, list[Stmt]],
    node: ast.expr,
) -> Number:
    """`first if condition else second`, each an expression and the statements that it needs."""
    (x, first_body), (y, second_body) = first, second
    if not first_body and not second_body:
        return Number(Select(condition, x, y), kind.weak)
    at = cx.at(node)
    name = cx.temporary_name()
    cx.emit(If(condition, (*first_body, Assign(name, x, at=at)), (*second_body, Assign(name, y, at=at)), at=at))
    return Number(Var(name, kind.type), kind.weak)


def _known_yet(cx: Context, node: ast.expr, is_last: bool = False) -> Value | None:
    """The value of one operand of several; None where its type is not known yet, and another one may tell it."""
    try:
        return cx.evaluate(node)
    except NotYet as unknown:
        if is_last:
            raise
        cx.session.failure = cx.session.failure or unknown
        return None


def logical(cx: Context, node: ast.BoolOp) -> Value:
    """`a and b`, `a or b`: one of the operands, as in Python."""
    parts: list[LazyOperand] = []
    for operand in node.values:
        with cx.inner_body(nested=bool(parts)) as body:
            value = _known_yet(cx, operand, is_last=not parts and operand is node.values[-1])
        if value is None:
            continue
        parts.append(LazyOperand(value, body))
        if _known_truth(value) is isinstance(node.op, ast.Or):
            break  # what comes after it is never evaluated, and may make no sense
    return chain(cx, isinstance(node.op, ast.Or), parts, node)


def condition_of(cx: Context, node: ast.expr) -> bool | Expr:
    """The truth value of an expression; `and` and `or` of conditions stay conditions, whatever their types."""
    match node:
        case ast.BoolOp(op=op, values=values):
            parts: list[LazyOperand] = []
            for operand in values:
                with cx.inner_body(nested=bool(parts)) as body:
                    known = condition_of(cx, operand)
                parts.append(LazyOperand(Literal(known) if isinstance(known, bool) else Number(known, weak=True), body))
                if known is isinstance(op, ast.Or):
                    break
            return truth(cx, chain(cx, isinstance(op, ast.Or), parts, node), node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            known = condition_of(cx, operand)
            return not known if isinstance(known, bool) else negated(known)
        case _:
            return truth(cx, cx.evaluate(node), node)


def condition_before(cx: Context, node: ast.expr, *branches: list[ast.stmt]) -> bool | Expr:
    """The truth value of the test of a statement. Where it reads what is not known yet, the statement's branches may
    tell: they are read for the next round."""
    try:
        return condition_of(cx, node)
    except NotYet:
        known = cx.session.failure
        for branch in branches:
            with cx.inner_body():
                cx.execute(branch)
        cx.session.failure = known
        raise


def conditional(cx: Context, node: ast.IfExp) -> Value:
    """`a if c else b`."""
    condition = condition_of(cx, node.test)
    if isinstance(condition, bool):
        return cx.evaluate(node.body if condition else node.orelse)
    for arm in (node.body, node.orelse):
        if isinstance(arm, ast.IfExp) and id(node) in cx.target_names:
            cx.target_names[id(arm)] = cx.target_names[id(node)]
    with cx.inner_body() as first_body:
        first = _known_yet(cx, node.body)
    with cx.inner_body() as second_body:
        second = _known_yet(cx, node.orelse, is_last=first is None)
    if first is None or second is None:  # in this round the other one tells the type
        return first or second or Fixed(None)
    operands = LazyOperand(first, first_body), LazyOperand(second, second_body)
    with cx.gives_a_meaning(cx.frame.tree, cx.target_names.get(id(node), place_of(node))):
        return _choose(cx, condition, *operands, node)


def _choose(cx: Context, condition: Expr, first: LazyOperand, second: LazyOperand, node: ast.IfExp) -> Value:
    x, y = first.value, second.value
    if isinstance(x, Items) and isinstance(y, Items) and len(x.items) == len(y.items):
        if x.kind is not y.kind:
            raise cx.error(node, "a conditional expression chooses tuples of one class",
                           remedy="write an 'if' statement, with a name for each")  # fmt: skip
        if first.body or second.body:
            chosen = _written(cx, (x, first.body), (y, second.body), (*cx.frame.path, "chosen", id(node)), node)
            cx.emit(If(condition, tuple(first.body), tuple(second.body), at=cx.at(node)))
            return chosen()
        condition = cx.once(condition, cx.at(node))
        pairs = zip(x.items, y.items, strict=True)
        each = (_choose(cx, condition, LazyOperand(a, []), LazyOperand(b, []), node) for a, b in pairs)
        return replace(x, items=tuple(each))
    if is_array(x) and is_array(y):
        return _chosen_array(cx, condition, first, second, node)
    if meets_texts(cx, x, y):
        codes = [LazyOperand(number_of_text(cx, one.value, node), one.body) for one in (first, second)]
        found = _choose(cx, condition, codes[0], codes[1], node)
        assert isinstance(found, Number)
        return Character(cx.once(found.expr, cx.at(node)), may_be_long(x) or may_be_long(y))
    for value in (x, y):
        if not isinstance(value, Literal | Number):
            raise cx.error(node, f"a conditional expression chooses numbers, not {describe(value)}",
                           remedy="write an 'if' statement, with the loops in both branches")  # fmt: skip
    a, b = as_number(cx, x, node), as_number(cx, y, node)
    kind = operators.common_type(cx, [a, b], node)
    with cx.resumed(first.body):
        left = in_type(cx, a, kind, node.body)
    with cx.resumed(second.body):
        right = in_type(cx, b, kind, node.orelse)
    return _select(cx, condition, kind, (left, first.body), (right, second.body), node)


def _written(
    cx: Context, first: tuple[Value, list[Stmt]], second: tuple[Value, list[Stmt]], key: Key, node: ast.IfExp
) -> Callable[[], Value]:
    """Have the statements that make each of two values write it into variables, and say how these are read after the
    `if` that the statements go into."""
    (x, first_body), (y, second_body) = first, second
    if isinstance(x, Items) and isinstance(y, Items) and len(x.items) == len(y.items) and x.kind is y.kind:
        pairs = enumerate(zip(x.items, y.items, strict=True))
        parts = [_written(cx, (a, first_body), (b, second_body), (*key, k), node) for k, (a, b) in pairs]
        return lambda: replace(x, items=tuple(part() for part in parts))
    if is_array(x) and is_array(y):
        _refuse_copy(cx, node)
        for value, body, place in ((x, first_body, node.body), (y, second_body, node.orelse)):
            with cx.resumed(body):
                store_variable(cx, key, "chosen", value, node, place)
        return lambda: taken(cx, key, node, "chosen")
    a, b = (as_number(cx, one, node, "a conditional expression chooses numbers, arrays and tuples") for one in (x, y))
    kind, name = operators.common_type(cx, [a, b], node), cx.temporary_name()
    for number, body, place in ((a, first_body, node.body), (b, second_body, node.orelse)):
        with cx.resumed(body):
            cx.emit(Assign(name, in_type(cx, number, kind, place), at=cx.at(node)))
    return lambda: Number(Var(name, kind.type), kind.weak)


def _refuse_copy(cx: Context, node: ast.IfExp) -> None:
    """Raise KernelError for an array that is chosen where it may show that it is a copy, and no name says of what."""
    if chosen_shows(cx, node):
        raise cx.error(node, "an array that is chosen here may be written, and has no name",
                       remedy="give it one before, w = a if c else b; or choose a copy, a.copy()")  # fmt: skip


def _chosen_array(cx: Context, condition: Expr, first: LazyOperand, second: LazyOperand, node: ast.IfExp) -> Value:
    """One of two arrays: memory of its own, which is written with the one that is chosen."""
    _refuse_copy(cx, node)
    key, name = (*cx.frame.path, "chosen", id(node)), cx.target_names.get(id(node), "chosen")
    for operand, place in ((first, node.body), (second, node.orelse)):
        with cx.resumed(operand.body):
            store_variable(cx, key, name, operand.value, node, place)
    cx.emit(If(condition, tuple(first.body), tuple(second.body), at=cx.at(node)))
    return taken(cx, key, node, name)
