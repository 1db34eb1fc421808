"""Texts that the run chooses among those that are known: `state = "idle"` in one branch of a loop and `"busy"` in
another one, `names[k]`, `"even" if n % 2 == 0 else "odd"`.

Such a text is a number: the code of its character, or FIRST and its place among the other texts of the function. It can
be given a name, compared for equality, put into a list, and returned. A function is read in this way only where it is
refused otherwise (`Session.texts`), since what is known at compile time can do more.
"""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import Character, Fixed, Literal, Number, Value, describe
from loopwright.ir.types import INT64

FIRST = 0x110000
"""The number of the first text that is no single character."""


def meets_texts(cx: Context, *values: Value) -> bool:
    """Whether texts stand where the run would have to choose among them; the session notes it. True where it may."""
    if not any(isinstance(one, Character) or _text(one) is not None for one in values):
        return False
    cx.session.meets_texts = True
    return cx.session.texts is not None


def _text(value: Value) -> str | None:
    return value.value if isinstance(value, Fixed) and isinstance(value.value, str) else None


def number_of_text(cx: Context, value: Value, node: ast.AST) -> Literal | Number:
    """The number that a text or a character is. Raises KernelError for anything else."""
    text = _text(value)
    if isinstance(value, Character):
        return Number(value.code, weak=True)
    if text is None:
        raise cx.error(node, f"a text and {describe(value)} cannot take one place")
    if len(text) == 1:
        return Literal(ord(text))
    known = cx.session.texts
    assert known is not None
    cx.session.types.grown |= text not in known
    return Literal(FIRST + known.setdefault(text, len(known)))


def note_texts(cx: Context, key: tuple[object, ...], *values: Value) -> None:
    """Note that a variable or a list holds texts, and whether these are all of one character."""
    of_any_length = any(map(may_be_long, values)) or cx.session.text_names.get(key, False)
    if cx.session.text_names.get(key) is not of_any_length:
        cx.session.text_names[key] = of_any_length
        cx.session.types.grown = True


def note_made(cx: Context, key: tuple[object, ...]) -> None:
    """Note that a list is a text that the run makes (made_texts.py)."""
    cx.session.made_texts.add(key)
    cx.session.text_names.setdefault(key, False)
    cx.session.types.assign(key, 0)
    cx.session.types.assign((*key, 0), NumberType(INT64, weak=True))


def may_be_long(value: Value) -> bool:
    """Whether it may be a text of other than one character."""
    text = _text(value)
    return value.is_long if isinstance(value, Character) else text is not None and len(text) != 1


def all_texts(cx: Context) -> tuple[str, ...]:
    """The texts of the function that are no single characters, by their places."""
    return tuple(cx.session.texts or ())
