"""Texts as sequences of characters: `len(text)`, `text[i]`, `for c in text`, `c in "ACGT"`, `ord(c)`.

A text is known at compile time. A character that the run finds is its code, out of a table; what is asked of it is
whether it is another one, and which code it has. It is no text for anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend import made_texts
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.arrays import index_value, largest_table
from loopwright.frontend.chosen_texts import may_be_long, number_of_text
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.elementwise import check
from loopwright.frontend.inline import run_written
from loopwright.frontend.values import (
    Character,
    Fixed,
    Items,
    Literal,
    Number,
    SliceIndex,
    Value,
    describe,
    from_object,
    is_none,
)
from loopwright.ir.nodes import Compare, Const, Expr
from loopwright.ir.types import BOOL, INT64


def is_text(value: Value) -> bool:
    """Whether this is a text, or a character."""
    return isinstance(value, Character) or (isinstance(value, Fixed) and isinstance(value.value, str))


def text_of(value: Value) -> str | None:
    """The text that a value is, where it is known."""
    return value.value if isinstance(value, Fixed) and isinstance(value.value, str) else None


def character_at(cx: Context, text: str, index: Value, nodes: Sequence[ast.expr], at: ast.expr) -> Value:
    """`text[index]`."""
    if isinstance(index, Number) and isinstance(index.expr, Const):
        index = Literal(int(index.expr.value))
    if isinstance(index, Literal) and isinstance(index.value, int):
        if not -len(text) <= index.value < len(text):
            raise cx.error(at, f"index {index.value} is out of range for a text of {len(text)}")
        return Fixed(text[index.value])
    if len(text) > largest_table():
        raise cx.error(at, f"a text of {len(text)} characters can only be indexed by a constant",
                       f"one of up to {largest_table()} is a table of the code",
                       "pass an array: np.frombuffer(text.encode(), np.uint8)")  # fmt: skip
    if not text:
        check(cx, Const(False, BOOL), "index", at)  # it may be in a loop that never runs
        return Character(Const(0, INT64))
    index = Number(as_index(cx, index, nodes[0]), weak=True)
    found = index_value(cx, Items(tuple(Literal(ord(one)) for one in text)), [index], nodes, at)
    assert isinstance(found, Number)
    return Character(cx.temporary(found.expr, cx.at(at)))


def part_of_text(cx: Context, text: str, index: SliceIndex, node: ast.expr) -> Value:
    """`text[a:b]`: one of the run's where it finds the bounds."""
    bounds = [None if one is None or is_none(one) else one for one in (index.lower, index.upper, index.step)]
    known = [one.value if isinstance(one, Literal) and isinstance(one.value, int) else None for one in bounds]
    if any((one is None) != (value is None) for one, value in zip(bounds, known, strict=True)):
        made = made_texts.part(cx, text, index, at_position, node)
        if made is None:
            raise cx.error(node, "a slice of a text needs constant bounds",
                           remedy="pass an array: np.frombuffer(text.encode(), np.uint8)")  # fmt: skip
        return made
    return Fixed(text[slice(*known)])


def codes(cx: Context, left: Value, right: Value) -> tuple[Value, Value] | None:
    """The codes of two characters, of which one at least is found by the run, to be compared; None for all else."""
    if not isinstance(left, Character) and not isinstance(right, Character):
        return None
    found = [_code(cx, one) for one in (left, right)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _code(cx: Context, value: Value) -> Value | None:
    if isinstance(value, Character):
        return Number(value.code, weak=True)
    text = text_of(value)
    if text is not None and len(text) != 1 and cx.session.texts is not None:
        return number_of_text(cx, value, cx.frame.tree)
    return Literal(ord(text)) if text is not None and len(text) == 1 else None


def letters(value: Value) -> Items | None:
    """The characters of a text that is known, one by one."""
    text = text_of(value)
    return None if text is None else Items(tuple(map(Fixed, text)))


def code_of(cx: Context, call: Arguments) -> Value:
    """`ord(c)`."""
    call.expect(cx, 1)
    code = None if may_be_long(call.values[0]) else _code(cx, call.values[0])
    if code is None:
        raise cx.error(call.node, "ord() takes a character", f"this is {describe(call.values[0])}")
    return code


def character_of(cx: Context, call: Arguments) -> Value:
    """`chr(n)`."""
    call.expect(cx, 1)
    (number,) = call.values
    if isinstance(number, Number):
        cx.session.meets_texts = True
        code = cx.temporary(as_index(cx, number, call.place(0)), cx.at(call.node))
        run_written(cx, check_code, [Number(code, weak=True)], call.node)
        return Character(code)
    if not isinstance(number, Literal) or not isinstance(number.value, int) or not 0 <= number.value < 0x110000:
        raise cx.error(call.node, "chr() takes a constant code here", remedy="compare codes: ord(c) == n")
    return Fixed(chr(number.value))


def check_code(code: int) -> None:
    """ValueError for what is no code of a character."""
    if code < 0 or code > 0x10FFFF:
        raise ValueError("chr() arg not in range(0x110000)")


METHODS = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith", "count", "find", "index", "replace",
    "isdigit", "isalpha", "isupper", "islower", "isalnum", "isspace", "isnumeric", "isdecimal", "title", "capitalize",
    "swapcase", "join",
})  # fmt: skip


