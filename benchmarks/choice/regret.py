"""Part `regret`: unseen calls of the kernels of `prediction`: how much longer what is chosen takes than the fastest."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.choice.calls import LARGE, NAMES, Problem, devices, drawn, machines, scales, surveyed, variants
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from loopwright.predict.joined import joined_models
from loopwright.profile.measurement import Variant
from loopwright.runtime.adapt import Adaptive

CALLS = {"small": 6, "full": 200}
LOW = 0.03
SEED = 70
TRAINING = 0.4
"""Of the time of a kernel."""


def run(bench: Bench) -> None:
    """Every kernel, with its share of the calls."""
    todo = [name for name in NAMES if bench.wanted("regret", name)]
    whole = bench.left_s()
    for number, name in enumerate(todo):
        row = bench.book.row("regret", name)
        share = calls_of(CALLS[bench.size])[NAMES.index(name)]
        until = whole / len(todo) * (number + 1)
        bench.kept(row, partial(_chosen, bench, Problem(name, bench.config), share, until))


def calls_of(count: int) -> list[int]:
    """So many calls among the kernels, as evenly as it goes."""
    return [count // len(NAMES) + (k < count % len(NAMES)) for k in range(len(NAMES))]


def _chosen(bench: Bench, problem: Problem, count: int, until: float, row: Row) -> None:
    high = 0.1 if bench.size == "small" else 1.15 * LARGE
    unseen = drawn(SEED + NAMES.index(problem.name), LOW, high, count)
    before = bench.book.row("prediction", problem.name)
    with bench.within(until):
        if before.done:
            row.table = [one for one in before.table if one["kind"] == "seen"]
            some = list(dict.fromkeys(Variant.parse(one["variant"]) for one in row.table))
        else:
            some = variants(bench, problem, devices(bench))
            with bench.within(until - (1 - TRAINING) * bench.left_s()):
                surveyed(bench, problem, some, scales(bench.size), row.table, "seen")
        # In the order in which they were drawn: what there is no time for is a matter of chance.
        for scale in unseen:
            if bench.spent():
                break
            surveyed(bench, problem, some, [scale], row.table, "unseen")
    row.values |= judged(problem, row.table, machines(bench))


def judged(problem: Problem, table: list[dict[str, Any]], fingerprints: dict[str, str]) -> dict[str, Any]:
    """The regret of each call whose variants were all measured. Raises ValueError where there is none."""
    seen = [problem.measurement(one, fingerprints) for one in table if one["kind"] == "seen"]
    models = joined_models(one for one in seen if one.outcome == "ok")
    adaptive = Adaptive(
        problem.one.fingerprint, fingerprints, models.variants, models.predict, now=time.time, history=seen, share=0.0
    )
    regrets, wrong = [], 0
    for scale in dict.fromkeys(one["scale"] for one in table if one["kind"] == "unseen"):
        here = [one for one in table if one["kind"] == "unseen" and one["scale"] == scale and one["outcome"] == "ok"]
        truths = [problem.measurement(one, fingerprints) for one in here]
        times = {one.variant: one.time_ns for one in truths}
        if len(truths) < len(models.variants):  # time was up before all of them were measured
            continue
        chosen = adaptive.choose(truths[0].shape, truths[0].work).variant
        if chosen not in times:
            continue
        best = min(times, key=times.__getitem__)
        regrets.append(times[chosen] / times[best] - 1)
        wrong += chosen.device != best.device
    if not regrets:
        raise ValueError("no unseen call was measured within the budget")
    return {"calls": len(regrets), "regrets": regrets, "mean": float(np.mean(regrets)), "wrong": wrong}
