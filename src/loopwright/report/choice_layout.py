"""How a choice looks in a report: what serves and why, then a line for each candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from loopwright.report.words import age, compared, count, duration, percent

if TYPE_CHECKING:  # `explanation` imports its layout to print itself
    from loopwright.report.explanation import CandidateReport, ChoiceReport

MOST_TIMED = 12
MOST_UNTRIED = 4
MOST_FAILED = 6
MOST_PRUNED = 4
"""So many candidates of each kind have a line; of the others there is their number. `to_dict()` has all."""

WIDEST = 56
WIDEST_WHY = 160

FAILED = ("wrong", "crashed", "timeout", "memory", "refused")
_KINDS = (
    (("serves", "slower"), MOST_TIMED, "slower"),
    (("untried",), MOST_UNTRIED, "not tried"),
    (FAILED, MOST_FAILED, "failed"),
    (("pruned",), MOST_PRUNED, "not run: ruled out by static metrics"),
)


def choice_lines(report: ChoiceReport) -> Iterator[str]:
    """Short where there is nothing to choose from."""
    if not report.serves:
        yield report.why
        return
    yield report.serves
    behind = _behind(report)
    yield f"because {report.why}{'; ' + behind if behind else ''}"
    if report.sizes:
        yield f"for the sizes {' '.join(map(str, report.sizes))}"
    rows = [("candidate", "measured", "predicted", "why, and on what evidence"), *choice_rows(report.candidates)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield "  " + "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]])
    for statuses, most, words in _KINDS:
        beyond = sum(one.status in statuses for one in report.candidates) - most
        if beyond > 0:
            yield f"  and {beyond} more, {words}"


def _behind(report: ChoiceReport) -> str:
    if not report.runner_up or report.margin is None:
        return ""
    other = cut(report.runner_up, WIDEST)
    how = compared(1 + report.margin, 1)
    return f"'{other}' {'takes' if how.endswith('long') else 'is'} {how}"


def choice_rows(candidates: Sequence[CandidateReport]) -> Iterator[tuple[str, str, str, str]]:
    """A line for each of the candidates that are worth one: variant, measured, predicted, why."""
    for statuses, most, _ in _KINDS:
        for one in [one for one in candidates if one.status in statuses][:most]:
            why = "serves" if one.status == "serves" else cut(one.why, WIDEST_WHY)
            found = evidence(one)
            yield (
                cut(one.variant, WIDEST),
                within(one.measured_ns, one.measured_error),
                within(one.predicted_ns, one.predicted_error),
                f"{why}; {found}" if found else why,
            )


def within(time_ns: float | None, error: float | None) -> str:
    """`1.2 ms +-3 %`; '' where there is no time."""
    if time_ns is None:
        return ""
    if error is None:
        return duration(time_ns)
    return f"{duration(time_ns)} {f'+-{percent(error)}' if error < 1 else f'to a factor of {1 + error:.2g}'}"


def evidence(one: CandidateReport) -> str:
    """What is known of a candidate from runs: how many, and how long ago."""
    if one.status in FAILED:
        return "" if one.age_s is None else f"seen {age(one.age_s)}"
    told: list[str] = []
    runs = [count(one.tuned_runs, "run")] if one.tuned_runs else []
    runs += [f"{count(one.called_runs, 'call')}"] if one.called_runs else []
    when = "" if one.age_s is None else f" {age(one.age_s)}"
    if runs:
        told.append(f"{' and '.join(runs)}{',' if len(runs) > 1 else ''}{when}")
    elif one.elsewhere:
        told.append(f"measured at {count(one.elsewhere, 'other shape')}{when}")
    if one.calls:
        told.append(f"{count(one.calls, 'call')} of this process")
    return "; ".join(told)


def cut(text: str, width: int) -> str:
    """At most so wide, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."
