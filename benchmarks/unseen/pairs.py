"""A third set: what is compared in pairs, physics in several dimensions, text, statistics, linear algebra by hand."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("correlations of pairs", lambda n: (f8(n, 200), zeros((n, n))), 12, 2000)
def correlations(x, o):
    n, d = x.shape
    for i in range(n):
        for j in range(n):
            si = 0.0
            sj = 0.0
            for k in range(d):
                si += x[i, k]
                sj += x[j, k]
            si /= d
            sj /= d
            cov = 0.0
            vi = 0.0
            vj = 0.0
            for k in range(d):
                cov += (x[i, k] - si) * (x[j, k] - sj)
                vi += (x[i, k] - si) ** 2
                vj += (x[j, k] - sj) ** 2
            o[i, j] = cov / math.sqrt(vi * vj)


@program("shared items of baskets", lambda n: (whole(2, n, 300), zeros((n, n))), 10, 1500)
def jaccard(a, o):
    n, d = a.shape
    for i in range(n):
        for j in range(i + 1, n):
            both = 0
            either = 0
            for k in range(d):
                if a[i, k] == 1 or a[j, k] == 1:
                    either += 1
                    if a[i, k] == 1 and a[j, k] == 1:
                        both += 1
            o[i, j] = both / max(either, 1)
            o[j, i] = o[i, j]


@program(
    "heat in a bar, implicit", lambda n: (f8(n, 128), f8(n, 128), zeros((n, 128)), zeros((n, 128)), 0.4), 10, 20_000
)
def thomas(u, d, c, x, r):
    for i in range(u.shape[0]):
        m = u.shape[1]
        c[i, 0] = -r / (1 + 2 * r)
        x[i, 0] = d[i, 0] / (1 + 2 * r)
        for j in range(1, m):
            w = 1 + 2 * r + r * c[i, j - 1]
            c[i, j] = -r / w
            x[i, j] = (d[i, j] + r * x[i, j - 1]) / w
        for j in range(m - 2, -1, -1):
            x[i, j] -= c[i, j] * x[i, j + 1]


@program("curl of a field", lambda n: (f8(n, n, n, 3), zeros((n, n, n, 3))), 6, 200)
def curl(f, o):
    n = f.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            for k in range(1, n - 1):
                o[i, j, k, 0] = f[i, j + 1, k, 2] - f[i, j - 1, k, 2] - f[i, j, k + 1, 1] + f[i, j, k - 1, 1]
                o[i, j, k, 1] = f[i, j, k + 1, 0] - f[i, j, k - 1, 0] - f[i + 1, j, k, 2] + f[i - 1, j, k, 2]
                o[i, j, k, 2] = f[i + 1, j, k, 1] - f[i - 1, j, k, 1] - f[i, j + 1, k, 0] + f[i, j - 1, k, 0]


@program("points moved and turned", lambda n: (f8(n, 3), f8(3, 3), f8(3), zeros((n, 3))), 30, 4_000_000)
def moved(p, m, t, o):
    for i in range(p.shape[0]):
        for a in range(3):
            s = t[a]
            for b in range(3):
                s += m[a, b] * p[i, b]
            o[i, a] = s


@program("least and greatest of columns", lambda n: (f8(n, 30), zeros(30), zeros(30)), 30, 1_000_000)
def extents(x, low, high):
    for j in range(x.shape[1]):
        low[j] = x[0, j]
        high[j] = x[0, j]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] < low[j]:
                low[j] = x[i, j]
            if x[i, j] > high[j]:
                high[j] = x[i, j]


@program("scaled to 0 and 1", lambda n: (f8(n, 30), zeros((n, 30))), 30, 1_000_000)
def scaled(x, o):
    for j in range(x.shape[1]):
        low = x[0, j]
        high = x[0, j]
        for i in range(x.shape[0]):
            low = min(low, x[i, j])
            high = max(high, x[i, j])
        for i in range(x.shape[0]):
            o[i, j] = (x[i, j] - low) / (high - low)


@program("letters counted", lambda n: (whole(26, n), zeros(26, np.int64)), 100, 20_000_000)
def letters(text, counts):
    for i in range(text.shape[0]):
        counts[text[i]] += 1


@program("pairs of letters", lambda n: (whole(26, n), zeros((26, 26), np.int64)), 100, 20_000_000)
def bigrams(text, counts):
    for i in range(text.shape[0] - 1):
        counts[text[i], text[i + 1]] += 1


@program("words that begin", lambda n: ((f4(n) > 0.2), zeros(n, np.int64)), 100, 20_000_000)
def words(letter, starts):
    n = 0
    inside = False
    for i in range(letter.shape[0]):
        if letter[i] and not inside:
            starts[n] = i
            n += 1
        inside = letter[i]
    return n


@program("runs of equal values", lambda n: (whole(3, n), zeros(n, np.int64), zeros(n, np.int64)), 100, 10_000_000)
def runs(a, value, length):
    n = 0
    value[0] = a[0]
    length[0] = 1
    for i in range(1, a.shape[0]):
        if a[i] == a[i - 1]:
            length[n] += 1
        else:
            n += 1
            value[n] = a[i]
            length[n] = 1
    return n + 1


@program("longest stretch above", lambda n: (f8(n), 0.3), 100, 20_000_000)
def stretch(x, limit):
    best = 0
    now = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            now += 1
            if now > best:
                best = now
        else:
            now = 0
    return best


@program("drawdown of prices", lambda n: (1 + f8(n),), 100, 20_000_000)
def drawdown(price):
    top = price[0]
    worst = 0.0
    for i in range(price.shape[0]):
        if price[i] > top:
            top = price[i]
        worst = max(worst, (top - price[i]) / top)
    return worst


@program("smoothed exponentially", lambda n: (f8(n, 64), zeros((n, 64)), 0.1), 50, 100_000)
def smoothed(x, o, a):
    for j in range(x.shape[1]):
        o[0, j] = x[0, j]
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            o[i, j] = a * x[i, j] + (1 - a) * o[i - 1, j]


@program("medians of windows of 5", lambda n: (f8(n), zeros(n)), 60, 5_000_000)
def medians(x, o):
    w = np.empty(5)
    for i in range(2, x.shape[0] - 2):
        for k in range(5):
            w[k] = x[i - 2 + k]
        for k in range(1, 5):
            v = w[k]
            m = k - 1
            while m >= 0 and w[m] > v:
                w[m + 1] = w[m]
                m -= 1
            w[m + 1] = v
        o[i] = w[2]


@program("regression lines of rows", lambda n: (f8(n, 100), zeros((n, 2))), 20, 200_000)
def lines(y, o):
    m = y.shape[1]
    for i in range(y.shape[0]):
        sx = 0.0
        sy = 0.0
        sxx = 0.0
        sxy = 0.0
        for j in range(m):
            sx += j
            sy += y[i, j]
            sxx += j * j
            sxy += j * y[i, j]
        o[i, 0] = (m * sxy - sx * sy) / (m * sxx - sx * sx)
        o[i, 1] = (sy - o[i, 0] * sx) / m


@program("polynomials of degree 7", lambda n: (f8(n), f8(8), zeros(n)), 50, 10_000_000)
def polynomial(x, c, o):
    for i in range(x.shape[0]):
        v = 0.0
        for k in range(c.shape[0] - 1, -1, -1):
            v = v * x[i] + c[k]
        o[i] = v


@program("inverses of 4 x 4", lambda n: (f8(n, 4, 4) + np.eye(4) * 4, zeros((n, 4, 4))), 8, 300_000)
def inverses(a, o):
    for q in range(a.shape[0]):
        m = np.empty((4, 8))
        for i in range(4):
            for j in range(4):
                m[i, j] = a[q, i, j]
                m[i, j + 4] = 1.0 if i == j else 0.0
        for k in range(4):
            p = m[k, k]
            for j in range(8):
                m[k, j] /= p
            for i in range(4):
                if i != k:
                    f = m[i, k]
                    for j in range(8):
                        m[i, j] -= f * m[k, j]
        for i in range(4):
            for j in range(4):
                o[q, i, j] = m[i, j + 4]


@program("Jacobi for a dense system", lambda n: (f8(n, n) + n * np.eye(n), f8(n), zeros(n), zeros(n)), 12, 4000)
def jacobi(a, b, x, y):
    for _ in range(10):
        for i in range(a.shape[0]):
            s = b[i]
            for j in range(a.shape[1]):
                if j != i:
                    s -= a[i, j] * x[j]
            y[i] = s / a[i, i]
        for i in range(a.shape[0]):
            x[i] = y[i]


@program("outer product added", lambda n: (f8(n, n), f8(n), f8(n), 0.5), 12, 5000)
def rank_one(a, u, v, alpha):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += alpha * u[i] * v[j]


@program("quadratic forms", lambda n: (f8(n, 16), f8(16, 16), zeros(n)), 12, 500_000)
def forms(x, m, o):
    for q in range(x.shape[0]):
        s = 0.0
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                s += x[q, i] * m[i, j] * x[q, j]
        o[q] = s


@program("particles in a trap, 100 steps", lambda n: (f8(n, 3), f8(n, 3), 0.01), 6, 200_000)
def trap(p, v, dt):
    for i in range(p.shape[0]):
        for _ in range(100):
            for a in range(3):
                v[i, a] -= dt * p[i, a]
            for a in range(3):
                p[i, a] += dt * v[i, a]


@program("random walk with barriers", lambda n: (n, 400, zeros(n, np.int64)), 20, 200_000)
def walks(n, steps, o):
    for i in range(n):
        state = i * 2654435761 % 4294967296
        x = 0
        for _ in range(steps):
            state = (1664525 * state + 1013904223) % 4294967296
            x += 1 if state > 2147483648 else -1
            if abs(x) >= 30:
                break
        o[i] = x


@program("nodes of a tree, levels", lambda n: (((np.arange(n) - 1) // 2), zeros(n, np.int64)), 60, 4_000_000)
def levels(parent, level):
    for i in range(1, parent.shape[0]):
        level[i] = level[parent[i]] + 1


@program(
    "degrees of a graph",
    lambda n: (whole(n // 8, n), whole(n // 8, n)[::-1].copy(), zeros(n // 8, np.int64)),
    80,
    10_000_000,
)
def degrees(a, b, d):
    for e in range(a.shape[0]):
        if a[e] != b[e]:
            d[a[e]] += 1
            d[b[e]] += 1


@program("hours added to days", lambda n: (f8(n * 24), zeros(n), zeros(n)), 10, 400_000)
def days(hour, mean, most):
    for d in range(mean.shape[0]):
        s = 0.0
        m = -1e300
        for h in range(24):
            s += hour[d * 24 + h]
            m = max(m, hour[d * 24 + h])
        mean[d] = s / 24
        most[d] = m


@program("neighbours averaged on a mesh", lambda n: (whole(n, n, 6), f8(n, 3), zeros((n, 3))), 20, 1_000_000)
def averaged(near, p, o):
    for i in range(near.shape[0]):
        for a in range(3):
            s = 0.0
            for k in range(near.shape[1]):
                s += p[near[i, k], a]
            o[i, a] = s / near.shape[1]


@program(
    "grey, stretched and dithered", lambda n: (whole(256, n, n, 3).astype(np.uint8), zeros((n, n), np.uint8)), 12, 3000
)
def dithered(rgb, o):
    m = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
    for y in range(rgb.shape[0]):
        for x in range(rgb.shape[1]):
            g = 0.299 * rgb[y, x, 0] + 0.587 * rgb[y, x, 1] + 0.114 * rgb[y, x, 2]
            if g > m[y % 4, x % 4] * 16 + 8:
                o[y, x] = 255
            else:
                o[y, x] = 0
