"""Times contenders side by side: round after round, each one once in every round, on the same memory, restored before
every run. So a machine that slows down for a while slows all of them, and nobody profits from warm caches or pages."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

SETTLE_S = 0.005  # threads of the run before may spin for a while


@dataclass(frozen=True)
class Timing:
    """seconds: one time for each round, in order."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Slowest minus fastest, as a share of the median."""
        return (max(self.seconds) - min(self.seconds)) / self.median


@dataclass(frozen=True)
class Race:
    """What `race` saw: times and results by contender, and why a contender has none."""

    timings: Mapping[str, Timing]
    results: Mapping[str, Mapping[str, np.ndarray]]
    failures: Mapping[str, str]


Bound = Callable[[], object]


def binder(function: Callable[..., object]) -> Callable[..., Bound]:
    """Takes the arguments now and runs the function later: what only binds arguments is then not timed."""

    def bind(*arguments: Any) -> Bound:
        return partial(function, *arguments)

    return bind


class Track:
    """The arguments that all contenders run on: one set of buffers, restored from the pristine data before each run."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._pristine = data
        self._buffers = {n: value.copy() if isinstance(value, np.ndarray) else value for n, value in data.items()}

    def restored(self) -> Mapping[str, Any]:
        """The buffers, holding the pristine values again."""
        for name, value in self._pristine.items():
            if isinstance(value, np.ndarray):
                np.copyto(self._buffers[name], value)
        return self._buffers

    def outputs(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Copies of what the last run left in the named buffers."""
        return {name: self._buffers[name].copy() for name in names}


def race(
    binders: Mapping[str, Callable[..., Bound]],
    data: Mapping[str, Any],
    outputs: Sequence[str],
    rounds: int,
    budget_s: float,
) -> Race:
    """Bind everyone's arguments, then run everyone once in each round, until `rounds` are done or, after two of them,
    budget_s seconds have passed.

    The first round's results are kept for the comparison. A contender that raises is out, with its words.
    """
    track = Track(data)
    runners = {name: bind(*track.restored().values()) for name, bind in binders.items()}
    times: dict[str, list[float]] = {name: [] for name in runners}
    results: dict[str, Mapping[str, np.ndarray]] = {}
    failures: dict[str, str] = {}
    begin = time.perf_counter()
    for number in range(rounds):
        if number >= 2 and time.perf_counter() - begin > budget_s:
            break
        for name, run in runners.items():
            if name in failures:
                continue
            track.restored()
            time.sleep(SETTLE_S)
            try:
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
            except Exception as error:
                failures[name] = f"{type(error).__name__}: {error}"
                continue
            if number == 0:
                results[name] = track.outputs(outputs)
    good = {name: Timing(tuple(seconds)) for name, seconds in times.items() if name not in failures}
    return Race(good, {name: results[name] for name in good}, failures)
