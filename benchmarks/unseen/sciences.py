"""With the eighth set: chemistry, ecology, water, traffic, prices, genomes, statistics, systems, odd borders."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("enzymes, steps as the error asks", lambda n: (1 + f8(n), 0.5 + f8(n), zeros((n, 2))), 4, 1000)
def enzymes(s0, vmax, o):
    km = 0.4
    ki = 2.0
    for i in range(len(s0)):
        s = s0[i]
        p = 0.0
        t = 0.0
        h = 0.01
        while t < 5.0:
            if t + h > 5.0:
                h = 5.0 - t
            k1 = vmax[i] * s / (km * (1 + p / ki) + s)
            sm = s - 0.5 * h * k1
            pm = p + 0.5 * h * k1
            k2 = vmax[i] * sm / (km * (1 + pm / ki) + sm)
            error = abs(h * (k2 - k1))
            if error > 1e-4:
                h *= 0.5
                continue
            s -= h * k2
            p += h * k2
            t += h
            if error < 1e-5:
                h *= 1.5
        o[i, 0] = s
        o[i, 1] = p


@program("hares and lynxes that migrate", lambda n: (1 + f8(n, n), 0.5 + f8(n, n), 10), 6, 800)
def migration(prey, hunters, steps):
    n = prey.shape[0]
    m = prey.shape[1]
    for _ in range(steps):
        a = prey.copy()
        b = hunters.copy()
        for i in range(n):
            up = i - 1 if i > 0 else 0
            down = i + 1 if i < n - 1 else n - 1
            for j in range(m):
                left = j - 1 if j > 0 else 0
                right = j + 1 if j < m - 1 else m - 1
                spread_a = a[up, j] + a[down, j] + a[i, left] + a[i, right] - 4 * a[i, j]
                spread_b = b[up, j] + b[down, j] + b[i, left] + b[i, right] - 4 * b[i, j]
                meet = a[i, j] * b[i, j]
                prey[i, j] = a[i, j] + 0.01 * (1.1 * a[i, j] - 0.4 * meet + 0.2 * spread_a)
                hunters[i, j] = b[i, j] + 0.01 * (0.1 * meet - 0.4 * b[i, j] + 0.1 * spread_b)


def _slopes(n):
    z = f8(n, n) + np.add.outer(np.arange(n), np.arange(n)) * 0.3
    return z, np.argsort(-z, axis=None), np.ones(n * n), zeros((n, n), np.int64)


@program("water flows down a terrain", _slopes, 10, 3000)
def flow(z, order, area, way):
    n, m = z.shape
    dy = (-1, -1, -1, 0, 0, 1, 1, 1)
    dx = (-1, 0, 1, -1, 1, -1, 0, 1)
    for i in range(n):
        for j in range(m):
            steepest = 0.0
            way[i, j] = -1
            for k in range(8):
                y = i + dy[k]
                x = j + dx[k]
                if y < 0 or y >= n or x < 0 or x >= m:
                    continue
                drop = z[i, j] - z[y, x]
                if dy[k] != 0 and dx[k] != 0:
                    drop *= 0.7071067811865476
                if drop > steepest:
                    steepest = drop
                    way[i, j] = y * m + x
    for q in range(len(order)):
        here = order[q]
        there = way[here // m, here % m]
        if there >= 0:
            area[there] += area[here]


@program(
    "snow, soil and runoff of catchments",
    lambda n: (8 * f8(200, n), 20 * f8(200, n) - 8, 50 + 100 * f8(n), zeros((200, n))),
    4,
    6000,
)
def runoff(rain, warmth, capacity, q):
    days, n = rain.shape
    for c in range(n):
        snow = 0.0
        soil = 20.0
        ground = 5.0
        for d in range(days):
            t = warmth[d, c]
            p = rain[d, c]
            melt = 0.0
            if t < 0.0:
                snow += p
                p = 0.0
            else:
                melt = min(snow, 3.0 * t)
                snow -= melt
            water = p + melt
            share = (soil / capacity[c]) ** 2
            through = water * min(share, 1.0)
            soil += water - through
            if soil > capacity[c]:
                through += soil - capacity[c]
                soil = capacity[c]
            if t > 0.0:
                soil -= min(soil, 0.1 * t * soil / capacity[c])
            ground += through
            q[d, c] = 0.05 * ground if ground < 40.0 else 0.05 * 40.0 + 0.3 * (ground - 40.0)
            ground -= q[d, c]


def _road(n):
    cells = np.full(4 * n, -1)
    cells[np.sort(np.random.default_rng(4).permutation(4 * n)[:n])] = whole(6, n)
    return cells, f8(50, 4 * n)


@program("cars on a ring, Nagel-Schreckenberg", _road, 8, 10000)
def traffic(cells, chance):
    n = len(cells)
    moved = np.empty_like(cells)
    count = 0
    for t in range(chance.shape[0]):
        for i in range(n):
            moved[i] = -1
        for i in range(n):
            v = cells[i]
            if v < 0:
                continue
            if v < 5:
                v += 1
            gap = 1
            while gap <= v and cells[(i + gap) % n] < 0:
                gap += 1
            v = min(v, gap - 1)
            if v > 0 and chance[t, i] < 0.2:
                v -= 1
            moved[(i + v) % n] = v
            count += v
        for i in range(n):
            cells[i] = moved[i]
    return count


@program(
    "drivers who follow, 200 steps", lambda n: (np.arange(n) * 20.0 + 5 * f8(n), 10 + 5 * f8(n), zeros(n)), 6, 6000
)
def following(x, v, a):
    n = len(x)
    for _ in range(200):
        for i in range(n):
            if i == n - 1:
                gap = 100.0
                dv = 0.0
            else:
                gap = x[i + 1] - x[i] - 5.0
                dv = v[i] - v[i + 1]
            wish = 2.0 + max(0.0, v[i] * 1.5 + v[i] * dv / (2 * math.sqrt(1.5 * 2.0)))
            a[i] = 1.5 * (1.0 - (v[i] / 30.0) ** 4 - (wish / gap) ** 2)
        for i in range(n):
            v[i] = max(0.0, v[i] + 0.1 * a[i])
            x[i] += 0.1 * v[i]


@program("yields of bonds by Newton", lambda n: (80 + 30 * f8(n), 0.08 * f8(n), 2 + whole(28, n), zeros(n)), 20, 50_000)
def yields(price, coupon, years, o):
    for i in range(len(price)):
        y = 0.05
        for _ in range(50):
            value = 0.0
            slope = 0.0
            d = 1.0
            for k in range(1, years[i] + 1):
                d /= 1.0 + y
                value += 100 * coupon[i] * d
                slope -= k * 100 * coupon[i] * d / (1.0 + y)
            value += 100 * d
            slope -= years[i] * 100 * d / (1.0 + y)
            change = (value - price[i]) / slope
            y -= change
            if abs(change) < 1e-10:
                break
        o[i] = y


@program("American puts on a grid, relaxed", lambda n: (np.linspace(0, 200, n), zeros(n), 20), 30, 800)
def american(s, v, steps):
    n = len(s)
    dt = 0.5 / steps
    pay = np.empty(n)
    old = np.empty(n)
    for j in range(n):
        pay[j] = max(100.0 - s[j], 0.0)
        v[j] = pay[j]
    total = 0
    for _ in range(steps):
        for j in range(n):
            old[j] = v[j]
        for _ in range(60):
            error = 0.0
            for j in range(1, n - 1):
                a = 0.5 * dt * (0.09 * j * j - 0.05 * j)
                c = 0.5 * dt * (0.09 * j * j + 0.05 * j)
                b = 1.0 + a + c + 0.05 * dt
                y = (old[j] + a * v[j - 1] + c * v[j + 1]) / b
                y = max(pay[j], v[j] + 1.2 * (y - v[j]))
                error += (y - v[j]) ** 2
                v[j] = y
            total += 1
            if error < 1e-12:
                break
    return total


@program(
    "orders matched in a book",
    lambda n: (whole(2, n), 480 + whole(40, n), 1 + whole(9, n), zeros(1000, np.int64), zeros(1000, np.int64)),
    300,
    5_000_000,
)
def book(side, price, size, bids, asks):
    best_bid = 0
    best_ask = len(asks) - 1
    traded = 0
    worth = 0
    for i in range(len(side)):
        p = price[i]
        left = size[i]
        if side[i] == 0:
            while left > 0 and best_ask <= p:
                fill = min(left, asks[best_ask])
                asks[best_ask] -= fill
                left -= fill
                traded += fill
                worth += fill * best_ask
                while best_ask < len(asks) - 1 and asks[best_ask] == 0:
                    best_ask += 1
            if left > 0:
                bids[p] += left
                best_bid = max(best_bid, p)
        else:
            while left > 0 and best_bid >= p:
                fill = min(left, bids[best_bid])
                bids[best_bid] -= fill
                left -= fill
                traded += fill
                worth += fill * best_bid
                while best_bid > 0 and bids[best_bid] == 0:
                    best_bid -= 1
            if left > 0:
                asks[p] += left
                best_ask = min(best_ask, p)
    return traded, worth


def _genotypes(n):
    g = whole(3, n, 200).astype(np.int8)
    g[whole(20, n, 200) == 0] = -1
    return g


@program("linkage of neighbouring sites", lambda n: (_genotypes(n), zeros((n, 20))), 4, 5000)
def linkage(g, o):
    sites, people = g.shape
    for a in range(sites):
        for k in range(1, 21):
            b = a + k
            if b >= sites:
                break
            n = sx = sy = sxx = syy = sxy = 0
            for i in range(people):
                x = int(g[a, i])
                y = int(g[b, i])
                if x < 0 or y < 0:
                    continue
                n += 1
                sx += x
                sy += y
                sxx += x * x
                syy += y * y
                sxy += x * y
            cov = sxy * n - sx * sy
            va = sxx * n - sx * sx
            vb = syy * n - sy * sy
            if va > 0 and vb > 0:
                o[a, k - 1] = cov * cov / (va * vb)


@program("genotypes counted at each site", lambda n: (_genotypes(n), zeros((n, 4), np.int64), zeros(n)), 10, 60_000)
def equilibrium(g, counts, chi):
    for s in range(g.shape[0]):
        for i in range(g.shape[1]):
            counts[s, g[s, i] + 1] += 1
        n = counts[s, 1] + counts[s, 2] + counts[s, 3]
        if n == 0:
            continue
        p = (2 * counts[s, 1] + counts[s, 2]) / (2 * n)
        q = 1 - p
        expected = (n * p * p, 2 * n * p * q, n * q * q)
        for k in range(3):
            if expected[k] > 0:
                chi[s] += (counts[s, k + 1] - expected[k]) ** 2 / expected[k]


@program("folds of RNA, Nussinov", lambda n: (whole(4, n).astype(np.uint8), zeros((n, n), np.int32)), 16, 2000)
def nussinov(seq, d):
    n = len(seq)
    for span in range(4, n):
        for i in range(n - span):
            j = i + span
            best = max(d[i + 1, j], d[i, j - 1])
            if seq[i] + seq[j] == 3 or (seq[i] == 2 and seq[j] == 3) or (seq[i] == 3 and seq[j] == 2):
                best = max(best, d[i + 1, j - 1] + 1)
            for k in range(i + 1, j):
                if d[i, k] + d[k + 1, j] > best:
                    best = d[i, k] + d[k + 1, j]
            d[i, j] = best
    return d[0, n - 1]


@program("Householder's QR", lambda n: (f8(n + 10, n), zeros(n)), 8, 1500)
def householder(a, diagonal):
    m, n = a.shape
    for k in range(n):
        s = 0.0
        for i in range(k, m):
            s += a[i, k] ** 2
        norm = math.sqrt(s)
        if norm == 0.0:
            continue
        if a[k, k] > 0:
            norm = -norm
        diagonal[k] = norm
        a[k, k] -= norm
        for j in range(k + 1, n):
            t = 0.0
            for i in range(k, m):
                t += a[i, k] * a[i, j]
            t /= norm * a[k, k]
            for i in range(k, m):
                a[i, j] += t * a[i, k]


@program("a banded system, width 5", lambda n: (f8(n, 11) + 6 * (np.arange(11) == 5), f8(n)), 30, 1_000_000)
def banded(a, b):
    n = len(b)
    w = 5
    for k in range(n):
        for i in range(k + 1, min(k + w + 1, n)):
            f = a[i, k - i + w] / a[k, w]
            for j in range(k + 1, min(k + w + 1, n)):
                a[i, j - i + w] -= f * a[k, j - k + w]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, min(i + w + 1, n)):
            s -= a[i, j - i + w] * b[j]
        b[i] = s / a[i, w]


@program(
    "natural splines through points",
    lambda n: (np.cumsum(0.1 + f8(n)), f8(n), np.sort(f8(4 * n)) * 0.5 * n, zeros(4 * n)),
    20,
    1_000_000,
)
def splines(x, y, q, o):
    n = len(x)
    m = np.zeros(n)
    c = np.zeros(n)
    for i in range(1, n - 1):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        r = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0)
        d = 2.0 * (h0 + h1) - h0 * c[i - 1]
        c[i] = h1 / d
        m[i] = (r - h0 * m[i - 1]) / d
    for i in range(n - 2, 0, -1):
        m[i] -= c[i] * m[i + 1]
    k = 0
    for i in range(len(q)):
        while k < n - 2 and x[k + 1] < q[i]:
            k += 1
        h = x[k + 1] - x[k]
        a = (x[k + 1] - q[i]) / h
        b = (q[i] - x[k]) / h
        o[i] = a * y[k] + b * y[k + 1] + ((a**3 - a) * m[k] + (b**3 - b) * m[k + 1]) * h * h / 6.0


@program("alloys that separate, mirrored borders", lambda n: (f8(n, n) - 0.5, zeros((n, n)), 10), 8, 1000)
def separation(u, mu, steps):
    n = u.shape[0]
    for _ in range(steps):
        for i in range(n):
            for j in range(n):
                north = u[abs(i - 1), j]
                south = u[i + 1 if i + 1 < n else n - 2, j]
                west = u[i, abs(j - 1)]
                east = u[i, j + 1 if j + 1 < n else n - 2]
                mu[i, j] = u[i, j] ** 3 - u[i, j] - 0.5 * (north + south + west + east - 4 * u[i, j])
        for i in range(n):
            for j in range(n):
                north = mu[abs(i - 1), j]
                south = mu[i + 1 if i + 1 < n else n - 2, j]
                west = mu[i, abs(j - 1)]
                east = mu[i, j + 1 if j + 1 < n else n - 2]
                u[i, j] += 0.01 * (north + south + west + east - 4 * mu[i, j])


@program("groups exchanged by chance", lambda n: (f8(n), f8(n) + 0.1, 200), 10, 3000)
def permutations(a, b, rounds):
    n = len(a)
    m = len(b)
    pool = np.empty(n + m)
    for i in range(n):
        pool[i] = a[i]
    for i in range(m):
        pool[n + i] = b[i]
    seen = abs(a.mean() - b.mean())
    state = 12345
    more = 0
    for _ in range(rounds):
        for i in range(n + m - 1, 0, -1):
            state = (1103515245 * state + 12345) % 2147483648
            j = (state >> 8) % (i + 1)
            t = pool[i]
            pool[i] = pool[j]
            pool[j] = t
        s = 0.0
        for i in range(n):
            s += pool[i]
        r = 0.0
        for i in range(n, n + m):
            r += pool[i]
        if abs(s / n - r / m) >= seen:
            more += 1
    return (more + 1) / (rounds + 1)


@program(
    "a split of a boosted tree",
    lambda n: (whole(32, n, 16).astype(np.uint8), f8(n) - 0.5, 0.1 + f8(n), zeros((16, 32, 2))),
    40,
    200_000,
)
def split(x, g, h, hist):
    n, features = x.shape
    for i in range(n):
        for f in range(features):
            hist[f, x[i, f], 0] += g[i]
            hist[f, x[i, f], 1] += h[i]
    best = 0.0
    which = -1
    where = -1
    for f in range(features):
        total_g = 0.0
        total_h = 0.0
        for k in range(32):
            total_g += hist[f, k, 0]
            total_h += hist[f, k, 1]
        left_g = 0.0
        left_h = 0.0
        for k in range(31):
            left_g += hist[f, k, 0]
            left_h += hist[f, k, 1]
            right_g = total_g - left_g
            right_h = total_h - left_h
            gain = left_g**2 / (left_h + 1) + right_g**2 / (right_h + 1) - total_g**2 / (total_h + 1)
            if gain > best:
                best = gain
                which = f
                where = k
    return best, which, where


@program("twists of a chain of atoms", lambda n: (f4(n, 3), zeros((n, 2), np.float32)), 40, 2_000_000)
def dihedrals(p, o):
    for i in range(len(p) - 3):
        ax = p[i + 1, 0] - p[i, 0]
        ay = p[i + 1, 1] - p[i, 1]
        az = p[i + 1, 2] - p[i, 2]
        bx = p[i + 2, 0] - p[i + 1, 0]
        by = p[i + 2, 1] - p[i + 1, 1]
        bz = p[i + 2, 2] - p[i + 1, 2]
        cx = p[i + 3, 0] - p[i + 2, 0]
        cy = p[i + 3, 1] - p[i + 2, 1]
        cz = p[i + 3, 2] - p[i + 2, 2]
        ux = ay * bz - az * by
        uy = az * bx - ax * bz
        uz = ax * by - ay * bx
        vx = by * cz - bz * cy
        vy = bz * cx - bx * cz
        vz = bx * cy - by * cx
        uv = ux * vx + uy * vy + uz * vz
        nu = ux * ux + uy * uy + uz * uz
        nv = vx * vx + vy * vy + vz * vz
        o[i, 0] = uv / math.sqrt(nu * nv) if nu > 0 and nv > 0 else 1.0
        o[i, 1] = ax * vx + ay * vy + az * vz


@program("stresses from gradients, 3 x 3", lambda n: (f8(n, 3, 3) - 0.5, zeros((n, 3, 3)), zeros(n)), 60, 1_000_000)
def stresses(g, s, eddy):
    for i in range(g.shape[0]):
        total = 0.0
        for a in range(3):
            for b in range(3):
                e = 0.5 * (g[i, a, b] + g[i, b, a])
                s[i, a, b] = e
                total += e * e
        size = math.sqrt(2 * total)
        for a in range(3):
            s[i, a, a] -= (g[i, 0, 0] + g[i, 1, 1] + g[i, 2, 2]) / 3
        eddy[i] = 0.01 * size
        for a in range(3):
            for b in range(3):
                s[i, a, b] *= -2 * eddy[i]
