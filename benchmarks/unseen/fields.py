"""Grids, images, sparse matrices, graphs, particles."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "life with wrap",
    lambda n: (np.random.default_rng(1).integers(0, 2, (n, n)).astype(np.int8), zeros((n, n), np.int8)),
    33,
    8192,
)
def life(a, b):
    n = a.shape[0]
    m = a.shape[1]
    for i in range(n):
        for j in range(m):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    if di != 0 or dj != 0:
                        s += a[(i + di) % n, (j + dj) % m]
            b[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0


@program(
    "Ising half sweep",
    lambda n: ((2 * np.random.default_rng(1).integers(0, 2, (n, n)) - 1).astype(np.int8), f4(n, n)),
    32,
    8192,
)
def ising(s, u):
    n = s.shape[0]
    for i in range(n):
        for j in range(n):
            if (i + j) % 2 == 0:
                h = s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % n] + s[i, j - 1]
                d = 2.0 * s[i, j] * h
                if d <= 0.0 or u[i, j] < math.exp(-0.44 * d):
                    s[i, j] = -s[i, j]


@program(
    "LBM D2Q9",
    lambda n: (
        f8(9, n, n),
        zeros((9, n, n)),
        np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]),
        np.array([0, 0, 1, 0, -1, 1, 1, -1, -1]),
        np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4),
    ),
    20,
    2048,
)
def lbm(f, g, cx, cy, w):
    n = f.shape[1]
    m = f.shape[2]
    for i in range(n):
        for j in range(m):
            rho = 0.0
            ux = 0.0
            uy = 0.0
            for q in range(9):
                v = f[q, (i - cx[q]) % n, (j - cy[q]) % m]
                rho += v
                ux += cx[q] * v
                uy += cy[q] * v
            ux /= rho
            uy /= rho
            for q in range(9):
                cu = cx[q] * ux + cy[q] * uy
                eq = w[q] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
                v = f[q, (i - cx[q]) % n, (j - cy[q]) % m]
                g[q, i, j] = v - 0.6 * (v - eq)


@program(
    "COO scatter add", lambda n: (whole(n // 8, n), whole(n // 8, n), f8(n), f8(n // 8), zeros(n // 8)), 800, 16_000_000
)
def coo(r, c, v, x, y):
    for k in range(len(v)):
        y[r[k]] += v[k] * x[c[k]]


@program(
    "CSC times vector",
    lambda n: (np.arange(0, 8 * n + 1, 8), whole(n, 8 * n), f8(8 * n), f8(n), zeros(n)),
    200,
    2_000_000,
)
def csc(p, r, v, x, y):
    for j in range(len(x)):
        for k in range(p[j], p[j + 1]):
            y[r[k]] += v[k] * x[j]


@program(
    "diagonals times vector",
    lambda n: (f8(7, n), np.array([-100, -10, -1, 0, 1, 10, 100]), f8(n), zeros(n)),
    500,
    8_000_000,
)
def dia(d, o, x, y):
    n = len(x)
    for i in range(n):
        s = 0.0
        for k in range(d.shape[0]):
            j = i + o[k]
            if 0 <= j < n:
                s += d[k, i] * x[j]
        y[i] = s


@program("2-D histogram", lambda n: (f8(n), f8(n), zeros((128, 128), np.int64)), 1000, 20_000_000)
def hist2(x, y, h):
    for i in range(len(x)):
        h[int(x[i] * 128), int(y[i] * 128)] += 1


@program("bins by binary search", lambda n: (f8(n), np.sort(f8(1000)), zeros(1001, np.int64)), 1000, 10_000_000)
def bins(x, e, h):
    for i in range(len(x)):
        lo = 0
        hi = len(e)
        while lo < hi:
            mid = (lo + hi) // 2
            if e[mid] <= x[i]:
                lo = mid + 1
            else:
                hi = mid
        h[lo] += 1


@program("interpolation in a table", lambda n: (f8(n), np.sort(f8(4096)), f8(4096), zeros(n)), 1000, 20_000_000)
def interp(q, x, y, o):
    for i in range(len(q)):
        lo = 0
        hi = len(x) - 1
        if q[i] <= x[0]:
            o[i] = y[0]
        elif q[i] >= x[hi]:
            o[i] = y[hi]
        else:
            while hi - lo > 1:
                m = (lo + hi) >> 1
                if x[m] <= q[i]:
                    lo = m
                else:
                    hi = m
            t = (q[i] - x[lo]) / (x[hi] - x[lo])
            o[i] = y[lo] + t * (y[hi] - y[lo])


@program(
    "pattern in bytes",
    lambda n: (
        np.random.default_rng(1).integers(97, 101, n).astype(np.uint8),
        np.frombuffer(b"abcdabca", np.uint8).copy(),
        zeros(n, np.bool_),
    ),
    2000,
    100_000_000,
)
def pattern(t, p, o):
    for i in range(len(t) - len(p) + 1):
        ok = True
        for k in range(len(p)):
            if t[i + k] != p[k]:
                ok = False
                break
        o[i] = ok


@program("k nearest, k = 5", lambda n: (f4(n, 3), f4(n, 3), zeros((n, 5), np.int64)), 120, 16384)
def knn(q, p, o):
    for i in range(q.shape[0]):
        bd = np.full(5, 1e30)
        bi = np.zeros(5, np.int64)
        for j in range(p.shape[0]):
            d = 0.0
            for c in range(3):
                d += (q[i, c] - p[j, c]) ** 2
            if d < bd[4]:
                k = 4
                while k > 0 and bd[k - 1] > d:
                    bd[k] = bd[k - 1]
                    bi[k] = bi[k - 1]
                    k -= 1
                bd[k] = d
                bi[k] = j
        for c in range(5):
            o[i, c] = bi[c]


@program("binomial options, 255 steps", lambda n: (50 + 50 * f8(n), 60 + 40 * f8(n), zeros(n)), 30, 20000)
def binomial(s, k, o):
    N = 255
    for i in range(len(s)):
        v = np.empty(N + 1)
        u = math.exp(0.3 * math.sqrt(1.0 / N))
        d = 1 / u
        a = math.exp(0.05 / N)
        p = (a - d) / (u - d)
        disc = 1 / a
        for j in range(N + 1):
            x = s[i] * u ** (2 * j - N) - k[i]
            v[j] = x if x > 0 else 0.0
        for t in range(N, 0, -1):
            for j in range(t):
                v[j] = disc * (p * v[j + 1] + (1 - p) * v[j])
        o[i] = v[0]


@program(
    "spheres and rays",
    lambda n: (f4(n, n, 3) - 0.5, f4(64, 4), zeros((n, n), np.float32), zeros((n, n), np.int32)),
    20,
    1024,
)
def spheres(d, s, depth, hit):
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            best = 1e30
            k0 = -1
            for k in range(s.shape[0]):
                b = d[i, j, 0] * s[k, 0] + d[i, j, 1] * s[k, 1] + d[i, j, 2] * s[k, 2]
                c = s[k, 0] ** 2 + s[k, 1] ** 2 + s[k, 2] ** 2 - 0.01 * s[k, 3]
                q = b * b - c
                if q > 0:
                    t = b - math.sqrt(q)
                    if t > 0 and t < best:
                        best = t
                        k0 = k
            depth[i, j] = best
            hit[i, j] = k0


@program(
    "Sobel magnitude",
    lambda n: (np.random.default_rng(1).integers(0, 256, (n, n)).astype(np.uint8), zeros((n, n), np.uint8)),
    40,
    8192,
)
def sobel(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            gx = (np.int32(a[i - 1, j + 1]) + 2 * np.int32(a[i, j + 1]) + a[i + 1, j + 1]) - (
                np.int32(a[i - 1, j - 1]) + 2 * np.int32(a[i, j - 1]) + a[i + 1, j - 1]
            )
            gy = (np.int32(a[i + 1, j - 1]) + 2 * np.int32(a[i + 1, j]) + a[i + 1, j + 1]) - (
                np.int32(a[i - 1, j - 1]) + 2 * np.int32(a[i - 1, j]) + a[i - 1, j + 1]
            )
            m = math.sqrt(gx * gx + gy * gy)
            o[i, j] = 255 if m > 255 else int(m)


@program(
    "Hough transform",
    lambda n: (
        np.random.default_rng(1).random((n, n)) < 0.02,
        np.cos(np.linspace(0, math.pi, 180)),
        np.sin(np.linspace(0, math.pi, 180)),
        zeros((180, 4 * n), np.int32),
    ),
    50,
    2048,
)
def hough(e, c, s, acc):
    for i in range(e.shape[0]):
        for j in range(e.shape[1]):
            if e[i, j]:
                for t in range(180):
                    r = int(i * c[t] + j * s[t]) + 2 * e.shape[0] - e.shape[0] // 2
                    acc[t, r] += 1


@program("integral image", lambda n: (f4(n, n), zeros((n + 1, n + 1))), 40, 4096)
def integral(a, o):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            o[i + 1, j + 1] = o[i, j + 1] + s


@program("integral image, two loops", lambda n: (f4(n, n), zeros((n, n))), 40, 4096)
def integral2(a, o):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            o[i, j] = s
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            o[i, j] += o[i - 1, j]


@program(
    "dilation, radius given",
    lambda n: (np.random.default_rng(1).integers(0, 256, (n, n)).astype(np.uint8), 5, zeros((n, n), np.uint8)),
    40,
    4096,
)
def dilate(a, r, o):
    n = a.shape[0]
    m = a.shape[1]
    for i in range(n):
        for j in range(m):
            v = 0
            for di in range(-r, r + 1):
                for dj in range(-r, r + 1):
                    y = min(max(i + di, 0), n - 1)
                    x = min(max(j + dj, 0), m - 1)
                    if a[y, x] > v:
                        v = a[y, x]
            o[i, j] = v


@program("demosaic", lambda n: (f4(n, n), zeros((n, n, 3), np.float32)), 40, 4096)
def demosaic(a, o):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            h = 0.5 * (a[i, j - 1] + a[i, j + 1])
            v = 0.5 * (a[i - 1, j] + a[i + 1, j])
            x = 0.25 * (a[i - 1, j - 1] + a[i - 1, j + 1] + a[i + 1, j - 1] + a[i + 1, j + 1])
            if i % 2 == 0 and j % 2 == 0:
                o[i, j, 0] = a[i, j]
                o[i, j, 1] = 0.5 * (h + v)
                o[i, j, 2] = x
            elif i % 2 == 1 and j % 2 == 1:
                o[i, j, 0] = x
                o[i, j, 1] = 0.5 * (h + v)
                o[i, j, 2] = a[i, j]
            elif i % 2 == 0:
                o[i, j, 0] = h
                o[i, j, 1] = a[i, j]
                o[i, j, 2] = v
            else:
                o[i, j, 0] = v
                o[i, j, 1] = a[i, j]
                o[i, j, 2] = h


@program("image rotated", lambda n: (f4(n, n, 3), 0.3, zeros((n, n, 3), np.float32)), 40, 4096)
def rotate(a, t, o):
    n = a.shape[0]
    c = math.cos(t)
    s = math.sin(t)
    for i in range(n):
        for j in range(n):
            y = c * (i - n / 2) + s * (j - n / 2) + n / 2
            x = -s * (i - n / 2) + c * (j - n / 2) + n / 2
            y0 = math.floor(y)
            x0 = math.floor(x)
            if 0 <= y0 < n - 1 and 0 <= x0 < n - 1:
                fy = y - y0
                fx = x - x0
                for k in range(3):
                    o[i, j, k] = (1 - fy) * ((1 - fx) * a[y0, x0, k] + fx * a[y0, x0 + 1, k]) + fy * (
                        (1 - fx) * a[y0 + 1, x0, k] + fx * a[y0 + 1, x0 + 1, k]
                    )


@program(
    "labels spread, one sweep",
    lambda n: (np.random.default_rng(1).random((n, n)) < 0.6, np.arange(n * n).reshape(n, n), zeros((n, n), np.int64)),
    40,
    4096,
)
def labels(m, a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            v = a[i, j]
            if m[i, j]:
                if i > 0 and m[i - 1, j]:
                    v = min(v, a[i - 1, j])
                if i < n - 1 and m[i + 1, j]:
                    v = min(v, a[i + 1, j])
                if j > 0 and m[i, j - 1]:
                    v = min(v, a[i, j - 1])
                if j < n - 1 and m[i, j + 1]:
                    v = min(v, a[i, j + 1])
            b[i, j] = v


@program(
    "PageRank sweep, pull",
    lambda n: (np.arange(0, 10 * n + 1, 10), whole(n, 10 * n), 1 + whole(20, n), f8(n), zeros(n)),
    300,
    2_000_000,
)
def pagerank(p, c, deg, r, o):
    n = len(r)
    for i in range(n):
        s = 0.0
        for k in range(p[i], p[i + 1]):
            s += r[c[k]] / deg[c[k]]
        o[i] = 0.15 / n + 0.85 * s


@program(
    "triangles of a graph",
    lambda n: (np.arange(0, 16 * n + 1, 16), np.sort(whole(n, n, 16), axis=1).ravel(), zeros(n, np.int64)),
    60,
    200_000,
)
def triangles(p, c, o):
    for i in range(len(o)):
        t = 0
        for k in range(p[i], p[i + 1]):
            j = c[k]
            a = p[i]
            b = p[j]
            while a < p[i + 1] and b < p[j + 1]:
                if c[a] == c[b]:
                    t += 1
                    a += 1
                    b += 1
                elif c[a] < c[b]:
                    a += 1
                else:
                    b += 1
        o[i] = t


@program(
    "edges relaxed",
    lambda n: (whole(n // 8, n), whole(n // 8, n), f8(n), f8(n // 8) * 9, np.full(n // 8, 99.0)),
    800,
    16_000_000,
)
def relax(u, v, w, d, o):
    for k in range(len(u)):
        x = d[u[k]] + w[k]
        if x < o[v[k]]:
            o[v[k]] = x


@program(
    "breadth-first queue",
    lambda n: (np.arange(0, 8 * n + 1, 8), whole(n, 8 * n), np.full(n, -1), zeros(n, np.int64)),
    200,
    1_000_000,
)
def bfs(p, c, level, queue):
    queue[0] = 0
    level[0] = 0
    head = 0
    tail = 1
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(p[u], p[u + 1]):
            v = c[k]
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return tail


@program("FDTD 3-D, E update", lambda n: (f4(n, n, n), f4(n, n, n), f4(n, n, n), f4(n, n, n), f4(n, n, n)), 14, 384)
def fdtd(ex, hy, hz, ca, cb):
    for i in range(ex.shape[0]):
        for j in range(1, ex.shape[1]):
            for k in range(1, ex.shape[2]):
                ex[i, j, k] = ca[i, j, k] * ex[i, j, k] + cb[i, j, k] * (
                    (hz[i, j, k] - hz[i, j - 1, k]) - (hy[i, j, k] - hy[i, j, k - 1])
                )


@program(
    "shallow water step",
    lambda n: (1 + f8(n, n), f8(n, n), f8(n, n), zeros((n, n)), zeros((n, n)), zeros((n, n))),
    30,
    4096,
)
def shallow(h, u, v, h2, u2, v2):
    n = h.shape[0]
    m = h.shape[1]
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            h2[i, j] = h[i, j] - 0.05 * (
                h[i + 1, j] * u[i + 1, j]
                - h[i - 1, j] * u[i - 1, j]
                + h[i, j + 1] * v[i, j + 1]
                - h[i, j - 1] * v[i, j - 1]
            )
            u2[i, j] = u[i, j] - 0.05 * (
                9.8 * (h[i + 1, j] - h[i - 1, j])
                + u[i, j] * (u[i + 1, j] - u[i - 1, j])
                + v[i, j] * (u[i, j + 1] - u[i, j - 1])
            )
            v2[i, j] = v[i, j] - 0.05 * (
                9.8 * (h[i, j + 1] - h[i, j - 1])
                + u[i, j] * (v[i + 1, j] - v[i - 1, j])
                + v[i, j] * (v[i, j + 1] - v[i, j - 1])
            )


@program("ADI half step", lambda n: (f8(n, n), zeros((n, n)), zeros((n, n))), 24, 4096)
def adi(u, p, q):
    n = u.shape[0]
    for i in range(1, n - 1):
        p[i, 0] = 0.0
        q[i, 0] = 1.0
        for j in range(1, n - 1):
            d = 1.0 / (2.2 - 0.1 * p[i, j - 1])
            p[i, j] = 0.1 * d
            q[i, j] = (u[i - 1, j] + u[i + 1, j] - 1.8 * u[i, j] + 0.1 * q[i, j - 1]) * d
        u2 = 1.0
        for j in range(n - 2, 0, -1):
            u2 = p[i, j] * u2 + q[i, j]
            q[i, j] = u2


@program("upwind advection, 100 steps", lambda n: (f8(n), zeros(n), 100), 500, 4_000_000)
def upwind(u, v, steps):
    n = len(u)
    for _ in range(steps):
        for i in range(1, n):
            v[i] = u[i] - 0.4 * (u[i] - u[i - 1])
        v[0] = v[n - 1]
        for i in range(n):
            u[i] = v[i]


@program("SPH density, cells", lambda n: (f8(n, 2), np.arange(0, n + 1, max(1, n // 1024)), zeros(n)), 2048, 262144)
def sph(p, starts, rho):
    nc = len(starts) - 1
    for c in range(nc):
        for i in range(starts[c], starts[c + 1]):
            s = 0.0
            for dc in range(-1, 2):
                cc = c + dc
                if 0 <= cc < nc:
                    for j in range(starts[cc], starts[cc + 1]):
                        d = (p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2
                        if d < 0.01:
                            s += (0.01 - d) ** 3
            rho[i] = s
