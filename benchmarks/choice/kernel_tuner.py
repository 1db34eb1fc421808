"""Part `kernel_tuner`: Kernel Tuner's strategies on what `pruning` measured, replayed by its own simulation mode,
beside pruning alone and pruning followed by local search."""

from __future__ import annotations

import contextlib
import io
import json
import random
import signal
import statistics
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.choice import pruning
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from loopwright.search.strategies import FailedPoint, search
from loopwright.tuning.members import TAKEN, looks

Table = list[dict[str, Any]]
Run = list[int]
"""Places in the table, in the order in which they were tried, each once."""

STRATEGIES = (
    "random_sample", "greedy_ils", "mls", "genetic_algorithm", "simulated_annealing", "diff_evo", "pso",
    "dual_annealing",
)  # fmt: skip
"""Kernel Tuner's. The first is the one beside which the others are put; of them the best is shown."""

SEEDS = {"small": 3, "full": 25}
NEAR = 1.05
LIMIT_S = 3.0
ABSENT = -1
"""In place of the value of a tunable that the recipe does not ask for there."""


def run(bench: Bench) -> None:
    """Every kernel whose space is measured."""
    for measured in bench.book.of("pruning"):
        if bench.wanted("kernel_tuner", measured.case):
            row = bench.book.row("kernel_tuner", measured.case)
            bench.kept(row, partial(_compared, bench, measured.table))


