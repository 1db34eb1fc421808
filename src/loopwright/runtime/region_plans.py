"""What GPUs do of a region all of whose arrays are on GPUs: who copies what from whom, and who has what afterwards. The
steps of a loop over time repeat that, and so do calls of one kind: the same region with the same marks has one plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from loopwright.ir.plan import Box
from loopwright.memory.array_copies import Marks
from loopwright.runtime.gpu_region import GpuRegion
from loopwright.runtime.partial_copies import SparePartials
from loopwright.runtime.participants import Boxes
from loopwright.runtime.planned_step import PlannedStep

MOST_PLANS = 4096
"""So many plans, and marks, are kept of calls of one kind and shape."""

MOST_STEPS = 256
"""The same of steps, each of which has a struct for each part."""


class PlannedPart(NamedTuple):
    """What one GPU does: `place` says which member it is. touched: positions of arrays that it needs room for; copies:
    position of the array, source and box."""

    place: int
    part: range
    touched: Sequence[int]
    copies: Sequence[tuple[int, str, Box]]


@dataclass(frozen=True, eq=False, slots=True)
class RegionPlan:
    """A region. before, after: marks of its arrays, by position. order: who has to wait for whom before it copies, as
    places of members."""

    number: int
    parts: Sequence[PlannedPart]
    before: Mapping[int, Marks]
    after: Mapping[int, Marks]
    order: frozenset[tuple[int, int]]


Key = tuple[object, ...]


@dataclass(slots=True)
class RegionPlans:
    """Of calls of one kind and shape. boxes: of parts of regions; plans: None where a region has none; deciding: for
    each region the positions of numbers that decide which parts of arrays it is about; regions: by the name of the
    device, the number of the region, and the shapes of arrays that the call makes; steps: by the plan before, the plan,
    and where its arrays are; spare: arrays of which there were several."""

    boxes: Boxes = field(default_factory=dict)
    plans: dict[Key, RegionPlan | None] = field(default_factory=dict)
    deciding: dict[int, Sequence[int]] = field(default_factory=dict)
    regions: dict[Key, GpuRegion] = field(default_factory=dict)
    steps: dict[Key, PlannedStep] = field(default_factory=dict)
    spare: SparePartials = field(default_factory=SparePartials)
    _marks: dict[object, Marks] = field(default_factory=dict)

    def same(self, marks: Marks) -> Marks:
        """The one object for marks that say the same."""
        if len(self._marks) >= MOST_PLANS:
            self._marks.clear()
        return self._marks.setdefault((marks.valid, marks.copied), marks)

    def keep(self, key: Key, plan: RegionPlan | None) -> RegionPlan | None:
        """From now on it is found."""
        if len(self.plans) >= MOST_PLANS:
            self.plans.clear()
        self.plans[key] = plan
        return plan

    def keep_step(self, key: Key, step: PlannedStep | None) -> PlannedStep | None:
        """The same of a step."""
        if step is None:
            return None
        if len(self.steps) >= MOST_STEPS:
            self.steps.clear()
        self.steps[key] = step
        return step
