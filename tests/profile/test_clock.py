"""Timing one candidate, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat

import numpy as np
import pytest

from loopwright.profile.clock import Flush, measure


class World:
    """A virtual clock, and what a run, a reset and a flush take on it."""

    def __init__(self, runs: Iterator[float], reset_ns: int = 10) -> None:
        self.now, self.runs, self.reset_ns = 0, runs, reset_ns
        self.log: list[str] = []

    def clock(self) -> int:
        return self.now

    def does(self, what: str) -> Callable[[], None]:
        def act() -> None:
            self.log.append(what)
            self.now += {"run": lambda: int(next(self.runs)), "reset": lambda: self.reset_ns, "flush": lambda: 500}[
                what
            ]()

        return act


def test_a_steady_run_is_settled_after_five_and_the_first_does_not_count() -> None:
    world = World(chain([9000], repeat(100)))
    timing = measure(world.does("run"), world.does("reset"), world.clock, 1e9)
    assert (timing.median_ns, timing.spread, timing.runs, timing.settled) == (100, 0.0, 5, True)
    assert timing.cache == "warm" and timing.first_ns == 9000
    assert world.log == ["reset", "run"] * 6


def test_cold_means_that_the_caches_are_flushed_before_every_run() -> None:
    world = World(repeat(300))
    timing = measure(world.does("run"), world.does("reset"), world.clock, 1e9, flush=world.does("flush"))
    assert timing.cache == "cold" and timing.runs == 5 and timing.median_ns == 300
    assert world.log == ["reset", "flush", "run"] * 5


@pytest.mark.parametrize("seed", range(3))
def test_outliers_do_not_steer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = (100_000 * (1 + 0.01 * rng.standard_normal()) * (50 if rng.random() < 0.2 else 1) for _ in repeat(0))
    world = World(times)
    timing = measure(world.does("run"), world.does("reset"), world.clock, 1e12)
    assert timing.median_ns == pytest.approx(100_000, rel=0.02) and timing.settled


def test_noise_is_answered_with_repeats() -> None:
    rng = np.random.default_rng(0)
    world = World(1e5 * (1 + 0.05 * rng.standard_normal()) for _ in repeat(0))
    timing = measure(world.does("run"), world.does("reset"), world.clock, 1e12)
    assert timing.settled and 10 < timing.runs < 200
    assert 0.02 < timing.spread < 0.06


@pytest.mark.parametrize("budget", [0.0, -1.0, 1000.0])
def test_one_run_counts_whatever_the_budget(budget: float) -> None:
    world = World(repeat(700))
    timing = measure(world.does("run"), world.does("reset"), world.clock, budget)
    assert (timing.runs, timing.median_ns, timing.settled, world.log.count("run")) == (1, 700, False, 2)


def test_the_budget_is_kept_with_resets_in_it() -> None:
    world = World(chain(range(1000, 2000)), reset_ns=5000)
    measure(world.does("run"), world.does("reset"), world.clock, 100_000, wanted=0.0)
    assert 90_000 < world.now <= 100_000


def test_a_run_shorter_than_the_clock_can_tell_is_not_nothing() -> None:
    timing = measure(lambda: None, lambda: None, lambda: 5, 100)
    assert timing.median_ns == 1.0 and timing.spread == 0.0


def test_what_a_run_raises_is_not_caught() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(interrupted, lambda: None, lambda: 0, 1e9)


def test_a_flush_writes_to_all_of_its_buffer() -> None:
    flush = Flush(4096)
    flush()
    flush()
    assert flush._buffer is not None and flush._buffer.nbytes == 4096 and (flush._buffer == 2.0).all()
