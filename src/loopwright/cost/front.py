"""What is known of candidates without running them, as the store keeps it: tables of kind `pareto`.

A table belongs to the machine whose device it is for, and is named after the kernel's fingerprint. Its content is
`{"names": [..], "sizes": [..], "points": [[schedule, values, kept, why], ..]}`: sizes are those of the call; of each
metric more is better; a schedule is its text; kept says whether it was worth measuring, why what was against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import Pruned
from loopwright.profile.records import FittedTable

PARETO = "pareto"
"""The kind of these tables."""


@dataclass(frozen=True, slots=True)
class Point:
    """One candidate. values: of the metrics, in their order; NaN where one could not be told."""

    schedule: str
    values: tuple[float, ...]
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class JudgedCandidates:
    """All candidates that were judged together, by the metrics of these names. sizes: of the call, () where nobody has
    said."""

    names: tuple[str, ...]
    points: tuple[Point, ...]
    sizes: tuple[int, ...] = ()


def front_from(judged: Mapping[str, Metrics], pruned: Pruned, sizes: tuple[int, ...] = ()) -> JudgedCandidates:
    """Of candidates by their schedules, all judged by the same metrics, and what pruning made of them."""
    names = next(iter(judged.values())).names if judged else ()
    alike = {name: f"as good as '{of}' in every metric" for of, names in pruned.alternates.items() for name in names}
    whys = alike | dict(pruned.dropped)
    kept = set(pruned.measure)
    points = (Point(name, one.values, name in kept, whys.get(name, "")) for name, one in judged.items())
    return JudgedCandidates(names, tuple(points), sizes)


def front_content(front: JudgedCandidates) -> dict[str, Any]:
    """As JSON can say it; what could not be told is null."""
    points = [
        [one.schedule, [value if math.isfinite(value) else None for value in one.values], one.kept, one.why]
        for one in front.points
    ]
    return {"names": list(front.names), "sizes": list(front.sizes), "points": points}


def front_of(table: FittedTable) -> JudgedCandidates | None:
    """None where the content is no such thing: whoever wrote it, a report is still to be had."""
    try:
        names = tuple(str(name) for name in table.content["names"])
        points = tuple(_point(one, len(names)) for one in table.content["points"])
        sizes = tuple(int(size) for size in table.content.get("sizes", ()))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return None
    return JudgedCandidates(names, points, sizes) if points else None


def fronts_of(tables: Iterable[FittedTable], kernel: str) -> tuple[JudgedCandidates, ...]:
    """Those of a kernel, which the tables are named after."""
    found = (front_of(table) for table in tables if table.name == kernel)
    return tuple(front for front in found if front is not None)


def _point(told: Any, metrics: int) -> Point:
    schedule, values, kept, why = told
    numbers = tuple(math.nan if value is None else float(value) for value in values)
    if not isinstance(schedule, str) or len(numbers) != metrics:
        raise ValueError("a point has a schedule and a value for each metric")
    return Point(schedule, numbers, bool(kept), str(why))
