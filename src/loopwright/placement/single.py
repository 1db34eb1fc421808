"""One argmin over variants and devices: which variant, and with it which device, is to run a whole call.

It owns how predictions are compared: what counts as a tie and who wins it. It refuses to measure, to remember and to
compile: the same arguments give the same Choice. Splitting a call over several devices is not done here. (Dollinger
2015, 5.2: the target is implied by the version.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.errors import LoopwrightError
from loopwright.predict.prediction import Prediction
from loopwright.profile.measurement import Variant

CLOSEST = 0.05
"""The most that a tie may cost: a variant that is predicted to be slower than the best by more than this part never
wins one, whatever the errors. Only where a time is extrapolated, or comes from limits, the whole error counts: there
nothing but the bound is known."""


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
    allowed: Sequence[int] | None = None,
) -> Choice:
    """The variant with the shortest predicted time; predictions are in the order of the variants.

    Ties, within the errors of both predictions, go to the default variant (the first that is one), else to `previous`,
    else to the first. A variant known from limits only is not taken while any other has been measured. allowed: the
    indices that may be chosen, ascending, all where None; the default variant may always be. A prediction that is no
    number or negative is none. Raises VariantError where `pinned` is not among the variants, ValueError where there are
    no variants, or not one prediction for each."""
    if not variants or len(variants) != len(predictions):
        raise ValueError(f"{len(variants)} variants with {len(predictions)} predictions: one each, and one at least")
    default = default_of(variants)
    times = [one.time_ns for one in predictions]
    if pinned is not None:
        return _compared(index_of(variants, pinned), "pinned by the options", _usable(allowed, times, default), times)
    usable = _usable(allowed, times, default)
    measured = [index for index in usable if predictions[index].how != "limits"]
    if not usable:
        if default is None and allowed is not None and not allowed:
            raise ValueError("no variant may be chosen, and there is no default one")
        first = default if default is not None else allowed[0] if allowed else 0
        return Choice(first, "nothing is predicted of any variant")
    if not measured and default is not None:
        return _compared(default, "no variant was measured: the default", usable, times)
    served = measured or usable
    best = min(served, key=times.__getitem__)
    index, why = _tie(served, best, predictions, default, previous)
    return _compared(index, why, served, times)


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


def _usable(allowed: Sequence[int] | None, times: Sequence[float], default: int | None) -> list[int]:
    if allowed is None:
        return [index for index, time in enumerate(times) if 0 <= time < math.inf]
    usable = [index for index in allowed if 0 <= times[index] < math.inf]
    if default is not None and default not in allowed and 0 <= times[default] < math.inf:
        usable = sorted([*usable, default])
    return usable


def _tie(
    served: Sequence[int], best: int, predictions: Sequence[Prediction], default: int | None, previous: int | None
) -> tuple[int, str]:
    """Who of those as good as the best runs, and why."""
    if default == best:
        return best, "the default is predicted fastest"
    if default in served and default is not None and _as_good(predictions[default], predictions[best]):
        return default, "as fast as the fastest, within the errors: the default"
    if previous == best:
        return best, "predicted fastest, as before"
    if previous in served and previous is not None and _as_good(predictions[previous], predictions[best]):
        return previous, "as fast as the fastest, within the errors: chosen before"
    if len(served) == 1:
        return best, "the only one that was measured"
    return best, "predicted fastest"


def _as_good(one: Prediction, best: Prediction) -> bool:
    """Whether `one`, not the faster, cannot be told from `best`: errors of two predictions add up as independent
    ones."""
    apart = math.hypot(one.error, best.error)
    if not apart >= 0:  # an error that is no number bounds nothing
        apart = math.inf
    if one.how != "extrapolated" and best.how != "extrapolated" and "limits" not in (one.how, best.how):
        apart = min(apart, CLOSEST)
    return one.time_ns <= best.time_ns * (1 + apart)


def _compared(index: int, why: str, usable: Sequence[int], times: Sequence[float]) -> Choice:
    others = [other for other in usable if other != index]
    if not others:
        return Choice(index, why)
    runner_up = min(others, key=times.__getitem__)
    own = times[index]
    margin = times[runner_up] / own - 1 if own > 0 else (0.0 if times[runner_up] == own else math.inf)
    return Choice(index, why, runner_up, margin)
