"""What `choice/remap.py` asks about a kernel on a CPU before iterations of its loops run by the path that they take:
which steps would do that, and what the inspectors of the loops measure for the arguments of a call. It needs the
compiler's analysis, so that whoever makes a kernel hands it in.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from loopwright.analysis.path_inspector import PathInspector, path_inspector
from loopwright.choice.remap import Inspected
from loopwright.config import current
from loopwright.ir.interp import interpret
from loopwright.predict.grouped import GroupMeasures
from loopwright.recipe.order_of_keys import groupings
from loopwright.specialisation import Specialisation
from loopwright.steps.abreast import LANES
from loopwright.steps.group import Group
from loopwright.steps.schedule import Schedule, print_schedule
from loopwright.tuning.sampled_iterations import is_quick, sample_of

LONGER_NS = 1_500_000_000
"""By how much the C compiler takes longer than usual: there is a loop for each path, and for what is left of it."""


class GroupInspection:
    """See choice.remap.Remapping."""

    def __init__(self, one: Specialisation) -> None:
        self._one = one

    @cached_property
    def steps(self) -> str:
        """See Remapping."""
        return print_schedule(self._schedule) if len(self._loops) == len(self._grouped) else ""

    @cached_property
    def _schedule(self) -> Schedule:
        found = self._one.analysed
        return groupings(found.written, found.facts, self._one.compilation.semantics.strict)

    @property
    def _grouped(self) -> list[str]:
        return [step.loop for step in self._schedule if isinstance(step, Group)]

    @cached_property
    def _loops(self) -> list[PathInspector]:
        found = self._one.analysed
        inspectors = [path_inspector(found.written, found.facts, name, sampled=True) for name in self._grouped]
        return [one for one in inspectors if isinstance(one, PathInspector) and is_quick(one)]

    def inspect(self, arguments: tuple[object, ...]) -> Inspected | None:
        """See Remapping."""
        parts = [_measures(one, arguments) for one in self._loops]
        if not parts:
            return None
        iterations, work, together = (sum(column) for column in zip(*parts, strict=True))
        return Inspected(GroupMeasures(int(iterations), work, together, current().threads), None, LONGER_NS)


def _measures(found: PathInspector, arguments: tuple[object, ...]) -> tuple[float, float, float]:
    """Of one loop in a call: its iterations, their work, and what of it lanes share, as the sample tells."""
    count = int(cast(Any, interpret(found.length, arguments)))
    sample = sample_of(count)
    rows = np.zeros((len(sample), found.columns), np.int64)
    interpret(found.kernel, (*arguments, rows, sample))
    work, together = _of_rows(found, rows)
    of_all = count / max(1, len(sample))
    return float(count), of_all * work, of_all * together


def _of_rows(found: PathInspector, rows: NDArray[Any]) -> tuple[float, float]:
    known = found.vector.known
    columns = {entry.scalar: rows[:, k] for k, entry in enumerate(known)}
    branches = [columns[entry.scalar] for entry in known if entry.kind == "branch"]
    trips = sum((columns[entry.scalar] for entry in known if entry.kind == "trips"), np.zeros(len(rows), np.int64))
    order = np.lexsort((trips, *reversed(branches)))
    order = order[: len(order) // LANES * LANES]  # what is left goes one by one
    work, together = found.vector.work.fixed * len(rows), 0.0
    for part in found.vector.work.parts:
        reached = np.ones(len(rows), bool)
        for scalar, taken in part.under:
            reached &= columns[scalar] == taken
        values = np.where(reached, columns[part.scalar], 0)
        side_by_side = values[order].reshape(-1, LANES)
        if part.second is None:
            work += part.first * values.sum()
            together += part.first * LANES * side_by_side.min(axis=1, initial=np.iinfo(np.int64).max).sum()
            continue
        costs = np.where(reached, np.where(values != 0, part.first, part.second), 0.0)
        work += float(costs.sum())
        alike = (side_by_side == side_by_side[:, :1]).all(axis=1)
        together += float(costs[order].reshape(-1, LANES)[alike].sum())
    return float(work), float(together)
