"""A kernel as it shows itself: what is compiled of it, and what that has run. It analyses nothing: a repr may be
asked for at any moment, by a debugger, say.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.ir.signature import ArrayArgument, ConstantArgument, ScalarArgument, Signature
from loopwright.ir.variant import Compilation
from loopwright.report.element import Child, element, table
from loopwright.report.layout import LAYOUT_WORDS
from loopwright.report.notebook import fragment
from loopwright.report.words import count, duration, visible
from loopwright.runtime.in_use import Run

MOST_KINDS = 3
"""So many kinds of calls are named in a line."""


def kernel_line(
    name: str, parameters: str, compiled: Sequence[Compilation], runs: Sequence[Run], shared: int = 0
) -> str:
    """`<loopwright kernel smooth(a, b): compiled for (float64[:, :], float64[:, :]); 3 calls>`. parameters: with their
    parentheses. shared: so many calls several devices have shared, beside those of runs."""
    kinds = list(dict.fromkeys(kind_text(one.signature) for one in compiled))
    if not kinds:
        return f"<loopwright kernel {name}{parameters}: nothing compiled yet>"
    shown = ", ".join(kinds[:MOST_KINDS])
    more = f" and {count(len(kinds) - MOST_KINDS, 'other kind')} of calls" if len(kinds) > MOST_KINDS else ""
    calls = count(sum(run.calls for run in runs) + shared, "call")
    return visible(f"<loopwright kernel {name}{parameters}: compiled for {shown}{more}; {calls}>")


def kernel_html(
    name: str, parameters: str, compiled: Sequence[Compilation], runs: Sequence[Run], shared: int = 0
) -> str:
    """A line for each code that there is."""
    head = element("p", element("b", "loopwright kernel "), element("code", visible(f"{name}{parameters}")))
    if not compiled:
        return fragment(head, element("p", "nothing is compiled yet"))
    rows: list[tuple[Child, ...]] = []
    for one in dict.fromkeys(compiled):
        mine = [run for run in runs if run.compilation == one]
        calls = sum(run.calls for run in mine)
        times = (duration(min(run.min_ns for run in mine)), duration(sum(run.total_ns for run in mine)))
        how = f"{one.device}: {one.schedule}" + (", every access checked" if one.semantics.checks == "all" else "")
        kind = element("code", visible(kind_text(one.signature)))
        rows.append((kind, element("code", visible(how)), str(calls), *(times if calls else ("", ""))))
    heads = ("calls with", "compiled for", "calls", "fastest", "in all")
    more = [element("p", f"and {count(shared, 'call')} that several devices shared")] if shared else []
    return fragment(head, table(heads, rows, (2, 3, 4)), *more)


def kind_text(signature: Signature) -> str:
    """The types of a call: `(float64[:, :], int64)`; arrays that do not lie in C order say how they do."""
    return f"({', '.join(map(_argument, signature.arguments))})"


def _argument(argument: ArrayArgument | ScalarArgument | ConstantArgument) -> str:
    match argument:
        case ScalarArgument():
            return argument.type.name
        case ConstantArgument():
            return repr(argument.value)
        case ArrayArgument():
            fields = ", ".join(f"{one.name}: {one.element.name}" for one in argument.fields)
            element_text = argument.element.name if argument.element is not None else f"{{{fields}}}"
            layout = "" if argument.layout == "C" else f" ({LAYOUT_WORDS[argument.layout]})"
            return f"{element_text}[{', '.join(':' * argument.rank)}]{layout}"