def _compared(bench: Bench, table: Table, row: Row) -> None:
    seeds = range(SEEDS[bench.size])
    kept = pruning.order(table, max(1, min(pruning.FIRST, len(table) // 10)))
    local = [ours(table, kept, seed) for seed in seeds]
    chance = [_shuffled(table, seed) for seed in seeds]
    few, known = looked(table)
    found = {
        "pruning": ([kept], [kept]), "pruning and local search": (local, local), "pruning in looks": ([few], [few]),
        "exhaustive": (chance, chance),
    }  # fmt: skip
    problems = {}
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        replay = Replay(table, Path(folder))
        for name in STRATEGIES:
            runs = []
            try:
                for seed in seeds:
                    if bench.spent() and runs:
                        break
                    runs.append((replay.run(name, len(kept), seed), replay.until_near(name, len(kept), seed)))
            except Exception as error:  # theirs: what it cannot do with such a space is told in the row
                problems[name] = f"{type(error).__name__}: {error}"[:200]
                continue
            found[f"Kernel Tuner {name}"] = [short for short, _ in runs], [long for _, long in runs]
    row.table = [_told(table, name, *runs, len(kept), known) for name, runs in found.items()]
    row.values = {
        "evaluations": len(kept), "variants": len(table), "default": quality(table, defaults(table)),
        **{one["who"]: one["found"]["median"] for one in row.table},
        "whole_s": cost_s(table, list(range(len(table))), False), "problems": problems,
    }  # fmt: skip


def _told(
    table: Table, name: str, short: Sequence[Run], runs: Sequence[Run], count: int, known: Sequence[int]
) -> dict[str, Any]:
    """One searcher: over the seeds, the time found over the optimum by those that planned for so many evaluations; how
    many it takes until one is within 5 % of the optimum (all where it never is), and how long these take. known: of how
    many members the metrics were known before each evaluation of `pruning in looks`."""
    near = [evaluations_to(table, one) for one in runs]
    cut = [one[:n] for one, n in zip(runs, near, strict=True)]
    return {
        "who": name,
        "found": spread([quality(table, one[:count]) for one in short]),
        "evaluations": spread([float(n) for n in near]),
        "reached": sum(quality(table, one) <= NEAR for one in runs) / len(runs),
        "tuning_s": spread([cost_s(table, one, _judged(name, table, one, known)) for one in cut]),
    }


# ---- what a run found ---------------------------------------------------------------------------------------------


def time_of(one: dict[str, Any]) -> float | None:
    """Of a variant; None where it failed."""
    return one["time_ns"] if one["outcome"] == "ok" else None


def optimum(table: Table) -> float:
    """As in the part `pruning`: a first look at two hundred variants shows one that was lucky."""
    ran = [one for one in table if one["outcome"] == "ok"]
    return float(min(one["time_ns"] for one in ([one for one in ran if one["final"]] or ran)))


def quality(table: Table, tried: Run) -> float:
    """The best time among those tried, over the optimum; infinite where none ran."""
    times = [time for place in tried if (time := time_of(table[place])) is not None]
    return max(1.0, min(times) / optimum(table)) if times else float("inf")


def evaluations_to(table: Table, tried: Run) -> int:
    """How many it took until one was near the optimum; the whole table where none was."""
    limit = NEAR * optimum(table)
    near = (n for n, place in enumerate(tried, 1) if (time_of(table[place]) or float("inf")) <= limit)
    return next(near, len(table))


def _judged(name: str, table: Table, tried: Run, known: Sequence[int]) -> int:
    """Of how many members the metrics had to be known for these evaluations."""
    if name == "pruning in looks":
        return known[len(tried) - 1] if len(tried) <= len(known) else len(table)
    return len(table) if name.startswith("pruning") else 0


def cost_s(table: Table, tried: Run, judged: int) -> float:
    """Making, compiling and measuring those tried, one after the other. judged: how many variants, from the first on,
    were made and judged before."""
    total = sum(table[place]["compile_ns"] + table[place]["measure_ns"] for place in tried)
    total += sum(one["make_ns"] + one["judge_ns"] for one in table[:judged])
    total += sum(table[place]["make_ns"] for place in tried if place >= judged)
    return total / 1e9


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    lower, upper = np.percentile(values, (25, 75), method="higher") if values else (float("nan"),) * 2
    return {"lower": float(lower), "median": statistics.median(values), "upper": float(upper)}


def defaults(table: Table) -> Run:
    return [place for place, one in enumerate(table) if one["default"]]


def _shuffled(table: Table, seed: int) -> Run:
    places = list(range(len(table)))
    random.Random(seed).shuffle(places)
    return places


# ---- ours ---------------------------------------------------------------------------------------------------------


def looked(table: Table) -> tuple[Run, list[int]]:
    """The members in the order in which tuning measures them: the default, and then it looks at few and at more and
    more; and of how many the metrics are known before each."""
    tried = list(defaults(table))
    known = [0] * len(tried)
    for upto in (*looks(len(table)), len(table)):
        kept = pruning.order(table[:upto], pruning.FIRST)
        for place in kept if upto == len(table) else kept[:TAKEN]:
            if place not in tried:
                tried.append(place)
                known.append(upto)
    return tried, known


class _Points:
    """The table as a space: neighbours have one other value."""

    def __init__(self, table: Table, default: int) -> None:
        self._table, self.default, self.points = table, default, tuple(range(len(table)))

    def neighbours(self, place: int, /) -> list[int]:
        mine = self._table[place]["point"]
        near = []
        for other, one in enumerate(self._table):
            if one["point"].keys() == mine.keys():
                changed = [abs(value - mine[name]) for name, value in one["point"].items() if value != mine[name]]
                if len(changed) == 1:
                    near.append((changed[0], other))
        return [other for _, other in sorted(near)]


def ours(table: Table, kept: Run, seed: int) -> Run:
    """The kept ones, then downhill from the fastest of them, as tuning does."""
    tried = list(kept)
    start = min((place for place in kept if time_of(table[place])), key=lambda place: table[place]["time_ns"])

    def evaluate(place: int) -> float | FailedPoint:
        if place not in tried:
            tried.append(place)
        return table[place]["time_ns"] if table[place]["outcome"] == "ok" else FailedPoint(table[place]["reason"])

    search(_Points(table, start), evaluate, "local", seed=seed)
    return tried


# ---- Kernel Tuner -------------------------------------------------------------------------------------------------


class Replay:
    """A table as a cache file of Kernel Tuner. Raises ImportError where it is not installed."""

    def __init__(self, table: Table, folder: Path) -> None:
        from kernel_tuner import tune_kernel

        self._tune: Callable[..., Any] = tune_kernel
        self._table = table
        names = list(dict.fromkeys(name for one in table for name in one["point"]))
        self._configurations = [tuple(one["point"].get(name, ABSENT) for name in names) for one in table]
        self._keys = [f"x{k}" for k in range(len(names))]
        self._params = {key: sorted({values[k] for values in self._configurations}) for k, key in enumerate(self._keys)}
        self._places = {values: place for place, values in enumerate(self._configurations)}
        self._path = folder / "cache.json"
        self._path.write_text(json.dumps(self._content(table)))

    def _content(self, table: Table) -> dict[str, Any]:
        cache = {}
        for values, one in zip(self._configurations, table, strict=True):
            entry = dict(zip(self._keys, values, strict=True))
            time_ms = one["time_ns"] / 1e6 if one["outcome"] == "ok" else "RuntimeFailedConfig"
            entry |= {"time": time_ms} if one["outcome"] == "ok" else {"time": time_ms, "__error__": time_ms}
            entry |= {"compile_time": one["compile_ns"] / 1e6, "benchmark_time": one["measure_ns"] / 1e6}
            entry |= {"verification_time": 0.0, "strategy_time": 0.0, "framework_time": 0.0, "times": [entry["time"]]}
            cache[",".join(map(str, values))] = entry | {"timestamp": "2000-01-01 00:00:00+00:00"}
        return {
            "device_name": "recorded", "kernel_name": "recorded", "problem_size": [1],
            "tune_params_keys": self._keys, "tune_params": self._params, "objective": "time", "cache": cache,
        }  # fmt: skip

    def until_near(self, strategy: str, count: int, seed: int) -> Run:
        """What it tries when it is given twice as many evaluations again and again, until it comes near the optimum:
        strategies plan with the number of evaluations that they have. The whole table where it never does."""
        while count < len(self._table):
            try:
                tried = self.run(strategy, count, seed)
            except TimeoutError:
                break
            if quality(self._table, tried) <= NEAR:
                return tried
            count *= 2
        return _shuffled(self._table, seed)

    def run(self, strategy: str, count: int, seed: int) -> Run:
        """What a strategy tries, with so many evaluations. Raises TimeoutError for one that goes round in circles: what
        was tried before does not count as an evaluation."""
        with _within(LIMIT_S):
            return self._run(strategy, count, seed)

    def _run(self, strategy: str, count: int, seed: int) -> Run:
        random.seed(seed)
        np.random.seed(seed)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            results, _ = self._tune(
                "recorded", "void recorded() {}", (1,), [], self._params,
                restrictions=[_in_table(self._configurations, self._keys)],
                strategy=strategy, strategy_options={"max_fevals": count}, cache=str(self._path),
                simulation_mode=True, quiet=True, verbose=False, lang="C",
            )  # fmt: skip
        places = [self._places[tuple(one[key] for key in self._keys)] for one in results if one]
        return list(dict.fromkeys(places))[:count]


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the main thread when it takes longer."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_table(configurations: list[tuple[int, ...]], keys: list[str]) -> Any:
    """The restriction that only these exist. It is asked after each value that is given, so that no product of all
    values is ever walked through."""
    from constraint import FunctionConstraint

    begun = {values[:length] for values in configurations for length in range(len(keys) + 1)}

    def holds(*values: int) -> bool:
        return values in begun

    class InTable(FunctionConstraint):  # type: ignore[misc]
        def __call__(self, variables: Any, domains: Any, assignments: dict[str, int], *_: Any) -> bool:
            if len(assignments) == len(keys):
                return tuple(assignments[key] for key in keys) in begun
            given = [assignments.get(key) for key in keys]
            if None in given[: len(assignments)]:  # in another order: any of them may still be met
                known = [(k, value) for k, value in enumerate(given) if value is not None]
                return any(all(one[k] == value for k, value in known) for one in configurations)
            return tuple(given[: len(assignments)]) in begun

    return InTable(holds)
