"""The space of a kernel on a device: the variants that the default recipe makes of it with other numbers.

A *point* gives every tunable a value; a *member* is what the recipe makes of a point: a schedule as text, legal because
the recipe made it. Points are cheap: they are products of lists, less those that break a constraint. A member costs a
run of the recipe, a tenth of a second or so, and is made when it is asked for. Some choices lead the recipe another
way, where it asks for other numbers: each such way is a *family* with a product of its own.

Of a kernel with several nests, only the numbers of the deepest ones are varied: in a product of matrices the loop that
scales the result before takes no time. Nests of one depth have their numbers in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random
from typing import Literal

from loopwright.analysis.effort import FOR_GPU, together
from loopwright.analysis.facts import Facts
from loopwright.errors import ScheduleError
from loopwright.ir.nodes import Kernel
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.recipe import Recipe, recipe
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.tunable import Choices, Constraint, StepMemo, Tunable, UnfitError
from loopwright.steps.schedule import parse_schedule, print_schedule

Point = tuple[tuple[str, int], ...]
"""The value of each tunable of a family, in the order in which the recipe asks for them."""

Device = Literal["cpu", "cuda"]
Make = Callable[[Mapping[str, int]], tuple[Recipe, Choices]]
"""Run the recipe with these numbers: what it made, and what it asked for. Raises UnfitError."""

MOST = 1000
"""Points of a space: as many as can be made and looked at without running in some minutes."""

MOST_FAMILIES = 24
ROUGHLY = 8
"""Up to so many times `MOST` points are counted one by one; more are cut down by their products first."""


@dataclass(frozen=True, slots=True)
class Member:
    """A point, and the schedule that the recipe makes of it."""

    point: Point
    schedule: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A point that makes no variant of its own, and why."""

    point: Point
    reason: str


@dataclass(frozen=True, slots=True)
class Family:
    """One way that the recipe may go: the choices that lead there, the tunables that it asks for then, and what must
    hold of them. schedule: with the defaults of all others. leading: the tunables of `leads`."""

    leads: Point
    tunables: tuple[Tunable, ...]
    constraints: tuple[Constraint, ...]
    schedule: str
    leading: tuple[Tunable, ...] = ()

    @property
    def default(self) -> Point:
        """The defaults of all tunables that are varied, behind the choices that lead here."""
        return (*self.leads, *((one.name, one.default) for one in self.tunables))

    @property
    def product(self) -> int:
        """How many points there would be without constraints."""
        return math.prod(len(one.among) for one in self.tunables)

    def points(self) -> Iterator[Point]:
        """Those that every constraint holds for; the default comes where its values do."""
        names = [one.name for one in self.tunables]
        for values in product(*(one.among for one in self.tunables)):
            point = (*self.leads, *zip(names, values, strict=True))
            if self.broken(dict(point)) is None:
                yield point

    def broken(self, numbers: Mapping[str, int]) -> Constraint | None:
        """The first constraint that does not hold. One about numbers that are not varied here holds."""
        for constraint in self.constraints:
            try:
                if not constraint.holds(numbers):
                    return constraint
            except KeyError:
                continue
        return None


@dataclass(frozen=True, slots=True)
class Space:
    """Its points, in a fixed order, the default first. left_out: tunables whose values were cut down so that no more
    than wanted are left."""

    families: tuple[Family, ...]
    points: tuple[Point, ...]
    make: Make = field(repr=False, compare=False)
    left_out: tuple[str, ...] = ()
    _made: dict[Point, Member | Refused] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @property
    def default(self) -> Point:
        """What the recipe does by itself."""
        return self.points[0]

    def variant(self, point: Point) -> Member | Refused:
        """What the recipe makes of a point: made once, and kept."""
        found = self._made.get(point)
        if found is None:
            found = self._made[point] = _variant(self.make, point, self._family(point))
        return found

    def members(self) -> Iterator[Member]:
        """The variants, each schedule once."""
        seen: set[str] = set()
        for point in self.points:
            found = self.variant(point)
            if isinstance(found, Member) and found.schedule not in seen:
                seen.add(found.schedule)
                yield found

    def neighbours(self, point: Point) -> tuple[Point, ...]:
        """The points of the same family with one other value, the nearest values first; then the default of each other
        family."""
        mine = dict(point)
        near: list[tuple[int, int, Point]] = []
        for place, other in enumerate(self.points):
            if len(other) != len(point) or other == point:
                continue
            changed = [(name, value) for name, value in other if mine.get(name) != value]
            if len(changed) == 1 and changed[0][0] in mine and self._same_family(point, other):
                near.append((abs(changed[0][1] - mine[changed[0][0]]), place, other))
        own = self._family(point)
        return (*(one for *_, one in sorted(near)), *(f.default for f in self.families if f is not own))

    def draw(self, random: Random) -> Point:
        """Any point."""
        return random.choice(self.points)

    def _family(self, point: Point) -> Family:
        return next(one for one in self.families if one.leads == point[: len(one.leads)] and _names(one) == _all(point))

    def _same_family(self, point: Point, other: Point) -> bool:
        return self._family(point) is self._family(other)


