"""What is asked of texts that the run makes: `text.startswith(x)`, `text.find(x)` and the like, `int(text)`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.inline import run_written
from loopwright.frontend.made_texts import is_any_text, is_made, known_text, new_text
from loopwright.frontend.values import ListValue, Literal, Value, describe


def method_of_made(cx: Context, text: ListValue, call: Arguments) -> Value:
    """`text.startswith(x)`, `text.count(x)` and the like of a text that the run makes. Raises KernelError for
    others."""
    if call.name not in _ASKED:
        raise cx.error(call.node, f"'.{call.name}()' of a text that is made while the code runs is refused",
                       remedy="compare it, or its characters")  # fmt: skip
    call.expect(cx, 1)
    if not is_any_text(call.values[0]):
        raise cx.error(call.node, f"'.{call.name}()' takes a text, and this is {describe(call.values[0])}")
    other = call.values[0] if is_made(call.values[0]) else new_text(cx, [call.values[0]], call.node)
    return run_written(cx, _ASKED[call.name], [text, other], call.node)


def has_part(cx: Context, text: Value, part: Value, node: ast.expr) -> Value:
    """`part in text`."""
    other = part if is_made(part) else new_text(cx, [part], node)
    return run_written(cx, holds, [text, other], node)


def holds(text: str, part: str) -> bool:
    """Whether a text is in another one."""
    return text.find(part) >= 0


def begins(text: str, start: str) -> bool:
    """Whether a text begins with another one."""
    k = 0
    while k < len(start) and k < len(text) and text[k] == start[k]:
        k += 1
    return k == len(start)


def ends(text: str, end: str) -> bool:
    """Whether a text ends with another one."""
    k = 1
    while k <= len(end) and k <= len(text) and text[-k] == end[-k]:
        k += 1
    return k > len(end)


def occurrences(text: str, part: str) -> int:
    """How often a text is in another one, none of them overlapping."""
    if len(part) == 0:
        return len(text) + 1
    found, k = 0, 0
    while k + len(part) <= len(text):
        same = 0
        while same < len(part) and text[k + same] == part[same]:
            same += 1
        if same == len(part):
            found += 1
            k += same
        else:
            k += 1
    return found


def first(text: str, part: str) -> int:
    """Where a text begins in another one; -1 where it is not in there."""
    found, k = -1, 0
    while found < 0 and k + len(part) <= len(text):
        same = 0
        while same < len(part) and text[k + same] == part[same]:
            same += 1
        if same == len(part):
            found = k
        k += 1
    return found


_ASKED: dict[str, Callable[..., object]] = {
    "startswith": begins, "endswith": ends, "count": occurrences, "find": first,
}  # fmt: skip


def number_of(cx: Context, value: Value, node: ast.expr) -> Value:
    """`int(text)` of a text of any kind."""
    text = known_text(value)
    if text is not None:
        try:
            return Literal(int(text))
        except ValueError as reason:
            raise cx.error(node, str(reason)) from None
    cx.session.meets_texts = True
    if cx.session.texts is None:
        raise cx.error(node, "int() takes numbers here", f"this is {describe(value)}")
    return run_written(cx, whole_number, [new_text(cx, [value], node)], node)


def whole_number(text: str) -> int:
    """What `int(text)` is, for the digits of ASCII."""
    first, last = 0, len(text) - 1
    while first < last and (text[first] == " " or "\t" <= text[first] <= "\r" or "\x1c" <= text[first] <= "\x1f"):
        first += 1
    while first < last and (text[last] == " " or "\t" <= text[last] <= "\r" or "\x1c" <= text[last] <= "\x1f"):
        last -= 1
    is_negative = first < last and text[first] == "-"
    if is_negative or (first < last and text[first] == "+"):
        first += 1
    if first > last or text[first] == "_" or text[last] == "_":
        raise ValueError("invalid literal for int() with base 10")
    found = 0
    for k in range(first, last + 1):
        value = ord(text[k]) - 48
        if text[k] == "_" and text[k - 1] != "_":
            continue
        if value < 0 or value > 9:
            raise ValueError("invalid literal for int() with base 10")
        if found > 922337203685477580 or (found == 922337203685477580 and value > 7):
            raise OverflowError("Python int too large to convert to C long")
        found = found * 10 + value
    return -found if is_negative else found
