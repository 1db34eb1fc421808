"""Part `regret`: unseen calls of the kernels of `prediction`: how much longer what is chosen takes than the fastest."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.choice.calls import LEAST, MOST, NAMES, REFINED, Problem, devices, drawn, machines, scales, variants
from benchmarks.choice.parts import Bench
from benchmarks.choice.prediction import measurements
from benchmarks.choice.rows import Row
from benchmarks.choice.survey import Point, by_medians, left_out, surveyed
from loopwright.choice.adapt import Adaptive
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.joined import joined_models

CALLS = {"small": 6, "full": 200}
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
    unseen = drawn(SEED + NAMES.index(problem.name), LEAST, 0.1 if bench.size == "small" else MOST, count)
    # In the order in which they were drawn: what there is no time for is a matter of chance.
    points = [Point("unseen", one) for one in unseen]
    before = bench.book.row("prediction", problem.name)
    with bench.within(until):
        if before.done:
            row.table = [one for one in before.table if one["kind"] == "seen"]
            some = list(dict.fromkeys(Variant.parse(one["variant"]) for one in row.table))
        else:
            some = variants(bench, problem, devices(bench))
            with bench.within(until - (1 - TRAINING) * bench.left_s()):
                trained = [Point("seen", one) for one in scales(bench.size)]
                surveyed(bench, problem, some, trained, row.table, REFINED[bench.size])
        surveyed(bench, problem, some, points, row.table)
    calls = [one for one in row.table if one["kind"] == "unseen"]
    row.values |= left_out(calls) | judged(problem, row.table, machines(bench))
    row.values["mean, medians"] = judged(problem, by_medians(row.table), machines(bench))["mean"]


def judged(problem: Problem, table: list[dict[str, Any]], fingerprints: dict[str, str]) -> dict[str, Any]:
    """The regret of each call whose variants were all measured; one that was hopeless takes as long as was expected.
    Raises ValueError where there is none."""
    seen = measurements(problem, table, fingerprints)
    models = joined_models(seen)
    adaptive = Adaptive(
        problem.one.fingerprint, fingerprints, models.variants, models.predict, now=time.time, history=seen, share=0.0
    )
    regrets, wrong = [], 0
    unseen = [one for one in table if one["kind"] == "unseen"]
    scales = dict.fromkeys(one["scale"] for one in unseen)
    for scale in scales:
        here = [one for one in unseen if one["scale"] == scale]
        times = {Variant.parse(one["variant"]): one["time_ns"] for one in here if one["outcome"] == "ok"}
        hopeless = {Variant.parse(one["variant"]): one["expected_ns"] for one in here if "expected_ns" in one}
        if not times or not {*times, *hopeless}.issuperset(models.variants):  # no time was left for all of them
            continue
        shape = Shape(tuple(here[0]["sizes"]))
        chosen = adaptive.choose(shape, problem.form.at(shape)).variant
        best = min(times, key=times.__getitem__)
        regrets.append((times | hopeless)[chosen] / times[best] - 1)
        wrong += chosen.device != best.device
    if not regrets:
        raise ValueError("no unseen call was measured within the budget")
    return {
        "calls": len(regrets), "calls left out": len(scales) - len(regrets), "regrets": regrets,
        "mean": float(np.mean(regrets)), "wrong": wrong, "repeated": by_half(unseen),
    }  # fmt: skip


def by_half(unseen: list[dict[str, Any]]) -> float | None:
    """The mean regret of who knows each call from half of its visits, in the other half: no prediction is better."""
    regrets = []
    for scale in dict.fromkeys(one["scale"] for one in unseen):
        here = [one["visits"] for one in unseen if one["scale"] == scale and len(one.get("visits", ())) > 1]
        if len(here) > 1:
            known, then = ([min(visits[half::2])[0] for visits in here] for half in (0, 1))
            regrets.append(then[known.index(min(known))] / min(then) - 1)
    return float(np.mean(regrets)) if regrets else None
