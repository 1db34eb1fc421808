"""One argmin over variants and devices: which variant, and with it which device, is to run a whole call.

It owns how predictions are compared: what counts as a tie and who wins it. It refuses to measure, to remember and to
compile: the same arguments give the same Choice. Splitting a call over several devices is not done here. (Dollinger
2015, 5.2: the target is implied by the version.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loopwright.errors import LoopwrightError
from loopwright.ir.variant import Variant
from loopwright.predict.estimates import LIMITS, Estimates, Floats, estimates_of
from loopwright.predict.prediction import Prediction

CLOSEST = 0.05
"""The most that a tie with the default variant may cost: where it is predicted to be slower than the best by more than
this part it does not win one, whatever the errors. Only where a time is extrapolated, or comes from limits, the whole
error counts: there nothing but the bound is known."""

STAYS = 1.5
"""What was chosen before is left only for one that is faster by so many times the error: among many candidates that are
equals, one or the other looks faster by the error itself."""

Places = NDArray[np.intp]

_OUTSIDE = ("extrapolated", "limits")


class VariantError(LoopwrightError, LookupError):
    """A variant was asked for by name, and there is no such one, or it cannot be used."""


@dataclass(frozen=True, slots=True)
class Choice:
    """index: into the variants. why: in words. runner_up: the best of the others, None where there is none. margin: how
    much longer than the chosen one it is predicted to take, as a part (negative where a tie went to a slower one)."""

    index: int
    why: str
    runner_up: int | None = None
    margin: float = math.inf


def choose(
    variants: Sequence[Variant],
    predictions: Sequence[Prediction],
    *,
    pinned: Variant | None = None,
    previous: int | None = None,
    allowed: Sequence[int] | Places | None = None,
) -> Choice:
    """The variant with the shortest predicted time; predictions are in the order of the variants, best as Estimates.

    Ties, within the errors of both predictions, go to the default variant (the first that is one), else to `previous`,
    else to the first. A variant known from limits only is not taken while any other has been measured. allowed: the
    indices that may be chosen, all where None; the default variant may always be. A time that is no number or negative
    is none. Raises VariantError where `pinned` is not among the variants, ValueError where there are none, or not one
    prediction for each."""
    found = estimates_of(predictions)
    if not variants or len(variants) != len(found):
        raise ValueError(f"{len(variants)} variants with {len(found)} predictions: one each, and one at least")
    default = default_of(variants)
    times, first = _usable(found.times_ns, default, allowed)
    if pinned is not None:
        return _compared(index_of(variants, pinned), "pinned by the options", times, found)
    best = int(times.argmin())
    if times[best] == math.inf:
        return Choice(default if default is not None else first, "nothing is predicted of any variant")
    limits = found.hows == LIMITS
    if np.count_nonzero(limits):
        measured = np.where(limits, math.inf, times)
        fastest = int(measured.argmin())
        if measured[fastest] < math.inf:
            times, best = measured, fastest
        elif default is not None:
            return _compared(default, "no variant was measured: the default", times, found)
    index, why = _tie(best, times, found, default, previous)
    return _compared(index, why, times, found)


def default_of(variants: Sequence[Variant]) -> int | None:
    """The index of the default variant: the first whose schedule is the recipe's. None where there is none."""
    return next((index for index, one in enumerate(variants) if one.is_default), None)


def index_of(variants: Sequence[Variant], wanted: Variant) -> int:
    """Where `wanted` stands. Raises VariantError that names some of those there are."""
    for index, one in enumerate(variants):
        if one == wanted:
            return index
    some = "".join(f"\n    {one}" for one in variants[:5])
    more = f"\n    and {len(variants) - 5} more" if len(variants) > 5 else ""
    raise VariantError(f"this kernel has no variant '{wanted}'\n  try: one of{some}{more}")


def _usable(times: Floats, default: int | None, allowed: Sequence[int] | Places | None) -> tuple[Floats, int]:
    """The times, infinite of those that may not be chosen or have none, and the first that may be."""
    usable = np.where(times >= 0, times, math.inf)
    if allowed is None or len(allowed) == len(times):
        return usable, 0
    places = np.asarray(allowed, np.intp)
    if not places.size and default is None:
        raise ValueError("no variant may be chosen, and there is no default one")
    some = np.full(len(times), math.inf)
    some[places] = usable[places]
    if default is not None:
        some[default] = usable[default]
    return some, int(places[0]) if places.size else 0


def _tie(best: int, times: Floats, found: Estimates, default: int | None, previous: int | None) -> tuple[int, str]:
    """Who of those as good as the best runs, and why. times: infinite of those that may not."""
    if default == best:
        return best, "the default is predicted fastest"
    fastest, best_ns = found[best], times.item(best)

    def as_good(index: int, most: float, errors: float = 1.0) -> bool:
        time_ns = times.item(index)
        return time_ns < math.inf and time_ns <= best_ns * (1 + min(most, errors * _apart(found[index], fastest)))

    if default is not None and as_good(default, _most(found[default], fastest)):
        return default, "as fast as the fastest, within the errors: the default"
    if previous == best:
        return best, "predicted fastest, as before"
    if previous is not None and as_good(previous, math.inf, STAYS):
        return previous, "as fast as the fastest, within the errors: chosen before"
    if np.count_nonzero(times < math.inf) == 1:
        return best, "the only one that was measured"
    return best, "predicted fastest"


def _apart(one: Prediction, best: Prediction) -> float:
    """The part by which two predictions have to differ to be told apart: their errors add up as independent ones."""
    apart = math.hypot(one.error, best.error)
    return apart if apart >= 0 else math.inf  # an error that is no number bounds nothing


def _most(one: Prediction, best: Prediction) -> float:
    return math.inf if one.how in _OUTSIDE or best.how in _OUTSIDE else CLOSEST


def _compared(index: int, why: str, times: Floats, found: Estimates) -> Choice:
    """times: of those that it is compared with, which it need not be among; infinite of all others. It is changed."""
    times[index] = math.inf
    runner_up = int(times.argmin())
    other = times.item(runner_up)
    if other == math.inf:
        return Choice(index, why)
    own = found.times_ns.item(index)
    return Choice(index, why, runner_up, other / own - 1 if own > 0 else (0.0 if other == own else math.inf))
