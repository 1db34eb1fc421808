"""`print(...)` of numbers and text. What is printed is recorded while the code runs, and printed by Python when the
call ends, also by an exception: in order, as Python formats it, to whatever `sys.stdout` is then.

A record is a row of words: a kind, and what belongs to it. Text is in words of seven bytes of UTF-8; floats have a row
of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from loopwright.frontend.context import Context
from loopwright.frontend.elementwise import check
from loopwright.frontend.hidden import Hidden, NeededError
from loopwright.frontend.values import Fixed, Items, Literal, Number, Value, describe
from loopwright.ir.nodes import Binary, Cast, Compare, Const, Expr, Load, Store
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64, UINT64

_WORDS, _FLOATS, _COUNTS = NAMES = ("print.words", "print.floats", "print.counts")
ROOM = 2**24
"""Words, and floats, that one call can print."""
_TEXT, _FORMAT, _INT, _UINT, _BOOL, _FLOAT, _FLOAT32, _END = range(8)
_BYTES = 7


# ---- what the code does -----------------------------------------------------------------------------------------


def print_call(cx: Context, node: ast.Call) -> Value:
    """`print(x, "text", f"{x:.3f}", sep=..., end=...)`. Raises NeededError where there is nothing to record it in."""
    if _WORDS not in cx.arguments:
        needed = NeededError("this function prints", cx.at(node), remedy="call it once first")
        needed.hidden = HIDDEN
        raise needed
    texts = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        if keyword.arg == "flush":
            continue
        if keyword.arg not in texts or not isinstance(keyword.value, ast.Constant):
            raise cx.error(
                keyword.value, f"print() takes no '{keyword.arg}' here", remedy="use sep and end, with texts"
            )
        known = keyword.value.value
        texts[keyword.arg] = known if isinstance(known, str) else texts[keyword.arg]
    parts: list[tuple[int, Expr | str]] = []
    for number, argument in enumerate(node.args):
        if number and texts["sep"]:
            parts.append((_TEXT, texts["sep"]))
        parts += _parts_of(cx, argument)
    parts += [(_TEXT, texts["end"])] if texts["end"] else []
    _record(cx, [*parts, (_END, "")], node)
    return Fixed(None)


def _parts_of(cx: Context, node: ast.expr) -> Iterator[tuple[int, Expr | str]]:
    if not isinstance(node, ast.JoinedStr):
        yield from _shown(cx, cx.evaluate(node), node)
        return
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if part.conversion not in (-1, ord("s")):
                raise cx.error(part, "a conversion in a text is outside the language", remedy="write {x}")
            value = cx.evaluate(part.value)
            if isinstance(value, Literal) and part.format_spec is not None:
                yield _TEXT, format(value.value, _constant_text(cx, part.format_spec))
                continue
            shown = list(_shown(cx, value, part.value))
            if part.format_spec is not None and (len(shown) > 1 or shown[0][0] == _TEXT):
                what = "a format applies only to numbers that are computed"
                raise cx.error(part, what, remedy="write out the final text")
            if part.conversion != -1 and part.format_spec is not None:
                raise cx.error(part, "a conversion with a format is outside the language", remedy="write {x:...}")
            if shown[0][0] != _TEXT and part.conversion == -1:
                yield _FORMAT, "" if part.format_spec is None else _constant_text(cx, part.format_spec)
            yield from shown
        else:
            yield _TEXT, _constant_text(cx, part)


def _constant_text(cx: Context, node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_constant_text(cx, part) for part in parts)
        case _:
            raise cx.error(node, "the format of a number must be known at compile time")


def _shown(cx: Context, value: Value, node: ast.expr) -> Iterator[tuple[int, Expr | str]]:
    match value:
        case Literal(value=known):
            yield _TEXT, str(known)
        case Fixed(value=str() | None as known):
            yield _TEXT, str(known)
        case Number(expr=expr):
            yield _kind(expr), expr
        case Items(is_list=False) if not any(isinstance(item, Fixed) for item in value.items) and not value.names:
            yield _TEXT, "("
            for number, item in enumerate(value.items):
                if isinstance(item, Number) and not item.weak:
                    raise cx.error(node, "a tuple with NumPy's numbers in it is not printed here",
                                   remedy="print its items one by one")  # fmt: skip
                yield _TEXT, ", " if number else ""
                yield from _shown(cx, item, node)
            yield _TEXT, ",)" if len(value.items) == 1 else ")"
        case _:
            raise cx.error(node, f"{describe(value)} is not printed here",
                           remedy="print numbers and text, or print what the function returns")  # fmt: skip


def _kind(expr: Expr) -> int:
    if expr.type == BOOL:
        return _BOOL
    if expr.type.is_float:
        return _FLOAT32 if expr.type == FLOAT32 else _FLOAT
    return _UINT if expr.type == UINT64 else _INT


def _record(cx: Context, parts: Sequence[tuple[int, Expr | str]], node: ast.AST) -> None:
    """Write a record behind those that are there."""
    at = cx.at(node)
    values = [(kind, one if isinstance(one, str) else cx.temporary(one, at)) for kind, one in parts]
    counts = [cx.temporary(Load(_COUNTS, (Const(k, INT64),), INT64, at=at), at) for k in range(2)]
    words: list[Expr] = []
    floats: list[Expr] = []
    one: Expr | str
    for kind, one in values:
        words.append(Const(kind, INT64))
        if isinstance(one, str):
            data = one.encode()
            words += [Const(len(data), INT64)] * (kind != _END)
            words += [Const(int.from_bytes(data[k : k + _BYTES], "little"), INT64) for k in range(0, len(data), _BYTES)]
        elif kind in (_FLOAT, _FLOAT32):
            floats.append(one if one.type == FLOAT64 else Cast(one, FLOAT64))
        else:
            words.append(one if one.type == INT64 else Cast(one, INT64))
    for name, count, row in zip((_WORDS, _FLOATS), counts, (words, floats), strict=True):
        check(cx, Compare("le", count, Const(ROOM - len(row), INT64)), "memory", node)
        for k, word in enumerate(row):
            cx.emit(Store(name, (Binary("add", count, Const(k, INT64)),), word, at=at))
    for k, row in enumerate((words, floats)):
        if row:
            total = Binary("add", counts[k], Const(len(row), INT64))
            cx.emit(Store(_COUNTS, (Const(k, INT64),), total, at=at))


# ---- what Python does -------------------------------------------------------------------------------------------


def with_record(call: Callable[..., object], arguments: Sequence[object]) -> object:
    """Make a call, and print what it recorded."""
    record = np.empty(ROOM, np.int64), np.empty(ROOM, np.float64), np.zeros(2, np.int64)
    try:
        return call(*arguments, *record)
    finally:
        words, floats, counts = record
        _print(iter(words[: counts[0]].tolist()), iter(floats[: counts[1]].tolist()))


def _print(words: Iterator[int], floats: Iterator[float]) -> None:
    text: str = ""
    spec: str | None = None  # text and numbers are formatted in two ways: NumPy's float32 differs
    for kind in words:
        if kind == _END:
            print(text, end="")
            text = ""
        elif kind in (_TEXT, _FORMAT):
            count = next(words)
            data = b"".join(next(words).to_bytes(_BYTES, "little") for _ in range(-(-count // _BYTES)))[:count]
            text, spec = (text + data.decode(), spec) if kind == _TEXT else (text, data.decode())
        else:
            value = _value(kind, words, floats)
            text, spec = text + (str(value) if spec is None else format(value, spec)), None


def _value(kind: int, words: Iterator[int], floats: Iterator[float]) -> Any:
    if kind == _FLOAT:
        return next(floats)
    if kind == _FLOAT32:
        return np.float32(next(floats))
    word = next(words)
    return bool(word) if kind == _BOOL else word % 2**64 if kind == _UINT else word


def sample() -> Sequence[object]:
    """Arguments of the kinds that a call has, to ask about it."""
    return np.zeros(ROOM, np.int64), np.zeros(ROOM), np.zeros(2, np.int64)


HIDDEN = Hidden(NAMES, with_record, sample)
