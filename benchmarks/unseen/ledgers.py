"""A quarter of a twentieth set, written without a look at the recipe: reads, spreads, meshes, systems and claims."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def reads(r):
    m, n = (10, 14) if r < 100 else (64, 96)
    rng = np.random.default_rng(27)
    hap = rng.integers(0, 4, (r, n)).astype(np.uint8)
    read = hap[:, 5 : 5 + m].copy() if m + 5 <= n else hap[:, :m].copy()
    wrong = rng.random(read.shape) < 0.05
    read[wrong] = (read[wrong] + 1) % 4
    return read, rng.integers(10, 41, (r, m)).astype(np.int32), hap, 0.001, 0.1, zeros(r)


@program("reads beside haplotypes, a pair HMM forward", reads, 8, 30_000)
def pair_hmm(read, quality, haplotype, opened, extended, likelihood):
    m, n = read.shape[1], haplotype.shape[1]
    for r in range(read.shape[0]):
        match = np.zeros(n + 1)
        insert = np.zeros(n + 1)
        delete = np.zeros(n + 1)
        for j in range(n + 1):
            delete[j] = 1.0 / n
        for i in range(m):
            wrong = 10.0 ** (-quality[r, i] / 10.0)
            m_before, i_before, d_before = match[0], insert[0], delete[0]
            match[0] = 0.0
            insert[0] = 0.0
            delete[0] = 0.0
            for j in range(1, n + 1):
                p = 1.0 - wrong if read[r, i] == haplotype[r, j - 1] else wrong / 3.0
                m_new = p * ((1.0 - 2.0 * opened) * m_before + (1.0 - extended) * (i_before + d_before))
                m_before, i_before, d_before = match[j], insert[j], delete[j]
                insert[j] = opened * match[j] + extended * insert[j]
                match[j] = m_new
                delete[j] = opened * match[j - 1] + extended * delete[j - 1]
        total = 0.0
        for j in range(1, n + 1):
            total += match[j] + insert[j]
        likelihood[r] = math.log10(total)


def spreads(n):
    years = np.array([1.0, 3.0, 5.0, 7.0, 10.0])
    return np.cumsum(0.002 + 0.004 * f8(n, 5), 1), years, 0.03, 0.4, zeros((n, 5))


@program("hazards out of spreads, one maturity after another, halving", spreads, 3, 20_000)
def hazards(spread, years, rate, recovery, hazard):
    for name in range(spread.shape[0]):
        for k in range(len(years)):
            low = 0.0
            high = 2.0
            while high - low > 1e-10:
                middle = 0.5 * (low + high)
                hazard[name, k] = middle
                alive = 1.0
                paid = 0.0
                lost = 0.0
                segment = 0
                for quarter in range(int(4 * years[k])):
                    t = 0.25 * (quarter + 1)
                    while t > years[segment] + 1e-9:
                        segment += 1
                    next_alive = alive * math.exp(-0.25 * hazard[name, segment])
                    discount = math.exp(-rate * t)
                    paid += 0.25 * discount * 0.5 * (alive + next_alive)
                    lost += discount * (alive - next_alive)
                    alive = next_alive
                if spread[name, k] * paid > (1.0 - recovery) * lost:
                    low = middle
                else:
                    high = middle


def walks(n):
    t = 64 if n < 100 else 512
    breaks = np.array([-1.15, -0.67, -0.32, 0.0, 0.32, 0.67, 1.15])
    return np.cumsum(f8(n, t) - 0.5, 1), breaks, np.cumsum(f8(t) - 0.5), zeros(n, np.int64), zeros(n)


@program("series written in letters, SAX, and their distance to one", walks, 20, 50_000)
def sax(series, breaks, query, word, distance):
    rows, n = series.shape
    size = n // 16
    letters = np.zeros(16, np.int64)
    mean = 0.0
    for t in range(n):
        mean += query[t]
    mean /= n
    spread = 0.0
    for t in range(n):
        spread += (query[t] - mean) ** 2
    spread = math.sqrt(spread / n)
    for s in range(16):
        part = 0.0
        for t in range(s * size, (s + 1) * size):
            part += (query[t] - mean) / spread
        while letters[s] < len(breaks) and breaks[letters[s]] < part / size:
            letters[s] += 1
    for r in range(rows):
        mean = 0.0
        square = 0.0
        for t in range(n):
            mean += series[r, t]
            square += series[r, t] * series[r, t]
        mean /= n
        spread = math.sqrt(max(square / n - mean * mean, 1e-12))
        code = 0
        total = 0.0
        for s in range(16):
            part = 0.0
            for t in range(size):
                part += series[r, s * size + t]
            part = (part / size - mean) / spread
            letter = 0
            for b in range(len(breaks)):
                if part > breaks[b]:
                    letter = b + 1
                else:
                    break
            code = code << 3 | letter
            if abs(letter - letters[s]) > 1:
                gap = breaks[max(letter, letters[s]) - 1] - breaks[min(letter, letters[s])]
                total += gap * gap
        word[r] = code
        distance[r] = math.sqrt(size * total)


def mesh(n):
    m = 12 if n < 1000 else 500
    rng = np.random.default_rng(28)
    corner = rng.random((m, 1, 3)) + 0.15 * rng.normal(size=(m, 3, 3))
    return rng.random((n, 3)) * 1.4 - 0.2, corner, zeros(n), zeros(n, np.int32)


@program("distance to a mesh, the nearest point of triangles", mesh, 40, 50_000)
def mesh_distance(point, corner, distance, nearest):
    for i in range(point.shape[0]):
        best = np.inf
        for f in range(corner.shape[0]):
            ab = np.zeros(3)
            ac = np.zeros(3)
            ap = np.zeros(3)
            d1 = d2 = d3 = d4 = d5 = d6 = 0.0
            for k in range(3):
                ab[k] = corner[f, 1, k] - corner[f, 0, k]
                ac[k] = corner[f, 2, k] - corner[f, 0, k]
                ap[k] = point[i, k] - corner[f, 0, k]
                d1 += ab[k] * ap[k]
                d2 += ac[k] * ap[k]
                d3 += ab[k] * (point[i, k] - corner[f, 1, k])
                d4 += ac[k] * (point[i, k] - corner[f, 1, k])
                d5 += ab[k] * (point[i, k] - corner[f, 2, k])
                d6 += ac[k] * (point[i, k] - corner[f, 2, k])
            va = d3 * d6 - d5 * d4
            vb = d5 * d2 - d1 * d6
            vc = d1 * d4 - d3 * d2
            if d1 <= 0.0 and d2 <= 0.0:
                v, w = 0.0, 0.0
            elif d3 >= 0.0 and d4 <= d3:
                v, w = 1.0, 0.0
            elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
                v, w = d1 / (d1 - d3), 0.0
            elif d6 >= 0.0 and d5 <= d6:
                v, w = 0.0, 1.0
            elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
                v, w = 0.0, d2 / (d2 - d6)
            elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
                w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
                v = 1.0 - w
            else:
                v, w = vb / (va + vb + vc), vc / (va + vb + vc)
            square = 0.0
            for k in range(3):
                square += (ap[k] - v * ab[k] - w * ac[k]) ** 2
            if square < best:
                best = square
                nearest[i] = f
        distance[i] = math.sqrt(best)


@program(
    "segments that cross each other, counted for each",
    lambda n: (
        np.random.default_rng(29).integers(0, 1000, (n, 1, 2))
        + np.random.default_rng(30).integers(-150, 151, (n, 2, 2)),
        zeros(n, np.int32),
    ),
    60,
    16_384,
)
def crossings(segment, count):
    n = segment.shape[0]
    total = 0
    for i in range(n):
        for j in range(i + 1, n):
            ax, ay, bx, by = segment[i, 0, 0], segment[i, 0, 1], segment[i, 1, 0], segment[i, 1, 1]
            cx, cy, dx, dy = segment[j, 0, 0], segment[j, 0, 1], segment[j, 1, 0], segment[j, 1, 1]
            if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
                continue
            if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
                continue
            c_side = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            d_side = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
            a_side = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
            b_side = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
            if (c_side > 0) != (d_side > 0) and (a_side > 0) != (b_side > 0):
                count[i] += 1
                count[j] += 1
                total += 1
    return total


def seven(n):
    side = round(n ** (1 / 3))
    offsets = np.array([-side * side, -side, -1, 0, 1, side, side * side])
    data = -0.5 - 0.5 * np.random.default_rng(31).random((7, side**3))
    data[3] = 7.0
    return offsets, data, f8(side**3), 1.0, 14.0, 6, zeros(side**3)


@program("seven diagonals, smoothed after Chebyshev", seven, 125, 2_097_152)
def chebyshev(offset, data, b, low, high, steps, x):
    n = len(b)
    centre = (high + low) / 2.0
    radius = (high - low) / 2.0
    p = np.zeros(n)
    r = np.zeros(n)
    alpha = 0.0
    for step in range(steps):
        for i in range(n):
            r[i] = b[i]
        for d in range(len(offset)):
            for i in range(n):
                j = i + offset[d]
                if j >= 0 and j < n:
                    r[i] -= data[d, i] * x[j]
        if step == 0:
            beta = 0.0
            alpha = 1.0 / centre
        else:
            beta = 0.5 * (radius * alpha) ** 2 if step == 1 else (0.5 * radius * alpha) ** 2
            alpha = 1.0 / (centre - beta / alpha)
        for i in range(n):
            p[i] = r[i] + beta * p[i]
            x[i] += alpha * p[i]
    most = 0.0
    for i in range(n):
        most = max(most, abs(r[i]))
    return most


@program(
    "systems of twelve, many, pivots sought",
    lambda n: (f8(n, 12, 12) - 0.5, f8(n, 12), zeros((n, 12)), zeros(n)),
    8,
    60_000,
)
def pivoted(a, b, x, determinant):
    n = a.shape[1]
    for s in range(a.shape[0]):
        m = np.zeros((n, n + 1))
        for i in range(n):
            for j in range(n):
                m[i, j] = a[s, i, j]
            m[i, n] = b[s, i]
        det = 1.0
        for c in range(n):
            pivot = c
            for i in range(c + 1, n):
                if abs(m[i, c]) > abs(m[pivot, c]):
                    pivot = i
            if pivot != c:
                det = -det
                for j in range(n + 1):
                    t = m[c, j]
                    m[c, j] = m[pivot, j]
                    m[pivot, j] = t
            det *= m[c, c]
            for i in range(c + 1, n):
                f = m[i, c] / m[c, c]
                for j in range(c, n + 1):
                    m[i, j] -= f * m[c, j]
        determinant[s] = det
        for i in range(n - 1, -1, -1):
            total = m[i, n]
            for j in range(i + 1, n):
                total -= m[i, j] * x[s, j]
            x[s, i] = total / m[i, i]


@program(
    "a product of Kronecker applied to many vectors",
    lambda n: (
        f4(6, 6) if n < 100 else f4(24, 24),
        f8(6, 6) if n < 100 else f8(24, 24),
        f8(n, 36 if n < 100 else 576),
        zeros((n, 36 if n < 100 else 576)),
    ),
    10,
    4096,
)
def kronecker(a, b, x, y):
    p, k_size = a.shape
    q, l_size = b.shape
    for k in range(k_size):
        for m in range(l_size):
            for i in range(p):
                for j in range(q):
                    for v in range(x.shape[0]):
                        y[v, i * q + j] += a[i, k] * b[j, m] * x[v, k * l_size + m]


@program(
    "ruin of insurers, claims from an own generator",
    lambda n: (20.0, 12.0, 10.0, 3.0, 8.0, zeros(n), zeros(64, np.int64)),
    300,
    4_000_000,
)
def ruin(capital, premium, often, tail, horizon, when, deficit):
    ruined = 0
    for i in range(len(when)):
        state = (i * 2654435761 + 97531) & 0xFFFFFFFF
        t = 0.0
        paid = 0.0
        when[i] = -1.0
        while True:
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            z = ((state ^ (state >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            u = ((z ^ (z >> 16)) + 0.5) / 4294967296.0
            t -= math.log(u) / often
            if t > horizon:
                break
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            z = ((state ^ (state >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            u = ((z ^ (z >> 16)) + 0.5) / 4294967296.0
            paid += u ** (-1.0 / tail) - 0.5
            left = capital + premium * t - paid
            if left < 0.0:
                when[i] = t
                ruined += 1
                deficit[min(63, int(-4.0 * left))] += 1
                break
    return ruined / len(when)


@program(
    "orders of products of many matrices, the cheapest",
    lambda n: (whole(60, n, 9 if n < 100 else 25) + 5, zeros(n, np.int64), zeros(n, np.int32)),
    12,
    30_000,
)
def matrix_order(size, cost, last):
    n = size.shape[1] - 1
    for c in range(size.shape[0]):
        best = np.zeros((n, n), np.int64)
        cut = np.zeros((n, n), np.int32)
        for length in range(2, n + 1):
            for i in range(n - length + 1):
                j = i + length - 1
                best[i, j] = 9_000_000_000_000
                for k in range(i, j):
                    t = best[i, k] + best[k + 1, j] + size[c, i] * size[c, k + 1] * size[c, j + 1]
                    if t < best[i, j]:
                        best[i, j] = t
                        cut[i, j] = k
        cost[c] = best[0, n - 1]
        last[c] = cut[0, n - 1]
