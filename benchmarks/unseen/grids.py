"""The rest of the fifth set: meshes and particles, pictures, sparse matrices, series and paths."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "fluxes over edges of a mesh",
    lambda n: (whole(n, 3 * n), whole(n, 3 * n), f8(n, 4), f8(3 * n, 2), zeros((n, 4))),
    20,
    500_000,
)
def edge_fluxes(left, right, u, normal, r):
    for e in range(left.shape[0]):
        a = left[e]
        b = right[e]
        for c in range(4):
            f = 0.5 * (u[a, c] + u[b, c]) * normal[e, 0] - 0.5 * abs(normal[e, 1]) * (u[b, c] - u[a, c])
            r[a, c] -= f
            r[b, c] += f


@program(
    "neighbour lists by cells",
    lambda n: (f8(n, 2), 0.5 / math.sqrt(n), np.full((n, 64), -1), np.zeros(n, np.int64)),
    50,
    200_000,
)
def neighbour_lists(x, cut, lists, found):
    n = x.shape[0]
    m = max(1, int(1.0 / cut))
    count = np.zeros(m * m + 1, np.int64)
    cell = np.empty(n, np.int64)
    for i in range(n):
        cell[i] = min(int(x[i, 0] * m), m - 1) * m + min(int(x[i, 1] * m), m - 1)
        count[cell[i] + 1] += 1
    for c in range(m * m):
        count[c + 1] += count[c]
    place = count[:-1].copy()
    order = np.empty(n, np.int64)
    for i in range(n):
        order[place[cell[i]]] = i
        place[cell[i]] += 1
    for i in range(n):
        cx = cell[i] // m
        cy = cell[i] % m
        k = 0
        for a in range(max(0, cx - 1), min(m, cx + 2)):
            for b in range(max(0, cy - 1), min(m, cy + 2)):
                for s in range(count[a * m + b], count[a * m + b + 1]):
                    j = order[s]
                    if j != i:
                        d = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2
                        if d < cut * cut and k < lists.shape[1]:
                            lists[i, k] = j
                            k += 1
        found[i] = k


@program("bonds of a chain, forces", lambda n: (f8(n, 3), zeros((n, 3)), 100.0, 0.5), 30, 1_000_000)
def bonds(x, f, k, length):
    energy = 0.0
    for i in range(x.shape[0] - 1):
        dx = x[i + 1, 0] - x[i, 0]
        dy = x[i + 1, 1] - x[i, 1]
        dz = x[i + 1, 2] - x[i, 2]
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        g = k * (r - length) / r
        f[i, 0] += g * dx
        f[i, 1] += g * dy
        f[i, 2] += g * dz
        f[i + 1, 0] -= g * dx
        f[i + 1, 1] -= g * dy
        f[i + 1, 2] -= g * dz
        energy += 0.5 * k * (r - length) ** 2
    return energy


@program("elastic wave with absorbing border", lambda n: (zeros((n, n)), zeros((n, n)), f8(n, n), 20), 12, 2000)
def elastic(p, before, c, steps):
    n, m = p.shape
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                lap = p[i + 1, j] + p[i - 1, j] + p[i, j + 1] + p[i, j - 1] - 4 * p[i, j]
                before[i, j] = 2 * p[i, j] - before[i, j] + 0.2 * c[i, j] * lap
        before[n // 2, m // 2] += math.sin(0.3 * t)
        for i in range(n):
            before[i, 0] *= 0.9
            before[i, m - 1] *= 0.9
        for j in range(m):
            before[0, j] *= 0.9
            before[n - 1, j] *= 0.9
        p, before = before, p
    return p


@program(
    "multigrid, one V",
    lambda n: (
        f8((1 << n) + 1, (1 << n) + 1),
        f8((1 << n) + 1, (1 << n) + 1),
        zeros(((1 << n - 1) + 1, (1 << n - 1) + 1)),
        zeros(((1 << n - 1) + 1, (1 << n - 1) + 1)),
    ),
    4,
    11,
)
def two_grids(u, f, coarse, e):
    n = u.shape[0]
    m = coarse.shape[0]
    for colour in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                if (i + j) % 2 == colour:
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    for i in range(1, m - 1):
        for j in range(1, m - 1):
            r = 0.0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    x, y = 2 * i + a, 2 * j + b
                    if 0 < x < n - 1 and 0 < y < n - 1:
                        weight = (2 - abs(a)) * (2 - abs(b)) / 16.0
                        r += weight * (f[x, y] - 4 * u[x, y] + u[x - 1, y] + u[x + 1, y] + u[x, y - 1] + u[x, y + 1])
            coarse[i, j] = 4 * r
    for _ in range(10):
        for i in range(1, m - 1):
            for j in range(1, m - 1):
                e[i, j] = 0.25 * (e[i - 1, j] + e[i + 1, j] + e[i, j - 1] + e[i, j + 1] + coarse[i, j])
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            a, b = i // 2, j // 2
            if i % 2 == 0 and j % 2 == 0:
                u[i, j] += e[a, b]
            elif i % 2 == 0:
                u[i, j] += 0.5 * (e[a, b] + e[a, b + 1])
            elif j % 2 == 0:
                u[i, j] += 0.5 * (e[a, b] + e[a + 1, b])
            else:
                u[i, j] += 0.25 * (e[a, b] + e[a + 1, b] + e[a, b + 1] + e[a + 1, b + 1])


@program("bilateral filter", lambda n: (f4(n, n), 4, 0.1, 3.0, zeros((n, n), np.float32)), 12, 1000)
def bilateral(img, radius, sr, ss, o):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            total = 0.0
            weight = 0.0
            for a in range(max(0, i - radius), min(h, i + radius + 1)):
                for b in range(max(0, j - radius), min(w, j + radius + 1)):
                    d = img[a, b] - img[i, j]
                    g = math.exp(-(d * d) / (2 * sr * sr) - ((a - i) ** 2 + (b - j) ** 2) / (2 * ss * ss))
                    total += g * img[a, b]
                    weight += g
            o[i, j] = total / weight


@program("grey levels that occur together", lambda n: (whole(16, n, n), np.zeros((4, 16, 16), np.int64)), 12, 3000)
def cooccurrence(img, o):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            for k, (a, b) in enumerate([(0, 1), (1, 0), (1, 1), (1, -1)]):
                if i + a < h and 0 <= j + b < w:
                    o[k, img[i, j], img[i + a, j + b]] += 1


@program(
    "local contrast in tiles", lambda n: (whole(256, n, n).astype(np.uint8), 8, np.zeros((n, n), np.uint8)), 32, 2048
)
def tile_equalised(img, tile, o):
    h, w = img.shape
    for ti in range(h // tile):
        for tj in range(w // tile):
            hist = np.zeros(256, np.int64)
            for i in range(tile):
                for j in range(tile):
                    hist[img[ti * tile + i, tj * tile + j]] += 1
            total = 0
            for b in range(256):
                total += hist[b]
                hist[b] = total
            for i in range(tile):
                for j in range(tile):
                    o[ti * tile + i, tj * tile + j] = hist[img[ti * tile + i, tj * tile + j]] * 255 // (tile * tile)


@program("distance to the nearest set pixel", lambda n: (whole(50, n, n), zeros((n, n))), 12, 2000)
def distance_transform(img, d):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            d[i, j] = 0.0 if img[i, j] == 0 else 1e6
    for i in range(h):
        for j in range(w):
            if i > 0:
                d[i, j] = min(d[i, j], d[i - 1, j] + 1)
            if j > 0:
                d[i, j] = min(d[i, j], d[i, j - 1] + 1)
    for i in range(h - 1, -1, -1):
        for j in range(w - 1, -1, -1):
            if i < h - 1:
                d[i, j] = min(d[i, j], d[i + 1, j] + 1)
            if j < w - 1:
                d[i, j] = min(d[i, j], d[i, j + 1] + 1)


@program("volume seen along rays", lambda n: (f4(n, n, n), zeros((n, n), np.float32)), 8, 256)
def maximum_projection(v, o):
    for y in range(v.shape[1]):
        for x in range(v.shape[2]):
            colour = 0.0
            light = 1.0
            for z in range(v.shape[0]):
                a = v[z, y, x] * 0.1
                colour += light * a * v[z, y, x]
                light *= 1.0 - a
                if light < 0.01:
                    break
            o[y, x] = colour


@program(
    "sampled dense products",
    lambda n: (np.arange(n + 1) * 8, whole(n, 8 * n), f4(n, 64), f4(n, 64), zeros(8 * n, np.float32)),
    10,
    100_000,
)
def sddmm(ptr, col, a, b, o):
    for i in range(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[col[e], k]
            o[e] = s


@program(
    "softmax over neighbours",
    lambda n: (np.arange(n + 1) * 8, whole(n, 8 * n), f4(8 * n), f4(n, 32), zeros((n, 32), np.float32)),
    10,
    200_000,
)
def graph_attention(ptr, col, score, x, o):
    for i in range(ptr.shape[0] - 1):
        top = -np.inf
        for e in range(ptr[i], ptr[i + 1]):
            top = max(top, score[e])
        total = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            total += math.exp(score[e] - top)
        for c in range(x.shape[1]):
            s = 0.0
            for e in range(ptr[i], ptr[i + 1]):
                s += math.exp(score[e] - top) / total * x[col[e], c]
            o[i, c] = s


@program(
    "block sparse times vector",
    lambda n: (np.arange(n + 1) * 5, whole(n, 5 * n), f8(5 * n, 4, 4), f8(4 * n), zeros(4 * n)),
    10,
    200_000,
)
def block_sparse(ptr, col, val, x, y):
    for i in range(ptr.shape[0] - 1):
        for e in range(ptr[i], ptr[i + 1]):
            for a in range(4):
                for b in range(4):
                    y[4 * i + a] += val[e, a, b] * x[4 * col[e] + b]


@program("conjugate gradients of a grid", lambda n: (f8(n, n), zeros((n, n)), 20), 10, 1500)
def conjugate_gradients(b, x, rounds):
    n = b.shape[0]
    r = b.copy()
    p = b.copy()
    q = np.zeros((n, n))
    rr = 0.0
    for i in range(n):
        for j in range(n):
            rr += r[i, j] * r[i, j]
    for _ in range(rounds):
        pq = 0.0
        for i in range(n):
            for j in range(n):
                s = 4.0 * p[i, j]
                if i > 0:
                    s -= p[i - 1, j]
                if i < n - 1:
                    s -= p[i + 1, j]
                if j > 0:
                    s -= p[i, j - 1]
                if j < n - 1:
                    s -= p[i, j + 1]
                q[i, j] = s
                pq += p[i, j] * s
        alpha = rr / pq
        new = 0.0
        for i in range(n):
            for j in range(n):
                x[i, j] += alpha * p[i, j]
                r[i, j] -= alpha * q[i, j]
                new += r[i, j] * r[i, j]
        beta = new / rr
        rr = new
        for i in range(n):
            for j in range(n):
                p[i, j] = r[i, j] + beta * p[i, j]
    return rr


@program("Asian options, own generator", lambda n: (np.arange(n), 64, 100.0, zeros(n)), 10, 1_000_000)
def asian(seed, steps, strike, o):
    total = 0.0
    for p in range(seed.shape[0]):
        state = (seed[p] * 2654435761 + 12345) % 4294967296
        s = 100.0
        mean = 0.0
        for _ in range(steps):
            state = (state * 1664525 + 1013904223) % 4294967296
            u = (state + 0.5) / 4294967296.0
            state = (state * 1664525 + 1013904223) % 4294967296
            v = (state + 0.5) / 4294967296.0
            z = math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)
            s *= math.exp(-0.0002 + 0.02 * z)
            mean += s
        o[p] = max(mean / steps - strike, 0.0)
        total += o[p]
    return total / seed.shape[0]


@program("points in polygons", lambda n: (f8(n, 2), f8(100, 2), np.zeros(n, np.bool_)), 30, 2_000_000)
def inside(points, poly, o):
    m = poly.shape[0]
    for p in range(points.shape[0]):
        x, y = points[p]
        odd = False
        j = m - 1
        for i in range(m):
            if (poly[i, 1] > y) != (poly[j, 1] > y) and (
                x < (poly[j, 0] - poly[i, 0]) * (y - poly[i, 1]) / (poly[j, 1] - poly[i, 1]) + poly[i, 0]
            ):
                odd = not odd
            j = i
        o[p] = odd


@program(
    "great circles, nearest station", lambda n: (f8(n, 2), f8(200, 2), np.zeros(n, np.int64), zeros(n)), 20, 500_000
)
def nearest_station(points, stations, which, far):
    for p in range(points.shape[0]):
        best = np.inf
        at = -1
        for s in range(stations.shape[0]):
            a = math.sin((points[p, 0] - stations[s, 0]) / 2) ** 2
            b = math.sin((points[p, 1] - stations[s, 1]) / 2) ** 2
            d = 2 * 6371.0 * math.asin(math.sqrt(min(1.0, a + math.cos(points[p, 0]) * math.cos(stations[s, 0]) * b)))
            if d < best:
                best = d
                at = s
        which[p] = at
        far[p] = best


@program("strings aligned in pairs", lambda n: (whole(4, n, 48), whole(4, n, 40), np.zeros(n, np.int64)), 6, 50_000)
def edit_distances(a, b, o):
    for p in range(a.shape[0]):
        la, lb = a.shape[1], b.shape[1]
        row = np.arange(lb + 1)
        for i in range(la):
            previous = row[0]
            row[0] = i + 1
            for j in range(lb):
                old = row[j + 1]
                row[j + 1] = min(old + 1, row[j] + 1, previous + (a[p, i] != b[p, j]))
                previous = old
        o[p] = row[lb]


@program("filters of many channels, biquads", lambda n: (f8(n, 500), f8(n, 5), zeros((n, 500))), 5, 20_000)
def biquads(x, c, y):
    for k in range(x.shape[0]):
        z1 = 0.0
        z2 = 0.0
        for t in range(x.shape[1]):
            v = c[k, 0] * x[k, t] + z1
            z1 = c[k, 1] * x[k, t] - c[k, 3] * v + z2
            z2 = c[k, 2] * x[k, t] - c[k, 4] * v
            y[k, t] = v


@program("rolling maximum of series", lambda n: (f8(n, 50), 10, zeros((n, 50))), 12, 100_000)
def rolling_maximum(x, w, o):
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            m = -np.inf
            for k in range(max(0, i - w + 1), i + 1):
                if x[k, j] > m:
                    m = x[k, j]
            o[i, j] = m


@program("portfolio value at risk", lambda n: (f8(n, 60), f8(60), zeros(n), np.zeros(100, np.int64)), 15, 500_000)
def value_at_risk(returns, weights, pnl, hist):
    n = returns.shape[0]
    mean = 0.0
    for s in range(n):
        v = 0.0
        for a in range(weights.shape[0]):
            v += weights[a] * (returns[s, a] - 0.5)
        pnl[s] = v
        mean += v
    mean /= n
    var = 0.0
    for s in range(n):
        var += (pnl[s] - mean) ** 2
    sd = math.sqrt(var / n)
    for s in range(n):
        b = int((pnl[s] - mean) / sd * 10 + 50)
        if b < 0:
            b = 0
        if b > 99:
            b = 99
        hist[b] += 1
    tail = 0
    for b in range(100):
        tail += hist[b]
        if tail >= 0.05 * n:
            return (b - 50) / 10 * sd + mean
    return 0.0
