"""The words of verdicts: reasons and conflicts, in terms of the user's own source."""

from __future__ import annotations

from loopwright.analysis.dependence import Meeting
from loopwright.analysis.facts import Conflict
from loopwright.analysis.trace import Access
from loopwright.ir.linear import parted
from loopwright.ir.nodes import Const, Expr, For, While
from loopwright.ir.user_text import user_element, user_name, user_text


def access_text(access: Access) -> str:
    """An access as the user wrote it, such as `out[i, j % 4]`."""
    return user_element(access.node.array, access.node.index)


def conflict_of(meeting: Meeting) -> Conflict:
    """A meeting in words."""
    first, second = meeting.first, meeting.second
    return Conflict(
        first.array,
        meeting.kind,
        access_text(first),
        access_text(second),
        first.node.at,
        second.node.at,
        "any" if meeting.distance is None else str(meeting.distance),
    )


def reason_of(meeting: Meeting, loop: str, step: int) -> str:
    """Why a meeting keeps a loop in order, or why nobody can tell whether it does."""
    loop = user_name(loop)
    first, second = access_text(meeting.first), access_text(meeting.second)
    if not meeting.certain:
        both = f"{first} and {second}" if first != second else first
        return f"two iterations of '{loop}' may touch the same element: {both}"
    who = {"RAW": "one writes it, one reads it", "WAR": "one reads it, one writes it", "WAW": "both write it"}
    if meeting.distance is None:
        pair = f"different iterations of '{loop}'"
        if meeting.least is not None and meeting.least > 1:
            pair = f"iterations {loop} and {loop}{meeting.least * step:+d}"
        return f"{pair} touch the same element: {who[meeting.kind]}"
    other = f"{loop}{meeting.distance * step:+d}"
    match meeting.kind:
        case "RAW":
            return f"iteration {loop} writes {first}, which iteration {other} reads as {second}"
        case "WAR":
            return f"iteration {loop} reads {first}, which iteration {other} writes as {second}"
        case "WAW":
            return f"iterations {loop} and {other} write the same element of {user_name(meeting.first.array)}"


def trip_count(loop: For | While) -> str | None:
    """The number of iterations as text, from the bounds alone; None for a while loop or a step that varies."""
    if isinstance(loop, While) or not isinstance(loop.step, Const) or not loop.step.value:
        return None
    step = int(loop.step.value)
    first, end = (loop.lower, loop.upper) if step > 0 else (loop.upper, loop.lower)
    span = _difference(end, first)
    if abs(step) == 1:
        return span
    return str(-(-int(span) // abs(step))) if span.isdecimal() else f"ceil(({span}) / {abs(step)})"


def _difference(end: Expr, first: Expr) -> str:
    (stop, more), (start, less) = parted(end), parted(first)
    number = more - less
    if stop is None and start is None:
        return str(max(0, number))
    text = "" if stop is None else user_text(stop)
    if start is not None:
        other = user_text(start)
        text += f"{' ' if text else ''}-{' ' if text else ''}{other if other.isidentifier() else f'({other})'}"
    return f"{text} {'-' if number < 0 else '+'} {abs(number)}" if number else text
