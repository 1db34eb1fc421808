"""How long each variant takes at each of many sizes. Every pair is measured in several visits that lie far apart in
time, in another order each time: what a machine does for a second (another program, a processor that is throttled, two
threads on one core) is then as likely at sizes that are trained with as at others, and cannot pass for a difference
between them. As all of that only makes calls slower, the visit with the least median counts; the others stay in the
table, and so does what was left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

import numpy as np

from benchmarks.choice.calls import Problem
from benchmarks.choice.parts import Bench
from loopwright.ir.signature import shape_of
from loopwright.ir.variant import Variant

Entry = dict[str, Any]

VISITS = 4

VISIT_S = {"small": 0.003, "full": 0.05, "cuda": 0.015}
"""By size, or device: how long one visit may be, its first calls aside."""

LEAST_VISIT_S = 0.002
"""A visit is not made shorter than this for lack of time."""

HOPELESS, HOPELESS_NS = 5.0, 5e7
"""Who is expected to take so many times as long as the best, and so long, is not measured."""

CLOSE = 0.02
"""Sizes nearer to each other than this part of them tell nothing new."""

NO_TIME = "no time was left"


@dataclass(frozen=True, slots=True)
class Point:
    """A size to measure at, and what for."""

    kind: str
    scale: float


def surveyed(
    bench: Bench,
    problem: Problem,
    variants: Sequence[Variant],
    points: Sequence[Point],
    table: list[Entry],
    refined: int = 0,
) -> None:
    """Measure every variant at every point and add what was found to the table, until the part's time is spent. In the
    first round points come in their order, in later ones in another. Who is hopeless is told from what the table has
    before, too. refined: so many sizes more are trained with, one after another where times bend most."""
    survey, all_points = _Survey(bench, problem, variants, table), list(points)
    count = len(points) + refined
    for place, point in enumerate(points):
        survey.first(point, count * VISITS - place)
    for place in range(len(points), count):
        scale = bent(table)
        if scale is None:
            break
        all_points.append(Point("seen", scale))
        survey.first(all_points[-1], count * VISITS - place)
    for number in range(1, VISITS):
        for place, point in enumerate(Random(number).sample(all_points, len(all_points))):
            survey.again(point, Random(f"{number} {point}"), len(all_points) * (VISITS - number) - place)


class _Survey:
    """What is known so far."""

    def __init__(self, bench: Bench, problem: Problem, variants: Sequence[Variant], table: list[Entry]) -> None:
        self._bench, self._problem, self._variants, self._table = bench, problem, variants, table
        self._entries: dict[Point, dict[Variant, Entry]] = {}
        self._times: dict[str, list[tuple[float, float]]] = {}
        self._most_s = VISIT_S["cuda" if bench.device == "cuda" else bench.size]
        for entry in table:
            self._told(entry)

    def _told(self, entry: Entry) -> None:
        """Of an entry that is measured: what others are expected from."""
        if entry["outcome"] == "ok":
            iterations = self._problem.work(entry["sizes"]).iterations
            self._times.setdefault(entry["variant"], []).append((iterations, entry["time_ns"]))

    def first(self, point: Point, left: int) -> None:
        """The first visit of every variant at a point, which finds what is not to be measured there. left: how many
        such rounds of all variants there are to come, this one included."""
        arguments, expected = self._problem.arguments(point.scale), None
        at = {"kind": point.kind, "scale": point.scale, "sizes": shape_of(arguments).sizes}
        measured = self._entries.setdefault(point, {})
        for variant in self._variants:
            entry = {**at, "variant": str(variant), **self._left_out(variant, arguments)}
            if "outcome" not in entry:
                expected, wrong = self._problem.checked(variant, arguments, expected)
                if wrong is None:
                    add(entry, self._problem.timed(variant, arguments, self._budget_s(left)))
                    measured[variant] = entry
                    self._told(entry)
                else:
                    entry["outcome"], entry["reason"] = wrong
            self._table.append(entry)

    def again(self, point: Point, random: Random, left: int) -> None:
        """One more visit of all that were measured at a point, in another order."""
        measured = self._entries[point]
        for variant in random.sample(list(measured), len(measured)):
            if not self._bench.spent():
                visit = self._problem.timed(variant, self._problem.arguments(point.scale), self._budget_s(left))
                add(measured[variant], visit)

    def _budget_s(self, left: int) -> float:
        """Of one visit, where there are so many rounds of all variants to come: half of what there is, as calls that
        are checked take time too."""
        share = 0.5 * self._bench.left_s() / (left * len(self._variants))
        return max(LEAST_VISIT_S, min(self._most_s, share))

    def _left_out(self, variant: Variant, arguments: Sequence[object]) -> Entry:
        """Why a variant is not measured at a size; nothing where it is."""
        if self._bench.spent():
            return {"outcome": "skipped", "reason": NO_TIME}
        size = self._problem.call(arguments)[1].iterations
        own = self._expected_ns(str(variant), size)
        every = [found for other in self._variants if (found := self._expected_ns(str(other), size)) is not None]
        if own is None or own <= max(HOPELESS * min(every), HOPELESS_NS):
            return {}
        reason = f"it was expected to take {own / min(every):.0f} times as long as the best"
        return {"outcome": "skipped", "reason": reason, "expected_ns": own}

    def _expected_ns(self, variant: str, iterations: float) -> float | None:
        """From the largest smaller size, as iterations go; None where there is none."""
        smaller = [found for found in self._times.get(variant, ()) if found[0] <= iterations]
        if not smaller:
            return None
        before, time_ns = max(smaller)
        return time_ns * iterations / max(before, 1.0)


def add(entry: Entry, visit: Entry) -> None:
    """One more visit to a pair."""
    entry.setdefault("visits", []).append([visit["time_ns"], visit["spread"], visit["runs"]])
    entry |= {"outcome": "ok", **_of_least(entry["visits"])}


def _of_least(visits: Sequence[Sequence[float]]) -> Entry:
    """The time of the visit with the least median. Where the next one is further from it than its own runs are from one
    another, this says how far off it is, and counts as so many runs as there are visits."""
    first, *others = sorted(visits)
    time_ns, spread, runs = first
    apart = (others[0][0] - time_ns) / 4 / time_ns if others else 0.0
    if apart <= spread:
        return {"time_ns": time_ns, "spread": spread, "runs": runs}
    return {"time_ns": time_ns, "spread": apart, "runs": len(visits)}


def by_medians(table: Sequence[Entry]) -> list[Entry]:
    """The same, with the median of the visits in place of the least."""
    return [
        {**entry, "time_ns": median(time_ns for time_ns, *_ in entry["visits"])} if "visits" in entry else entry
        for entry in table
    ]


def bent(table: Sequence[Entry]) -> float | None:
    """Between two sizes that are trained with, where times say least of what lies there: where a straight line through
    their neighbours misses them most, in the mean of the variants that ran at all sizes, and they are far apart. What
    is not trained with is not looked at."""
    ran = [entry for entry in table if entry["kind"] == "seen" and entry["outcome"] == "ok"]
    scales = sorted({entry["scale"] for entry in table if entry["kind"] == "seen"})
    times = {(entry["variant"], entry["scale"]): entry["time_ns"] for entry in ran}
    everywhere = [name for name in {entry["variant"]: None for entry in ran} if all((name, s) in times for s in scales)]
    if len(scales) < 3 or not everywhere:
        return None
    places = np.log(scales)
    logs = np.log([[times[name, scale] for scale in scales] for name in everywhere])
    share = (places[1:-1] - places[:-2]) / (places[2:] - places[:-2])
    missed = np.abs(logs[:, 1:-1] - (1 - share) * logs[:, :-2] - share * logs[:, 2:])
    missed = np.pad(missed, ((0, 0), (1, 1)), "edge")
    unknown = (np.maximum(missed[:, :-1], missed[:, 1:]) * np.diff(places)).mean(axis=0)
    unknown[np.diff(places) < 2 * CLOSE] = 0.0
    between = int(np.argmax(unknown))
    return float(np.exp((places[between] + places[between + 1]) / 2)) if unknown[between] > 0 else None


def left_out(table: Sequence[Entry]) -> dict[str, int]:
    """How many pairs were not measured: hopeless ones, and those for which there was no time."""
    skipped = [entry["reason"] for entry in table if entry["outcome"] == "skipped"]
    return {"hopeless": sum(one != NO_TIME for one in skipped), "no time": sum(one == NO_TIME for one in skipped)}
