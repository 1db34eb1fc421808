"""Calls of one kind of which nothing is measured, as the same was decided many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.choice.division import Assignment

MOST_QUIET = 64
"""So many calls in a row are made as the one before, without a measurement."""

NEAR = 0.02
"""Parts that differ by no more than this of all iterations are as good as one another."""


@dataclass(slots=True)
class Quiet:
    """Calls of which nothing is measured, as the same was decided many times: more from time to time, since to decide
    takes longer than many a call."""

    decision: Assignment | None = None
    repeated: int = 0
    left: int = 0

    @property
    def is_quiet(self) -> bool:
        """Whether the present call is one of them."""
        return self.left > 0

    def next(self) -> Assignment | None:
        """What was decided, where the present call is one of them."""
        self.left = max(0, self.left - 1)
        return self.decision if self.left else None

    def decided(self, decision: Assignment) -> Assignment:
        """What is to be done, where this was decided now: nearly the same as before stays the same, so that nothing
        moves for the sake of a few iterations."""
        known = self.decision
        decision = self.kept(decision)
        same = known is not None and decision is known
        self.repeated = self.repeated + 1 if same and decision.kind in ("single", "split") else 0
        self.left = min(MOST_QUIET, 2 ** max(0, self.repeated - 2)) if self.repeated > 2 else 0
        self.decision = decision
        return decision

    def kept(self, decision: Assignment) -> Assignment:
        """The decision before, where this one is nearly the same."""
        known = self.decision
        same = known is not None and known.kind == decision.kind and _are_near(known.parts, decision.parts)
        return known if known is not None and same else decision


def _are_near(some: Sequence[range], others: Sequence[range]) -> bool:
    """Whether each part is as large as before but for a few of all iterations."""
    whole = sum(map(len, some))
    return len(some) == len(others) and all(
        abs(len(one) - len(other)) <= NEAR * whole and bool(one) == bool(other)
        for one, other in zip(some, others, strict=True)
    )
