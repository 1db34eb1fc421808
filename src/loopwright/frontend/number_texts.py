"""Texts of whole numbers: `str(n)`, `f"{n}:{m}"`. They are texts that the run makes (made_texts.py)."""

from __future__ import annotations

import ast

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.elementwise import nest
from loopwright.frontend.inline import run_written
from loopwright.frontend.lists import append
from loopwright.frontend.made_texts import is_any_text, known_text, new_text
from loopwright.frontend.values import Character, Fixed, Literal, Number, Value, describe
from loopwright.frontend.views import as_size
from loopwright.ir.nodes import Binary, Compare, Const, Expr, If
from loopwright.ir.types import BOOL, INT64, UINT64

_NO_TEXT = "a text of what only the run tells is outside the language here", "numbers that are whole become texts"


def text_of(cx: Context, call: Arguments) -> Value:
    """`str(n)`."""
    call.expect(cx, 1)
    return _as_text(cx, call.values[0], call.node)


def formatted(cx: Context, node: ast.JoinedStr) -> Value:
    """`f"{n}:{m}"`. Raises KernelError for a format, as in `{n:5d}`."""
    parts: list[Value] = []
    for part in node.values:
        if not isinstance(part, ast.FormattedValue):
            parts.append(cx.evaluate(part))
        elif part.format_spec is not None or part.conversion not in (-1, ord("s")):
            raise cx.error(part, "a format in a text that is not printed or raised is outside the language",
                           remedy="leave the format out, or make the text where the function is called")  # fmt: skip
        else:
            parts.append(_as_text(cx, cx.evaluate(part.value), part.value))
    texts = [known_text(one) for one in parts]
    if None not in texts:
        return Fixed("".join(one for one in texts if one is not None))
    cx.session.meets_texts = True
    if cx.session.texts is None:
        raise cx.error(node, *_NO_TEXT)
    return new_text(cx, parts, node)


def _as_text(cx: Context, value: Value, node: ast.expr) -> Value:
    """The text that a whole number is, in decimal digits. Raises KernelError for other numbers."""
    if is_any_text(value):
        return value
    if isinstance(value, Literal):
        return Fixed(str(value.value))
    if not isinstance(value, Number) or not value.type.is_integer or value.type in (BOOL, UINT64):
        raise cx.error(node, f"a text of {describe(value)} is outside the language", "whole numbers become texts",
                       "make the text where the function is called")  # fmt: skip
    cx.session.meets_texts = True
    if cx.session.texts is None:
        raise cx.error(node, *_NO_TEXT)
    number = Number(cx.once(as_index(cx, value, node, "a number"), cx.at(node)), weak=True)
    result = new_text(cx, [], _of_digits(node))
    with cx.inner_body() as negative:
        append(cx, cx.lists.get(result.key, result), Character(Const(ord("-"), INT64)), node)
    cx.emit(If(Compare("lt", number.expr, Const(0, INT64)), tuple(negative), (), at=cx.at(node)))
    count = run_written(cx, digits, [number], node)
    assert isinstance(count, Number)

    def write(index: list[Expr]) -> None:
        at = Number(Binary("sub", Binary("sub", size, index[0]), Const(1, INT64)), weak=True)
        found = run_written(cx, digit, [number, at], node)
        assert isinstance(found, Number)
        letter = Character(cx.temporary(Binary("add", found.expr, Const(ord("0"), INT64)), cx.at(node)))
        append(cx, cx.lists.get(result.key, result), letter, node)

    size = cx.once(count.expr, cx.at(node))
    nest(cx, (as_size(size),), write, node)
    return cx.lists.get(result.key, result)


def digits(n: int) -> int:
    """How many decimal digits a number has."""
    count = 1
    if n < 0:
        n = n // -10
        count = 2 if n > 0 else 1
    while n > 9:
        n = n // 10
        count += 1
    return count


def digit(n: int, place: int) -> int:
    """A decimal digit of a number, counted from the last one."""
    if n < 0:
        if place == 0:
            return -(n % -10)
        n = n // -10
        place -= 1
    for _ in range(place):
        n = n // 10
    return n % 10


def _of_digits(node: ast.expr) -> ast.AST:
    """A node that stands for the text of what a node gives. The same one each time."""
    found: ast.AST | None = getattr(node, "as_digits", None)
    if found is None:
        found = node.as_digits = ast.copy_location(ast.Constant(""), node)  # type: ignore[attr-defined]
    return found
