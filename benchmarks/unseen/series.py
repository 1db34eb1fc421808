"""The other half of the second set: simulations that run for many steps, sparse matrices, series of numbers."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def rows_of(n, degree):
    """Where the rows of a sparse matrix begin: uneven ones."""
    lengths = np.random.default_rng(5).integers(0, 2 * degree + 1, n)
    return np.concatenate(([0], np.cumsum(lengths)))


def sparse(n, degree):
    """A square one: where its rows begin, columns, values."""
    starts = rows_of(n, degree)
    return starts, whole(n, int(starts[-1])), f8(int(starts[-1]))


def sorted_graph(n, degree):
    """Neighbours of each node in order."""
    starts = rows_of(n, degree)
    columns = whole(n, int(starts[-1]))
    for i in range(n):
        columns[starts[i] : starts[i + 1]].sort()
    return starts, columns


@program("relaxed until it converges", lambda n: (f8(n, n), zeros((n, n)), 1e-3), 20, 1000)
def relax(u, v, tol):
    error = 1.0
    count = 0
    while error > tol:
        error = 0.0
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                error = max(error, abs(v[i, j] - u[i, j]))
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = v[i, j]
        count += 1
    return count


@program("waves, 50 steps, arrays swapped", lambda n: (f8(n, n), f8(n, n), 50), 30, 2000)
def waves(u, v, steps):
    for _t in range(steps):
        w = np.empty_like(u)
        for i in range(u.shape[0]):
            for j in range(u.shape[1]):
                if i == 0 or j == 0 or i == u.shape[0] - 1 or j == u.shape[1] - 1:
                    w[i, j] = 0.0
                else:
                    lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                    w[i, j] = 2 * u[i, j] - v[i, j] + 0.2 * lap
        u, v = w, u
    return u


@program("gas in a tube, 100 steps", lambda n: (f8(n) + 1, zeros(n), f8(n) + 2, 100), 100, 1_000_000)
def euler(rho, mom, en, steps):
    n = len(rho)
    f = np.zeros((3, n + 1))
    for _t in range(steps):
        for i in range(1, n):
            ul = mom[i - 1] / rho[i - 1]
            ur = mom[i] / rho[i]
            pl = 0.4 * (en[i - 1] - 0.5 * rho[i - 1] * ul * ul)
            pr = 0.4 * (en[i] - 0.5 * rho[i] * ur * ur)
            a = max(abs(ul) + math.sqrt(1.4 * abs(pl / rho[i - 1])), abs(ur) + math.sqrt(1.4 * abs(pr / rho[i])))
            f[0, i] = 0.5 * (mom[i - 1] + mom[i] - a * (rho[i] - rho[i - 1]))
            f[1, i] = 0.5 * (mom[i - 1] * ul + pl + mom[i] * ur + pr - a * (mom[i] - mom[i - 1]))
            f[2, i] = 0.5 * ((en[i - 1] + pl) * ul + (en[i] + pr) * ur - a * (en[i] - en[i - 1]))
        for i in range(1, n - 1):
            rho[i] -= 0.1 * (f[0, i + 1] - f[0, i])
            mom[i] -= 0.1 * (f[1, i + 1] - f[1, i])
            en[i] -= 0.1 * (f[2, i + 1] - f[2, i])


@program(
    "forces of pairs, both sides",
    lambda n: (f8(n, 3) * n ** (1 / 3), whole(n, 20 * n), whole(n, 20 * n)[::-1].copy(), zeros((n, 3))),
    60,
    500_000,
)
def pair_forces(x, first, second, f):
    for k in range(len(first)):
        i = first[k]
        j = second[k]
        if i == j:
            continue
        dx = x[i, 0] - x[j, 0]
        dy = x[i, 1] - x[j, 1]
        dz = x[i, 2] - x[j, 2]
        r2 = dx * dx + dy * dy + dz * dz + 0.1
        s = 1.0 / (r2 * r2)
        f[i, 0] += s * dx
        f[i, 1] += s * dy
        f[i, 2] += s * dz
        f[j, 0] -= s * dx
        f[j, 1] -= s * dy
        f[j, 2] -= s * dz


@program("oscillators that couple, 10 steps", lambda n: (f8(n) * 6, f8(n), 10), 60, 8192)
def kuramoto(phase, omega, steps):
    n = len(phase)
    d = np.zeros(n)
    for _t in range(steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += math.sin(phase[j] - phase[i])
            d[i] = omega[i] + s / n
        for i in range(n):
            phase[i] += 0.01 * d[i]


@program("Gray-Scott, 50 steps, periodic", lambda n: (f4(n, n), f4(n, n), 50), 20, 2048)
def gray_scott(u, v, steps):
    h, w = u.shape
    a = np.zeros_like(u)
    b = np.zeros_like(v)
    for _t in range(steps):
        for i in range(h):
            for j in range(w):
                n, s, e, o = (i - 1) % h, (i + 1) % h, (j + 1) % w, (j - 1) % w
                lu = u[n, j] + u[s, j] + u[i, e] + u[i, o] - 4 * u[i, j]
                lv = v[n, j] + v[s, j] + v[i, e] + v[i, o] - 4 * v[i, j]
                r = u[i, j] * v[i, j] * v[i, j]
                a[i, j] = u[i, j] + np.float32(0.16) * lu - r + np.float32(0.035) * (1 - u[i, j])
                b[i, j] = v[i, j] + np.float32(0.08) * lv + r - np.float32(0.1) * v[i, j]
        u[:] = a
        v[:] = b


@program("photons in a slab", lambda n: (n, 0.9, 5.0, zeros(64, np.int64)), 200, 2_000_000)
def photons(n, albedo, depth, tally):
    out = 0
    for k in range(n):
        state = (k * 747796405 + 2891336453) & 0xFFFFFFFF
        x = 0.0
        mu = 1.0
        alive = True
        while alive:
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            x -= mu * math.log((state + 1) / 4294967297.0)
            if x < 0 or x > depth:
                out += x > depth
                alive = False
            else:
                state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
                if state / 4294967296.0 > albedo:
                    tally[int(x / depth * 63.999)] += 1
                    alive = False
                else:
                    state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
                    mu = 2.0 * state / 4294967296.0 - 1.0
    return out


@program(
    "elements assembled",
    lambda n: (
        f8(n, 2),
        np.stack([np.arange(2 * n) % n, (np.arange(2 * n) + 1) % n, (np.arange(2 * n) * 7 + 3) % n], 1),
        zeros(n),
        zeros(n),
    ),
    100,
    1_000_000,
)
def assemble(xy, tri, mass, load):
    for e in range(tri.shape[0]):
        a, b, c = tri[e, 0], tri[e, 1], tri[e, 2]
        area = 0.5 * abs((xy[b, 0] - xy[a, 0]) * (xy[c, 1] - xy[a, 1]) - (xy[c, 0] - xy[a, 0]) * (xy[b, 1] - xy[a, 1]))
        cx = (xy[a, 0] + xy[b, 0] + xy[c, 0]) / 3
        for k in range(3):
            mass[tri[e, k]] += area / 3
            load[tri[e, k]] += area / 3 * math.sin(cx)


@program("sparse times 32 columns", lambda n: (*sparse(n, 12), f8(n, 32), zeros((n, 32))), 50, 300_000)
def spmm(p, col, val, x, y):
    for i in range(len(p) - 1):
        for k in range(p[i], p[i + 1]):
            for j in range(x.shape[1]):
                y[i, j] += val[k] * x[col[k], j]


@program("transposed sparse times vector", lambda n: (*sparse(n, 12), f8(n), zeros(n)), 200, 2_000_000)
def spmv_t(p, col, val, x, y):
    for i in range(len(p) - 1):
        for k in range(p[i], p[i + 1]):
            y[col[k]] += val[k] * x[i]


@program("Jaccard of neighbours", lambda n: (*sorted_graph(n, 16), zeros(n)), 60, 200_000)
def jaccard(p, col, out):
    for i in range(len(p) - 1):
        total = 0.0
        for e in range(p[i], p[i + 1]):
            j = col[e]
            a = p[i]
            b = p[j]
            both = 0
            while a < p[i + 1] and b < p[j + 1]:
                if col[a] == col[b]:
                    both += 1
                    a += 1
                    b += 1
                elif col[a] < col[b]:
                    a += 1
                else:
                    b += 1
            every = p[i + 1] - p[i] + p[j + 1] - p[j] - both
            if every > 0:
                total += both / every
        out[i] = total


@program(
    "shortest ways, until nothing changes",
    lambda n: (*sparse(n, 8), np.where(np.arange(n) == 0, 0.0, np.inf)),
    60,
    300_000,
)
def bellman(p, col, val, dist):
    rounds = 0
    changed = True
    while changed:
        changed = False
        rounds += 1
        for i in range(len(p) - 1):
            best = dist[i]
            for e in range(p[i], p[i + 1]):
                d = dist[col[e]] + val[e]
                if d < best:
                    best = d
            if best < dist[i]:
                dist[i] = best
                changed = True
    return rounds


@program("density on a grid", lambda n: (f8(n), np.linspace(0, 1, 2000), 0.02, zeros(2000)), 20, 50_000)
def density(x, grid, h, o):
    for g in range(len(grid)):
        s = 0.0
        for i in range(len(x)):
            t = (grid[g] - x[i]) / h
            s += math.exp(-0.5 * t * t)
        o[g] = s / (len(x) * h * math.sqrt(2 * math.pi))


@program("Kendall's tau", lambda n: (f8(n), f4(n)), 60, 30_000)
def kendall(x, y):
    n = len(x)
    s = 0
    for i in range(n):
        for j in range(i + 1, n):
            d = (x[i] - x[j]) * (y[i] - y[j])
            if d > 0:
                s += 1
            elif d < 0:
                s -= 1
    return s / (n * (n - 1) / 2)


@program("stochastic volatility, paths", lambda n: (n, 100, 100.0), 20, 200_000)
def heston(n, steps, strike):
    total = 0.0
    for p in range(n):
        state = (p * 2654435761 + 12345) & 0xFFFFFFFF
        s = 100.0
        v = 0.04
        for _t in range(steps):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            a = (state + 1) / 4294967297.0
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            b = state / 4294967296.0
            r = math.sqrt(-2 * math.log(a))
            z1 = r * math.cos(2 * math.pi * b)
            z2 = r * math.sin(2 * math.pi * b)
            w = math.sqrt(max(v, 0.0) / steps)
            s *= math.exp(-0.5 * max(v, 0.0) / steps + w * z1)
            v += 2 * (0.04 - v) / steps + 0.3 * w * (-0.7 * z1 + 0.714 * z2)
        total += max(s - strike, 0.0)
    return total / n


@program("GARCH of many series", lambda n: (f8(n, 1000) - 0.5, f8(n), zeros(n)), 3, 20_000)
def garch(r, alpha, out):
    for k in range(r.shape[0]):
        h = 0.08
        ll = 0.0
        for t in range(r.shape[1]):
            ll += math.log(h) + r[k, t] * r[k, t] / h
            h = 0.01 + 0.1 * alpha[k] * r[k, t] * r[k, t] + 0.8 * h
        out[k] = -0.5 * ll


@program("covariances that decay", lambda n: (f8(n, 48), zeros((48, 48)), 0.94), 30, 5_000)
def decayed(x, c, lam):
    for t in range(x.shape[0]):
        for i in range(48):
            for j in range(48):
                c[i, j] = lam * c[i, j] + (1 - lam) * x[t, i] * x[t, j]


@program("Kalman filters", lambda n: (f8(n, 200), zeros((n, 200))), 5, 100_000)
def kalman(z, o):
    for k in range(z.shape[0]):
        x = 0.0
        v = 0.0
        p00, p01, p11 = 1.0, 0.0, 1.0
        for t in range(z.shape[1]):
            x += v
            p00 += 2 * p01 + p11 + 0.01
            p01 += p11
            p11 += 0.01
            s = p00 + 0.5
            k0 = p00 / s
            k1 = p01 / s
            y = z[k, t] - x
            x += k0 * y
            v += k1 * y
            p11 -= k1 * p01
            p01 *= 1 - k0
            p00 *= 1 - k0
            o[k, t] = x


@program("forward algorithm", lambda n: (whole(16, n, 50), f8(24, 24), f8(24, 16), zeros(n)), 3, 20_000)
def forward(seq, a, b, out):
    states = a.shape[0]
    for k in range(seq.shape[0]):
        f = np.full(states, 1.0 / states)
        g = np.empty(states)
        ll = 0.0
        for t in range(seq.shape[1]):
            total = 0.0
            for j in range(states):
                s = 0.0
                for i in range(states):
                    s += f[i] * a[i, j]
                g[j] = s * b[j, seq[k, t]]
                total += g[j]
            for j in range(states):
                f[j] = g[j] / total
            ll += math.log(total)
        out[k] = ll


@program(
    "Hamming distances of codes", lambda n: (whole(1 << 62, n).astype(np.uint64), zeros((n, n), np.uint8)), 40, 8000
)
def hamming(code, o):
    for i in range(len(code)):
        for j in range(len(code)):
            v = code[i] ^ code[j]
            v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
            v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
            v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            o[i, j] = (v * np.uint64(0x0101010101010101)) >> np.uint64(56)


@program("short rows sorted", lambda n: (f4(n, 24),), 40, 1_000_000)
def sort_rows(x):
    for r in range(x.shape[0]):
        for i in range(1, x.shape[1]):
            v = x[r, i]
            j = i - 1
            while j >= 0 and x[r, j] > v:
                x[r, j + 1] = x[r, j]
                j -= 1
            x[r, j + 1] = v


@program("Collatz lengths", lambda n: (n, zeros(n, np.int64)), 300, 5_000_000)
def collatz(n, o):
    longest = 0
    for i in range(1, n):
        k = i
        c = 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            c += 1
        o[i] = c
        if c > longest:
            longest = c
    return longest


@program("wavelets of an image", lambda n: (f4(n, n), zeros((n, n), np.float32), zeros((n, n), np.float32)), 32, 4096)
def haar(x, t, o):
    n = x.shape[0]
    h = n // 2
    for i in range(n):
        for j in range(h):
            t[i, j] = (x[i, 2 * j] + x[i, 2 * j + 1]) * np.float32(0.5)
            t[i, h + j] = (x[i, 2 * j] - x[i, 2 * j + 1]) * np.float32(0.5)
    for i in range(h):
        for j in range(n):
            o[i, j] = (t[2 * i, j] + t[2 * i + 1, j]) * np.float32(0.5)
            o[h + i, j] = (t[2 * i, j] - t[2 * i + 1, j]) * np.float32(0.5)


@program("filter that keeps every fourth", lambda n: (f4(n), f4(64), zeros((n - 64) // 4, np.float32)), 300, 40_000_000)
def decimate(x, h, y):
    for i in range(len(y)):
        s = np.float32(0)
        for k in range(len(h)):
            s += h[k] * x[4 * i + k]
        y[i] = s


@program("periodogram of uneven times", lambda n: (np.sort(f8(n)) * 100, f8(n), 1000, zeros(1000)), 10, 20_000)
def periodogram(t, y, m, out):
    for k in range(m):
        w = 2 * math.pi * (k + 1) * 0.01
        a = 0.0
        b = 0.0
        for i in range(len(t)):
            a += math.sin(2 * w * t[i])
            b += math.cos(2 * w * t[i])
        tau = math.atan2(a, b) / (2 * w)
        yc = ys = cc = ss = 0.0
        for i in range(len(t)):
            c = math.cos(w * (t[i] - tau))
            s = math.sin(w * (t[i] - tau))
            yc += y[i] * c
            ys += y[i] * s
            cc += c * c
            ss += s * s
        out[k] = 0.5 * (yc * yc / cc + ys * ys / ss)


@program(
    "template found by correlation", lambda n: (f4(n, n), f4(12, 12), zeros((n - 11, n - 11), np.float32)), 30, 2048
)
def template(x, t, o):
    mt = 0.0
    for p in range(12):
        for q in range(12):
            mt += t[p, q]
    mt /= 144
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            m = 0.0
            for p in range(12):
                for q in range(12):
                    m += x[i + p, j + q]
            m /= 144
            a = b = c = 0.0
            for p in range(12):
                for q in range(12):
                    u = x[i + p, j + q] - m
                    v = t[p, q] - mt
                    a += u * v
                    b += u * u
                    c += v * v
            o[i, j] = a / math.sqrt(b * c)


@program("sums that begin again at flags", lambda n: (f8(n), whole(20, n) == 0, zeros(n)), 500, 20_000_000)
def segments(x, flag, o):
    s = 0.0
    for i in range(len(x)):
        if flag[i]:
            s = 0.0
        s += x[i]
        o[i] = s


@program("places of what is above", lambda n: (f8(n, n), 0.7, zeros((n * n, 2), np.int64)), 30, 4000)
def places(x, least, o):
    k = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > least:
                o[k, 0] = i
                o[k, 1] = j
                k += 1
    return k
