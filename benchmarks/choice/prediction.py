"""Part `prediction`: times of six PolyBench kernels at sizes that were never measured, from those of others."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.choice.calls import LARGE, NAMES, Problem, devices, drawn, machines, scales, surveyed, variants
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from loopwright.predict.joined import joined_models

CLASSES = {"small": (0.06, 0.15), "standard": (0.15, 0.5), "large": (0.5, 1.15 * LARGE)}
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
        unseen = _unseen(bench.size)
        some = variants(bench, problem, devices(bench))
        with bench.within(until - 0.5 * bench.left_s()):
            surveyed(bench, problem, some, scales(bench.size), row.table, "seen")
        surveyed(bench, problem, some, unseen, row.table, "unseen")
        # No prediction of calls can be better than other calls of the same size are.
        surveyed(bench, problem, some, scales(bench.size)[1::4], row.table, "again")
    row.values |= judged(problem, row.table, machines(bench))


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


def judged(problem: Problem, table: list[dict[str, Any]], fingerprints: dict[str, str]) -> dict[str, Any]:
    """How far predictions are from what was measured, as parts of it. Raises ValueError where there is none."""
    seen = [problem.measurement(one, fingerprints) for one in table if one["kind"] == "seen"]
    models = joined_models(one for one in seen if one.outcome == "ok")
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
