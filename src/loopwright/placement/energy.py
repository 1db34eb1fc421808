"""Goals other than time: which devices are to take part when joules count, and with which parts.

It owns goals, how they compare, and two policies over predicted times and stated or measured watts. It measures nothing
(`profile/joules.py` does). Watts are those of a device at work and of the same device with nothing to do; the
difference is what a call is charged for, because idle watts are spent anyway. They are shown apart.

- `by_watts` is Dollinger's policy (2015, 5.3.6): balance the devices, then leave out those whose watts per iteration,
  `w = (active - idle) / iterations`, are above the least of all by more than a threshold, and balance those that are
  left again. Times are not looked at, as devices that are balanced take as long as each other. It need not lower the
  energy, and a tenth, with which it was printed, keeps devices that its own examples leave out: the threshold is a
  parameter.
- `by_goal` balances each set of devices by itself and takes the one that is best for the goal: least sum of P_i * T_i,
  shortest time, least product of both, or the best of one kind that is within some per cent of the best of another. The
  thesis names it and does not use it. For up to 8 devices all sets are tried, 255 of them; for more, devices are left
  out one by one, each time the one without which the goal is met best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Protocol, TypeVar, cast, get_args

from loopwright.placement.split import Count, Time, partition

Wanted = Literal["time", "energy", "edp"]
"""edp: the energy-delay product, joules times seconds."""

THRESHOLD = 0.10
"""A device stays while its watts per iteration are at most 1 / this of the least."""
MOST_SETS = 8


@dataclass(frozen=True, slots=True)
class Power:
    """active: watts of a device at work. idle: watts with nothing to do. Raises ValueError for negative ones, and where
    a device at work takes less."""

    active: float
    idle: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.idle <= self.active < math.inf:
            raise ValueError(f"a device takes {self.active} W at work and {self.idle} W idle: it takes more at work")

    @property
    def added(self) -> float:
        """What work adds."""
        return self.active - self.idle


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be least. within: the part by which `of` may be above its own least, where it is bounded at all.

    `time within 10% energy`: the shortest time among all that take at most 10 % more energy than the one that takes the
    least."""

    wanted: Wanted = "time"
    within: float | None = None
    of: Wanted | None = None

    def __str__(self) -> str:
        return self.wanted if self.within is None else f"{self.wanted} within {100 * self.within:.10g}% {self.of}"


class Costing(Protocol):
    """What goals compare: predicted or measured."""

    @property
    def makespan_ns(self) -> float: ...
    @property
    def joules(self) -> float: ...


C = TypeVar("C", bound=Costing)


@dataclass(frozen=True, slots=True)
class Costed:
    """A division with what it costs. parts, times_ns: one for each device, empty and 0 for those left out. joules:
    above those that are spent anyway, idle_joules, until the last device has ended. why: in words."""

    parts: tuple[range, ...]
    times_ns: tuple[float, ...]
    joules: float
    idle_joules: float
    why: str

    @property
    def makespan_ns(self) -> float:
        """From the start of all devices to the end of the last."""
        return max(self.times_ns, default=0.0)

    @property
    def devices(self) -> tuple[int, ...]:
        """Those that take part."""
        return tuple(index for index, part in enumerate(self.parts) if part)


# ---- goals --------------------------------------------------------------------------------------------------------


def parse_goal(text: str) -> Goal:
    """Reads `time`, `energy`, `edp`, or such as `time within 10% energy`. Raises ValueError that says what was not
    understood."""
    words = text.replace("%", " % ").split()
    kinds = ", ".join(get_args(Wanted))
    forms = f"try: one of {kinds}, or such as 'time within 10% energy'"
    if not words or words[0] not in get_args(Wanted):
        raise ValueError(f"goal = {text!r} begins with none of {kinds}\n  {forms}")
    wanted = cast(Wanted, words[0])
    if len(words) == 1:
        return Goal(wanted)
    if len(words) != 5 or words[1] != "within" or words[3] != "%":
        raise ValueError(f"goal = {text!r} is not understood after {wanted!r}\n  {forms}")
    try:
        within = float(words[2]) / 100
    except ValueError:
        raise ValueError(f"goal = {text!r}: {words[2]!r} is not a percentage\n  {forms}") from None
    if not 0 <= within < math.inf:
        raise ValueError(f"goal = {text!r}: {words[2]}% is not a bound: it must be 0 or more\n  {forms}")
    if words[4] not in get_args(Wanted) or words[4] == wanted:
        others = ", ".join(one for one in get_args(Wanted) if one != wanted)
        raise ValueError(f"goal = {text!r}: {wanted} is bounded by one of {others}, not by {words[4]!r}\n  {forms}")
    return Goal(wanted, within, cast(Wanted, words[4]))


def cost(one: Costing, wanted: Wanted) -> float:
    """Nanoseconds, joules, or joules times seconds. What is no number counts as infinite."""
    value = {"time": one.makespan_ns, "energy": one.joules, "edp": one.joules * one.makespan_ns / 1e9}[wanted]
    return value if not math.isnan(value) else math.inf


