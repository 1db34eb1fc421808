"""Schedules with ranges: `tile i {16,32,64} j {32..128 by 32}; parallelize i.o` stands for every choice of a number in
each pair of braces. It is what a user hands to tuning in place of the space that the recipe gives; in a call, a number
has to be chosen."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.analysis.facts import Facts
from loopwright.errors import ScheduleError
from loopwright.ir.nodes import Kernel
from loopwright.recipe.partial_schedule import ReasonedStep
from loopwright.recipe.recipe import Recipe
from loopwright.recipe.tunable import Choices, Tunable, UnfitError
from loopwright.search.space import MOST, Family, Space
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule

_BRACES = re.compile(r"\{([^{}]*)\}")
_STRETCH = re.compile(r"(\d+)\s*\.\.\s*(\d+)(?:\s+by\s+(\d+))?")
_USAGE = "whole numbers, as in {16,32,64}, or a stretch of them, as in {16..128 by 16}"
WHY = "asked for in the schedule"


@dataclass(frozen=True, slots=True)
class Ranges:
    """The text of a schedule with ranges. Made by `lw.tunable`. Raises ScheduleError where it does not parse, whatever
    is chosen, or stands for too many schedules."""

    text: str

    def __post_init__(self) -> None:
        tunables = self.tunables
        if not tunables:
            raise ScheduleError("there is nothing to choose in this schedule", self.text, 0, _USAGE)
        count = math.prod(len(one.among) for one in tunables)
        if count > MOST:
            raise ScheduleError(
                f"this stands for {count} schedules; the limit is {MOST}", self.text, 0, "fewer numbers in each {...}"
            )
        parse_schedule(self.schedule({one.name: one.default for one in tunables}))

    @property
    def tunables(self) -> tuple[Tunable, ...]:
        """One for each pair of braces, by what stands before it: `tile i`, `tile j`. The first number is its default;
        a number that is there twice counts once."""
        found: list[Tunable] = []
        for place in _BRACES.finditer(self.text):
            values = self._values(place)
            name = self._name(place.start())
            taken = sum(one.name.partition(" #")[0] == name for one in found)
            found.append(Tunable(f"{name} #{taken + 1}" if taken else name, values[0], values, WHY))
        return tuple(found)

    def schedule(self, numbers: Mapping[str, int]) -> str:
        """The schedule with these numbers, by the names of the tunables."""
        chosen = iter(self.tunables)
        return _BRACES.sub(lambda _: str(numbers[next(chosen).name]), self.text)

    def _name(self, end: int) -> str:
        """The step around a place in the text, and the word before it."""
        before = _BRACES.sub("#", self.text[:end]).rpartition(";")[2].split()
        return " ".join(dict.fromkeys((*before[:1], *before[-1:]))) or "number"

    def _values(self, place: re.Match[str]) -> tuple[int, ...]:
        values: list[int] = []
        for part in place[1].split(","):
            stretch = _STRETCH.fullmatch(part.strip())
            if stretch is not None:
                first, last, step = (int(number or 1) for number in stretch.groups())
                if step and last - first <= MOST * step:
                    values += range(first, last + 1, step)
            elif part.strip().isdecimal():
                values.append(int(part))
            else:
                raise ScheduleError(f"'{part.strip()}' is no number to choose", self.text, place.start(), _USAGE)
        if not values:
            raise ScheduleError(f"'{place[0]}' holds no number", self.text, place.start(), _USAGE)
        return tuple(dict.fromkeys(values))


def tunable(schedule: str) -> Ranges:
    """A schedule to tune: for `@lw.kernel(schedule=lw.tunable("tile i {16,32} j {16..128 by 16}; parallelize i.o"))`.
    Calls run as they would without it until a choice is made; tuning looks at these schedules and no others. Raises
    ScheduleError.

    Examples:
        >>> import loopwright as lw
        >>> ranges = lw.tunable("tile i {16,32} j {16..64 by 16}; parallelize i.o")
        >>> [(one.name, one.among) for one in ranges.tunables]
        [('tile i', (16, 32)), ('tile j', (16, 32, 48, 64))]
    """
    return Ranges(schedule)


def space_of_ranges(ranges: Ranges, kernel: Kernel, facts: Facts, strict: bool) -> Space:
    """Every schedule that a text stands for; those that are not legal for the kernel are refused with the reason."""
    tunables = ranges.tunables

    def make(wanted: Mapping[str, int]) -> tuple[Recipe, Choices]:
        choices = Choices(wanted)
        text = ranges.schedule({one.name: choices.number(one) for one in tunables})
        try:
            steps = parse_schedule(text)
            after, proven = apply_schedule(kernel, facts, steps, strict)
        except ScheduleError as error:
            raise UnfitError(str(error)) from None
        return Recipe(tuple(ReasonedStep(step, WHY) for step in steps), after, proven), choices

    usual = ranges.schedule({one.name: one.default for one in tunables})
    family = Family((), tunables, (), print_schedule(parse_schedule(usual)))
    return Space((family,), tuple(family.points()), make)
