"""The watts of devices while they make calls of one kind, for goals other than time: stated ones, or what their meters
count while each of them makes some calls by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from loopwright.choice.division import Assignment, Division
from loopwright.placement.energy import Costed, Power, best_of, candidates, parse_goal
from loopwright.profile.joules import EnergyUse, Meter, Unmetered, find_meter, measured, measured_idle_watts

LONG_ENOUGH_S = 0.3
"""So long, in all, a device makes calls by itself until its watts are known: counters move some ten times a second."""

MOST_CALLS = 50

Watts = Mapping[str, tuple[float, float]]
"""Of devices by their names: at work, and idle."""


Meters = Mapping[str, Meter | Unmetered]


class EnergyGoal:
    """What is known of devices for one kind and shape of calls. stated: watts that somebody has said, which count more
    than any meter. meters: by device, in tests."""

    def __init__(self, devices: Sequence[str], stated: Watts, meters: Meters | None = None) -> None:
        self.devices = tuple(devices)
        self.unmetered: dict[str, str] = {}
        """Why nothing is known of a device, nor ever will be."""
        self._powers = {name: Power(*stated[name]) for name in devices if name in stated}
        missing = [name for name in devices if name not in stated]
        found = {name: find_meter(_with_colon(name)) for name in missing} if meters is None else meters
        self._meters: dict[str, Meter] = {}
        for name in missing:
            meter = found[name]
            if isinstance(meter, Unmetered):
                self.unmetered[name] = meter.why
            else:
                self._meters[name] = meter
        self._idle: dict[str, float] = {}
        self._joules = dict.fromkeys(self._meters, 0.0)
        self._seconds = dict.fromkeys(self._meters, 0.0)
        self._calls = dict.fromkeys(self._meters, 0)

    @property
    def next_alone(self) -> int | None:
        """The device that is to make the next call by itself, so that its watts get known; None where all are."""
        if self.unmetered:
            return None
        return next((place for place, name in enumerate(self.devices) if name not in self._powers), None)

    @contextmanager
    def metered(self, place: int) -> Iterator[EnergyUse]:
        """Count the joules of a call that a device makes by itself."""
        name = self.devices[place]
        if not self._idle:
            self._idle = measured_idle_watts(self._meters, LONG_ENOUGH_S)
        with measured({name: self._meters[name]}, self._idle) as use:
            yield use
        self._calls[name] += 1
        if name in use.devices:
            self._joules[name] += use.devices[name].total
            self._seconds[name] += use.seconds
        if self._seconds[name] >= LONG_ENOUGH_S or self._calls[name] >= MOST_CALLS:
            idle = self._idle.get(name, 0.0)
            active = self._joules[name] / self._seconds[name] if self._seconds[name] else idle
            self._powers[name] = Power(max(active, idle), idle)

    def best(self, division: Division, goal: str, may_share: bool) -> Assignment | None:
        """Who is to make the next call; None where the watts of a device are not known. may_share: whether several
        devices may."""
        if len(self._powers) < len(self.devices):
            return None
        powers = [self._powers[name] for name in self.devices]
        wanted = parse_goal(goal)
        found = candidates(division.iterations, division.times(), powers, wanted)
        alive = [one for one in found if not any(device in division.failures for device in one.devices)]
        able = [one for one in alive if may_share or len(one.devices) == 1]
        if not able:
            return None
        best: Costed = best_of(able, wanted)
        kind = "single" if len(best.devices) == 1 else "split"
        told = f"goal {goal}: {best.joules:.3g} J above idle"
        return Assignment("single" if kind == "single" else "split", best.parts, told, best.makespan_ns)

    def lines(self) -> list[str]:
        """What is known of each device, for `explain`."""
        return [
            f"{name}: {self._powers[name].active:.0f} W at work, {self._powers[name].idle:.0f} W idle"
            if name in self._powers
            else f"{name}: {self.unmetered.get(name, 'its watts are not known yet')}"
            for name in self.devices
        ]


def _with_colon(name: str) -> str:
    """`cuda:1` of `cuda1`."""
    return f"cuda:{name.removeprefix('cuda')}" if name.startswith("cuda") and name != "cuda" else name
