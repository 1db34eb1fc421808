"""The times of all candidates of a kernel, whatever the machine: one model for each device, in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from loopwright.predict.estimates import LIMITS, Estimates, joined
from loopwright.predict.evidence import Transfers
from loopwright.predict.joined import joined_models
from loopwright.predict.tree import Tree
from loopwright.profile.journal import Journal
from loopwright.profile.measurement import Measurement, Shape, Variant, Work
from loopwright.profile.records import TREE
from loopwright.tuning.transfers import known_copies

NEAR = 1.3
"""What took so many times as long as the fastest, under every shape, is no candidate for a call."""

MOST = 12
"""Candidates of each device that are: to fit the models of so many takes some three milliseconds of a first call."""

UNKNOWN_NS, UNKNOWN_ERROR = 1e6, 1.0


class Predictors:
    """journal: for what is known of a machine's copies, and trees. machines: fingerprints by device. rows: measurements
    of one kernel on these."""

    def __init__(
        self, kernel: str, journal: Journal, machines: Mapping[str, str], rows: Sequence[Measurement], default: Variant
    ) -> None:
        self._default = default
        kept: list[Measurement] = []
        copies: dict[str, Transfers] = {}
        trees: dict[Variant, Tree] = {}
        for device, machine in machines.items():
            mine = promising([row for row in rows if row.machine == machine], default)
            kept += mine
            trees |= _trees(journal, kernel, machine, mine)
            if device != "cpu" and (bus := known_copies(journal, machine)) is not None:
                copies[device] = bus
        self._joined = joined_models(kept, copies, trees=trees)
        self.measured = self._joined.variants
        self.put_in_order(self.measured)

    def put_in_order(self, variants: Sequence[Variant]) -> None:
        """Predict these from now on, in this order; of what was never measured, what the default takes, or anything."""
        places = {variant: place for place, variant in enumerate(self.measured)}
        self._usual = places.get(self._default)
        self._places = np.array([places.get(variant, len(self.measured)) for variant in variants], np.intp)

    def predict(self, shape: Shape, work: Work) -> Estimates:
        """One for each variant."""
        known = self._joined.estimate(shape, work)
        usual_ns = UNKNOWN_NS if self._usual is None else known.times_ns.item(self._usual)
        limit = Estimates(np.array([usual_ns]), np.array([UNKNOWN_ERROR]), np.array([LIMITS]))
        return joined((known, limit)).at(self._places)


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
            near = row.time_ns / best[row.shape]
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
