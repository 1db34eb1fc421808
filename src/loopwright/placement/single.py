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
"""The most that a tie with the default variant may cost: where it is predicted to be slower than the best by more than
this part it does not win one, whatever the errors. Only where a time is extrapolated, or comes from limits, the whole
error counts: there nothing but the bound is known."""

STAYS = 1.5
"""What was chosen before is left only for one that is faster by so many times the error: among many candidates that are
equals, one or the other looks faster by the error itself."""

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
    times_ns: Sequence[float] | None = None,
    pinned: Variant | None = None,
    previous: int | None = None,
    allowed: Sequence[int] | None = None,
) -> Choice:
    """The variant with the shortest predicted time; predictions are in the order of the variants.

    Ties, within the errors of both predictions, go to the default variant (the first that is one), else to `previous`,
    else to the first. A variant known from limits only is not taken while any other has been measured. times_ns: in
    place of the predictions' own, where more is known. allowed: the indices that may be chosen, ascending, all where
    None; the default variant may always be. A time that is no number or negative is none. Raises VariantError where
    `pinned` is not among the variants, ValueError where there are none, or not one prediction for each."""
    if not variants or len(variants) != len(predictions):
        raise ValueError(f"{len(variants)} variants with {len(predictions)} predictions: one each, and one at least")
    default = default_of(variants)
    times = [one.time_ns for one in predictions] if times_ns is None else times_ns
    candidates = _candidates(range(len(variants)) if allowed is None else allowed, default)
    usable = [index for index in candidates if 0 <= times[index] < math.inf]
    if pinned is not None:
        return _compared(index_of(variants, pinned), "pinned by the options", _by_time(usable, times), times)
    if not usable:
        return Choice(default if default is not None else candidates[0], "nothing is predicted of any variant")
    measured = [index for index in usable if predictions[index].how != "limits"]
    if not measured and default is not None:
        return _compared(default, "no variant was measured: the default", _by_time(usable, times), times)
    ranked = _by_time(measured or usable, times)
    index, why = _tie(ranked, predictions, times, default, previous)
    return _compared(index, why, ranked, times)


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


def _candidates(allowed: Sequence[int], default: int | None) -> Sequence[int]:
    if default is not None and default not in allowed:
        return sorted([*allowed, default])
    if not allowed:
        raise ValueError("no variant may be chosen, and there is no default one")
    return allowed


def _by_time(indices: Sequence[int], times: Sequence[float]) -> list[int]:
    """The fastest first; of equals, the first."""
    return sorted(indices, key=times.__getitem__)


def _tie(
    ranked: Sequence[int],
    predictions: Sequence[Prediction],
    times: Sequence[float],
    default: int | None,
    previous: int | None,
) -> tuple[int, str]:
    """Who of those as good as the best runs, and why."""
    best = ranked[0]

    def as_good(index: int, most: float, errors: float = 1.0) -> bool:
        apart = min(most, errors * _apart(predictions[index], predictions[best]))
        return index in ranked and times[index] <= times[best] * (1 + apart)

    if default == best:
        return best, "the default is predicted fastest"
    if default is not None and as_good(default, _most(predictions[default], predictions[best])):
        return default, "as fast as the fastest, within the errors: the default"
    if previous == best:
        return best, "predicted fastest, as before"
    if previous is not None and as_good(previous, math.inf, STAYS):
        return previous, "as fast as the fastest, within the errors: chosen before"
    if len(ranked) == 1:
        return best, "the only one that was measured"
    return best, "predicted fastest"


def _apart(one: Prediction, best: Prediction) -> float:
    """The part by which two predictions have to differ to be told apart: their errors add up as independent ones."""
    apart = math.hypot(one.error, best.error)
    return apart if apart >= 0 else math.inf  # an error that is no number bounds nothing


def _most(one: Prediction, best: Prediction) -> float:
    return math.inf if one.how in _OUTSIDE or best.how in _OUTSIDE else CLOSEST


def _compared(index: int, why: str, ranked: Sequence[int], times: Sequence[float]) -> Choice:
    """ranked: by time; `index` need not be among them."""
    runner_up = next((other for other in ranked if other != index), None)
    if runner_up is None:
        return Choice(index, why)
    own, other = times[index], times[runner_up]
    return Choice(index, why, runner_up, other / own - 1 if own > 0 else (0.0 if other == own else math.inf))