def best_of(candidates: Iterable[C], goal: Goal) -> C:
    """The candidate that meets the goal best; between equals the shorter time, then the fewer joules, then the first.
    Raises ValueError without candidates."""
    found = list(candidates)
    if not found:
        raise ValueError("a goal is met by one of some candidates, and there is none")
    if goal.within is not None and goal.of is not None:
        of = goal.of
        most = min(cost(one, of) for one in found) * (1 + goal.within)
        found = [one for one in found if cost(one, of) <= most]
    return min(found, key=lambda one: (cost(one, goal.wanted), cost(one, "time"), cost(one, "energy")))


# ---- policies -----------------------------------------------------------------------------------------------------


def by_goal(
    iterations: range,
    times: Sequence[Time],
    powers: Sequence[Power],
    goal: Goal,
    *,
    count: Count | None = None,
    multiple: int = 1,
) -> Costed:
    """The set of devices, and the division among them, that meets the goal best. times, count, multiple: see
    `split.partition`. Raises ValueError where there is not one Power for each device, and without devices."""
    return best_of(candidates(iterations, times, powers, goal, count=count, multiple=multiple), goal)


def candidates(
    iterations: range,
    times: Sequence[Time],
    powers: Sequence[Power],
    goal: Goal,
    *,
    count: Count | None = None,
    multiple: int = 1,
) -> list[Costed]:
    """What `by_goal` compares: each set of devices with its division, for `explain`."""
    _check(times, powers)

    def costed(devices: Sequence[int]) -> Costed:
        return _balanced(iterations, times, powers, devices, count, multiple)

    everyone = tuple(range(len(times)))
    if len(times) <= MOST_SETS:
        return [costed(some) for size in range(1, len(times) + 1) for some in combinations(everyone, size)]
    found = [costed(everyone), *(costed((device,)) for device in everyone)]
    left = everyone
    while len(left) > 2:
        fewer = {some: costed(some) for some in combinations(left, len(left) - 1)}
        found += fewer.values()
        best = best_of(fewer.values(), Goal(goal.wanted))
        left = next(some for some, one in fewer.items() if one is best)
    return found


def by_watts(
    iterations: range,
    times: Sequence[Time],
    powers: Sequence[Power],
    *,
    threshold: float = THRESHOLD,
    count: Count | None = None,
    multiple: int = 1,
) -> Costed:
    """Dollinger's policy: all devices, balanced, without those whose watts per iteration are more than 1 / threshold
    times the least. One at a time is left out, the worst first, as those that are left do more then. threshold: 1 keeps
    only the device with the least, a number near 0 keeps all. Raises ValueError where it is not in (0, 1], and as
    `by_goal` does."""
    _check(times, powers)
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold = {threshold} must lie in (0, 1]")
    left = tuple(range(len(times)))
    while True:
        found = _balanced(iterations, times, powers, left, count, multiple)
        watts = watts_per_iteration(found.parts, powers, count)
        busy = [device for device in found.devices if watts[device] < math.inf]
        if len(busy) < 2:
            return found
        worst = max(busy, key=lambda device: watts[device])
        if min(watts[device] for device in busy) >= threshold * watts[worst]:
            return found
        left = tuple(device for device in busy if device != worst)


def watts_per_iteration(
    parts: Sequence[range], powers: Sequence[Power], count: Count | None = None
) -> tuple[float, ...]:
    """What work adds to each device's watts, over its iterations; infinite for a device without any."""
    work = [float(len(part) if count is None else count(part)) if part else 0.0 for part in parts]
    return tuple(power.added / one if one > 0 else math.inf for power, one in zip(powers, work, strict=True))


def race_joules(times_ns: Sequence[float], powers: Sequence[Power]) -> float:
    """What a race takes above idle: every device works until the first has ended (Dollinger 2015, 5.1.3)."""
    return sum(power.added for power in powers) * min(times_ns, default=0.0) / 1e9


def _check(times: Sequence[Time], powers: Sequence[Power]) -> None:
    if not times or len(times) != len(powers):
        raise ValueError(f"{len(times)} devices with the watts of {len(powers)}: one each, and one at least")


def _balanced(
    iterations: range,
    times: Sequence[Time],
    powers: Sequence[Power],
    devices: Sequence[int],
    count: Count | None,
    multiple: int,
) -> Costed:
    """Some devices with the division that ends soonest. It may leave out more, where one is of no use."""
    found = partition(iterations, [times[device] for device in devices], count=count, multiple=multiple)
    given = dict(zip(devices, zip(found.parts, found.times_ns, strict=True), strict=True))
    nothing: tuple[range, float] = (iterations[:0], 0.0)
    parts, took = zip(*(given.get(device, nothing) for device in range(len(times))), strict=True)
    joules = sum(power.added * time / 1e9 if time else 0.0 for power, time in zip(powers, took, strict=True))
    idle = sum(power.idle for power in powers) * (found.makespan_ns / 1e9 if found.makespan_ns else 0.0)
    return Costed(parts, took, joules, idle, f"devices {', '.join(map(str, devices))}: {found.why}")
