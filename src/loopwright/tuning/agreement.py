"""Whether two runs of a kernel came to the same result: whole numbers exactly, floating-point numbers up to the
rounding of sums that are added up in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loopwright.memory.arrays import Array

TOLERANCE = {4: 2e-4, 8: 1e-9}
"""By the size of an element: how far an element may be off, as a part of the largest one in its array. A sum of n terms
in another order is off by some sqrt(n) units in the last place; these leave room for n = 10^7 and for cancellation."""


def disagreement(expected: Sequence[object], found: Sequence[object], strict: bool) -> str:
    """Where the second differs from the first, in words; '' where it agrees. Items are arrays, numbers, None or tuples
    of them; strict: to the last bit, NaN being equal to NaN."""
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        words = _differs(one, other, strict)
        if words:
            return f"value {number}: {words}"
    return ""


def _differs(one: object, other: object, strict: bool) -> str:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return disagreement(one, other, strict)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype.names is not None:
            return next(filter(None, (_differs(one[name], other[name], strict) for name in one.dtype.names)), "")
        return _arrays_differ(one, other, strict)
    if type(one) is not type(other):
        return f"{type(other).__name__} instead of {type(one).__name__}"
    numbers = int | float | complex | np.number | np.bool_
    if isinstance(one, numbers) and isinstance(other, numbers):
        return _arrays_differ(np.asarray(one), np.asarray(other), strict)
    return "" if one == other else f"{other!r} instead of {one!r}"


def _arrays_differ(one: Array, other: Array, strict: bool) -> str:
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{other.dtype}{list(other.shape)} instead of {one.dtype}{list(one.shape)}"
    if one.dtype.kind == "c":
        return _arrays_differ(np.stack((one.real, one.imag)), np.stack((other.real, other.imag)), strict)
    if one.dtype.kind != "f":
        wrong = one != other
    elif strict:
        wrong = (one != other) & ~(np.isnan(one) & np.isnan(other))
    else:
        wrong = _far(one, other)
    if not wrong.any():
        return ""
    place = tuple(int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    many = int(np.count_nonzero(wrong))
    return f"{other[place]} instead of {one[place]} at {list(place)}, and {many} of {wrong.size} in all"


def _far(one: Array, other: Array) -> Any:
    with np.errstate(all="ignore"):
        finite = np.isfinite(one)
        scale = float(np.max(np.abs(one[finite]), initial=0.0))
        room = TOLERANCE[one.dtype.itemsize] * max(scale, float(np.finfo(one.dtype).tiny))
        near = np.abs(one - other) <= room
        return ~(near | (one == other) | (np.isnan(one) & np.isnan(other)))
