"""Part `pruning`: the whole space of five kernels is measured; how much of it is left out without running, and what
that costs."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.choice import preparing
from benchmarks.choice.cases import SPACES, Case
from benchmarks.choice.making import Makers, specialised
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from benchmarks.choice.trying import Crew, Timed, setting_of
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import prune
from loopwright.ir.variant import RECIPE, Variant
from loopwright.tuning.tune import FIRST

PREPARING, MEASURING = 0.6, 0.95
"""Until which part of the time of a case each of these goes on."""

FINALISTS = 6
ROUNDS = 2
FINAL_NS = {"small": 5_000_000, "full": 300_000_000}
"""How long each finalist is measured in each of the rounds: a first look shows who was lucky."""


def run(bench: Bench) -> None:
    """Every case that is not done."""
    todo = [case for case in SPACES if bench.wanted("pruning", case.name)]
    with Makers(bench.cores) as makers:
        for number, case in enumerate(todo):
            row = bench.book.row("pruning", case.name)
            bench.kept(row, partial(_measured, bench, makers, case, len(todo) - number))


def _measured(bench: Bench, makers: Makers, case: Case, shares: int, row: Row) -> None:
    begun, whole = time.monotonic(), bench.left_s() / shares
    prepared = preparing.prepare(bench, makers, case, bench.gone_s() + PREPARING * whole)
    if not prepared.done:
        raise TimeoutError(prepared.fault)
    made = {bench.variant(one["schedule"]): one for one in prepared.table}
    asked = preparing.asked_of(bench, case)
    entries: dict[Variant, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        one, arguments = specialised(asked)
        setting = setting_of(asked, one, arguments, Path(folder) / "arguments")
        with Crew(setting, bench.cores) as crew:
            ready = crew.compiled(list(made), begun + MEASURING * whole)

            def told(timed: Timed) -> None:
                entries[timed.tried.variant] = entry(made[timed.tried.variant], timed)

            crew.measured([variant for variant in made if variant in ready], begun + MEASURING * whole, told)
            finals = crew.again(_finalists(bench, entries), ROUNDS, FINAL_NS[bench.size])
    for variant, time_ns in finals.items():
        entries[variant] |= {"time_ns": time_ns, "final": True}
    row.table = list(entries.values())
    if not row.table:
        raise TimeoutError("no variant could be measured within the budget")
    row.values |= {**prepared.values, "wall_s": time.monotonic() - begun} | summary(row.table)


def entry(made: dict[str, Any], timed: Timed) -> dict[str, Any]:
    """What is kept of one variant. made: its entry in the part `making`."""
    tried = timed.tried
    known = {name: value for name, value in made.items() if name != "schedule"}
    return known | {
        "default": made["schedule"] == RECIPE, "measure_ns": timed.measure_ns, "outcome": tried.outcome,
        "reason": tried.reason, "time_ns": tried.time_ns, "runs": tried.runs, "final": False,
    }  # fmt: skip


def order(table: list[dict[str, Any]], most: int = FIRST) -> list[int]:
    """Places in the table of the variants that pruning keeps, in the order in which tuning measures them."""
    judged = {
        str(place): Metrics(tuple(one["metrics"]), tuple(one["names"]))
        for place, one in enumerate(table)
        if one["metrics"]
    }
    default = next((str(place) for place, one in enumerate(table) if one["default"]), "")
    if not judged:
        return [int(default)] if default else []
    return [int(name) for name in prune(judged, default if default in judged else "", most, least=most).measure]


def summary(table: list[dict[str, Any]]) -> dict[str, Any]:
    """What pruning comes to, where everything is known. goal: where no more than 2 % of the variants may be kept."""
    times = [one["time_ns"] for one in table if one["outcome"] == "ok"]
    default = next((one["time_ns"] for one in table if one["default"] and one["outcome"] == "ok"), None)
    if not times:
        return {"variants": len(table)}
    optimum = min([one["time_ns"] for one in table if one["final"] and one["outcome"] == "ok"] or times)
    bar, goal = order(table, _kept(0.1, table)), order(table, _kept(0.02, table))
    return {
        "variants": len(table),
        "failed": len(table) - len(times),
        "optimum_ns": optimum,
        "kept": len(bar),
        "pruned": 1 - len(bar) / len(table),
        "lost": _lost(table, bar, optimum),
        "goal_kept": len(goal),
        "goal_pruned": 1 - len(goal) / len(table),
        "goal_lost": _lost(table, goal, optimum),
        "default_lost": None if default is None else default / optimum - 1,
        "slowest": max(times) / optimum,
    }


def _kept(part: float, table: list[dict[str, Any]]) -> int:
    """How many may be kept, no more than tuning measures."""
    return max(1, min(FIRST, int(part * len(table))))


def _lost(table: list[dict[str, Any]], kept: list[int], optimum: float) -> float | None:
    times = [table[place]["time_ns"] for place in kept if table[place]["outcome"] == "ok"]
    return min(times) / optimum - 1 if times else None


def _finalists(bench: Bench, entries: dict[Variant, dict[str, Any]]) -> list[Variant]:
    """The fastest of all, the fastest of those that are kept, and the default."""
    table, variants = list(entries.values()), list(entries)
    ran = {variant: one["time_ns"] for variant, one in entries.items() if one["outcome"] == "ok"}
    fastest = sorted(ran, key=ran.__getitem__)[:FINALISTS]
    wide, narrow = order(table, _kept(0.1, table)), order(table, _kept(0.02, table))
    kept = [variants[place] for place in wide if variants[place] in ran]
    few = [variants[place] for place in narrow if variants[place] in ran]
    found = [*fastest, *sorted(kept, key=ran.__getitem__)[:2], *sorted(few, key=ran.__getitem__)[:1]]
    default = bench.variant(RECIPE)
    return list(dict.fromkeys([*found, default] if default in ran else found))
