"""Arguments of any number, helpers as arguments, and questions about types and truth, as numba's users write them."""

from __future__ import annotations

import heapq
import math
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


@case(lambda r: (np.array([0, 2, 4, 5, 5]), np.array([1, 2, 2, 3, 3]), r.random(5), 0), "heapq")
def shortest_paths(starts: Array, ends: Array, lengths: Array, source: int) -> Array:
    n = len(starts) - 1
    best = np.full(n, np.inf)
    done = np.zeros(n, dtype=np.bool_)
    best[source] = 0.0
    waiting = [(0.0, source)]
    while len(waiting) > 0:
        length, u = heapq.heappop(waiting)
        if done[u]:
            continue
        done[u] = True
        for k in range(starts[u], starts[u + 1]):
            v = ends[k]
            if length + lengths[k] < best[v]:
                best[v] = length + lengths[k]
                heapq.heappush(waiting, (best[v], v))
    return best


@case(lambda r: (r.integers(1, 9, 7) * 6,), "math.gcd")
def common_step(times: Array) -> int:
    step = int(times[0])
    for t in times:
        step = math.gcd(step, t)
    return step


@case(lambda r: (r.integers(0, 5, (6, 4)), r.integers(0, 5, (6, 4))), "set.intersection", "in an array")
def shared_neighbours(a: Array, b: Array) -> Array:
    shared = np.zeros(len(a), dtype=np.int64)
    for i in range(len(a)):
        shared[i] = len(set(a[i]).intersection(set(b[i])))
        if 3 in a[i] and 3 not in b[i]:
            shared[i] += 100
    return shared


@case(lambda r: (r.random(40),), "growing arrays")
def runs_above(a: Array) -> tuple[Array, int]:
    room = np.empty(2, dtype=np.int64)
    found = 0
    for i in range(len(a)):
        if a[i] > 0.5 and (i == 0 or a[i - 1] <= 0.5):
            if found == len(room):
                wider = np.empty(2 * len(room), dtype=np.int64)
                wider[:found] = room
                room = wider
            room[found] = i
            found += 1
    return room[:found], found


@case(lambda r: (r.integers(0, 4, 9), r.random(20)), "growing arrays")
def pieces(counts: Array, values: Array) -> Array:
    out = np.zeros(0)
    start = 0
    for count in counts:
        out = np.append(out, values[start : start + count] / count)
        start += count
        if start >= len(values):
            break
    return np.append(0.0, out)


@case(lambda r: (r.random(6),), "numpy scalars")
def shape_of_a_number(a: Array) -> tuple[Array, float]:
    x = a[0]
    rotation = np.zeros(x.shape + (2, 2))
    rotation[0, 0], rotation[1, 1] = np.cos(x), np.cos(x)
    rotation[0, 1], rotation[1, 0] = -np.sin(x), np.sin(x)
    return rotation, (a[:2].reshape(1, -1) @ rotation @ a[:2].reshape(-1, 1)).item()


@case(lambda r: (r.random((3, 4, 3)),), "a.shape[k]")
def axes_of_one_size(a: Array) -> tuple[int, int]:
    largest, pairs = 0, 0
    for j in range(a.ndim):
        largest = max(largest, a.shape[j])
        for k in range(j):
            if a.shape[j] == a.shape[k]:
                pairs += 1
    return largest, pairs


@case(lambda r: (r.random((5, 6)),), "zip(*...)")
def sum_of_places(m: Array) -> int:
    total = 0
    for i, j in zip(*np.where(m > 0.5)):
        total += i * 10 + j
    return total
