"""Linear recurrences of the first order: what an iteration makes is scaled, and added to, by the next one. PyTorch has
no such scan; its running sums and products go through as many elements."""

from __future__ import annotations

import numpy as np

from benchmarks.gpu.shapes.case import Case, z4, z8, zi


def corrected_average(x, y):
    m = 0.0
    p = 1.0
    for i in range(x.shape[0]):
        m = 0.999 * m + 0.001 * x[i]
        p *= 0.999
        y[i] = m / (1.0 - p)


def two_sections(x, y):
    u = 0.0
    v = 0.0
    for i in range(x.shape[0]):
        u = 0.9 * u + 0.1 * x[i]
        v = -0.5 * v + 1.5 * u
        y[i] = v


def back_substitution(c, d, x):
    n = x.shape[0]
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]


def drawdown(r, d):
    value = 1.0
    most = 1.0
    for i in range(r.shape[0]):
        value *= 1.0 + r[i]
        most = max(most, value)
        d[i] = value / most - 1.0


def discounted(r, done, g):
    s = 0.0
    for i in range(r.shape[0] - 1, -1, -1):
        if done[i]:
            s = 0.0
        s = r[i] + 0.99 * s
        g[i] = s


def gates(f, g, x, h):
    for c in range(h.shape[1]):
        s = 0.0
        for t in range(h.shape[0]):
            s = f[t, c] * s + g[t, c] * x[t, c]
            h[t, c] = s


def hashes(a, h):
    x = 5381
    for i in range(a.shape[0]):
        x = 33 * x + a[i]
        h[i] = x


def _recurrence(factor: np.ndarray, added: np.ndarray) -> np.ndarray:
    """The values of `s = factor * s + added` along the first axis, from 0."""
    result = np.zeros_like(added)
    s = np.zeros_like(added[0])
    with np.errstate(over="ignore"):
        for i in range(len(added)):
            result[i] = s = factor[i] * s + added[i]
    return result


def _corrected(x, y):
    return (_recurrence(np.full(len(x), 0.999), 0.001 * x) / (1.0 - 0.999 ** np.arange(1, len(x) + 1)),)


def _sections(x, y):
    return (_recurrence(np.full(len(x), -0.5), 1.5 * _recurrence(np.full(len(x), 0.9), 0.1 * x)),)


def _substituted(c, d, x):
    return (_recurrence(-np.append(c[:-1], 0.0)[::-1], d[::-1])[::-1],)


def _fallen(r, d):
    value = np.cumprod(1.0 + r)
    return (value / np.maximum(1.0, np.maximum.accumulate(value)) - 1.0,)


def _returns(r, done, g):
    return (_recurrence(np.where(done, 0.0, 0.99)[::-1], r[::-1])[::-1],)


def _hashed(a, h):
    seed = np.zeros(len(a), np.int64)
    seed[0] = 33 * 5381
    return (_recurrence(np.full(len(a), 33), a + seed),)


def _sum(torch, *arrays):
    return torch.cumsum(arrays[0], 0)


def _largest_fall(torch, r, d):
    value = torch.cumprod(1.0 + r, 0)
    return value / torch.cummax(value, 0).values - 1.0


CASES: tuple[Case, ...] = (
    Case("moving average, corrected", corrected_average, lambda r, n: (r.f4(n), z4(n)), (5000,), (20_000_000,),
         _corrected, _sum),
    Case("two filters in series", two_sections, lambda r, n: (r.f4(n), z4(n)), (5000,), (20_000_000,), _sections, _sum),
    Case("back substitution", back_substitution, lambda r, n: (r.f8(n) - 0.5, r.f8(n), z8(n)), (5000,), (20_000_000,),
         _substituted, _sum),
    Case("drawdown", drawdown, lambda r, n: (0.02 * (r.f8(n) - 0.5), z8(n)), (5000,), (20_000_000,), _fallen,
         _largest_fall),
    Case("discounted returns", discounted, lambda r, n: (r.f4(n), r.f4(n) > 0.99, z4(n)), (5000,), (20_000_000,),
         _returns, _sum),
    Case("gates of 8 channels", gates, lambda r, n, m: (r.f4(n, m), r.f4(n, m), r.f4(n, m), z4(n, m)), (700, 8),
         (2_000_000, 8), lambda f, g, x, h: (_recurrence(f, g * x),), _sum),
    Case("gates of 1024 channels", gates, lambda r, n, m: (r.f4(n, m), r.f4(n, m), r.f4(n, m), z4(n, m)), (70, 1024),
         (16_000, 1024), lambda f, g, x, h: (_recurrence(f, g * x),), _sum),
    Case("hashes of prefixes", hashes, lambda r, n: (r.whole(256, n), zi(n)), (5000,), (20_000_000,), _hashed, _sum),
)  # fmt: skip
