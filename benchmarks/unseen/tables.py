"""Learning, sequences, statistics, linear algebra, expressions of whole arrays."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("embedding bags", lambda n: (whole(50000, n, 20), f4(50000, 64), zeros((n, 64), np.float32)), 50, 200_000)
def bags(idx, w, o):
    for i in range(idx.shape[0]):
        for d in range(w.shape[1]):
            s = np.float32(0)
            for k in range(idx.shape[1]):
                s += w[idx[i, k], d]
            o[i, d] = s / idx.shape[1]


@program("attention, one head", lambda n: (f4(n, 64), f4(n, 64), f4(n, 64), zeros((n, 64), np.float32)), 40, 2048)
def attention(q, k, v, o):
    n = q.shape[0]
    d = q.shape[1]
    for i in range(n):
        s = np.empty(n, np.float32)
        m = np.float32(-1e30)
        for j in range(n):
            t = np.float32(0)
            for c in range(d):
                t += q[i, c] * k[j, c]
            s[j] = t * np.float32(0.125)
            if s[j] > m:
                m = s[j]
        z = np.float32(0)
        for j in range(n):
            s[j] = math.exp(s[j] - m)
            z += s[j]
        for c in range(d):
            a = np.float32(0)
            for j in range(n):
                a += s[j] * v[j, c]
            o[i, c] = a / z


@program(
    "decision trees",
    lambda n: (f4(n, 16), whole(16, 32, 255), f4(32, 255), f4(32, 256), zeros(n, np.float32)),
    60,
    400_000,
)
def trees(x, feat, thr, leaf, o):
    for i in range(x.shape[0]):
        s = np.float32(0)
        for t in range(feat.shape[0]):
            k = 0
            while k < 255:
                if x[i, feat[t, k]] < thr[t, k]:
                    k = 2 * k + 1
                else:
                    k = 2 * k + 2
            s += leaf[t, k - 255]
        o[i] = s


@program("Adam update", lambda n: (f4(n), f4(n), f4(n), f4(n), 0.001, 0.9, 0.999), 999, 50_000_000)
def adam(w, g, m, v, lr, b1, b2):
    for i in range(len(w)):
        m[i] = b1 * m[i] + (1 - b1) * g[i]
        v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i]
        w[i] -= lr * m[i] / (math.sqrt(v[i]) + 1e-8)


@program("k-means, both steps", lambda n: (f8(n, 8), f8(16, 8), zeros((16, 8)), zeros(16, np.int64)), 200, 2_000_000)
def kmeans(x, c, s, k):
    for i in range(x.shape[0]):
        best = 1e30
        b = 0
        for j in range(c.shape[0]):
            d = 0.0
            for f in range(x.shape[1]):
                d += (x[i, f] - c[j, f]) ** 2
            if d < best:
                best = d
                b = j
        k[b] += 1
        for f in range(x.shape[1]):
            s[b, f] += x[i, f]


@program("depthwise 3x3, NHWC", lambda n: (f4(8, n, n, 32), f4(3, 3, 32), zeros((8, n, n, 32), np.float32)), 9, 112)
def depthwise(x, w, o):
    for b in range(x.shape[0]):
        for i in range(1, x.shape[1] - 1):
            for j in range(1, x.shape[2] - 1):
                for c in range(x.shape[3]):
                    s = np.float32(0)
                    for p in range(3):
                        for q in range(3):
                            s += x[b, i + p - 1, j + q - 1, c] * w[p, q, c]
                    o[b, i, j, c] = s


@program(
    "Smith-Waterman of pairs",
    lambda n: (whole(4, n, 64).astype(np.int8), whole(4, n, 64).astype(np.int8), zeros(n, np.int32)),
    30,
    100_000,
)
def sw(a, b, o):
    for p in range(a.shape[0]):
        h = np.zeros(65, np.int32)
        best = 0
        for i in range(a.shape[1]):
            diag = 0
            for j in range(b.shape[1]):
                up = h[j + 1]
                v = max(0, diag + (2 if a[p, i] == b[p, j] else -1), up - 1, h[j] - 1)
                diag = up
                h[j + 1] = v
                if v > best:
                    best = v
        o[p] = best


@program("k-mer counts", lambda n: (whole(4, n).astype(np.uint8), zeros(4**8, np.int64)), 1000, 50_000_000)
def kmers(s, h):
    for i in range(len(s) - 7):
        k = 0
        for j in range(8):
            k = k * 4 + s[i + j]
        h[k] += 1


@program("rolling standard deviation", lambda n: (f8(n, 64), 50, zeros((n, 64))), 120, 200_000)
def rollstd(x, w, o):
    for j in range(x.shape[1]):
        for i in range(w - 1, x.shape[0]):
            s = 0.0
            q = 0.0
            for k in range(w):
                v = x[i - k, j]
                s += v
                q += v * v
            o[i, j] = math.sqrt(max(0.0, q / w - (s / w) ** 2))


@program("correlation of columns", lambda n: (f8(n, 128), zeros((128, 128))), 60, 50_000)
def corr(x, o):
    n = x.shape[0]
    m = x.shape[1]
    mu = np.zeros(m)
    sd = np.zeros(m)
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += x[i, j]
        mu[j] = s / n
        q = 0.0
        for i in range(n):
            q += (x[i, j] - mu[j]) ** 2
        sd[j] = math.sqrt(q / n)
    for a in range(m):
        for b in range(m):
            s = 0.0
            for i in range(n):
                s += (x[i, a] - mu[a]) * (x[i, b] - mu[b])
            o[a, b] = s / (n * sd[a] * sd[b])


@program("autocorrelation, 200 lags", lambda n: (f8(n), zeros(200)), 500, 2_000_000)
def autoc(x, o):
    for lag in range(len(o)):
        s = 0.0
        for i in range(len(x) - lag):
            s += x[i] * x[i + lag]
        o[lag] = s


@program("discrete Fourier transform", lambda n: (f8(n), zeros(n), zeros(n)), 60, 8192)
def dft(x, re, im):
    n = len(x)
    for k in range(n):
        a = 0.0
        b = 0.0
        for i in range(n):
            t = -2 * math.pi * k * i / n
            a += x[i] * math.cos(t)
            b += x[i] * math.sin(t)
        re[k] = a
        im[k] = b


@program("odd-even sort, 200 rounds", lambda n: (f8(n), 200), 200, 4_000_000)
def oddeven(a, rounds):
    for r in range(rounds):
        for i in range(r % 2, len(a) - 1, 2):
            if a[i] > a[i + 1]:
                t = a[i]
                a[i] = a[i + 1]
                a[i + 1] = t


@program(
    "merge by rank",
    lambda n: (np.sort(np.random.default_rng(1).random(n)), np.sort(np.random.default_rng(2).random(n)), zeros(2 * n)),
    300,
    4_000_000,
)
def merge(a, b, o):
    for i in range(len(a)):
        lo = 0
        hi = len(b)
        while lo < hi:
            m = (lo + hi) // 2
            if b[m] < a[i]:
                lo = m + 1
            else:
                hi = m
        o[i + lo] = a[i]
    for i in range(len(b)):
        lo = 0
        hi = len(a)
        while lo < hi:
            m = (lo + hi) // 2
            if a[m] <= b[i]:
                lo = m + 1
            else:
                hi = m
        o[i + lo] = b[i]


@program("power iteration, 20", lambda n: (f8(n, n), f8(n), zeros(n), 20), 40, 4096)
def power(a, x, y, steps):
    n = len(x)
    lam = 0.0
    for _ in range(steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += a[i, j] * x[j]
            y[i] = s
        q = 0.0
        for i in range(n):
            q += y[i] * y[i]
        lam = math.sqrt(q)
        for i in range(n):
            x[i] = y[i] / lam
    return lam


@program("Gram-Schmidt", lambda n: (f8(n, 64), zeros((64, 64))), 80, 200_000)
def gram(a, r):
    n = a.shape[0]
    m = a.shape[1]
    for k in range(m):
        s = 0.0
        for i in range(n):
            s += a[i, k] * a[i, k]
        r[k, k] = math.sqrt(s)
        for i in range(n):
            a[i, k] /= r[k, k]
        for j in range(k + 1, m):
            s = 0.0
            for i in range(n):
                s += a[i, k] * a[i, j]
            r[k, j] = s
            for i in range(n):
                a[i, j] -= s * a[i, k]


@program("batched Cholesky 8x8", lambda n: (f8(n, 8, 8) + 8 * np.eye(8), zeros((n, 8, 8))), 30, 200_000)
def bchol(a, low):
    for b in range(a.shape[0]):
        for j in range(8):
            s = a[b, j, j]
            for k in range(j):
                s -= low[b, j, k] ** 2
            low[b, j, j] = math.sqrt(s)
            for i in range(j + 1, 8):
                s = a[b, i, j]
                for k in range(j):
                    s -= low[b, i, k] * low[b, j, k]
                low[b, i, j] = s / low[b, j, j]


@program(
    "group means, keys unsorted",
    lambda n: (whole(1000, n), f8(n), zeros(1000), zeros(1000, np.int64)),
    2000,
    20_000_000,
)
def groups(k, x, s, c):
    for i in range(len(x)):
        s[k[i]] += x[i]
        c[k[i]] += 1
    for g in range(len(s)):
        if c[g] > 0:
            s[g] /= c[g]


@program("quasi-random pi", lambda n: (n,), 5000, 50_000_000)
def vdc(n):
    c = 0
    for i in range(n):
        x = 0.0
        f = 0.5
        k = i
        while k > 0:
            x += f * (k & 1)
            k >>= 1
            f *= 0.5
        y = (i + 0.5) / n
        if x * x + y * y < 1.0:
            c += 1
    return 4.0 * c / n


@program("n queens of starts", lambda n: (zeros(n * n, np.int64), n), 6, 12)
def queens(o, n):
    for s in range(n * n):
        a = s // n
        b = s % n
        if abs(a - b) < 2:
            continue
        cols = np.zeros(16, np.int64)
        cols[0] = a
        cols[1] = b
        row = 2
        cols[2] = -1
        cnt = 0
        while row >= 2:
            cols[row] += 1
            ok = False
            while cols[row] < n and not ok:
                ok = True
                for r in range(row):
                    if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                        ok = False
                        break
                if not ok:
                    cols[row] += 1
            if cols[row] >= n:
                row -= 1
            elif row == n - 1:
                cnt += 1
            else:
                row += 1
                cols[row] = -1
        o[s] = cnt


@program("cumulative product returns", lambda n: (0.01 * (f8(n, 500) - 0.5), zeros((n, 500))), 60, 20_000)
def cumret(r, o):
    for j in range(r.shape[1]):
        v = 1.0
        for i in range(r.shape[0]):
            v *= 1.0 + r[i, j]
            o[i, j] = v - 1.0


@program("median of rows of 9", lambda n: (f8(n, 9), zeros(n)), 100, 2_000_000)
def med9(x, o):
    for i in range(x.shape[0]):
        t = np.empty(9)
        for k in range(9):
            t[k] = x[i, k]
        for a in range(1, 9):
            v = t[a]
            b = a - 1
            while b >= 0 and t[b] > v:
                t[b + 1] = t[b]
                b -= 1
            t[b + 1] = v
        o[i] = t[4]


@program(
    "quantised matrix-vector",
    lambda n: (
        np.random.default_rng(1).integers(-127, 128, (n, n)).astype(np.int8),
        np.random.default_rng(2).integers(-127, 128, n).astype(np.int8),
        f4(n),
        zeros(n, np.float32),
    ),
    60,
    16384,
)
def qmv(w, x, s, o):
    for i in range(w.shape[0]):
        t = 0
        for j in range(w.shape[1]):
            t += np.int32(w[i, j]) * np.int32(x[j])
        o[i] = t * s[i]


@program("particles deposited, 4 corners", lambda n: (f8(n, 2) * 254, f8(n), zeros((256, 256))), 500, 8_000_000)
def deposit(p, q, g):
    for i in range(p.shape[0]):
        x = int(p[i, 0])
        y = int(p[i, 1])
        fx = p[i, 0] - x
        fy = p[i, 1] - y
        g[x, y] += q[i] * (1 - fx) * (1 - fy)
        g[x + 1, y] += q[i] * fx * (1 - fy)
        g[x, y + 1] += q[i] * (1 - fx) * fy
        g[x + 1, y + 1] += q[i] * fx * fy


@program("variogram", lambda n: (f8(n, 2), f8(n), zeros(32), zeros(32, np.int64)), 80, 8000)
def variogram(p, z, s, c):
    n = len(z)
    for i in range(n):
        for j in range(i + 1, n):
            d = math.sqrt((p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2)
            b = int(d * 32 / 1.5)
            if b < 32:
                s[b] += (z[i] - z[j]) ** 2
                c[b] += 1


@program("dot of complex, scaled", lambda n: (f8(n) + 1j * f8(n), f8(n) - 1j * f8(n)), 500, 20_000_000)
def cdot(a, b):
    s = 0j
    for i in range(len(a)):
        s += a[i].conjugate() * b[i]
    return s


@program("gradient expression", lambda n: (f8(n, n), f8(n, n)), 40, 4096)
def gradient(a, b):
    gx = (a[2:, 1:-1] - a[:-2, 1:-1]) * 0.5
    gy = (a[1:-1, 2:] - a[1:-1, :-2]) * 0.5
    b[1:-1, 1:-1] = np.sqrt(gx * gx + gy * gy)
    return b.max()


@program("standardised columns, expression", lambda n: (f8(n, 200),), 60, 100_000)
def standard(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


@program("softmax rows, expression", lambda n: (f4(n, 1000),), 20, 20_000)
def smax(x):
    e = np.exp(x - x.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


@program("pairwise distances, broadcast", lambda n: (f4(n, 3), f4(n, 3)), 40, 8192)
def pdist(a, b):
    d = a[:, None, :] - b[None, :, :]
    return np.sqrt((d * d).sum(axis=2))


@program("where and count", lambda n: (f8(n),), 900, 50_000_000)
def wcount(x):
    y = np.where(x > 0.5, x * 2.0, -x)
    return y.sum(), (y > 0).sum(), y.min()
