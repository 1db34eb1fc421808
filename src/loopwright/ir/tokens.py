"""The text form cut into tokens: names, numbers, signs, and Python's newline, indent and dedent."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from loopwright.errors import LoopwrightError
from loopwright.ir.printing import PLAIN_NAME, SUFFIXES

TokenKind = Literal["name", "word", "number", "string", "sign", "newline", "indent", "dedent", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` `word`: one of Python's keywords. `text` of a quoted name or string is what stands between the quotes.
    `line` counts from 1."""

    kind: TokenKind
    text: str
    line: int


class TextError(LoopwrightError, ValueError):
    """Text that is not a kernel: the message says on which line, and what is wrong there."""


def fault(what: str, line: int) -> TextError:
    """The error for something wrong on a line."""
    return TextError(f"line {line}: {what}")


_TOKEN = re.compile(
    rf"""(?P<space>[ ]+|\#.*)
    | (?P<number>\d+(\.\d+)?(e[+-]?\d+)?({"|".join(SUFFIXES.values())})?(?!\w))
    | (?P<name>{PLAIN_NAME.pattern})
    | `(?P<quoted>[^`]*)`
    | '(?P<string>[^']*)'
    | (?P<sign>\*\*|//|<<|>>|==|!=|<=|>=|->|\.\.|[-+*/%&|^~<>=()\[\]:,])""",
    re.VERBOSE,
)


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text. A line goes on where a bracket is open. Raises TextError."""
    indents, open_brackets, last = [0], 0, 1
    for number, line in enumerate(text.split("\n"), 1):
        found = list(_line_tokens(line, number))
        if not found:
            continue
        last = number
        if open_brackets == 0:
            yield from _indentation(len(line) - len(line.lstrip(" ")), indents, number)
        yield from found
        open_brackets += sum((t.kind == "sign") * ((t.text in "([") - (t.text in ")]")) for t in found)
        if open_brackets == 0:
            yield Token("newline", "", number)
    yield from _indentation(0, indents, last)
    yield Token("end", "", last)


def _indentation(width: int, indents: list[int], number: int) -> Iterator[Token]:
    if width > indents[-1]:
        indents.append(width)
        yield Token("indent", "", number)
    while width < indents[-1]:
        indents.pop()
        yield Token("dedent", "", number)
    if width != indents[-1]:
        raise fault("the indentation fits no line above", number)


def _line_tokens(line: str, number: int) -> Iterator[Token]:
    position = 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:
            raise fault(f"what is {line[position]!r}?", number)
        position = match.end()
        group = str(match.lastgroup)
        token = match[group]
        match group:
            case "space":
                continue
            case "quoted":
                yield Token("name", token.encode("ascii").decode("unicode_escape"), number)
            case "name":
                yield Token("word" if keyword.iskeyword(token) else "name", token, number)
            case "number":
                yield Token("number", token, number)
            case "string":
                yield Token("string", token.encode("ascii").decode("unicode_escape"), number)
            case _:
                yield Token("sign", token, number)
