"""A quarter of a twenty-fourth set, written without a look at the recipe: waves, atoms, floods, filters, stars."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, zeros


def elements(n):
    points = np.array([-1.0, -math.sqrt(0.2), math.sqrt(0.2), 1.0])
    weight = np.array([1.0, 5.0, 5.0, 1.0]) / 6.0
    slope = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            if i != j:
                others = [k for k in range(4) if k not in (i, j)]
                top = np.prod([points[i] - points[k] for k in others])
                slope[i, j] = top / np.prod([points[j] - points[k] for k in range(4) if k != j])
            else:
                slope[i, i] = sum(1.0 / (points[i] - points[k]) for k in range(4) if k != i)
    at = ((np.arange(n)[:, None] + 0.5 * (points + 1.0)) / n).ravel().reshape(n, 4)
    x, y = at[:, None, :, None], at[None, :, None, :]
    u = np.exp(-60.0 * ((x - 0.5) ** 2 + (y - 0.3) ** 2))
    a = np.sin(2.0 * np.pi * x) * np.cos(2.0 * np.pi * y) + 0.3
    b = -np.cos(2.0 * np.pi * x) * np.sin(2.0 * np.pi * y) + 0.1 + 0.0 * x
    return u, a, b, slope, weight, 0.05 / n, 2 if n < 32 else 4


@program("what a flow carries, elements of 4 by 4 points, Galerkin with jumps between them", elements, 4, 384)
def galerkin(u, a, b, slope, weight, dt, steps):
    n, m, p, _ = u.shape
    rate = np.zeros((n, m, p, p))
    old = np.zeros((n, m, p, p))
    for _ in range(steps):
        for stage in range(2):
            for ex in range(n):
                for ey in range(m):
                    for i in range(p):
                        for j in range(p):
                            dx = 0.0
                            dy = 0.0
                            for k in range(p):
                                dx += slope[i, k] * u[ex, ey, k, j]
                                dy += slope[j, k] * u[ex, ey, i, k]
                            r = -2.0 * n * a[ex, ey, i, j] * dx - 2.0 * m * b[ex, ey, i, j] * dy
                            here = u[ex, ey, i, j]
                            if i == 0 and a[ex, ey, i, j] > 0.0:
                                jump = u[(ex - 1) % n, ey, p - 1, j] - here
                                r += 2.0 * n * a[ex, ey, i, j] * jump / weight[0]
                            if i == p - 1 and a[ex, ey, i, j] < 0.0:
                                jump = u[(ex + 1) % n, ey, 0, j] - here
                                r -= 2.0 * n * a[ex, ey, i, j] * jump / weight[0]
                            if j == 0 and b[ex, ey, i, j] > 0.0:
                                jump = u[ex, (ey - 1) % m, i, p - 1] - here
                                r += 2.0 * m * b[ex, ey, i, j] * jump / weight[0]
                            if j == p - 1 and b[ex, ey, i, j] < 0.0:
                                jump = u[ex, (ey + 1) % m, i, 0] - here
                                r -= 2.0 * m * b[ex, ey, i, j] * jump / weight[0]
                            rate[ex, ey, i, j] = r
            for ex in range(n):
                for ey in range(m):
                    for i in range(p):
                        for j in range(p):
                            if stage == 0:
                                old[ex, ey, i, j] = u[ex, ey, i, j]
                                u[ex, ey, i, j] += dt * rate[ex, ey, i, j]
                            else:
                                now = u[ex, ey, i, j] + dt * rate[ex, ey, i, j]
                                u[ex, ey, i, j] = 0.5 * (old[ex, ey, i, j] + now)


def rows_of_three(n):
    third = 8 if n < 100 else 256
    rng = np.random.default_rng(2422)
    x = rng.normal(size=(n, 3 * third)) + 1j * rng.normal(size=(n, 3 * third))
    return x, np.exp(-2j * np.pi * np.arange(3 * third) / (3 * third)), zeros((n, 3 * third), np.complex128)


@program("rows of three times a power of two through Fourier, by halves, then by three", rows_of_three, 10, 30_000)
def three_halves(x, turn, y):
    rows, n = x.shape
    m = n // 3
    bits = 0
    while 1 << bits < m:
        bits += 1
    third = complex(-0.5, -math.sqrt(0.75))
    for r in range(rows):
        z = np.zeros((3, m), np.complex128)
        for s in range(3):
            for k in range(m):
                back = 0
                for b in range(bits):
                    back |= ((k >> b) & 1) << (bits - 1 - b)
                z[s, back] = x[r, 3 * k + s]
            half = 1
            while half < m:
                for begin in range(0, m, 2 * half):
                    for k in range(half):
                        odd = z[s, begin + k + half] * turn[k * (n // (2 * half))]
                        even = z[s, begin + k]
                        z[s, begin + k] = even + odd
                        z[s, begin + k + half] = even - odd
                half *= 2
        for k in range(m):
            a = z[0, k]
            b = z[1, k] * turn[k]
            c = z[2, k] * turn[2 * k]
            y[r, k] = a + b + c
            y[r, k + m] = a + b * third + c * third.conjugate()
            y[r, k + 2 * m] = a + b * third.conjugate() + c * third


def waters(n):
    rng = np.random.default_rng(2423)
    shape = np.array([[0.0, 0.0, 0.0], [0.9572, 0.0, 0.0], [-0.24, 0.9266, 0.0]])
    old = rng.random((n, 1, 3)) * 50.0 + shape
    new = old + 0.03 * rng.normal(size=(n, 3, 3))
    bond = np.array([0.9572, 0.9572, 1.5139])
    return (
        old,
        new,
        0.05 * rng.normal(size=(n, 3, 3)),
        np.array([15.999, 1.008, 1.008]),
        bond,
        0.5,
        1e-8,
        zeros(n, np.int32),
    )


@program("three bonds of each water held, one after another until they keep, SHAKE", waters, 40, 2_000_000)
def shake(old, new, speed, mass, bond, dt, tolerance, rounds):
    for m in range(len(old)):
        before = new[m].copy()
        count = 0
        while count < 50:
            worst = 0.0
            for c in range(3):
                i = 0 if c < 2 else 1
                j = 1 if c == 0 else 2
                square = 0.0
                along = 0.0
                for k in range(3):
                    d = new[m, i, k] - new[m, j, k]
                    square += d * d
                    along += d * (old[m, i, k] - old[m, j, k])
                off = square - bond[c] * bond[c]
                worst = max(worst, abs(off) / (bond[c] * bond[c]))
                g = off / (2.0 * along * (1.0 / mass[i] + 1.0 / mass[j]))
                for k in range(3):
                    d = g * (old[m, i, k] - old[m, j, k])
                    new[m, i, k] -= d / mass[i]
                    new[m, j, k] += d / mass[j]
            count += 1
            if worst < tolerance:
                break
        rounds[m] = count
        for i in range(3):
            for k in range(3):
                speed[m, i, k] += (new[m, i, k] - before[i, k]) / dt


def silicon(n):
    cell = 2.592
    corner = np.array([[0, 0, 0], [0, 2, 2], [2, 0, 2], [2, 2, 0]])
    basis = np.concatenate([corner, corner + 1]) / 4.0
    steps = np.array([[i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)])
    place = np.array([[i, j, k] for i in range(n) for j in range(n) for k in range(n)])
    lists = []
    for b in range(8):
        far = np.sqrt((((steps[:, None] + basis - basis[b]) * cell) ** 2).sum(2))
        s, other = np.nonzero((far > 0.0) & (far < 2.1))
        to = (place[:, None] + steps[s]) % n
        lists.append(((to[..., 0] * n + to[..., 1]) * n + to[..., 2]) * 8 + other)
    near = np.stack(lists, 1).reshape(n**3 * 8, -1).astype(np.int32)
    at = ((place[:, None] + basis) * cell).reshape(-1, 3)
    at += 0.06 * np.random.default_rng(2424).normal(size=at.shape)
    return at, near, n * cell, zeros(len(at)), zeros(at.shape)


@program("silicon's atoms, pairs and the angles of threes, Stillinger and Weber", silicon, 2, 40)
def silicon_forces(at, near, box, energy, force):
    atoms, most = near.shape
    cut = 1.8
    cosine = -1.0 / 3.0
    for i in range(atoms):
        for p in range(most):
            j = near[i, p]
            dx = at[j, 0] - at[i, 0]
            dy = at[j, 1] - at[i, 1]
            dz = at[j, 2] - at[i, 2]
            dx -= box * round(dx / box)
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r = math.sqrt(dx * dx + dy * dy + dz * dz)
            if r >= cut:
                continue
            fade = math.exp(1.0 / (r - cut))
            power = 0.6022245584 / (r * r * r * r)
            e = 7.049556277 * (power - 1.0) * fade
            de = 7.049556277 * fade * (-4.0 * power / r - (power - 1.0) / (r - cut) ** 2)
            energy[i] += 0.5 * e
            force[i, 0] += de * dx / r
            force[i, 1] += de * dy / r
            force[i, 2] += de * dz / r
            for q in range(p + 1, most):
                k = near[i, q]
                ex = at[k, 0] - at[i, 0]
                ey = at[k, 1] - at[i, 1]
                ez = at[k, 2] - at[i, 2]
                ex -= box * round(ex / box)
                ey -= box * round(ey / box)
                ez -= box * round(ez / box)
                s = math.sqrt(ex * ex + ey * ey + ez * ez)
                if s >= cut:
                    continue
                both = 21.0 * math.exp(1.2 / (r - cut) + 1.2 / (s - cut))
                c = (dx * ex + dy * ey + dz * ez) / (r * s)
                off = c - cosine
                energy[i] += both * off * off
                turn = 2.0 * both * off
                along_r = -1.2 * both * off * off / (r - cut) ** 2
                along_s = -1.2 * both * off * off / (s - cut) ** 2
                fr = along_r / r - turn * c / (r * r)
                fs = along_s / s - turn * c / (s * s)
                mix = turn / (r * s)
                jx, jy, jz = fr * dx + mix * ex, fr * dy + mix * ey, fr * dz + mix * ez
                kx, ky, kz = fs * ex + mix * dx, fs * ey + mix * dy, fs * ez + mix * dz
                force[j, 0] -= jx
                force[j, 1] -= jy
                force[j, 2] -= jz
                force[k, 0] -= kx
                force[k, 1] -= ky
                force[k, 2] -= kz
                force[i, 0] += jx + kx
                force[i, 1] += jy + ky
                force[i, 2] += jz + kz


def valley(n):
    y, x = np.mgrid[0:n, 0:n] / n
    bed = 0.5 + 0.4 * np.cos(2.0 * np.pi * x) * np.cos(4.0 * np.pi * y) + 0.02 * f8(n, n)
    h = np.maximum(0.55 + 0.3 * (np.hypot(x - 0.5, y - 0.5) < 0.15) - bed, 0.0)
    return h, zeros((n, n)), zeros((n, n)), bed, 3 if n < 50 else 10, 0.1 / n, 1.0 / n


def across(hl, ul, vl, zl, hr, ur, vr, zr):
    """What flows from left to right, and the push of the bed on either side."""
    top = max(zl, zr)
    a = max(hl + zl - top, 0.0)
    b = max(hr + zr - top, 0.0)
    fast = max(abs(ul) + math.sqrt(9.81 * a), abs(ur) + math.sqrt(9.81 * b))
    mass = 0.5 * (a * ul + b * ur) - 0.5 * fast * (b - a)
    along = 0.5 * (a * ul * ul + b * ur * ur + 4.905 * (a * a + b * b)) - 0.5 * fast * (b * ur - a * ul)
    side = 0.5 * (a * ul * vl + b * ur * vr) - 0.5 * fast * (b * vr - a * vl)
    return mass, along + 4.905 * (hl * hl - a * a), along + 4.905 * (hr * hr - b * b), side


@program("a flood over uneven ground, wet and dry, beds made even between cells", valley, 12, 1536)
def flood(h, p, q, bed, steps, dt, dx):
    n, m = h.shape
    dh = np.zeros((n, m))
    dp = np.zeros((n, m))
    dq = np.zeros((n, m))
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                dh[i, j] = 0.0
                dp[i, j] = 0.0
                dq[i, j] = 0.0
        for i in range(n):
            for j in range(m):
                u = p[i, j] / h[i, j] if h[i, j] > 1e-4 else 0.0
                v = q[i, j] / h[i, j] if h[i, j] > 1e-4 else 0.0
                e = (j + 1) % m
                ue = p[i, e] / h[i, e] if h[i, e] > 1e-4 else 0.0
                ve = q[i, e] / h[i, e] if h[i, e] > 1e-4 else 0.0
                mass, left, right, side = across(h[i, j], u, v, bed[i, j], h[i, e], ue, ve, bed[i, e])
                dh[i, j] -= mass
                dh[i, e] += mass
                dp[i, j] -= left
                dp[i, e] += right
                dq[i, j] -= side
                dq[i, e] += side
                s = (i + 1) % n
                us = p[s, j] / h[s, j] if h[s, j] > 1e-4 else 0.0
                vs = q[s, j] / h[s, j] if h[s, j] > 1e-4 else 0.0
                mass, left, right, side = across(h[i, j], v, u, bed[i, j], h[s, j], vs, us, bed[s, j])
                dh[i, j] -= mass
                dh[s, j] += mass
                dq[i, j] -= left
                dq[s, j] += right
                dp[i, j] -= side
                dp[s, j] += side
        for i in range(n):
            for j in range(m):
                h[i, j] = max(h[i, j] + dt / dx * dh[i, j], 0.0)
                p[i, j] += dt / dx * dp[i, j]
                q[i, j] += dt / dx * dq[i, j]
                if h[i, j] <= 1e-4:
                    p[i, j] = 0.0
                    q[i, j] = 0.0


def ships(n):
    t = 8 if n < 100 else 50
    rng = np.random.default_rng(2426)
    start = np.concatenate([rng.normal(size=(n, 2)) * 3.0, rng.normal(size=(n, 2)) * 0.2], 1)
    at = start[None, :, :2] + np.arange(1, t + 1)[:, None, None] * start[:, 2:]
    seen = np.stack([np.arctan2(at[..., 1], at[..., 0]), np.hypot(at[..., 0], at[..., 1])], 2)
    seen += rng.normal(size=seen.shape) * np.array([0.02, 0.1])
    state = start + 0.1 * rng.normal(size=(n, 4))
    return seen, 1.0, 0.001, 0.0004, 0.01, state, np.tile(np.diag([0.1, 0.1, 0.05, 0.05]), (n, 1, 1)), zeros(n)


def wrapped(angle):
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


def points_around(state, spread, dt, root, x):
    """The nine points, a step on."""
    for i in range(4):
        for j in range(i + 1):
            total = spread[i, j]
            for k in range(j):
                total -= root[i, k] * root[j, k]
            if i == j:
                root[i, i] = math.sqrt(max(total, 1e-12))
            else:
                root[i, j] = total / root[j, j]
    for k in range(9):
        for i in range(4):
            x[k, i] = state[i]
            if 1 <= k <= 4 and i >= k - 1:
                x[k, i] += math.sqrt(3.0) * root[i, k - 1]
            if k > 4 and i >= k - 5:
                x[k, i] -= math.sqrt(3.0) * root[i, k - 5]
        x[k, 0] += dt * x[k, 2]
        x[k, 1] += dt * x[k, 3]


@program("ships by bearing and range, points that stand for the spread, many filters", ships, 8, 50_000)
def unscented(seen, dt, push, noise_angle, noise_range, state, spread, likelihood):
    steps, trackers, _ = seen.shape
    for s in range(trackers):
        x = np.zeros((9, 4))
        root = np.zeros((4, 4))
        for t in range(steps):
            points_around(state[s], spread[s], dt, root, x)
            mean = np.zeros(4)
            angle = np.zeros(9)
            far = np.zeros(9)
            m_angle = 0.0
            m_far = 0.0
            for k in range(9):
                w = -1.0 / 3.0 if k == 0 else 1.0 / 6.0
                for i in range(4):
                    mean[i] += w * x[k, i]
                angle[k] = math.atan2(x[k, 1], x[k, 0])
                angle[k] = angle[0] + wrapped(angle[k] - angle[0])
                far[k] = math.sqrt(x[k, 0] * x[k, 0] + x[k, 1] * x[k, 1])
                m_angle += w * angle[k]
                m_far += w * far[k]
            saa = noise_angle
            sar = 0.0
            srr = noise_range
            cross = np.zeros((4, 2))
            for i in range(4):
                for j in range(4):
                    total = push if i == j else 0.0
                    for k in range(9):
                        w = 5.0 / 3.0 if k == 0 else 1.0 / 6.0
                        total += w * (x[k, i] - mean[i]) * (x[k, j] - mean[j])
                    spread[s, i, j] = total
            for k in range(9):
                w = 5.0 / 3.0 if k == 0 else 1.0 / 6.0
                da = angle[k] - m_angle
                dr = far[k] - m_far
                saa += w * da * da
                sar += w * da * dr
                srr += w * dr * dr
                for i in range(4):
                    cross[i, 0] += w * (x[k, i] - mean[i]) * da
                    cross[i, 1] += w * (x[k, i] - mean[i]) * dr
            det = saa * srr - sar * sar
            off = wrapped(seen[t, s, 0] - m_angle)
            miss = seen[t, s, 1] - m_far
            square = (srr * off * off - 2.0 * sar * off * miss + saa * miss * miss) / det
            likelihood[s] -= 0.5 * (square + math.log(det)) + math.log(2.0 * math.pi)
            gain = np.zeros((4, 2))
            for i in range(4):
                gain[i, 0] = (cross[i, 0] * srr - cross[i, 1] * sar) / det
                gain[i, 1] = (cross[i, 1] * saa - cross[i, 0] * sar) / det
                state[s, i] = mean[i] + gain[i, 0] * off + gain[i, 1] * miss
            for i in range(4):
                for j in range(4):
                    spread[s, i, j] -= gain[i, 0] * cross[j, 0] + gain[i, 1] * cross[j, 1]


def rates(n):
    rng = np.random.default_rng(2427)
    q = rng.random((n, 6, 6)) * np.exp(rng.normal(size=(n, 1, 1)))
    q[:, np.arange(6), np.arange(6)] = 0.0
    q[:, np.arange(6), np.arange(6)] = -q.sum(2)
    return q, rng.exponential(0.8, n), zeros((n, 6, 6)), zeros(n, np.int32)


@program("chances of change over a time, exponentials of rates, halved and squared", rates, 20, 500_000)
def exponentials(rate, time, chance, halvings):
    many, n, _ = rate.shape
    for m in range(many):
        a = np.zeros((n, n))
        term = np.zeros((n, n))
        new = np.zeros((n, n))
        norm = 0.0
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += abs(rate[m, i, j]) * time[m]
            norm = max(norm, s)
        k = 0
        scale = 1.0
        while norm * scale > 0.25:
            scale *= 0.5
            k += 1
        halvings[m] = k
        for i in range(n):
            for j in range(n):
                a[i, j] = rate[m, i, j] * time[m] * scale
                term[i, j] = 1.0 if i == j else 0.0
                chance[m, i, j] = term[i, j]
        for order in range(1, 10):
            for i in range(n):
                for j in range(n):
                    s = 0.0
                    for c in range(n):
                        s += term[i, c] * a[c, j]
                    new[i, j] = s / order
            for i in range(n):
                for j in range(n):
                    term[i, j] = new[i, j]
                    chance[m, i, j] += new[i, j]
        for _ in range(k):
            for i in range(n):
                for j in range(n):
                    s = 0.0
                    for c in range(n):
                        s += chance[m, i, c] * chance[m, c, j]
                    new[i, j] = s
            for i in range(n):
                for j in range(n):
                    chance[m, i, j] = new[i, j]


def cones(n):
    angles = 5 if n < 32 else 120
    shots = np.random.default_rng(2428).random((angles, n + 7, n + 11), dtype=np.float32)
    turn = np.linspace(0.0, 2.0 * np.pi, angles, endpoint=False)
    return shots, np.cos(turn), np.sin(turn), 3.0 * n, 1.2, zeros((n, n, n), np.float32)


@program("a volume from cones of rays, filtered shots laid back, nearer ones heavier", cones, 7, 160)
def cone_back(shots, cosine, sine, far, stretch, volume):
    angles, height, width = shots.shape
    n = volume.shape[0]
    middle = 0.5 * (n - 1)
    for z in range(n):
        for y in range(n):
            for x in range(n):
                total = 0.0
                for a in range(angles):
                    px = (x - middle) * cosine[a] + (y - middle) * sine[a]
                    py = (y - middle) * cosine[a] - (x - middle) * sine[a]
                    near = far / (far - px)
                    u = py * near * stretch + 0.5 * (width - 1)
                    v = (z - middle) * near * stretch + 0.5 * (height - 1)
                    i = math.floor(v)
                    j = math.floor(u)
                    if i < 0 or j < 0 or i >= height - 1 or j >= width - 1:
                        continue
                    du = u - j
                    dv = v - i
                    top = shots[a, i, j] * (1.0 - du) + shots[a, i, j + 1] * du
                    low = shots[a, i + 1, j] * (1.0 - du) + shots[a, i + 1, j + 1] * du
                    total += near * near * (top * (1.0 - dv) + low * dv)
                volume[z, y, x] = total


def stars(n):
    rng = np.random.default_rng(2429)
    at, speed = rng.normal(size=(n, 3)), 0.5 * rng.normal(size=(n, 3))
    return at, speed, rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.random(n) / n, 0.001, 1e-4


@program("stars that draw each other, pulls and their rates of change, Hermite's step", stars, 30, 12_288)
def hermite(at, speed, pull, jerk, mass, dt, soft):
    n = len(mass)
    p = np.zeros((n, 3))
    v = np.zeros((n, 3))
    for i in range(n):
        for k in range(3):
            p[i, k] = at[i, k] + dt * (speed[i, k] + dt / 2 * (pull[i, k] + dt / 3 * jerk[i, k]))
            v[i, k] = speed[i, k] + dt * (pull[i, k] + dt / 2 * jerk[i, k])
    for i in range(n):
        a = np.zeros(3)
        b = np.zeros(3)
        for j in range(n):
            if j == i:
                continue
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            ux, uy, uz = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
            square = dx * dx + dy * dy + dz * dz + soft
            w = mass[j] / (square * math.sqrt(square))
            s = 3.0 * (dx * ux + dy * uy + dz * uz) / square
            a[0] += w * dx
            a[1] += w * dy
            a[2] += w * dz
            b[0] += w * (ux - s * dx)
            b[1] += w * (uy - s * dy)
            b[2] += w * (uz - s * dz)
        for k in range(3):
            old = speed[i, k]
            speed[i, k] += 0.5 * dt * (pull[i, k] + a[k]) + dt * dt / 12 * (jerk[i, k] - b[k])
            at[i, k] += 0.5 * dt * (old + speed[i, k]) + dt * dt / 12 * (pull[i, k] - a[k])
            pull[i, k] = a[k]
            jerk[i, k] = b[k]


@program(
    "series of Chebyshev, slopes in both directions by recurrence",
    lambda n: (f8(n, n + n // 2) - 0.5, zeros((n, n + n // 2)), zeros((n, n + n // 2))),
    20,
    4096,
)
def chebyshev_slopes(c, down, along):
    n, m = c.shape
    for j in range(m):
        down[n - 2, j] = 2.0 * (n - 1) * c[n - 1, j]
        for k in range(n - 2, 0, -1):
            down[k - 1, j] = down[k + 1, j] + 2.0 * k * c[k, j]
        down[0, j] *= 0.5
    total = 0.0
    for i in range(n):
        along[i, m - 2] = 2.0 * (m - 1) * c[i, m - 1]
        for k in range(m - 2, 0, -1):
            along[i, k - 1] = along[i, k + 1] + 2.0 * k * c[i, k]
        along[i, 0] *= 0.5
        for k in range(m):
            total += along[i, k] * down[i, k]
    return total
