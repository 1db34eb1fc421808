"""How an Explanation looks: lines of pieces, each with a style, as plain text or for rich.

It owns the words and the columns. The plain text is the coloured text without its colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from loopwright.report.choice_layout import choice_lines
from loopwright.report.devices_layout import devices_lines
from loopwright.report.grid_layout import grid_lines
from loopwright.report.words import count, duration, visible

if TYPE_CHECKING:  # `explanation` imports this file to print itself; here its names are only types
    from rich.text import Text

    from loopwright.ir.program import Way
    from loopwright.report.explanation import (
        AccessReport,
        ArrayReport,
        CodeRan,
        ConflictReport,
        Explanation,
        Generated,
        LoopReport,
        Ran,
        ReductionReport,
        ServedBy,
    )

Piece = tuple[str, str]  # text, style
Line = tuple[Piece, ...]

_VERDICT_STYLE = {"parallel": "green", "reduction": "green", "sequential": "yellow", "undecided": "red"}
_OP_WORDS = {
    "add": "a sum", "mul": "a product", "min": "a minimum", "max": "a maximum", "minimum": "a minimum",
    "maximum": "a maximum", "fmin": "a minimum", "fmax": "a maximum", "and": "an 'and'", "or": "an 'or'",
    "xor": "an 'xor'",
}  # fmt: skip
_KIND_WORDS = {"scalar": "", "element": "one element of ", "scatter": "elements of "}
LAYOUT_WORDS = {
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


def lines(explanation: Explanation) -> Iterator[Line]:
    """The whole report, top to bottom: what it is, loops, arrays, safety, what was made, what ran. Reasons and
    schedules may come from a store that others wrote to."""
    for line in _lines(explanation):
        yield tuple((visible(text, "\n"), style) for text, style in line)


def _lines(explanation: Explanation) -> Iterator[Line]:
    yield ((explanation.signature, "bold"), (f"    {where_text(explanation)}", "dim"))
    for note in explanation.notes:
        yield (("  note: ", "yellow"), (note, ""))
    yield ()
    yield from _loops(explanation.loops, explanation.served_by)
    yield ()
    yield from _arrays(explanation.arrays)
    yield ()
    yield _row("safe because", safety_text(explanation))
    yield _row("schedule", explanation.schedule or "none: the loops run as written")
    for decision in explanation.decisions:
        yield _row("", f"{decision.steps}")
        yield (("                because ", "dim"), (decision.why, ""))
    yield _row("generated", generated_text(explanation.generated))
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
    if explanation.devices is not None:
        for number, line in enumerate(devices_lines(explanation.devices)):
            yield _row("" if number else "devices", line)
    yield from _plan(explanation.plan.splitlines())
    for number, line in enumerate(_ran(explanation.ran, shared_calls_text(explanation))):
        yield _row("" if number else "ran", line)


def _plan(found: Sequence[str]) -> Iterator[Line]:
    shown = found if len(found) <= _MOST_OF_PLAN else [*found[: _MOST_OF_PLAN - 1], f"and {len(found)} lines in all"]
    for number, line in enumerate(shown):
        yield _row("" if number else "plan", line)


def where_text(explanation: Explanation) -> str:
    """`blur.py:12`."""
    return f"{PurePath(explanation.file).name}:{explanation.line}" if explanation.file else ""


def _row(name: str, text: str) -> Line:
    return ((f"{name:<14}", "bold"), (text, ""))


# ---- loops --------------------------------------------------------------------------------------------------------


def _loops(loops: Sequence[LoopReport], by: ServedBy) -> Iterator[Line]:
    if not loops:
        yield (("loops         ", "bold"), ("none", ""))
        return
    yield (("loops", "bold"),)
    codes = ["  " * loop.depth + code_of(loop) for loop in loops]
    width = min(max(map(len, codes)), _WIDEST_CODE)
    for code, loop, how in zip(codes, loops, how_loops_run(loops, by), strict=True):
        shown = code if len(code) <= width else code[: width - 3] + "..."
        yield (
            (f"{_line_number(loop.line)}  {shown:<{width}}  ", ""),
            (loop.verdict, _VERDICT_STYLE[loop.verdict]),
            (_asserted(loop), ""),
        )
        for text in (*loop_reasons(loop), f"runs: {how}{_iterations(loop)}", *loop.notes):
            yield ((" " * 15 + "  " * loop.depth + text, "dim"),)


def how_loops_run(loops: Sequence[LoopReport], by: ServedBy) -> Iterator[str]:
    """Of each of them, in words."""
    for loop in loops:
        yield _how_it_runs(loop, by)


def _line_number(line: int) -> str:
    return f"  line {line:>4}" if line else " " * 11


def code_of(loop: LoopReport) -> str:
    """The user's line, or what stands for it."""
    if loop.source:
        return loop.source
    return "while" if loop.source_name == "while" else f"for {loop.source_name}"


