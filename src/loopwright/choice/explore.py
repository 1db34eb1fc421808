"""What trying a candidate costs and what it may bring: the account of experiments, and expected improvement.

It owns the nouns `Experiment` and `Evidence` and the budget. It refuses to run anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Outcome

RUNS = 3
"""How often an experiment runs a candidate for its time, after one run whose result is compared."""

Purpose = Literal["prove", "again"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is worth trying next. index: of the variant. purpose: `prove` compares the result with the reference, which
    is due before the variant may serve; `again` measures anew one that may. expected_ns: what it is likely to take,
    making it included. limit_ns: what it may take; it has to be ended then, as `timeout`. why: in words."""

    shape: Shape
    index: int
    variant: Variant
    purpose: Purpose
    expected_ns: int
    limit_ns: int
    why: str


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What became of an Experiment. times_ns: of the candidate, without the first run. spent_ns: all the time that
    calls would not have taken without it. beside_ns: of the variant that serves, run in turns with the candidate; the
    two are compared as a pair then, which leaves out how copies and warm caches differ from real calls."""

    outcome: Outcome
    times_ns: tuple[int, ...] = ()
    spent_ns: int = 0
    beside_ns: tuple[int, ...] = ()
    reason: str = ""


@dataclass(slots=True)
class Account:
    """Each call earns `share` of its time; experiments pay. What one may cost is set aside when it begins, so that
    however it ends, spent_ns <= share * total_ns always holds, if only its limit is kept."""

    share: float
    total_ns: int = 0
    spent_ns: int = 0
    reserved_ns: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"the share of exploration is a part of the time, from 0 to 1, not {self.share}")

    @property
    def credit_ns(self) -> int:
        """What may be spent now."""
        return max(0, math.floor(self.share * self.total_ns) - self.spent_ns - self.reserved_ns)

    def reserve(self, limit_ns: int) -> None:
        """For an experiment that begins. Raises ValueError where there is not so much."""
        if limit_ns > self.credit_ns:
            raise ValueError(f"{limit_ns} ns is more than the {self.credit_ns} ns that may be spent")
        self.reserved_ns += limit_ns

    def settle(self, limit_ns: int, spent_ns: int) -> None:
        """It is over and took `spent_ns`."""
        self.reserved_ns -= limit_ns
        self.spent_ns += max(0, spent_ns)


def expected_improvement(best_ns: float, time_ns: float, error: float) -> float:
    """By how much a candidate is expected to beat `best_ns`, counting 0 where it does not: of a normally distributed
    time, whose `error` is taken for 1.5 standard deviations. Nanoseconds. (Mockus 1975; Jones 1998)"""
    deviation = time_ns * error / 1.5
    if not deviation > 0:
        return max(0.0, best_ns - time_ns)
    if deviation == math.inf:
        return best_ns
    z = (best_ns - time_ns) / deviation
    below = (1 + math.erf(z / math.sqrt(2))) / 2
    gain = (best_ns - time_ns) * below + deviation * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return min(best_ns, gain)  # a normal distribution has times below zero too
