"""Functions of Python and of its modules `heapq` and `math` that are more than a formula, written in the language."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


def _heappop(heap: Any) -> Any:
    found = heap.pop()
    if heap:
        last = found
        found = heap[0]
        heap[0] = last
        _sift_up(heap, 0)
    return found


def _heapify(heap: Any) -> None:
    for k in range(len(heap) // 2 - 1, -1, -1):
        _sift_up(heap, k)


def _heapreplace(heap: Any, item: Any) -> Any:
    found = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return found


def _heappushpop(heap: Any, item: Any) -> Any:
    found = item
    if heap and heap[0] < item:
        found = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
    return found


def _sift_down(heap: Any, start: Any, place: Any) -> None:
    """The element at a place goes towards the first one, past all that are larger."""
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _sift_up(heap: Any, place: Any) -> None:
    """The element at a place goes to the end along the smaller ones below it, and back to where it belongs."""
    start, end, item = place, len(heap), heap[place]
    below = 2 * place + 1
    while below < end:
        if below + 1 < end and not heap[below] < heap[below + 1]:
            below += 1
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    _sift_down(heap, start, place)


def _gcd(a: Any, b: Any) -> Any:
    first, second = abs(int(a)), abs(int(b))
    while second != 0:
        first, second = second, first % second
    return first


def _lcm(a: Any, b: Any) -> Any:
    divisor = _gcd(a, b)
    return 0 if divisor == 0 else abs(int(a) // divisor * int(b))


def _factorial(x: Any) -> Any:
    if x < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, int(x) + 1):
        product *= k
    return product


def _comb(n: Any, k: Any) -> Any:
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    count = 1 if k <= n else 0
    for j in range(min(int(k), int(n) - int(k))):
        count = count * (int(n) - j) // (j + 1)
    return count


def _isqrt(n: Any) -> Any:
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


def _perm(n: Any, k: Any) -> Any:
    if n < 0 or k < 0:
        raise ValueError("n and k must be non-negative integers")
    count = 1 if k <= n else 0
    for j in range(min(int(k), int(n))):
        count *= int(n) - j
    return count


def _isclose(a: Any, b: Any, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Any:
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    x, y = float(a), float(b)
    far = abs(y - x)
    near = far <= abs(rel_tol * y) or far <= abs(rel_tol * x) or far <= abs_tol
    return x == y or (math.isfinite(x) and math.isfinite(y) and near)


def _modf(x: Any) -> Any:
    value = float(x)
    whole = float(np.trunc(value))
    rest = 0.0 if math.isinf(value) else value - whole
    return math.copysign(rest, value), whole


def _frexp(x: Any) -> Any:
    """A number of at least 0.5 and less than 1.0, and the power of 2 that it is multiplied by."""
    value = float(x)
    found, exponent = value, 0
    if value != 0.0 and math.isfinite(value):
        if abs(value) < 2.2250738585072014e-308:  # 2.0 ** -1022: what is less has fewer digits
            found, exponent = value * 18014398509481984.0, -54
        bits = np.float64(found).view(np.int64)
        exponent = exponent + int((bits >> 52) & 2047) - 1022
        found = float(((bits & -9218868437227405313) | 4602678819172646912).view(np.float64))
    return found, exponent


def _ldexp(x: Any, i: Any) -> Any:
    """x * 2 ** i, rounded once: the steps that come first keep all digits (as in musl's scalbn)."""
    y, n = float(x), int(i)
    for _ in range(2):
        if n > 1023:
            y, n = y * 8.98846567431158e307, n - 1023  # 2.0 ** 1023
        elif n < -1022:
            y, n = y * 2.004168360008973e-292, n + 969  # 2.0 ** -969
    n = max(-1022, min(1023, n))
    return y * float(np.int64((n + 1023) << 52).view(np.float64))


def neighbour(x: Any, y: Any) -> Any:
    """The float64 next to x towards y."""
    found = np.float64(x)
    towards = np.float64(y)
    if found != found or towards != towards:
        found = found + towards
    elif found == towards:
        found = towards
    elif found == 0.0:
        found = np.copysign(np.float64(5e-324), towards)
    elif (found < towards) == (found > 0.0):
        found = (found.view(np.int64) + 1).view(np.float64)
    else:
        found = (found.view(np.int64) - 1).view(np.float64)
    return found


def _nextafter(x: Any, y: Any) -> Any:
    return float(neighbour(x, y))


def _ulp(x: Any) -> Any:
    """The distance from the size of x to the next larger float."""
    size = abs(float(x))
    found = size
    if size == 1.7976931348623157e308:
        found = size - float(neighbour(size, 0.0))
    elif math.isfinite(size):
        found = float(neighbour(size, np.inf)) - size
    return found


def round_to(x: Any, scale: Any, upper: Any) -> Any:
    """`round(x, digits)` of a Python float, to the last bit: x * scale is compared with the middle between two whole
    numbers exactly. scale: 10.0 ** digits, below 1e23; upper: its first 26 bits. Each product of parts is exact, so it
    does not matter whether it is rounded (Dekker, A floating-point technique for extending the available precision,
    1971)."""
    y = x * scale
    result = x
    if abs(y) < 4503599627370496.0:
        below = np.floor(y)
        middle = below + 0.5
        high = (np.float64(x).view(np.int64) & -134217728).view(np.float64)
        low = x - high
        beyond = ((high * upper - middle) + high * (scale - upper) + low * upper) + low * (scale - upper)
        if beyond > 0.0 or (beyond == 0.0 and np.floor(below * 0.5) * 2.0 != below):
            below = below + 1.0
        result = math.copysign(below / scale, x)
    elif abs(y) < 9007199254740992.0:
        result = y / scale
    return float(result)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    heapq.heappush: _heappush, heapq.heappop: _heappop, heapq.heapify: _heapify, heapq.heapreplace: _heapreplace,
    heapq.heappushpop: _heappushpop, math.gcd: _gcd, math.lcm: _lcm, math.factorial: _factorial, math.comb: _comb,
    math.isqrt: _isqrt, math.perm: _perm, math.isclose: _isclose, math.modf: _modf,
    math.frexp: _frexp, math.ldexp: _ldexp, math.nextafter: _nextafter, math.ulp: _ulp,
}  # fmt: skip