def _asserted(loop: LoopReport) -> str:
    if not loop.asserted or loop.verdict in ("parallel", "reduction"):
        return ""
    by_user = not loop.source or "prange" in loop.source
    return ", asserted by prange" if by_user else ", independent because `scan` made it so"


def loop_reasons(loop: LoopReport) -> Iterator[str]:
    """Why it is what it is."""
    if loop.reason:
        yield f"why: {loop.reason}"
    if loop.conflict is not None:
        yield f"order: {_conflict(loop.conflict)}"
    for reduction in loop.reductions:
        yield f"combines: {_reduction(reduction)}"
    if loop.private:
        yield f"private to each iteration: {', '.join(loop.private)}"


def _iterations(loop: LoopReport) -> str:
    first, each, rest = iterations_text(loop).partition(" each time")
    return f", {first} iterations{each}{rest}" if first else ""


def iterations_text(loop: LoopReport) -> str:
    """How many there are; '' where that is no formula."""
    if loop.iterations is None:
        return loop.trip_count or ""
    if loop.depth == 0 or loop.trip_count is None:
        return loop.iterations
    return f"{loop.trip_count} each time, {loop.iterations} in all"


def _how_it_runs(loop: LoopReport, by: ServedBy) -> str:
    if by.device == "interpreter":
        return "in order, in the interpreter"
    if loop.ways is not None:
        restructured = "restructured, as the schedule says: " if loop.restructured else ""
        return restructured + _ways(loop, loop.ways, by)
    match loop.run:
        case "parallel":
            return f"on {_up_to(by.threads)}"
        case "vector":
            return "several iterations at once in each thread (SIMD)"
        case "lockstep":
            return "several iterations together in each thread, until the last has ended (SIMD)"
        case "sequential":
            return "in order"
        case "block.x" | "block.y" | "block.z":
            return f"each iteration in a block of its own (axis {loop.run[-1]} of the grid)"
        case "thread.x" | "thread.y" | "thread.z":
            return f"shared out among the threads of a block (axis {loop.run[-1]})"
        case "balanced":
            return "in blocks that take equal parts of its iterations and of their entries together"
        case "sorted":
            return "sorts iterations by what they do with the data"
        case "off_gpu":
            return "in order, on the CPU: a GPU leaves the whole call to it"
        case "entries":
            return "shared out among the threads of a block, whatever the iterations around it"


def _ways(loop: LoopReport, ways: Sequence[Way], by: ServedBy) -> str:
    """How a CPU's program runs a loop."""
    lanes = "several iterations at once"
    if "threads" in ways:
        return f"on {_up_to(by.threads)}" + (f", {lanes} in each (SIMD)" if "lanes" in ways else "")
    if "collapsed" in ways:
        return "on the same threads: they share its iterations together with those of the loop around it"
    within = " in each thread" if "inside" in ways else ""
    if "lanes" in ways:
        return f"{lanes}{within} (SIMD)"
    is_free = loop.verdict in ("parallel", "reduction")
    return f"in order{within}" + (", as every access is checked" if by.checked and is_free else "")


