"""Explicit loops with the habits of their authors: conversions, jumps, defaults, types."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case

TAU = 2 * math.pi
LIMITS = (0.0, 1.0, 2.0, 5.0)


def _floats():
    return np.array([0.5, 1.5, 2.5, -2.5, 3.7, -0.2])


def _grid():
    return np.arange(12.0).reshape(3, 4) - 5


def _integers():
    return np.array([3, -7, 3, -3, 0, 12])


def _singles():
    return np.array([1.5, 2.5, -0.5, np.nan, 3], dtype=np.float32)


def clamp(x, lo=0.0, hi=1.0):
    """Keep x in range."""
    if x < lo:
        return lo
    elif x > hi:
        return hi
    return x


def find(a, v):
    n = len(a)
    for i in range(n):
        if a[i] == v:
            return True, i
    return False, -1


def quad(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return math.nan, math.nan
    s = math.sqrt(d)
    return (-b - s) / (2 * a), (-b + s) / (2 * a)


@case(lambda rng: (_floats(),), "explicit loops")
def keyword_only_and_annotations(a: np.ndarray, *, k: int = 2, flag: bool = True) -> float:
    """Doc."""
    total: float = 0
    n: int
    n = len(a)
    for i in range(n - 1, -1, -k):
        total += clamp(a[i], hi=2.0) if flag else 0
    return total


@case(lambda rng: (_floats(),), "explicit loops")
def pairs_from_a_helper(a):
    ok, i = find(a, 2.5)
    bad, j = find(a, 9.0)
    if ok and not bad:
        return i
    return j


@case(lambda rng: (_floats(),), "explicit loops")
def roots_from_a_helper(a):
    r = np.zeros((a.size, 2))
    for i in range(a.size):
        r[i, 0], r[i, 1] = quad(1.0, a[i], 0.1)
    return r


@case(lambda rng: (_floats(),), "explicit loops")
def endless_loop(a):
    count = 0
    while True:
        count += 1
        if count > 10:
            break
        if count % 2 == 0:
            continue
        a[count % 6] *= -1
    return count


@case(lambda rng: (_floats(),), "explicit loops")
def reversed_in_place(a):
    lo, hi = 0, len(a) - 1
    while lo < hi:
        a[lo], a[hi] = a[hi], a[lo]
        lo += 1
        hi -= 1


@case(lambda rng: (_integers(),), "explicit loops")
def hash_of_integers(a):
    h = np.uint64(14695981039346656037)
    for x in a:
        h ^= np.uint64(x & 255)
        h *= np.uint64(1099511628211)
    return h


@case(lambda rng: (_integers(),), "explicit loops")
def narrow_sums(a):
    s = np.int32(0)
    for i in range(len(a)):
        s += np.int32(a[i])
    b = np.float32(0)
    for i in range(len(a)):
        b += a[i]
    return s, b


@case(lambda rng: (_singles(),), "explicit loops")
def single_sums(a):
    s = np.float32(0.0)
    for x in a:
        s += x * np.float32(0.1)
    t = 0.0
    for x in a:
        t += x
    return s, t, a[0] / 3, a[1] * 2.0, a[0] + np.pi


@case(lambda rng: (_floats(),), "explicit loops")
def place_or_none(a):
    mx = -np.inf
    arg = None
    for i in range(len(a)):
        if a[i] > mx:
            mx = a[i]
            arg = i
    return arg, mx


@case(lambda rng: (_floats(),), "explicit loops")
def integer_that_becomes_a_float(a):
    x = 0
    for i in range(4):
        x = x + 0.5 * i
    y = 1
    for i in range(70):
        y *= 2.0
    return x, y


@case(lambda rng: (_integers(),), "explicit loops")
def conditions(a):
    n = a.shape[0]
    out = np.zeros(n, dtype=bool)
    for i in range(n):
        out[i] = a[i] % 2 == 1 and not a[i] == 3 or a[i] in (0, 12)
    return out


@case(lambda rng: (_floats(),), "explicit loops")
def table_of_limits(a):
    c = 0
    for x in a:
        for k in range(len(LIMITS) - 1):
            if LIMITS[k] <= x < LIMITS[k + 1]:
                c += k + 1
                break
    return c, TAU


@case(lambda rng: (_floats(),), "explicit loops")
def narrow_arrays(a):
    d = np.zeros((3, 3), dtype=np.float32)
    d[0, 0] = a[0]
    d[1] = 2
    d[2, :] = a[:3]
    e = np.zeros(3, dtype="int64")
    e[0] = a[1]
    f = np.empty(4, dtype=np.bool_)
    f[:] = False
    f[1] = a[0]
    return d, e, f


@case(lambda rng: (_floats(),), "explicit loops")
def conversions(a):
    return (
        int(a[1]),
        float(3),
        round(a[1]),
        round(2.5),
        math.floor(a[3]),
        math.ceil(a[3]),
        int(-2.7),
        bool(a[0]),
        math.fabs(a[3]),
        pow(a[0], 2),
        math.isnan(a[0]),
        math.hypot(3.0, 4.0),
        math.copysign(1.0, -0.0),
        math.inf,
        np.nan,
    )


@case(lambda rng: (_grid(),), "explicit loops")
def packed_triangle(a):
    nrow, ncol = a.shape[0], a.shape[1]
    up = np.zeros(nrow * ncol)
    k = 0
    for i in range(nrow):
        for j in range(i, ncol):
            up[k] = a[i][j]
            k += 1
    return up[:k]


@case(lambda rng: (_grid(),), "explicit loops")
def none_at_times(a):
    if a.ndim != 2:
        raise ValueError("need 2-D")
    if a.shape[0] == 0:
        return None
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i, 0]
    return s


@case(lambda rng: (_floats(),), "explicit loops")
def tuple_that_changes(a):
    res = (0.0, -1)
    for i, x in enumerate(a):
        if x > res[0]:
            res = (x, i)
    return res


@case(lambda rng: (_floats(),), "explicit loops")
def large_integers(a):
    p = 1
    for i in range(25):
        p *= i + 1 if i < 15 else 1
    q = 1 << 40
    return p, q, p % 1000003, q // 3


@case(lambda rng: (_floats(),), "explicit loops")
def linear_congruence(a):
    state = 12345
    out = np.zeros(4)
    for i in range(4):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        out[i] = state / 0x7FFFFFFF
    return out


@case(lambda rng: (_integers(),), "explicit loops")
def insertion_sort(a):
    b = a.copy()
    n = len(b)
    for i in range(1, n):
        key = b[i]
        j = i - 1
        while j >= 0 and b[j] > key:
            b[j + 1] = b[j]
            j -= 1
        b[j + 1] = key
    return b


@case(lambda rng: (_floats(),), "explicit loops")
def deleted_names(a):
    del_ = 0
    total = 0.0
    for i in range(len(a)):
        v = a[i]
        if np.isnan(v):
            continue
        total += v
        del v
    return total


@case(lambda rng: (_grid(),), "explicit loops")
def rows_scaled_in_place(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(a.shape[1]):
            a[i, j] = (a[i, j] - a[i, :].min()) / (a[i, :].max() - a[i, :].min() + 1e-12)


@case(lambda rng: (_floats(),), "explicit loops")
def running_variance(a):
    mean = 0.0
    M2 = 0.0
    n = 0
    for x in a:
        n += 1
        d = x - mean
        mean += d / n
        M2 += d * (x - mean)
    return mean, M2 / (n - 1) if n > 1 else np.nan


@case(lambda rng: (_floats(),), "explicit loops")
def variable_after_a_loop(a):
    i = 0
    s = 0.0
    for i in range(len(a)):
        if a[i] < 0:
            break
        s += a[i]
    return i, s


@case(lambda rng: (_floats(),), "explicit loops")
def variable_after_two_loops(a):
    total = 0
    for i in range(len(a)):
        total += i
    for i in range(3):
        pass
    return total, i


@case(lambda rng: (_grid(),), "explicit loops")
def all_indices(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        s += a[i, j] * (i + j)
    for idx, v in np.ndenumerate(a):
        s += v * idx[0]
    return s


@case(lambda rng: (_floats(),), "explicit loops")
def limits_of_types(a):
    eps = np.finfo(np.float64).eps
    tiny = np.finfo(a.dtype).tiny
    return eps, tiny, np.iinfo(np.int64).max


@case(lambda rng: (_floats(),), "explicit loops")
def mode_as_text(a, mode="same", norm=None):
    if mode not in ("same", "valid"):
        raise ValueError("mode")
    n = len(a) if mode == "same" else len(a) - 2
    out = np.zeros(n)
    for i in range(n):
        out[i] = a[i] if norm is None else a[i] / norm
    return out


@case(lambda rng: (_grid(),), "explicit loops")
def integer_total_of_floats(a):
    h, w = np.shape(a)
    total = 0
    for y in range(h):
        row_sum = 0
        for x in range(w):
            row_sum += a[y, x]
        total = max(total, row_sum)
    return total


@case(lambda rng: (_floats(),), "explicit loops")
def typed_scalars(a):
    n = np.int64(len(a))
    m = np.uint8(200)
    k = n - 1
    return n / 2, m + np.uint8(100), k, n > 3, np.sum(a[:k])


@case(lambda rng: (_floats(),), "explicit loops")
def chosen_integers(a):
    out = np.zeros(len(a), dtype=np.int32)
    for i in range(len(a)):
        out[i] = 1 if a[i] > 1 else (-1 if a[i] < 0 else 0)
        out[i] += i > 2
    return out