def space_of(
    kernel: Kernel,
    facts: Facts,
    strict: bool,
    device: Device,
    target: CpuTarget | None = None,
    most: int = MOST,
    records: Mapping[int, int] | None = None,
    may_remap: bool = False,
) -> Space:
    """The space of a kernel, of at most so many points; more are cut down by leaving out the values farthest from the
    defaults. target: the machine of a CPU; by default a usual one. records, may_remap: see `recipe`; for a CPU."""

    memory = StepMemo()

    last: dict[tuple[tuple[str, int], ...], tuple[Recipe, Choices]] = {}

    def make(wanted: Mapping[str, int]) -> tuple[Recipe, Choices]:
        key = tuple(sorted(wanted.items()))
        found = last.get(key)
        if found is None:  # who asks for the schedule of a point mostly asks for its loops next
            choices = Choices(wanted, memory)
            with together(FOR_GPU):
                if device == "cuda":
                    made = gpu_recipe(kernel, facts, strict, choices)
                else:
                    made = recipe(kernel, facts, strict, target or CpuTarget(), choices, records, may_remap)
            found = made, choices
            last.clear()
            last[key] = found
        return found

    if most < 1:
        raise ValueError(f"a space has at least 1 point, not {most}")
    return _thinned(_families(make), make, most)


# ---- families -----------------------------------------------------------------------------------------------------


def _families(make: Make) -> tuple[Family, ...]:
    """Every way that the recipe may go, found by running it with the defaults and each other choice that leads."""
    pending: list[dict[str, int]] = [{}]
    found: list[Family] = []
    while pending and len(found) < MOST_FAMILIES:
        wanted = pending.pop(0)
        try:
            made, choices = make(wanted)
        except UnfitError:
            continue
        asked = _deepest(choices)
        leads = {one.name: wanted.get(one.name, one.default) for one in asked if one.leads}
        if not wanted.items() <= leads.items():
            continue
        family = Family(
            tuple(leads.items()),
            tuple(one for one in asked if not one.leads),
            tuple(choices.constraints.values()),
            print_schedule(made.schedule),
            tuple(one for one in asked if one.leads),
        )
        if any(other.schedule == family.schedule and _varied(other) >= _varied(family) for other in found):
            continue
        found.append(family)
        for one in asked:
            if one.leads and one.name not in wanted:
                pending += [{**wanted, one.name: value} for value in one.among if value != one.default]
    return tuple(found)


def _deepest(choices: Choices) -> list[Tunable]:
    deepest = max((one.depth for one in choices.asked.values()), default=0)
    return [one.tunable for one in choices.asked.values() if one.depth in (0, deepest)]


def _varied(family: Family) -> set[str]:
    return {one.name for one in family.tunables}


def _names(family: Family) -> list[str]:
    return [*(name for name, _ in family.leads), *(one.name for one in family.tunables)]


def _all(point: Point) -> list[str]:
    return [name for name, _ in point]


def _thinned(families: tuple[Family, ...], make: Make, most: int) -> Space:
    """Leave out values until there are few enough points."""
    kept, left_out = list(families), dict[str, None]()
    while sum(one.product for one in kept) > most * ROUGHLY and (name := _thin(kept, [f.product for f in kept])):
        left_out[name] = None
    while True:
        points = [tuple(one.points()) for one in kept]
        if sum(map(len, points)) <= most or not (name := _thin(kept, list(map(len, points)))):
            break
        left_out[name] = None
    default = kept[0].default
    rest = tuple(point for some in points for point in some if point != default)
    return Space(tuple(kept), (default, *rest[: most - 1]), make, tuple(left_out))


def _thin(families: list[Family], sizes: list[int]) -> str:
    """Take one value away from the largest family: of the tunable that has most of them, the one farthest from the
    default. '' where only defaults are left."""
    for at in sorted(range(len(families)), key=lambda at: -sizes[at]):
        family = families[at]
        longest = max(reversed(family.tunables), key=lambda one: len(one.among), default=None)
        if longest is None or len(longest.among) == 1:
            continue
        far = max(longest.among, key=lambda value: _distance(value, longest.default))
        kept = tuple(value for value in longest.among if value != far)
        words = tuple(longest.text(value) for value in kept) if longest.words else ()
        less = replace(longest, among=kept, words=words)
        tunables = tuple(less if one is longest else one for one in family.tunables)
        families[at] = replace(family, tunables=tunables)
        return longest.name
    return ""


def _distance(value: int, default: int) -> float:
    """How many times as large or small; nothing is as far from something as 4 times."""
    if value == default:
        return -1.0
    if value <= 0 or default <= 0:
        return math.log(4.0) if value <= 0 else math.log1p(value) / 4
    return abs(math.log(value / default))


# ---- members ------------------------------------------------------------------------------------------------------


def _variant(make: Make, point: Point, family: Family) -> Member | Refused:
    try:
        made, choices = make(dict(point))
    except UnfitError as error:
        return Refused(point, str(error))
    usual = dict(family.default)
    for name, value in point:
        if name not in choices.asked and value != usual[name]:
            return Refused(point, f"'{name}' = {value} is not asked for there: the recipe goes another way")
    schedule = print_schedule(made.schedule)
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        return Refused(point, str(error))
    return Member(point, schedule)
