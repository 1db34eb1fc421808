"""Who does which part of a region of a call that devices share: fixed parts, equal ones, those of a plan's text, and
chunks for whoever is free."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from loopwright.errors import PlanError
from loopwright.ir.plan import Plan
from loopwright.placement.guided import Guided


class FixedParts:
    """See PartSource: consecutive parts of the longest region, and of others what lies at the same places. ranges: the
    iterations of all regions that it was asked for."""

    def __init__(self, whole: range | None, parts: Sequence[range]) -> None:
        self._whole, self._parts = whole, parts
        self.ranges: list[range] = []

    def fixed(self, number: int, iterations: range) -> list[range]:
        """See PartSource."""
        self.ranges.append(iterations)
        whole = self._whole or iterations
        inner = [part.stop for part in self._parts[:-1]]
        apart = abs(iterations.start - whole.start) + abs(iterations.stop - whole.stop)
        if self._whole is None or 4 * apart > len(whole):  # of another kind: the same shares, elsewhere
            inner = [iterations.start + (stop - whole.start) * len(iterations) // max(1, len(whole)) for stop in inner]
        ends = [iterations.start]
        for stop in inner:
            ends.append(min(max(stop, ends[-1]), iterations.stop))
        ends.append(iterations.stop)
        return [range(a, b) for a, b in pairwise(ends)]

    def take(self, member: int, rate: float | None) -> range | None:
        """Nothing: parts are fixed."""
        return None

    def left(self) -> Sequence[range]:
        """Nothing."""
        return ()


class EvenParts(FixedParts):
    """Parts of the same size for so many members."""

    def __init__(self, members: int) -> None:
        super().__init__(None, ())
        self._members = members

    def fixed(self, number: int, iterations: range) -> list[range]:
        """See PartSource."""
        self.ranges.append(iterations)
        count = len(iterations)
        ends = [iterations.start + count * k // self._members for k in range(self._members + 1)]
        return [range(a, b) for a, b in pairwise(ends)]


class GuidedParts:
    """See PartSource: chunks, as each member comes to them. places: where each member stands among the devices of
    Guided, whose first one begins at the low end."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places
        self._guided: Guided | None = None
        self.ranges: list[range] = []

    def fixed(self, number: int, iterations: range) -> None:
        """See PartSource."""
        self.ranges.append(iterations)
        self._guided = Guided(iterations, devices=len(self._places))

    def take(self, member: int, rate: float | None) -> range | None:
        """See PartSource."""
        assert self._guided is not None
        return self._guided.take(self._places[member], rate)

    def chunks(self) -> list[int]:
        """How many each member was given."""
        guided = self._guided
        return [0 if guided is None else guided.chunks(place) for place in self._places]

    def left(self) -> Sequence[range]:
        """See PartSource."""
        found: list[range] = []
        while self._guided is not None and (part := self._guided.take(0, 1.0)):
            found.append(part)
        return found


class PlannedParts(FixedParts):
    """The parts of a plan that somebody wrote. Raises PlanError where they are not all iterations, each once."""

    def __init__(self, plan: Plan, devices: Sequence[str]) -> None:
        given: dict[str, range] = {}
        for share in plan.shares:
            if share.variant.device not in devices:
                there = ", ".join(devices)
                raise PlanError(f"the plan names {share.variant.device!r}, and devices are {there}")
            if share.variant.device in given or len(share.box) != 1:
                raise PlanError(f"the plan does not give {share.variant.device!r} one range of iterations")
            given[share.variant.device] = share.box[0]
        self._given = given
        self._order = sorted(given, key=lambda name: given[name].start)
        for one, other in pairwise(self._order):
            if given[one].stop > given[other].start:
                raise PlanError(f"the plan has iteration {given[other].start} twice: on {one} and on {other}")
            if given[one].stop < given[other].start:
                left = f"{given[one].stop} to {given[other].start - 1}"
                raise PlanError(f"the plan leaves out iterations {left}, between those on {one} and on {other}")
        parts = [given[name] for name in self._order]
        super().__init__(range(parts[0].start, parts[-1].stop), parts)
        self._devices = devices

    def fixed(self, number: int, iterations: range) -> list[range]:
        """See PartSource."""
        whole = self._whole
        assert whole is not None
        if not self.ranges and (iterations.start < whole.start or iterations.stop > whole.stop):
            what = f"{iterations.start}:{iterations.stop}"
            raise PlanError(f"the plan has iterations {whole.start}:{whole.stop}, and the loop has {what}")
        parts = dict(zip(self._order, super().fixed(number, iterations), strict=True))
        return [parts.get(name, range(iterations.stop, iterations.stop)) for name in self._devices]


def even_parts(iterations: range, count: int) -> list[range]:
    """About so many parts of the same size."""
    count = max(1, min(count, len(iterations)))
    ends = [iterations.start + len(iterations) * k // count for k in range(count + 1)]
    return [range(a, b) for a, b in pairwise(ends)]