def method_of_text(cx: Context, text: str, call: Arguments) -> Value:
    """`text.lower()` and the like, of texts and numbers that are known."""
    given: list[object] = []
    for value in call.values:
        if not isinstance(value, Literal) and text_of(value) is None:
            raise cx.error(call.node, f"'.{call.name}' of a text takes what is known at compile time",
                           f"this is {describe(value)}")  # fmt: skip
        given.append(value.value if isinstance(value, Literal) else text_of(value))
    if call.named:
        call.expect(cx, 0, len(call.values))
    try:
        return from_object(getattr(text, call.name)(*given))
    except (TypeError, ValueError) as reason:
        raise cx.error(call.node, str(reason)) from None


_TESTS = ("isdigit", "isalpha", "isupper", "islower", "isalnum", "isspace", "isnumeric", "isdecimal")
_CASES = ("lower", "upper", "swapcase", "title", "capitalize")
_LATIN = 256


def is_of_characters(name: str) -> bool:
    """Whether characters that the run finds have this method."""
    return name in _TESTS or name in _CASES


def method_of_character(cx: Context, character: Character, call: Arguments) -> Value:
    """`c.isupper()` and the like, `c.lower()` and the like: out of a table for the characters of Latin-1."""
    if may_be_long(character):
        raise cx.error(call.node, f"'.{call.name}()' of a text that the run chooses is outside the language",
                       remedy="compare it with each of them")  # fmt: skip
    call.expect(cx, 0)
    made = [getattr(chr(code), call.name)() for code in range(_LATIN)]
    rows = [one if isinstance(one, bool) else ord(one) if len(one) == 1 else -1 for one in made]
    code = run_written(cx, check_latin, [Number(character.code, weak=True)], call.node)
    at = call.node.func if isinstance(call.node, ast.Call) else cx.frame.tree
    assert isinstance(at, ast.expr)
    found = index_value(cx, Items(tuple(Literal(int(one)) for one in rows)), [code], [at], at)
    assert isinstance(found, Number)
    if call.name in _TESTS:
        return Number(cx.temporary(Compare("ne", found.expr, Const(0, INT64)), cx.at(call.node)), weak=True)
    number = cx.temporary(found.expr, cx.at(call.node))
    run_written(cx, check_single, [Number(number, weak=True)], call.node)
    return Character(number)


def check_latin(code: int) -> int:
    """ValueError for a character of which methods know nothing."""
    if code > 255:
        raise ValueError("methods of characters that the run finds know those up to chr(255) only")
    return code


def check_single(code: int) -> None:
    """ValueError for what is no single character."""
    if code < 0:
        raise ValueError("a character becomes several ones in another case, which is outside the language")


def size_of_text(value: Value) -> int:
    """`len(text)`."""
    text = text_of(value)
    return 1 if text is None else len(text)


def at_position(cx: Context, text: str, k: Expr, node: ast.expr) -> Value:
    """The character at a position that is in range."""
    position = Literal(int(k.value)) if isinstance(k, Const) and k.type == INT64 else Number(k, weak=True)
    return character_at(cx, text, position, [node], node)
