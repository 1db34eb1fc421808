"""A quarter of a twenty-third set, written without a look at the recipe: plates, reactions, lanes, filters, solvers."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, zeros


@program(
    "waves on a plate that bends, clamped on two sides, free of moment on two",
    lambda n: (f8(n, n + 3) * 0.01, 3 if n < 100 else 40, 0.05, 0.002, zeros((n, n + 3))),
    18,
    768,
)
def plate(start, steps, speed, loss, u):
    h, w = u.shape
    old = np.zeros((h, w))
    bend = np.zeros((h, w))
    new = np.zeros((h, w))
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            u[i, j] = start[i, j]
            old[i, j] = start[i, j]
    for _ in range(steps):
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                bend[i, j] = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j]
        for j in range(1, w - 1):
            bend[0, j] = 2.0 * u[1, j]
            bend[h - 1, j] = 2.0 * u[h - 2, j]
        for i in range(h):
            bend[i, 0] = 0.0
            bend[i, w - 1] = 0.0
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                lap = bend[i + 1, j] + bend[i - 1, j] + bend[i, j + 1] + bend[i, j - 1] - 4.0 * bend[i, j]
                new[i, j] = (2.0 * u[i, j] - (1.0 - loss) * old[i, j] - speed * lap) / (1.0 + loss)
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                old[i, j] = u[i, j]
                u[i, j] = new[i, j]
    energy = 0.0
    for i in range(h):
        for j in range(w):
            energy += (u[i, j] - old[i, j]) ** 2 + speed * bend[i, j] ** 2
    return energy


@program(
    "a Brusselator that leaks nothing, Heun's steps, arrays swapped",
    lambda n: (1.0 + f8(n, n), 3.0 + 0.5 * f8(n, n), 2 if n < 64 else 30, 0.01, 1.0, 3.0, zeros((n, n)), zeros((n, n))),
    16,
    640,
)
def brusselator(u0, v0, steps, dt, a, b, u_out, v_out):
    n, m = u0.shape
    u, v = u0.copy(), v0.copy()
    pu, pv = np.zeros((n, m)), np.zeros((n, m))
    ku, kv = np.zeros((n, m)), np.zeros((n, m))
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                up, down = max(i - 1, 0), min(i + 1, n - 1)
                left, right = max(j - 1, 0), min(j + 1, m - 1)
                lu = u[up, j] + u[down, j] + u[i, left] + u[i, right] - 4.0 * u[i, j]
                lv = v[up, j] + v[down, j] + v[i, left] + v[i, right] - 4.0 * v[i, j]
                uuv = u[i, j] * u[i, j] * v[i, j]
                ku[i, j] = a - (b + 1.0) * u[i, j] + uuv + 2.0 * lu
                kv[i, j] = b * u[i, j] - uuv + 4.0 * lv
        for i in range(n):
            for j in range(m):
                pu[i, j] = u[i, j] + dt * ku[i, j]
                pv[i, j] = v[i, j] + dt * kv[i, j]
        for i in range(n):
            for j in range(m):
                up, down = max(i - 1, 0), min(i + 1, n - 1)
                left, right = max(j - 1, 0), min(j + 1, m - 1)
                lu = pu[up, j] + pu[down, j] + pu[i, left] + pu[i, right] - 4.0 * pu[i, j]
                lv = pv[up, j] + pv[down, j] + pv[i, left] + pv[i, right] - 4.0 * pv[i, j]
                uuv = pu[i, j] * pu[i, j] * pv[i, j]
                u[i, j] += 0.5 * dt * (ku[i, j] + a - (b + 1.0) * pu[i, j] + uuv + 2.0 * lu)
                v[i, j] += 0.5 * dt * (kv[i, j] + b * pu[i, j] - uuv + 4.0 * lv)
    for i in range(n):
        for j in range(m):
            u_out[i, j] = u[i, j]
            v_out[i, j] = v[i, j]


def lanes(n):
    sites, steps = (24, 10) if n < 100 else (512, 200)
    full = (np.random.default_rng(2321).random((n, sites)) < 0.4).astype(np.uint8)
    return full, steps, 0.35, 0.6, zeros(n, np.int64), zeros(n, np.int64), 5


@program("lanes of particles that hop one way, open ends, own dice", lanes, 12, 4096)
def exclusion(full, steps, enter, leave, entered, left, seed):
    lanes, sites = full.shape
    for lane in range(lanes):
        for t in range(2 * steps):
            for s in range(t % 2 - 1, sites, 2):
                z = ((lane * 2048 + t) * 2654435761 + s * 40503 + seed) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                luck = (z ^ (z >> 16)) / 4294967296.0
                if s < 0:
                    if full[lane, 0] == 0 and luck < enter:
                        full[lane, 0] = 1
                        entered[lane] += 1
                elif s == sites - 1:
                    if full[lane, s] == 1 and luck < leave:
                        full[lane, s] = 0
                        left[lane] += 1
                elif full[lane, s] == 1 and full[lane, s + 1] == 0 and luck < 0.75:
                    full[lane, s] = 0
                    full[lane, s + 1] = 1


def pairs_of_series(p):
    n, m = (9, 7) if p < 32 else (96, 80)
    rng = np.random.default_rng(2322)
    return rng.normal(size=(p, n)), rng.normal(size=(p, m)), 0.5, zeros(p), zeros((p, n)), zeros((p, n, m))


@program("time warped softly between pairs, and the gradient back", pairs_of_series, 6, 2048)
def soft_warp(x, y, gamma, loss, dx, share):
    pairs, n = x.shape
    m = y.shape[1]
    for p in range(pairs):
        r = np.full((n + 2, m + 2), np.inf)
        e = np.zeros((n + 2, m + 2))
        r[0, 0] = 0.0
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                a, b, c = r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]
                low = min(a, min(b, c))
                total = math.exp((low - a) / gamma) + math.exp((low - b) / gamma) + math.exp((low - c) / gamma)
                r[i, j] = (x[p, i - 1] - y[p, j - 1]) ** 2 + low - gamma * math.log(total)
        loss[p] = r[n, m]
        for i in range(n, 0, -1):
            for j in range(m, 0, -1):
                if i == n and j == m:
                    e[i, j] = 1.0
                else:
                    s = 0.0
                    if i < n:
                        cost = (x[p, i] - y[p, j - 1]) ** 2
                        s += e[i + 1, j] * math.exp((r[i + 1, j] - r[i, j] - cost) / gamma)
                    if j < m:
                        cost = (x[p, i - 1] - y[p, j]) ** 2
                        s += e[i, j + 1] * math.exp((r[i, j + 1] - r[i, j] - cost) / gamma)
                    if i < n and j < m:
                        cost = (x[p, i] - y[p, j]) ** 2
                        s += e[i + 1, j + 1] * math.exp((r[i + 1, j + 1] - r[i, j] - cost) / gamma)
                    e[i, j] = s
                share[p, i - 1, j - 1] = e[i, j]
                dx[p, i - 1] += 2.0 * e[i, j] * (x[p, i - 1] - y[p, j - 1])


@program(
    "a plane smoothed point after point, forth and back, symmetric Gauss and Seidel",
    lambda n: (f8(n, n + 1), 1.0 + f8(n, n + 1), 2 if n < 100 else 3, zeros((n, n + 1))),
    20,
    700,
)
def symmetric_sweeps(b, sigma, sweeps, x):
    n, m = x.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                x[i, j] = (b[i, j] + x[i - 1, j] + x[i, j - 1] + x[i + 1, j] + x[i, j + 1]) / (4.0 + sigma[i, j])
        for i in range(n - 2, 0, -1):
            for j in range(m - 2, 0, -1):
                x[i, j] = (b[i, j] + x[i - 1, j] + x[i, j - 1] + x[i + 1, j] + x[i, j + 1]) / (4.0 + sigma[i, j])
    worst = 0.0
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            r = b[i, j] + x[i - 1, j] + x[i, j - 1] + x[i + 1, j] + x[i, j + 1] - (4.0 + sigma[i, j]) * x[i, j]
            if abs(r) > worst:
                worst = abs(r)
    return worst


def recordings(n):
    t = 60 if n < 64 else 2000
    sections = np.array([[0.2, 0.4, 0.2, -0.5, 0.3], [0.3, -0.1, 0.3, -0.7, 0.2], [0.5, 0.0, -0.5, -0.2, 0.1]])
    return np.cumsum(np.random.default_rng(2323).normal(size=(n, t)), 1), sections, zeros((n, t))


@program("recordings filtered forth and back, three sections, ends mirrored oddly", recordings, 5, 8192)
def zero_phase(x, section, y):
    channels, n = x.shape
    pad = 12
    for c in range(channels):
        work = np.zeros(n + 2 * pad)
        for t in range(pad):
            work[t] = 2.0 * x[c, 0] - x[c, pad - t]
            work[n + pad + t] = 2.0 * x[c, n - 1] - x[c, n - 2 - t]
        for t in range(n):
            work[pad + t] = x[c, t]
        for _ in range(2):
            for s in range(section.shape[0]):
                b0, b1, b2 = section[s, 0], section[s, 1], section[s, 2]
                a1, a2 = section[s, 3], section[s, 4]
                gain = (b0 + b1 + b2) / (1.0 + a1 + a2)
                z1 = (gain - b0) * work[0]
                z2 = (b2 - a2 * gain) * work[0]
                for t in range(n + 2 * pad):
                    now = work[t]
                    out = b0 * now + z1
                    z1 = b1 * now - a1 * out + z2
                    z2 = b2 * now - a2 * out
                    work[t] = out
            for t in range((n + 2 * pad) // 2):
                other = work[n + 2 * pad - 1 - t]
                work[n + 2 * pad - 1 - t] = work[t]
                work[t] = other
        for t in range(n):
            y[c, t] = work[pad + t]


def samples(n):
    rng = np.random.default_rng(2324)
    turns = np.round(np.arctan(2.0 ** -np.arange(16)) / (2.0 * np.pi) * 2**24).astype(np.int32)
    z = rng.integers(-30000, 30001, (2, n)).astype(np.int32)
    return z[0].copy(), z[1].copy(), turns, zeros(n, np.int32), zeros(n, np.int32), zeros(32, np.int64)


@program("samples turned to radius and angle by shifts, CORDIC, angles counted", samples, 400, 40_000_000)
def cordic(re, im, turns, radius, angle, count):
    rounds = len(turns)
    for i in range(len(re)):
        x = int(re[i]) << 8
        y = int(im[i]) << 8
        a = 0
        if x < 0:
            x = -x
            y = -y
            a = 1 << 23
        for k in range(rounds):
            dx = y >> k
            dy = x >> k
            if y > 0:
                x += dx
                y -= dy
                a += turns[k]
            else:
                x -= dx
                y += dy
                a -= turns[k]
        a &= (1 << 24) - 1
        radius[i] = (x * 39797) >> 24
        angle[i] = a
        count[a >> 19] += 1


def patches(n):
    size = 16 if n < 100 else 256
    return np.random.default_rng(2325).normal(size=(n, size)).astype(np.float32), 1.5, zeros(n, np.int32)


@program("rows through Hadamard's transform, small ones set to nothing, and back", patches, 30, 200_000)
def walsh(x, least, kept):
    rows, n = x.shape
    for r in range(rows):
        for way in range(2):
            half = 1
            while half < n:
                for i in range(0, n, 2 * half):
                    for j in range(i, i + half):
                        a, b = x[r, j], x[r, j + half]
                        x[r, j] = a + b
                        x[r, j + half] = a - b
                half *= 2
            for i in range(n):
                x[r, i] /= math.sqrt(n)
                if way == 0:
                    if abs(x[r, i]) < least:
                        x[r, i] = 0.0
                    else:
                        kept[r] += 1


@program(
    "rings of unknowns solved, tridiagonal but for the corners, one behind another",
    lambda n: (
        *(-0.5 - 0.5 * np.random.default_rng(2326).random((2, 24 if n < 100 else 192, n))),
        3.0 + f8(24 if n < 100 else 192, n),
        f8(24 if n < 100 else 192, n),
        zeros((24 if n < 100 else 192, n)),
    ),
    10,
    65_536,
)
def cyclic(lower, upper, middle, b, x):
    n, systems = b.shape
    for s in range(systems):
        c = np.zeros(n)
        q = np.zeros(n)
        gamma = -middle[0, s]
        pivot = middle[0, s] - gamma
        c[0] = upper[0, s] / pivot
        x[0, s] = b[0, s] / pivot
        q[0] = gamma / pivot
        for i in range(1, n):
            d = middle[i, s]
            u = 0.0
            if i == n - 1:
                d -= lower[0, s] * upper[n - 1, s] / gamma
                u = upper[n - 1, s]
            pivot = d - lower[i, s] * c[i - 1]
            c[i] = upper[i, s] / pivot
            x[i, s] = (b[i, s] - lower[i, s] * x[i - 1, s]) / pivot
            q[i] = (u - lower[i, s] * q[i - 1]) / pivot
        for i in range(n - 2, -1, -1):
            x[i, s] -= c[i] * x[i + 1, s]
            q[i] -= c[i] * q[i + 1]
        corner = lower[0, s] / gamma
        factor = (x[0, s] + corner * x[n - 1, s]) / (1.0 + q[0] + corner * q[n - 1])
        for i in range(n):
            x[i, s] -= factor * q[i]


@program(
    "levels of a well in a box, Lanczos, twelve vectors",
    lambda n: (4.0 * f8(n, n, n), f8(n, n, n), zeros(12), zeros(12), zeros((n, n, n))),
    7,
    128,
)
def lanczos(potential, start, alpha, beta, v):
    n = potential.shape[0]
    steps = len(alpha)
    before = np.zeros((n, n, n))
    w = np.zeros((n, n, n))
    norm = 0.0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                norm += start[i, j, k] ** 2
    for i in range(n):
        for j in range(n):
            for k in range(n):
                v[i, j, k] = start[i, j, k] / math.sqrt(norm)
    last = 0.0
    for step in range(steps):
        a = 0.0
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    s = (6.0 + potential[i, j, k]) * v[i, j, k] - last * before[i, j, k]
                    if i > 0:
                        s -= v[i - 1, j, k]
                    if i < n - 1:
                        s -= v[i + 1, j, k]
                    if j > 0:
                        s -= v[i, j - 1, k]
                    if j < n - 1:
                        s -= v[i, j + 1, k]
                    if k > 0:
                        s -= v[i, j, k - 1]
                    if k < n - 1:
                        s -= v[i, j, k + 1]
                    w[i, j, k] = s
                    a += s * v[i, j, k]
        size = 0.0
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    w[i, j, k] -= a * v[i, j, k]
                    size += w[i, j, k] * w[i, j, k]
        last = math.sqrt(size)
        alpha[step] = a
        beta[step] = last
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    before[i, j, k] = v[i, j, k]
                    v[i, j, k] = w[i, j, k] / last
