"""From the candidates for a kernel, each with its Metrics, to those that are worth measuring."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.cost.metrics import Metrics
from loopwright.cost.pareto import TOLERANCE, pareto

MOST = 16
"""Candidates to be measured, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Candidates by name. measure: one of each cluster of the Pareto-optimal ones, the most promising first, and the
    default one. alternates: by the name of one to be measured, those whose metrics are the same. dropped: every other
    candidate, and why, in words."""

    measure: tuple[str, ...]
    alternates: Mapping[str, tuple[str, ...]]
    dropped: Mapping[str, str]


def prune(
    candidates: Mapping[str, Metrics],
    default: str = "",
    most: int = MOST,
    tolerance: float = TOLERANCE,
    least: int = 1,
) -> Pruned:
    """Keep what no other candidate surpasses in every respect: `most` of these at most, among them always the default
    one, and beside it at least one other; and where these are fewer than `least`, the most promising of the rest, as
    the metrics are no exact science.

    default: its name; '' where there is none. Where there are more, those stay whose metrics, taken together, are the
    nearest to the best of each. Raises ValueError where the default is no candidate, where the candidates were not
    judged by the same metrics, or `most` is less than 1."""
    names = list(candidates)
    if default and default not in candidates:
        raise ValueError(f"the default '{default}' is none of the {len(names)} candidates")
    if len({metrics.names for metrics in candidates.values()}) > 1:
        raise ValueError("all candidates must be judged by the same metrics")
    if most < 1:
        raise ValueError(f"at least one candidate has to be measured, not {most}")
    points = [candidates[name].values for name in names]
    found = pareto(points, tolerance)
    front = [[names[number] for number in cluster] for cluster in found.clusters]
    front = [_default_first(cluster, default) for cluster in front]
    own = [cluster for cluster in front if cluster[0] == default]
    others = [cluster for cluster in front if cluster[0] != default]
    others.sort(key=lambda cluster: -_balance(candidates[cluster[0]], candidates))
    taken = others[: max(1, most - 1) if default else most]
    dropped = {names[number]: _why(candidates, names[number], names[by]) for number, by in found.dropped.items()}
    for cluster in others[len(taken) :]:
        words = f"Pareto-optimal, but beyond the {most} most promising ones"
        dropped.update((name, words) for name in cluster)
    dropped.pop(default, None)
    measure = [cluster[0] for cluster in taken]
    rest = [name for name in names if name not in measure and name != default]
    rest.sort(key=lambda name: -_balance(candidates[name], candidates))
    filled = _different_first(rest, [*measure, *([default] if default else [])], candidates, tolerance)
    filled = filled[: max(0, min(least, most) - len(measure) - (1 if default else 0))]
    for name in filled:
        dropped.pop(name, None)
    others_of = {cluster[0]: tuple(n for n in cluster[1:] if n not in filled) for cluster in (*own, *taken)}
    alternates = {name: others for name, others in others_of.items() if others}
    measure += filled
    return Pruned((*measure, default) if default else tuple(measure), alternates, dropped)


def _different_first(
    names: list[str], measured: list[str], candidates: Mapping[str, Metrics], tolerance: float
) -> list[str]:
    """First those whose metrics nobody before has: the same metrics mostly mean the same time."""
    known = [candidates[name].values for name in measured]
    different, alike = [], []
    for name in names:
        values = candidates[name].values
        if any(_alike(values, other, tolerance) for other in known):
            alike.append(name)
        else:
            different.append(name)
            known.append(values)
    return different + alike


def _alike(one: tuple[float, ...], other: tuple[float, ...], tolerance: float) -> bool:
    return all(a == b or abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in zip(one, other, strict=True))


def _default_first(cluster: list[str], default: str) -> list[str]:
    return [default, *(name for name in cluster if name != default)] if default in cluster else cluster


def _balance(metrics: Metrics, among: Mapping[str, Metrics]) -> float:
    """How near a candidate is to the best of each metric: the mean of the logarithms of its parts of these; what
    cannot be judged comes last."""
    total = 0.0
    for axis, value in enumerate(metrics.values):
        best = max((one.values[axis] for one in among.values() if not math.isnan(one.values[axis])), default=math.nan)
        if math.isnan(value) or math.isnan(best):
            return -math.inf
        if value != best:
            total += math.log(value / best) if 0 < value / best < math.inf else -1e6
    return total / max(len(metrics.values), 1)


def _why(candidates: Mapping[str, Metrics], name: str, by: str) -> str:
    """That another one dominates it, and by how much."""
    own, better = candidates[name], candidates[by]
    more, same = [], []
    for what, ours, theirs in zip(own.names, own.values, better.values, strict=True):
        if ours == theirs or (ours and math.isfinite(theirs) and theirs / ours < 1 + TOLERANCE):
            same.append(what)
        else:
            more.append(f"{_times(theirs, ours)} its {what}")
    if not more:
        return f"dominated by '{by}', if only just"
    return f"dominated by '{by}': {' and '.join(more)}" + (f" at the same {' and '.join(same)}" if same else "")


def _times(theirs: float, ours: float) -> str:
    ratio = theirs / ours if ours > 0 else math.inf
    return f"{ratio:.3g} times" if math.isfinite(ratio) else "without bound more than"
