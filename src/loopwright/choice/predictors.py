"""The times of all candidates of a kernel, whatever the machine: one model for each device, in one order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.cpu import across_threads
from loopwright.predict.estimates import CODES, LIMITS, Estimates, joined
from loopwright.predict.evidence import Transfers
from loopwright.predict.joined import joined_models
from loopwright.predict.prediction import Prediction
from loopwright.predict.tree import Tree
from loopwright.profile.copies import known_copies
from loopwright.profile.journal import Journal
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import TREE

NEAR = 1.3
"""What took so many times as long as the fastest, under every shape, is no candidate for a call."""

MOST = 12
"""Candidates of each device that are: to fit the models of so many takes some three milliseconds of a first call."""

UNKNOWN_NS, UNKNOWN_ERROR = 1e6, 1.0


class Predictors:
    """journal: for what is known of a machine's copies, and trees. machines: fingerprints by device. rows: measurements
    of one kernel on these. threads: of calls; what was measured with more is no candidate, but tells of the default
    where that was not measured with so many."""

    def __init__(
        self,
        kernel: str,
        journal: Journal,
        machines: Mapping[str, str],
        rows: Sequence[Measurement],
        default: Variant,
        threads: int,
    ) -> None:
        self._default = default
        kept: list[Measurement] = []
        copies: dict[str, Transfers] = {}
        trees: dict[Variant, Tree] = {}
        for device, machine in machines.items():
            here = [row for row in rows if row.machine == machine]
            mine = promising([row for row in here if row.variant.threads <= threads], default)
            mine += _akin(here, mine, default)
            kept += mine
            trees |= _trees(journal, kernel, machine, mine)
            if device != "cpu" and (bus := known_copies(journal, machine)) is not None:
                copies[device] = bus
        self._joined = joined_models(kept, copies, trees=trees)
        self.measured = tuple(one for one in self._joined.variants if one.threads <= threads)
        self.put_in_order(self.measured)

    def put_in_order(self, variants: Sequence[Variant]) -> None:
        """Predict these from now on, in this order. The default is predicted from other numbers of threads where it was
        never measured with so many; any other variant that never was, to take what the default takes, or anything."""
        known = self._joined.variants
        places = {variant: place for place, variant in enumerate(known)}
        self._usual = places.get(self._default)
        self._across = [] if self._usual is not None else _with_other_threads(self._default, known)
        self._places = np.array([places.get(variant, len(known)) for variant in variants], np.intp)
        self._unmeasured = [place for place, one in enumerate(variants) if one == self._default and one not in places]

    def predict(self, shape: Shape, work: Work) -> Estimates:
        """One for each variant."""
        known = self._joined.estimate(shape, work)
        usual = self._of_default(known, work)
        usual_ns = UNKNOWN_NS if usual is None else usual.time_ns
        limit = Estimates(np.array([usual_ns]), np.array([UNKNOWN_ERROR]), np.array([LIMITS]))
        found = joined((known, limit)).at(self._places)
        if usual is not None:
            for place in self._unmeasured:
                found.times_ns[place], found.errors[place], found.hows[place] = usual_ns, usual.error, CODES[usual.how]
        return found

    def _of_default(self, known: Estimates, work: Work) -> Prediction | None:
        if self._usual is not None:
            return known[self._usual]
        beside = [(threads, known[place]) for threads, place in self._across if math.isfinite(known.times_ns[place])]
        return across_threads(beside, self._default.threads, work) if beside else None


def _with_other_threads(variant: Variant, known: Sequence[Variant]) -> list[tuple[int, int]]:
    """The numbers of threads that the schedule was measured with on a CPU, ascending, and their places."""
    alike = (one.threads and (one.device, one.schedule) == (variant.device, variant.schedule) for one in known)
    return sorted((known[place].threads, place) for place, is_alike in enumerate(alike) if is_alike)


def _akin(rows: Sequence[Measurement], kept: Sequence[Measurement], default: Variant) -> list[Measurement]:
    """Where the default was not measured: what was, of its schedule with other numbers of threads, without what is
    kept anyway."""
    if not default.threads or any(row.variant == default and row.outcome == "ok" for row in rows):
        return []
    there = {row.variant for row in kept}
    return [
        row
        for row in rows
        if row.variant not in there and (row.variant.device, row.variant.schedule) == (default.device, default.schedule)
    ]


def promising(rows: Sequence[Measurement], default: Variant) -> list[Measurement]:
    """What was measured of the default, of variants that were near the fastest under some shape, and of failures. Of
    more than MOST variants, those that were the nearest."""
    best: dict[Shape, float] = {}
    for row in rows:
        if row.outcome == "ok":
            best[row.shape] = min(best.get(row.shape, row.time_ns), row.time_ns)
    nearest: dict[Variant, float] = {}
    for row in rows:
        if row.outcome == "ok":
            near = row.time_ns / best[row.shape] if best[row.shape] > 0 else 1.0
            nearest[row.variant] = min(nearest.get(row.variant, near), near)
    kept = sorted((near, str(variant)) for variant, near in nearest.items() if near <= NEAR)[:MOST]
    names = {name for _, name in kept} | {str(default)}
    return [row for row in rows if row.outcome != "ok" or str(row.variant) in names]


def _trees(journal: Journal, kernel: str, machine: str, rows: Sequence[Measurement]) -> dict[Variant, Tree]:
    """Those that were trained, by variant."""
    table = journal.table(TREE, machine, kernel)
    known = {row.variant for row in rows}
    found: dict[Variant, Tree] = {}
    for text, tree in (table.content if table is not None else {}).items():
        try:
            variant = Variant.parse(text)
            if variant in known:
                found[variant] = Tree.parse(tree)
        except (ValueError, TypeError, AttributeError):
            continue
    return found
