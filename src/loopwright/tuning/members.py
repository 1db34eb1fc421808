"""The members of the space of a call on one device, what is known of them without running, and the
way from a schedule back to where it stands in the space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from loopwright.compiler import target_of_machine
from loopwright.config import Config
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import Pruned, prune
from loopwright.devices.gpus import target_of
from loopwright.errors import ScheduleError
from loopwright.ir.variant import RECIPE
from loopwright.search.space import Member, Point, Space, space_of
from loopwright.search.strategies import FailedPoint
from loopwright.specialisation import Specialisation
from loopwright.tuning.judge import Judge

MOST = 400
"""Points of a space that tuning looks at."""

LOOK, TAKEN = 16, 3
"""Members to know before any is measured, and how many are measured after each look but the last."""


@dataclass(frozen=True, slots=True)
class Downhill:
    """A space as a search sees it that begins where one already is."""

    space: Space
    default: Point

    @property
    def points(self) -> Sequence[Point]:
        return self.space.points

    def neighbours(self, point: Point, /) -> Sequence[Point]:
        """Those that differ in one choice."""
        return self.space.neighbours(point)


def looks(count: int) -> list[int]:
    """How many of so many members to know before each look at the most promising but the last: few at first, then twice
    as many each time. To know one costs about as much as to measure it, so nothing is gained by knowing all before."""
    return [LOOK << k for k in range(count.bit_length()) if LOOK << k < count]


class Members:
    """The space of one kernel on one device. judge: what is known without running; without one
    nothing is, and members are taken at random."""

    def __init__(self, one: Specialisation, device: str, config: Config, judge: Judge | None = None) -> None:
        found = one.analysed
        self._judge = judge
        on_cpu = device == "cpu"
        facts = found.facts if on_cpu else replace(found.facts, gpu=target_of(device))
        records = one.signature.record_bytes if config.layout == "auto" else None
        self._space = space_of(
            found.written, facts, config.strict, "cpu" if on_cpu else "cuda", target_of_machine(config), MOST,
            records=records, may_remap=config.remap == "auto",
        )  # fmt: skip
        self._points: dict[str, Point] = {}
        self._rest = [point for point in self._space.points if point != self._space.default]
        Random(0).shuffle(self._rest)
        self._rest = [*reversed(self._rest), self._space.default]
        self.judged: dict[str, Metrics] = {}

    def schedule(self, point: Point) -> str | FailedPoint:
        """A member's schedule; RECIPE where it is what the recipe takes by itself."""
        text = self._text(point)
        if isinstance(text, str):
            self._points.setdefault(text, point)
        return text

    def _text(self, point: Point) -> str | FailedPoint:
        try:
            found = self._space.variant(point)
        except ScheduleError as error:
            return FailedPoint(str(error))
        if not isinstance(found, Member):
            return FailedPoint(found.reason)
        return RECIPE if point == self._space.default or found.schedule == self._default_text() else found.schedule

    def _default_text(self) -> str:
        found = self._space.variant(self._space.default)
        return found.schedule if isinstance(found, Member) else RECIPE

    def point_of(self, schedule: str) -> Point | None:
        """Where a schedule that was seen before stands in the space."""
        return self._space.default if schedule == RECIPE else self._points.get(schedule)

    def downhill(self, start: Point | None) -> Downhill:
        """For a search that begins at a point."""
        return Downhill(self._space, start or self._space.default)

    def pruned(self, spent: Callable[[], bool], most: int, upto: int | None = None) -> Pruned:
        """Of the members that can be made before the time is spent, those to measure, by their schedules. upto: look at
        no more of them, those of before included."""
        judged = self.judged
        while self._rest and not spent() and (upto is None or len(judged) < upto):
            if self._judge is None and len(judged) > most:
                break
            point = self._rest.pop()
            schedule = self.schedule(point)
            if isinstance(schedule, str) and schedule not in judged:
                metrics = self._metrics(point)
                if metrics is not None:
                    judged[schedule] = metrics
        if self._judge is None or not judged:
            return Pruned(tuple(judged)[:most], {}, {})
        return prune(judged, RECIPE if RECIPE in judged else "", most, least=most)

    def looks(self) -> list[int]:
        """How many members to know before each look but the last."""
        return looks(len(self._space.points))

    def _metrics(self, point: Point) -> Metrics | None:
        if self._judge is None:
            return Metrics((), ())
        made, _ = self._space.make(dict(point))
        return self._judge(made)
