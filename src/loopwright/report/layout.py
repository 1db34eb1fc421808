"""How an Explanation looks: lines of pieces, each with a style, as plain text, for rich, or as HTML.

It owns the words and the columns. The plain text is the coloured text without its colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

from loopwright.report.choice_layout import choice_lines
from loopwright.report.grid_layout import grid_lines
from loopwright.report.words import count, duration, visible

if TYPE_CHECKING:  # `explanation` imports this file to print itself; here its names are only types
    from rich.text import Text

    from loopwright.report.explanation import (
        AccessReport,
        ArrayReport,
        ConflictReport,
        Explanation,
        Generated,
        LoopReport,
        Ran,
        ReductionReport,
    )

Piece = tuple[str, str]  # text, style
Line = tuple[Piece, ...]

_VERDICT_STYLE = {"parallel": "green", "reduction": "green", "sequential": "yellow", "undecided": "red"}
_CSS = {"green": "color:#1a7f37", "yellow": "color:#9a6700", "red": "color:#cf222e", "bold": "font-weight:bold"}
_OP_WORDS = {
    "add": "a sum", "mul": "a product", "min": "a minimum", "max": "a maximum", "minimum": "a minimum",
    "maximum": "a maximum", "fmin": "a minimum", "fmax": "a maximum", "and": "an 'and'", "or": "an 'or'",
    "xor": "an 'xor'",
}  # fmt: skip
_KIND_WORDS = {"scalar": "", "element": "one element of ", "scatter": "elements of "}
_LAYOUT_WORDS = {
    "C": "C order",
    "F": "Fortran order",
    "last": "last axis contiguous",
    "first": "first axis contiguous",
    "strided": "any strides",
}
_WIDEST_CODE = 56
_MOST_OF_PLAN = 12


def as_text(explanation: Explanation) -> str:
    """Plain text, without a trailing newline."""
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines(explanation))


def as_rich(explanation: Explanation) -> Text:
    """The same with colours, for rich.print."""
    from rich.text import Text  # only for those who print in colour: importing rich costs 30 ms

    text = Text()
    for line in lines(explanation):
        for piece, style in line:
            text.append(piece, style=style or None)
        text.append("\n")
    text.right_crop(1)
    return text


def as_html(explanation: Explanation) -> str:
    """The same for a notebook."""

    def html(piece: Piece) -> str:
        text, style = piece
        return f'<span style="{_CSS[style]}">{escape(text)}</span>' if style in _CSS else escape(text)

    return "<pre>" + "\n".join("".join(map(html, line)).rstrip() for line in lines(explanation)) + "</pre>"


def lines(explanation: Explanation) -> Iterator[Line]:
    """The whole report, top to bottom: what it is, loops, arrays, safety, what was made, what ran. Reasons and
    schedules may come from a store that others wrote to."""
    for line in _lines(explanation):
        yield tuple((visible(text, "\n"), style) for text, style in line)


def _lines(explanation: Explanation) -> Iterator[Line]:
    yield ((explanation.signature, "bold"), (f"    {_where(explanation)}", "dim"))
    for note in explanation.notes:
        yield (("  note: ", "yellow"), (note, ""))
    yield ()
    yield from _loops(explanation.loops, explanation.ran)
    yield ()
    yield from _arrays(explanation.arrays)
    yield ()
    yield _row("safe because", _safety(explanation))
    yield _row("schedule", explanation.schedule or "none: the loops run as written")
    for decision in explanation.decisions:
        yield _row("", f"{decision.steps}")
        yield (("                because ", "dim"), (decision.why, ""))
    yield _row("generated", _generated(explanation.generated))
    if explanation.generated is not None and explanation.generated.source_path:
        yield _row("", explanation.generated.source_path)
    if explanation.generated is not None:
        for line in grid_lines(explanation.generated.grids):
            yield _row("", line)
        if explanation.generated.not_on_gpu:
            yield _row("", f"not on a GPU: {explanation.generated.not_on_gpu}")
    for choice in explanation.choices:
        for number, line in enumerate(choice_lines(choice)):
            yield _row("" if number else "choice", line)
    yield from _plan(explanation.plan.splitlines())
    yield _row("ran", _ran(explanation.ran))


def _plan(found: Sequence[str]) -> Iterator[Line]:
    shown = found if len(found) <= _MOST_OF_PLAN else [*found[: _MOST_OF_PLAN - 1], f"and {len(found)} lines in all"]
    for number, line in enumerate(shown):
        yield _row("" if number else "plan", line)


def _where(explanation: Explanation) -> str:
    return f"{PurePath(explanation.file).name}:{explanation.line}" if explanation.file else ""


def _row(name: str, text: str) -> Line:
    return ((f"{name:<14}", "bold"), (text, ""))


# ---- loops --------------------------------------------------------------------------------------------------------


def _loops(loops: Sequence[LoopReport], ran: Ran | None) -> Iterator[Line]:
    if not loops:
        yield (("loops         ", "bold"), ("none", ""))
        return
    yield (("loops", "bold"),)
    codes = ["  " * loop.depth + _code(loop) for loop in loops]
    width = min(max(map(len, codes)), _WIDEST_CODE)
    for code, loop in zip(codes, loops, strict=True):
        shown = code if len(code) <= width else code[: width - 3] + "..."
        yield (
            (f"{_line_number(loop.line)}  {shown:<{width}}  ", ""),
            (loop.verdict, _VERDICT_STYLE[loop.verdict]),
            (_asserted(loop), ""),
        )
        for text in _loop_details(loop, ran):
            yield ((" " * 15 + "  " * loop.depth + text, "dim"),)


def _line_number(line: int) -> str:
    return f"  line {line:>4}" if line else " " * 11


def _code(loop: LoopReport) -> str:
    if loop.source:
        return loop.source
    return "while" if loop.source_name == "while" else f"for {loop.source_name}"


def _asserted(loop: LoopReport) -> str:
    if not loop.asserted or loop.verdict in ("parallel", "reduction"):
        return ""
    by_user = not loop.source or "prange" in loop.source
    return ", asserted by prange" if by_user else ", needs no order as `scan` made it"


def _loop_details(loop: LoopReport, ran: Ran | None) -> Iterator[str]:
    if loop.reason:
        yield f"why: {loop.reason}"
    if loop.conflict is not None:
        yield f"order: {_conflict(loop.conflict)}"
    for reduction in loop.reductions:
        yield f"combines: {_reduction(reduction)}"
    if loop.private:
        yield f"private to each iteration: {', '.join(loop.private)}"
    yield f"runs: {_how_it_runs(loop, ran)}{_iterations(loop)}"
    yield from loop.notes


def _iterations(loop: LoopReport) -> str:
    if loop.iterations is None:
        return f", {loop.trip_count} iterations" if loop.trip_count else ""
    if loop.depth == 0 or loop.trip_count is None:
        return f", {loop.iterations} iterations"
    return f", {loop.trip_count} iterations each time, {loop.iterations} in all"


def _how_it_runs(loop: LoopReport, ran: Ran | None) -> str:
    if ran is not None and ran.device == "interpreter":
        return "in order, in the interpreter"
    match loop.run:
        case "parallel":
            return "on all threads" if ran is None else f"on {count(ran.threads, 'thread')}"
        case "vector":
            return "several iterations at once in each thread (SIMD)"
        case "sequential":
            return "in order"
        case "block.x" | "block.y" | "block.z":
            return f"each iteration in a block of its own (axis {loop.run[-1]} of the grid)"
        case "thread.x" | "thread.y" | "thread.z":
            return f"shared out among the threads of a block (axis {loop.run[-1]})"
        case "balanced":
            return "in blocks that take equal parts of its iterations and of their entries together"
        case "sorted":
            return "sorts iterations by what data makes them do"
        case "entries":
            return "shared out among the threads of a block, whatever the iterations around it"


def _conflict(conflict: ConflictReport) -> str:
    first = _at_line(conflict.first, conflict.first_line)
    second = _at_line(conflict.second, conflict.second_line)
    match conflict.kind:
        case "RAW":
            did = f"{second} reads what {first} wrote"
        case "WAR":
            did = f"{second} overwrites what {first} read"
        case _:
            did = f"{second} overwrites what {first} wrote"
    return f"{did} {_apart(conflict.distance)}"


def _at_line(text: str, line: int) -> str:
    return f"{text} (line {line})" if line else text


def _apart(distance: str) -> str:
    if distance in ("", "any", "*"):
        return "in some earlier iteration"
    return "in the iteration before" if distance == "1" else f"{distance} iterations earlier"


def _reduction(reduction: ReductionReport) -> str:
    if reduction.by not in ("", reduction.target):
        return f"what goes along with {reduction.by} into {reduction.target}"
    words = f"{_OP_WORDS[reduction.op]} into {_KIND_WORDS[reduction.kind]}{reduction.target}"
    return words if reduction.exact else f"{words}; the order of rounding may change, strict=True keeps it"


# ---- arrays -------------------------------------------------------------------------------------------------------


def _arrays(arrays: Sequence[ArrayReport]) -> Iterator[Line]:
    if not arrays:
        yield (("arrays        ", "bold"), ("none", ""))
        return
    yield (("arrays", "bold"),)
    for array in arrays:
        kind = f"{array.dtype}[{', '.join(':' * array.rank)}], {_LAYOUT_WORDS[array.layout]}"
        role = "" if array.role == "argument" else f", {array.role}"
        touched = f", {array.footprint} elements used" if array.footprint else ""
        yield ((f"  {array.name}", "bold"), (f"  {kind}{role}{touched}; bounds {array.bounds}", ""))
        width = max((len(access.text) for access in array.accesses), default=0)
        for access in array.accesses:
            yield _access(access, min(width, _WIDEST_CODE))


def _access(access: AccessReport, width: int) -> Line:
    verb = "writes" if access.write else "reads "
    kinds = list(dict.fromkeys(access.pattern))
    facts = [*kinds, *([f"stride {access.stride}"] if access.stride else [])]
    safe = access.bounds if not access.reason else f"{access.bounds}: {access.reason}"
    style = "" if access.bounds == "proven" else "yellow"
    return (
        (f"  {_line_number(access.line)}  {verb} {access.text:<{width}}  {', '.join(facts)}; ", "dim"),
        (safe, style),
    )


# ---- the call -----------------------------------------------------------------------------------------------------


def _safety(explanation: Explanation) -> str:
    accesses = [access for array in explanation.arrays for access in array.accesses]
    checked = sum(access.bounds == "checked" for access in accesses)
    if not accesses:
        return "no array is touched"
    tested = f"each call is tested once: {explanation.guard}" if explanation.guard else ""
    if not checked:
        return tested or "every index is inside its array, whatever the sizes"
    inside = f"{checked} of {count(len(accesses), 'access', 'accesses')} checked as they happen"
    return f"{tested}; {inside}" if tested else inside


def _generated(generated: Generated | None) -> str:
    if generated is None:
        return "nothing"
    how = "taken from the cache" if generated.from_cache else f"compiled in {generated.seconds:.2f} s"
    by = f" ({generated.compiler})" if generated.compiler else ""
    return f"{generated.lines} lines of C, {how}{by}"


def _ran(ran: Ran | None) -> str:
    if ran is None or not ran.calls:
        return "not yet"
    on = "in the interpreter" if ran.device == "interpreter" else f"on the {ran.device}"
    threads = f", {count(ran.threads, 'thread')}" if ran.threads and ran.device != "interpreter" else ""
    times = f"last {duration(ran.last_ns)}, fastest {duration(ran.min_ns)}, in all {duration(ran.total_ns)}"
    return f"{count(ran.calls, 'call')} {on}{threads}: {times}"
