"""Part `prediction`: times of six PolyBench kernels at sizes that were never measured, from those of others."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.choice.calls import MOST, NAMES, REFINED, Problem, devices, drawn, machines, scales, variants
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from benchmarks.choice.survey import Point, by_medians, left_out, surveyed
from loopwright.predict.joined import joined_models
from loopwright.profile.measurement import Measurement

CLASSES = {"small": (0.06, 0.15), "standard": (0.15, 0.5), "large": (0.5, MOST)}
EACH = 4
"""Unseen sizes of each class."""

SEED = 7


def run(bench: Bench) -> None:
    """Every kernel."""
    todo = [name for name in NAMES if bench.wanted("prediction", name)]
    whole = bench.left_s()
    for number, name in enumerate(todo):
        row = bench.book.row("prediction", name)
        bench.kept(row, partial(_predicted, bench, Problem(name, bench.config), whole / len(todo) * (number + 1)))


def _predicted(bench: Bench, problem: Problem, until: float, row: Row) -> None:
    with bench.within(until):
        some = variants(bench, problem, devices(bench))
        trained, unseen = scales(bench.size), _unseen(bench.size)
        points = [Point("seen", one) for one in trained] + [Point("unseen", one) for one in unseen]
        points.sort(key=lambda point: point.scale)
        # No prediction of calls can be better than other calls of the same size are.
        points += [Point("again", one) for one in trained[1::4]]
        surveyed(bench, problem, some, points, row.table, REFINED[bench.size])
    row.values |= left_out(row.table) | judged(problem, row.table, machines(bench))
    medians = judged(problem, by_medians(row.table), machines(bench))
    row.values |= {f"{name}, medians": medians[name] for name in ("error large", "repeated large") if name in medians}


def _unseen(size: str) -> list[float]:
    if size == "small":
        return drawn(SEED, 0.02, 0.1, 2)
    return [one for k, (low, high) in enumerate(CLASSES.values()) for one in drawn(SEED + k, low, high, EACH)]


def repeated(table: list[dict[str, Any]], least: float = 0.0) -> float | None:
    """How far the times of calls lie from those of the same calls before, in the mean, as parts of them."""
    ran = [one for one in table if one["outcome"] == "ok" and one["scale"] >= least]
    before = {(one["scale"], one["variant"]): one["time_ns"] for one in ran if one["kind"] == "seen"}
    pairs = [(one["time_ns"], before.get((one["scale"], one["variant"]))) for one in ran if one["kind"] == "again"]
    apart = [abs(now / then - 1) for now, then in pairs if then]
    return float(np.mean(apart)) if apart else None


def measurements(problem: Problem, table: list[dict[str, Any]], fingerprints: dict[str, str]) -> list[Measurement]:
    """What there is to learn from."""
    seen = (one for one in table if one["kind"] == "seen" and one["outcome"] != "skipped")
    return [problem.measurement(one, fingerprints) for one in seen]


def judged(problem: Problem, table: list[dict[str, Any]], fingerprints: dict[str, str]) -> dict[str, Any]:
    """How far predictions are from what was measured, as parts of it. Raises ValueError where there is none."""
    seen = measurements(problem, table, fingerprints)
    models = joined_models(seen)
    missed: dict[str, list[float]] = {}
    inside: list[bool] = []
    rights: list[bool] = []
    for scale in sorted({one["scale"] for one in table if one["kind"] == "unseen"}):
        here = [one for one in table if one["kind"] == "unseen" and one["scale"] == scale and one["outcome"] == "ok"]
        pairs: list[tuple[float, float]] = []
        for one in here:
            truth = problem.measurement(one, fingerprints)
            if truth.variant not in models.variants:
                continue
            found = models.predict(truth.shape, truth.work)[models.variants.index(truth.variant)]
            missed.setdefault(class_of(scale), []).append(abs(found.time_ns / truth.time_ns - 1))
            inside.append(abs(truth.time_ns / found.time_ns - 1) <= found.error)
            pairs.append((truth.time_ns, found.time_ns))
        rights += [(a[0] < b[0]) == (a[1] < b[1]) for a, b in combinations(pairs, 2)]
    if not missed:
        raise ValueError("no unseen size was measured within the budget")
    every = [each for some in missed.values() for each in some]
    by_class = {f"error {name}": float(np.mean(some)) for name, some in missed.items()}
    return {
        "variants": len(models.variants), "seen": len(seen), "unseen": len(every), "error": float(np.mean(every)),
        **by_class, "inside": float(np.mean(inside)), "order": float(np.mean(rights)) if rights else None,
        "repeated": repeated(table), "repeated large": repeated(table, CLASSES["large"][0]),
    }  # fmt: skip


def class_of(scale: float) -> str:
    """The name of the class that a size belongs to."""
    return next((name for name, (_, high) in CLASSES.items() if scale < high), "large")
