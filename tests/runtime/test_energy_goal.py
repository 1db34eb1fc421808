"""Goals other than time: watts that are stated or counted decide who makes a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.choice.division import Division
from loopwright.profile.joules import Unmetered
from loopwright.runtime.energy_goal import LONG_ENOUGH_S, EnergyGoal


@lw.kernel
def doubled(a, b):
    for i in range(a.shape[0]):
        b[i] = 2.0 * a[i]


class Counter:
    """A meter that has counted so many joules whenever it is read."""

    source: Any = "nvml"

    def __init__(self, *joules: float) -> None:
        self.joules = list(joules)

    def read_joules(self) -> float:
        return self.joules.pop(0) if len(self.joules) > 1 else self.joules[0]


def learned(*per_iteration: float) -> Division:
    """Devices that take so many nanoseconds an iteration."""
    division = Division([f"d{k}" for k in range(len(per_iteration))], range(1000))
    for _ in range(3):
        for place, each in enumerate(per_iteration):
            times = [1000 * each if k == place else 0 for k in range(len(per_iteration))]
            done = [1000 if k == place else 0 for k in range(len(per_iteration))]
            division.measured(division.alone(place, ""), times, done, 1000 * each)
    return division


def test_stated_watts_decide() -> None:
    """The slower device takes a tenth of the watts: twice the time, a fifth of the energy."""
    division = learned(2000.0, 1000.0)
    goal = EnergyGoal(["d0", "d1"], {"d0": (50.0, 10.0), "d1": (420.0, 20.0)})
    assert goal.next_alone is None
    energy = goal.best(division, "energy", True)
    assert energy is not None
    assert (energy.kind, energy.devices) == ("single", (0,))
    time = goal.best(division, "time within 1000% energy", True)
    assert time is not None
    assert (time.kind, time.devices) == ("split", (0, 1))
    alone = goal.best(division, "time within 1000% energy", False)
    assert alone is not None
    assert (alone.kind, alone.devices) == ("single", (1,))
    assert goal.lines() == ["d0: 50 W at work, 10 W idle", "d1: 420 W at work, 20 W idle"]


def test_watts_are_counted_while_a_device_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("loopwright.runtime.energy_goal.measured_idle_watts", lambda meters, seconds: {"d0": 30.0})
    goal = EnergyGoal(["d0"], {}, {"d0": Counter(0.0, 1e4)})
    assert goal.next_alone == 0
    import time

    with goal.metered(0):
        begun = time.perf_counter()
        while time.perf_counter() - begun < LONG_ENOUGH_S + 0.01:
            now[0] += 1
    assert goal.next_alone is None
    (line,) = goal.lines()
    watts = float(line.split()[1])
    assert 1e4 / (LONG_ENOUGH_S + 0.2) < watts < 1e4 / LONG_ENOUGH_S
    assert line.endswith("30 W idle")


def test_a_device_without_a_meter() -> None:
    goal = EnergyGoal(["d0", "d1"], {"d0": (5.0, 1.0)}, {"d1": Unmetered("nothing counts them")})
    assert goal.next_alone is None
    assert goal.best(learned(1.0, 1.0), "energy", True) is None
    assert goal.lines()[1] == "d1: nothing counts them"


def test_a_failed_device_is_not_chosen() -> None:
    division = learned(1000.0, 1000.0)
    division.failed(0, "lost")
    goal = EnergyGoal(["d0", "d1"], {"d0": (5.0, 1.0), "d1": (500.0, 1.0)})
    best = goal.best(division, "energy", True)
    assert best is not None
    assert best.devices == (1,)


@pytest.mark.parametrize("goal", ["energy", "edp", "time within 10% energy"])
def test_calls_under_a_goal(goal: str) -> None:
    a = np.random.default_rng(1).random(3000)
    with lw.options(devices="cpu, emulated", goal=goal, watts="cpu 100/10, emulated 100/10", threads=1):
        for _ in range(8):
            b = np.zeros(3000)
            doubled(a, b)
            assert (b == 2 * a).all()


def test_without_watts_time_decides_and_it_is_told() -> None:
    doubled._dispatch.learn_anew()
    b = np.zeros(30)
    with lw.options(devices="cpu, emulated", goal="energy"):
        doubled(np.ones(30), b)
        with pytest.warns(lw.LoopwrightWarning, match="the shortest time is taken instead, as watts are not known"):
            for _ in range(3):
                doubled(np.ones(30), b)
    assert (b == 2).all()
