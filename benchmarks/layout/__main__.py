"""python -m benchmarks.layout [out.json]: each program with `layout="off"`, `"auto"` and each fixed layout of each of
its arrays, by turns in one process; the oracle is the best of all of them."""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from itertools import product

import loopwright as lw
from benchmarks.layout.cases import CASES, Case
from benchmarks.machine import cpu_name, versions

ROUNDS = 21
LEAST_S = 0.02
"""A turn calls again until it has taken so long."""


@dataclass
class Row:
    """Medians of seconds by layout, of one program with one number of passes. taken: the steps that `auto` takes, where
    they are taken for that many passes; why: in words."""

    case: str
    used: str
    passes: int
    seconds: dict[str, float]
    taken: bool
    why: str

    @property
    def oracle(self) -> str:
        fixed = {name: one for name, one in self.seconds.items() if name != "auto"}
        return min(fixed, key=lambda name: fixed[name])

    def ratio(self, layout: str, to: str) -> float:
        return self.seconds[layout] / self.seconds[to]


def ways(case: Case) -> dict[str, str]:
    """Options by what they are called: as it is, by default, and each layout of each array."""
    found = {"off": "off", "auto": "auto"}
    for some in product(("", *case.fixed), repeat=len(case.arrays)):
        steps = [f"relayout {a} in {case.loop} {one}" for a, one in zip(case.arrays, some, strict=True) if one]
        if steps:
            found[", ".join(one or "as it is" for one in some)] = "; ".join(steps)
    return found


def measured(case: Case, passes: int) -> Row:
    """All ways of one program, by turns."""
    kernel = lw.kernel(case.function)
    arguments = case.arguments(case.n, passes)
    possible: dict[str, str] = {}
    for name, option in ways(case).items():
        try:
            with lw.options(layout=option, explore=False, store="off"):
                own = copy.deepcopy(arguments)
                kernel(*own)
            possible[name] = option
        except lw.ScheduleError as error:
            print(f"    {case.name}: {name} is refused: {str(error).splitlines()[0][-100:]}", file=sys.stderr)
    times: dict[str, list[float]] = {name: [] for name in possible}
    for turn in range(ROUNDS):
        names = list(possible)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:  # nobody always runs after the same one
            option = possible[name]
            with lw.options(layout=option, explore=False, store="off"):
                calls, started = 0, time.perf_counter()
                while calls == 0 or time.perf_counter() - started < LEAST_S:
                    kernel(*arguments)
                    calls += 1
                times[name].append((time.perf_counter() - started) / calls)
    with lw.options(store="off"):
        decisions = kernel.explain(*arguments).decisions
    steps = [one for one in decisions if one.steps.startswith(("specialize", "relayout"))]
    least = [int(one.steps.split()[3]) for one in steps if one.steps.startswith("specialize")]
    is_taken = any("relayout" in one.steps for one in steps) and passes >= max(least, default=0)
    why = "; ".join(one.why for one in steps if "relayout" in one.steps)
    seconds = {name: statistics.median(some) for name, some in times.items()}
    return Row(case.name, case.used, passes, seconds, is_taken, why)


def table(rows: list[Row]) -> str:
    """For a page."""
    lines = [
        "| program | used | passes | as it is | `auto` | gain | best layout | `auto` of it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        gain, of_best = row.ratio("off", "auto"), row.ratio(row.oracle, "auto")
        best = f"{row.oracle} {1e3 * row.seconds[row.oracle]:.1f}"
        lines.append(
            f"| {row.case} | {row.used} | {row.passes} | {1e3 * row.seconds['off']:.1f} ms | "
            f"{1e3 * row.seconds['auto']:.1f} ms{'' if row.taken else ', as it is'} | {gain:.2f} | {best} ms | "
            f"{of_best:.2f} |"
        )
    for what, values in (
        ("as it is", [row.ratio("off", "auto") for row in rows]),
        ("the best", [row.ratio(row.oracle, "auto") for row in rows]),
    ):
        lines.append(f"\nSpeed of `auto`, {what} = 1: geometric mean {statistics.geometric_mean(values):.2f}, ")
        lines[-1] += f"least {min(values):.2f}, most {max(values):.2f}."
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, and keep all figures where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", help="a file for the figures, as JSON")
    parser.add_argument("--only", action="append", default=[], help="programs whose names hold one of the words")
    asked = parser.parse_args()
    rows = []
    for case in CASES:
        if not asked.only or any(word in case.name for word in asked.only):
            for passes in case.passes:
                rows.append(measured(case, passes))
                print(table(rows[-1:]).splitlines()[2], flush=True)
    print(table(rows))
    if asked.out:
        content = {
            "cpu": cpu_name(),
            "cores": os.cpu_count(),
            "date": time.strftime("%Y-%m-%d"),
            "versions": versions(),
            "rounds": ROUNDS,
            "rows": [{**row.__dict__, "oracle": row.oracle} for row in rows],
        }
        with open(asked.out, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)


if __name__ == "__main__":
    main()
