"""What we want to reach at LARGE, and whether a run of the benchmark did: one verdict for each goal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.results import BLAS, OPENMP, PLAIN, PLUTO, PRANGE, Row, geometric_mean

SIZE = "LARGE"
COLD_S = 1.0
CACHED_S = 0.02
FAILED = 1e-3  # counted as so many times the rival's speed


@dataclass(frozen=True)
class Verdict:
    """goal: what is wanted, in words. reached: what was seen, in words; '' where nothing was measured. met: None where
    nothing was measured."""

    goal: str
    reached: str
    met: bool | None


def verdicts(rows: Iterable[Row]) -> list[Verdict]:
    """Every goal, over the rows that were measured at LARGE."""
    rows = [row for row in rows if row.size == SIZE]
    polybench = [row for row in rows if row.suite == "polybench"]
    products = [row for row in rows if row.name in ("gemm", "2mm", "3mm", "syrk")]
    beyond = [row for row in rows if row.suite == "beyond cache"]
    sparse = [row for row in rows if row.suite == "sparse"]
    return [
        _mean("PolyBench, geometric mean", polybench, PRANGE, 2.0),
        _mean("PolyBench where there is such a version, geometric mean", polybench, PLUTO, 1.2),
        _each("every PolyBench kernel", polybench, PLAIN, 0.95),
        _each("gemm, 2mm, 3mm, syrk", products, BLAS, 0.6),
        _each("stencils beyond the cache", beyond, OPENMP, 1.5),
        _each("spmv, pagerank", sparse, PRANGE, 1.3),
        _times("first call with nothing cached", {row.name: row.cold_s for row in polybench}, COLD_S),
        _times("first call from the cache", {row.name: row.cached_s for row in polybench}, CACHED_S),
    ]


def _mean(what: str, rows: Sequence[Row], rival: str, wanted: float) -> Verdict:
    mean = geometric_mean(_ratios(rows, rival).values())
    goal = f"{what}: {wanted:g}x {rival}"
    return Verdict(goal, "", None) if mean is None else Verdict(goal, f"{mean:.2f}x", mean >= wanted)


def _each(what: str, rows: Sequence[Row], rival: str, wanted: float) -> Verdict:
    ratios = _ratios(rows, rival)
    goal = f"{what}: {wanted:g}x {rival}"
    if not ratios:
        return Verdict(goal, "", None)
    least = min(ratios, key=ratios.__getitem__)
    below = sum(ratio < wanted for ratio in ratios.values())
    return Verdict(goal, f"at least {ratios[least]:.2f}x ({least}), {below} of {len(ratios)} below", not below)


def _ratios(rows: Sequence[Row], rival: str) -> dict[str, float]:
    """By kernel, where the rival has a time. Where we have none, because we failed or were wrong, almost 0."""
    return {row.name: row.ratio(rival) or FAILED for row in rows if row.seconds(rival) is not None}


def _times(what: str, times: Mapping[str, float | None], limit_s: float) -> Verdict:
    goal = f"{what}: at most {limit_s:g} s"
    known = {name: seconds for name, seconds in times.items() if seconds is not None}
    if not known:
        return Verdict(goal, "", None)
    most = max(known, key=known.__getitem__)
    above = sum(seconds > limit_s for seconds in known.values())
    return Verdict(goal, f"at most {known[most]:.3f} s ({most}), {above} of {len(known)} above", not above)
