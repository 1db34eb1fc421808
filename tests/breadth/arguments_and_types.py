"""Arguments of any number, helpers as arguments, and questions about types and truth, as numba's users write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from breadth.cases import case

Array = np.ndarray[Any, Any]


def spread(window: Array, center: float, scale: Array) -> float:
    total = 0.0
    for x in window:
        total += abs(x - center)
    return total / scale[0]


def rolling(a: Array, width: int, reduce: Callable[..., float], *args: Any) -> Array:
    out = np.full(len(a), np.nan)
    for i in range(width - 1, len(a)):
        out[i] = reduce(a[i - width + 1 : i + 1], *args)
    return out


@case(lambda r: (r.random((20, 3)), 4, spread, 0.5, np.array([2.0])), "variadic")
def rolling_columns(m: Array, width: int, reduce: Callable[..., float], *args: Any) -> Array:
    out = np.empty_like(m)
    for j in range(m.shape[1]):
        out[:, j] = rolling(m[:, j], width, reduce, *args)
    return out


@case(lambda r: (r.random(6), r.random((2, 3)), r.integers(0, 9, 4)), "variadic")
def any_is_above(limit: Array, *arrays: Array) -> int:
    found = 0
    for a in arrays:
        for x in a.ravel():
            if x > limit[0]:
                found += 1
    return found + len(arrays)


@case(lambda r: (r.random(5),), "variadic", "isinstance")
def weighted(a: Array, *weights: float, default: float = 2.0) -> Array | float:
    if len(weights) == 0:
        weight = default
    elif isinstance(weights[0], (int, float)):
        weight = weights[0]
    else:
        weight = weights[0][0]
    return a * weight


@case(lambda r: (r.random(9), True, False), "is True")
def flags(a: Array, descending: bool, absolute: bool) -> Array:
    b = np.abs(a) if absolute is True else a.copy()
    if descending is not False:
        b = -np.sort(-b)
    return b


@case(lambda r: (r.random(9), r.random(9) > 0.5), "is True")
def elements_are_never_true_itself(a: Array, mask: Array) -> tuple[int, int]:
    found = 0
    for i in range(len(a)):
        if mask[i] is True:
            found += 1
    return found, int((a > 0.5)[0] is False)


@case(lambda r: (r.random((2, 3, 4)), r.random((5, 4, 2)), r.random(4)), "dot")
def contractions(a: Array, b: Array, v: Array) -> tuple[Array, Array, Array, Array, Array]:
    return np.dot(a, b), np.inner(a, v), a.dot(v), a @ v, v @ b