def _up_to(threads: int) -> str:
    if not threads:
        return "all threads"
    return "1 thread" if threads == 1 else f"up to {threads} threads"


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
        yield ((f"  {array.name}", "bold"), (f"  {array_kind(array)}; bounds {array.bounds}", ""))
        width = max((len(access.text) for access in array.accesses), default=0)
        for access in array.accesses:
            yield _access(access, min(width, _WIDEST_CODE))


def array_kind(array: ArrayReport) -> str:
    """`float64[:], C order, n elements used`."""
    role = "" if array.role == "argument" else f", {array.role}"
    touched = f", {array.footprint} elements used" if array.footprint else ""
    return f"{array.dtype}[{', '.join(':' * array.rank)}], {LAYOUT_WORDS[array.layout]}{role}{touched}"


def _access(access: AccessReport, width: int) -> Line:
    verb = "writes" if access.write else "reads "
    told, safe = access_facts(access)
    style = "" if access.bounds == "proven" else "yellow"
    return ((f"  {_line_number(access.line)}  {verb} {access.text:<{width}}  {told}", "dim"), (safe, style))


def access_facts(access: AccessReport) -> tuple[str, str]:
    """How it goes through its array, and why it is safe."""
    kinds = list(dict.fromkeys(access.pattern))
    facts = [*kinds, *([f"stride {access.stride}"] if access.stride else [])]
    return f"{', '.join(facts)}; ", access.bounds if not access.reason else f"{access.bounds}: {access.reason}"


# ---- the call -----------------------------------------------------------------------------------------------------


def safety_text(explanation: Explanation) -> str:
    """Why no access leaves its array."""
    accesses = [access for array in explanation.arrays for access in array.accesses]
    checked = sum(access.bounds == "checked" for access in accesses)
    if not accesses:
        return "no array is touched"
    tested = f"each call is tested once: {explanation.guard}" if explanation.guard else ""
    if not checked:
        return tested or "every index is inside its array, whatever the sizes"
    inside = f"{checked} of {count(len(accesses), 'access', 'accesses')} checked as they happen"
    return f"{tested}; {inside}" if tested else inside


def generated_text(generated: Generated | None) -> str:
    """How much code there is, and where it came from."""
    if generated is None:
        return "nothing"
    how = "taken from the cache" if generated.from_cache else f"compiled in {generated.seconds:.2f} s"
    by = f" ({generated.compiler})" if generated.compiler else ""
    return f"{generated.lines} lines of C, {how}{by}"


def shared_calls_text(explanation: Explanation) -> str:
    """`3 calls that several devices shared`; '' for none."""
    many = explanation.shared_calls
    return f"{count(many, 'call')} that several devices shared" if many else ""


def _ran(ran: Ran | None, shared: str) -> Iterator[str]:
    if shared:
        yield shared
    if ran is None or not ran.calls:
        yield from () if shared else ("not yet, in this process",)
        return
    if len(ran.parts) == 1:
        yield f"{count(ran.calls, 'call')} {by_code(ran.parts[0])}: {_times(ran)}"
        return
    yield f"{count(ran.calls, 'call')}: {_times(ran)}"
    for part in ran.parts:
        yield f"  {count(part.calls, 'call')} {by_code(part)}: {_times(part)}"


def _times(ran: Ran | CodeRan) -> str:
    return f"last {duration(ran.last_ns)}, fastest {duration(ran.min_ns)}, in all {duration(ran.total_ns)}"


def by_code(part: CodeRan) -> str:
    """`on the cpu, up to 2 threads, every access checked`."""
    interpreted = part.device == "interpreter"
    told = ["in the interpreter" if interpreted else f"on the {part.device}"]
    told += [_up_to(part.threads)] if part.threads and not interpreted else []
    told += [f"by '{part.variant}'"] if part.variant else []
    told += ["every access checked"] if part.checked else []
    told += [f"under {part.options}"] if part.options else []
    told += [] if part.kept else ["by code for other values from outside the function"]
    if part.early:
        many = "which return" if part.early == part.calls else f"{part.early} of which return"
        told.append(f"{many} before the GPU has run them")
    return ", ".join(told)
