"""What is wanted of the choice among variants, and what a run reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.choice.rows import Book, Row


@dataclass(frozen=True, slots=True)
class Verdict:
    """what: is measured. bar, goal: what must be reached, and what is hoped for. value: what was; '' where nothing was
    measured. met: the bar; reached: the goal; None where nothing was measured, or nothing is wanted."""

    what: str
    bar: str
    goal: str
    value: str
    met: bool | None
    reached: bool | None


def verdicts(book: Book) -> list[Verdict]:
    """One for each thing that is wanted."""
    found: list[Verdict] = []
    for row in book.of("pruning"):
        found += _pruning(row)
    found += _tuner(book.of("kernel_tuner"))
    found += _prediction(book.of("prediction"))
    found += _regret(book.of("regret"))
    found += _overhead(book.of("overhead"))
    return found


def _pruning(row: Row) -> list[Verdict]:
    told = row.values
    name = f"pruning, {row.case} ({told['variants']} variants)"
    lost, tight = told.get("lost"), told.get("goal_lost")
    value = f"{told['pruned']:.1%} left out, {_percent(lost)} lost; {told['goal_pruned']:.1%}, {_percent(tight)}"
    met = lost is not None and told["pruned"] >= 0.9 and lost <= 0.03
    reached = tight is not None and told["goal_pruned"] >= 0.98 and tight <= 0.01
    return [Verdict(name, "90 %, 3 % lost", "98 %, 1 %", value, met, reached)]


def _tuner(rows: Iterable[Row]) -> list[Verdict]:
    """Ours beside Kernel Tuner's random search, and the best of its strategies, at the same number of evaluations."""
    found = []
    for row in rows:
        by = {one["who"]: one for one in row.table}
        theirs = {who: one for who, one in by.items() if who.startswith("Kernel Tuner")}
        if "Kernel Tuner random_sample" not in theirs:
            continue
        own, chance = (by[who]["found"]["median"] for who in ("pruning", "Kernel Tuner random_sample"))
        best = min(theirs, key=lambda who: theirs[who]["found"]["median"])
        most = theirs[best]["found"]["median"]
        value = f"{own:.3f} of the optimum; random {chance:.3f}; {best} {most:.3f}"
        what = f"{row.values['evaluations']} evaluations, {row.case}"
        found.append(Verdict(what, "as random", "as its best", value, own <= chance, own <= most))
        mine, whole = (by[who]["tuning_s"]["median"] for who in ("pruning in looks", "exhaustive"))
        best = min(theirs, key=lambda who: theirs[who]["tuning_s"]["median"])
        least = theirs[best]["tuning_s"]["median"]
        value = f"{mine:.1f} s; exhaustive {whole:.1f} s; {best} {least:.1f} s"
        what = f"tuning to within 5 %, {row.case}"
        found.append(Verdict(what, "exhaustive", "Kernel Tuner", value, mine <= whole, mine <= least))
    return found


def _prediction(rows: Iterable[Row]) -> list[Verdict]:
    found = []
    for row in rows:
        large = row.values.get("error large")
        rest = f"{_percent(row.values['error'])} of all, {row.values['inside']:.0%} within the stated error"
        again = row.values.get("repeated large")
        rest += "" if again is None else f"; large calls made twice differ by {again:.1%}"
        missing = row.values.get("hopeless", 0) + row.values.get("no time", 0)
        rest += f"; {missing} variants at a size left out" if missing else ""
        value = f"{_percent(large)} of large sizes, {rest}"
        met, reached = (None, None) if large is None else (large <= 0.06, large <= 0.02)
        found.append(Verdict(f"prediction, {row.case}", "6 %", "2 %", value, met, reached))
    return found


def _regret(rows: Iterable[Row]) -> list[Verdict]:
    rows = list(rows)
    regrets = [one for row in rows for one in row.values["regrets"]]
    if not regrets:
        return []
    wrong = sum(row.values["wrong"] for row in rows) / len(regrets)
    mean, high = float(np.mean(regrets)), float(np.percentile(regrets, 95))
    value = f"{_percent(mean)} in the mean, {_percent(high)} at the 95th percentile"
    return [
        Verdict(f"regret, {len(regrets)} calls", "5 % mean", "2 % mean", value, mean <= 0.05, mean <= 0.02),
        Verdict("wrong devices", "2 %", "", _percent(wrong), wrong <= 0.02, None),
    ]


def _overhead(rows: Iterable[Row]) -> list[Verdict]:
    by: dict[str, dict[str, Any]] = {row.case: row.values for row in rows}
    found = []
    if many := by.get("100 variants"):
        new, known = many["new_us"], many["repeated_us"]
        found.append(_at_most("choice, new shape", new, 50, "us"))
        found.append(_at_most("choice, repeated shape", known, 2, "us"))
        size = f"{many['memory_bytes'] / 1e6:.2f} MB"
        found.append(Verdict("memory of 100 variants at 10 sizes", "", "", size, None, None))
    if (call := by.get("calls")) and call["has a choice"]:
        found.append(_at_most("choice in a repeated call", call["choice_same_us"], 2, "us"))
        found.append(_at_most("choice in calls of ten shapes", call["choice_turns_us"], 2, "us"))
    return found


def _at_most(what: str, value: float, limit: float, unit: str) -> Verdict:
    return Verdict(what, f"{limit:g} {unit}", "", f"{value:.2f} {unit}", value <= limit, None)


def _percent(value: float | None) -> str:
    return "none ran" if value is None else f"{value:.1%}"


WORDS: Callable[[bool | None], str] = {True: "met", False: "missed", None: ""}.__getitem__


def table_of(found: Iterable[Verdict]) -> Table:
    """For people."""
    shown = Table(title="what was wanted")
    for heading in ("what", "bar", "", "goal", " ", "value"):
        shown.add_column(heading)
    for one in found:
        shown.add_row(one.what, one.bar, WORDS(one.met), one.goal, WORDS(one.reached) if one.goal else "", one.value)
    return shown
