"""An Explanation for a notebook: tables instead of columns of text, and what is long folded away. It says what the text
of `report/layout.py` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from loopwright.report.choice_layout import choice_rows
from loopwright.report.devices_layout import devices_parts, devices_title
from loopwright.report.element import Child, element, table
from loopwright.report.grid_layout import grid_lines
from loopwright.report.layout import (
    access_facts,
    array_kind,
    by_code,
    code_of,
    generated_text,
    how_loops_run,
    iterations_text,
    loop_reasons,
    safety_text,
    shared_calls_text,
    where_text,
)
from loopwright.report.notebook import chip, folded, fragment
from loopwright.report.words import count, duration, visible

if TYPE_CHECKING:  # `explanation` imports this file to print itself; here its names are only types
    from loopwright.report.explanation import ArrayReport, ChoiceReport, Explanation, Ran

_CHIPS = {"parallel": "good", "reduction": "good", "sequential": "wait", "undecided": "bad"}


def explanation_html(explanation: Explanation) -> str:
    """One of them."""
    return fragment(*_parts(explanation))


def explanations_html(found: Sequence[Explanation]) -> str:
    """Several: each folded away but the first."""
    if not found:
        return fragment(element("p", "nothing is compiled yet: call the kernel, or ask explain(...) about a call"))
    return fragment(
        *(
            folded(element("code", _text(one.signature)), *_parts(one), is_open=not number)
            for number, one in enumerate(found)
        )
    )


def _parts(explanation: Explanation) -> Iterator[Child]:
    where = where_text(explanation)
    yield element("p", element("b", element("code", _text(explanation.signature))), f"  {where}" if where else "")
    for note in explanation.notes:
        yield element("p", chip("note", "wait"), f" {_text(note)}")
    yield _loops(explanation)
    yield table(("what", "found"), list(_call(explanation)))
    if explanation.arrays:
        touched = sum(len(array.accesses) for array in explanation.arrays)
        title = f"{count(len(explanation.arrays), 'array')}, {count(touched, 'access', 'accesses')}"
        yield folded(title, _arrays(explanation.arrays))
    for choice in explanation.choices:
        if choice.candidates:
            yield folded(f"{count(len(choice.candidates), 'variant')} considered", _candidates(choice))
    if explanation.devices is not None:
        title = f"devices: {_text(devices_title(explanation.devices))}"
        yield folded(title, *devices_parts(explanation.devices), is_open=explanation.devices.last is not None)
    if explanation.plan:
        yield folded("plan of this call", element("pre", _text(explanation.plan)))


def _loops(explanation: Explanation) -> Child:
    if not explanation.loops:
        return element("p", "there are no loops")
    runs = how_loops_run(explanation.loops, explanation.served_by)
    rows: list[tuple[Child, ...]] = []
    for loop, how in zip(explanation.loops, runs, strict=True):
        indented = element("code", "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}" * loop.depth + _text(code_of(loop)))
        reasons = "; ".join(_text(one) for one in (*loop_reasons(loop), *loop.notes))
        line = str(loop.line) if loop.line else ""
        rows.append((line, indented, chip(loop.verdict, _CHIPS[loop.verdict]), how, iterations_text(loop), reasons))
    return table(("line", "loop", "proven", "runs", "iterations", "why, and what is done about it"), rows, (0,))


def _call(explanation: Explanation) -> Iterator[tuple[Child, ...]]:
    yield "safe because", _text(safety_text(explanation))
    steps = explanation.schedule or "none: the loops run as written"
    yield "schedule", element("code", _text(steps))
    for decision in explanation.decisions:
        yield "", element("span", element("code", _text(decision.steps)), f" because {_text(decision.why)}")
    generated = explanation.generated
    yield "generated", _text(generated_text(generated))
    if generated is not None:
        yield from [("", element("code", _text(generated.source_path)))] if generated.source_path else []
        for line in grid_lines(generated.grids):
            yield "", _text(line)
        if generated.not_on_gpu:
            yield "", f"not on a GPU: {_text(generated.not_on_gpu)}"
    for choice in explanation.choices:
        yield "choice", _choice(choice)
    shared = shared_calls_text(explanation)
    yield from [("ran", shared)] if shared else []
    if explanation.ran is not None or not shared:
        yield "ran", _ran(explanation.ran)


def _choice(choice: ChoiceReport) -> Child:
    if not choice.serves:
        return _text(choice.why)
    return element("span", element("code", _text(choice.serves)), f" because {_text(choice.why)}")


def _ran(ran: Ran | None) -> Child:
    if ran is None or not ran.calls:
        return "not yet, in this process"
    rows: list[tuple[Child, ...]] = [
        (str(one.calls), _text(by_code(one)), duration(one.last_ns), duration(one.min_ns), duration(one.total_ns))
        for one in ran.parts
    ]
    if len(ran.parts) > 1:
        rows.append((str(ran.calls), "all", duration(ran.last_ns), duration(ran.min_ns), duration(ran.total_ns)))
    return table(("calls", "how", "last", "fastest", "in all"), rows, (0, 2, 3, 4))


def _arrays(arrays: Sequence[ArrayReport]) -> Child:
    rows: list[tuple[Child, ...]] = []
    for array in arrays:
        name = element("b", element("code", _text(array.name)))
        rows.append((name, array_kind(array), "", f"bounds {_text(array.bounds)}"))
        for access in array.accesses:
            told, safe = access_facts(access)
            verb = "writes" if access.write else "reads"
            rows.append((f"line {access.line}" if access.line else "", verb, element("code", access.text), told + safe))
    return table(("array", "what", "access", "facts"), rows)


def _candidates(choice: ChoiceReport) -> Child:
    rows: list[tuple[Child, ...]] = [
        (element("code", _text(variant)), measured, predicted, _text(why))
        for variant, measured, predicted, why in choice_rows(choice.candidates)
    ]
    return table(("candidate", "measured", "predicted", "why, and on what evidence"), rows, (1, 2))


def _text(text: str) -> str:
    return visible(text, "\n")
