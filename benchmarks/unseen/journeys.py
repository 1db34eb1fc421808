"""A quarter of a twenty-first set, written without a look at the recipe: shapes, tables, codes, robots and skies."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import program, zeros


def stones(n):
    rng = np.random.default_rng(63)
    count = rng.integers(4, 17, n).astype(np.int32)
    turn = np.sort(rng.random((n, 16)) * 2.0 * np.pi, 1)
    turn[np.arange(16)[None] >= count[:, None]] = np.inf
    turn = np.sort(np.where(np.isinf(turn), 0.0, turn) + np.where(np.isinf(turn), 10.0, 0.0), 1)
    size, lean = 0.5 + rng.random((n, 2, 1)), rng.random((n, 1)) * np.pi
    x, y = size[:, 0] * np.cos(turn), size[:, 1] * np.sin(turn)
    point = np.stack([x * np.cos(lean) - y * np.sin(lean), x * np.sin(lean) + y * np.cos(lean)], 2)
    return point, count, zeros(n), zeros(n, np.int32), zeros((n, 4, 2))


@program("least rectangles around convex stones, one side along an edge", stones, 60, 40_000)
def rectangles(point, count, area, side, corner):
    total = 0.0
    for s in range(point.shape[0]):
        best = np.inf
        n = count[s]
        for e in range(n):
            f = e + 1 if e + 1 < n else 0
            dx = point[s, f, 0] - point[s, e, 0]
            dy = point[s, f, 1] - point[s, e, 1]
            length = math.sqrt(dx * dx + dy * dy)
            if length < 1e-9:
                continue
            dx /= length
            dy /= length
            low, high = np.inf, -np.inf
            bottom, top = np.inf, -np.inf
            for k in range(n):
                a = dx * point[s, k, 0] + dy * point[s, k, 1]
                b = dx * point[s, k, 1] - dy * point[s, k, 0]
                low = min(low, a)
                high = max(high, a)
                bottom = min(bottom, b)
                top = max(top, b)
            size = (high - low) * (top - bottom)
            if size < best:
                best = size
                side[s] = e
                for k in range(4):
                    a = high if k == 1 or k == 2 else low
                    b = top if k >= 2 else bottom
                    corner[s, k, 0] = a * dx - b * dy
                    corner[s, k, 1] = a * dy + b * dx
        area[s] = best
        total += best
    return total


def potato(n):
    rings, around = (4, 6) if n < 1000 else (20, 32)
    i, j = np.meshgrid(np.arange(rings + 1), np.arange(around), indexing="ij")
    t, p = np.pi * i / rings, 2.0 * np.pi * j / around
    r = 1.0 + 0.2 * np.sin(3.0 * p) * np.sin(t) ** 2 + 0.1 * np.cos(2.0 * t)
    v = np.stack([r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t)], 2)
    k = np.roll(v, -1, 1)
    a = np.stack([v[:-1], v[1:], k[1:]], 2)[:-1].reshape(-1, 3, 3)
    b = np.stack([v[:-1], k[1:], k[:-1]], 2)[1:].reshape(-1, 3, 3)
    return np.random.default_rng(64).random((n, 3)) * 2.6 - 1.3, np.concatenate([a, b]), zeros(n), zeros(n, np.uint8)


@program("points within a closed mesh, solid angles added", potato, 60, 16_384)
def solid_angles(point, triangle, turns, inside):
    found = 0
    for i in range(point.shape[0]):
        total = 0.0
        for f in range(triangle.shape[0]):
            ax = triangle[f, 0, 0] - point[i, 0]
            ay = triangle[f, 0, 1] - point[i, 1]
            az = triangle[f, 0, 2] - point[i, 2]
            bx = triangle[f, 1, 0] - point[i, 0]
            by = triangle[f, 1, 1] - point[i, 1]
            bz = triangle[f, 1, 2] - point[i, 2]
            cx = triangle[f, 2, 0] - point[i, 0]
            cy = triangle[f, 2, 1] - point[i, 1]
            cz = triangle[f, 2, 2] - point[i, 2]
            la = math.sqrt(ax * ax + ay * ay + az * az)
            lb = math.sqrt(bx * bx + by * by + bz * bz)
            lc = math.sqrt(cx * cx + cy * cy + cz * cz)
            det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            ab = ax * bx + ay * by + az * bz
            bc = bx * cx + by * cy + bz * cz
            ca = cx * ax + cy * ay + cz * az
            total += 2.0 * math.atan2(det, la * lb * lc + ab * lc + bc * la + ca * lb)
        turns[i] = total / (4.0 * math.pi)
        if abs(turns[i]) > 0.5:
            inside[i] = 1
            found += 1
    return found


def orders(n):
    rng = np.random.default_rng(65)
    customers = n // 40 + 3
    who = (rng.random(n) ** 2 * customers).astype(np.int32)
    return who, rng.integers(1, 1000, n), np.full((customers, 3), -1, np.int64), np.full((customers, 3), -1, np.int64)


@program("three dearest orders of each customer, the earlier first", orders, 3000, 4_000_000)
def dearest(customer, price, best, which):
    three = best.shape[1]
    for i in range(len(customer)):
        c = customer[i]
        if price[i] <= best[c, three - 1]:
            continue
        k = three - 1
        while k > 0 and price[i] > best[c, k - 1]:
            best[c, k] = best[c, k - 1]
            which[c, k] = which[c, k - 1]
            k -= 1
        best[c, k] = price[i]
        which[c, k] = i


def visits(n):
    rng = np.random.default_rng(66)
    users = n // 30 + 2
    user = np.sort(rng.integers(0, users, n))
    day = rng.integers(0, 90, n)
    order = np.lexsort((day, user))
    return (
        user.astype(np.int32),
        day[order].astype(np.int16),
        zeros(users, np.int16),
        zeros(users, np.int16),
        zeros(32, np.int64),
    )


@program("longest runs of days of each user, islands of dates", visits, 3000, 8_000_000)
def day_runs(user, day, best, begin, lengths):
    n = len(user)
    run = 0
    first = 0
    for i in range(n):
        if i == 0 or user[i] != user[i - 1]:
            run = 1
            first = day[i]
        elif day[i] == day[i - 1] + 1:
            run += 1
        elif day[i] != day[i - 1]:
            run = 1
            first = day[i]
        if run > best[user[i]]:
            best[user[i]] = run
            begin[user[i]] = first
        if i == n - 1 or user[i + 1] != user[i] or day[i + 1] > day[i] + 1:
            lengths[min(run, 31)] += 1


def meters(s):
    t = 40 if s < 100 else 128
    rng = np.random.default_rng(67)
    x = np.round(20.0 + np.cumsum(rng.integers(-4, 5, (s, t)) * (rng.random((s, t)) < 0.6), 1) * 0.25, 2)
    x = np.abs(np.where(rng.random((s, t)) < 0.1, x + 0.01, x)) + 1.0
    return x.view(np.int64), zeros(s, np.int64), zeros(s, np.int32)


@program("series of floats after Gorilla, the bits that each takes", meters, 40, 16_384)
def gorilla(word, bits, reused):
    rows, n = word.shape
    for s in range(rows):
        size = 64
        lead = -1
        trail = 0
        for t in range(1, n):
            x = word[s, t] ^ word[s, t - 1]
            if x == 0:
                size += 1
                continue
            left = 0
            while left < 31 and (x >> (63 - left)) & 1 == 0:
                left += 1
            right = 0
            while (x >> right) & 1 == 0:
                right += 1
            if lead >= 0 and left >= lead and right >= trail:
                size += 2 + 64 - lead - trail
                reused[s] += 1
            else:
                lead = left
                trail = right
                size += 13 + 64 - lead - trail
        bits[s] = size


@program(
    "numbers in Elias's codes, written bit by bit",
    lambda n: (
        np.minimum(np.random.default_rng(68).geometric(0.02, n) ** 2 // 8 + 1, 65535).astype(np.int32),
        zeros(4 * n, np.uint8),
    ),
    1500,
    1_500_000,
)
def elias(value, out):
    at = 0
    for i in range(len(value)):
        width = 0
        v = value[i]
        while v > 1:
            v >>= 1
            width += 1
        at += width
        for k in range(width, -1, -1):
            if (value[i] >> k) & 1:
                out[at >> 3] |= 128 >> (at & 7)
            at += 1
    return at


def plants(n):
    rng = np.random.default_rng(69)
    a = np.eye(4) + 0.15 * rng.normal(size=(n, 4, 4))
    return (
        a,
        rng.normal(size=(n, 4, 2)),
        0.5 + rng.random((n, 4)),
        0.5 + rng.random((n, 2)),
        60,
        zeros((n, 2, 4)),
        zeros((n, 4, 4)),
        zeros(n, np.int32),
    )


@program("gains of regulators, Riccati until it settles", plants, 12, 40_000)
def regulators(a, b, q, r, most, gain, value, rounds):
    n = a.shape[1]
    for s in range(a.shape[0]):
        p, new, pa = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
        pb, ba = np.zeros((n, 2)), np.zeros((2, n))
        m, k = np.zeros((2, 2)), np.zeros((2, n))
        for i in range(n):
            p[i, i] = q[s, i]
        for step in range(most):
            for i in range(n):
                for j in range(n):
                    t = 0.0
                    for c in range(n):
                        t += p[i, c] * a[s, c, j]
                    pa[i, j] = t
                for j in range(2):
                    t = 0.0
                    for c in range(n):
                        t += p[i, c] * b[s, c, j]
                    pb[i, j] = t
            for i in range(2):
                for j in range(n):
                    t = 0.0
                    for c in range(n):
                        t += b[s, c, i] * pa[c, j]
                    ba[i, j] = t
                for j in range(2):
                    t = r[s, i] if i == j else 0.0
                    for c in range(n):
                        t += b[s, c, i] * pb[c, j]
                    m[i, j] = t
            det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
            for j in range(n):
                k[0, j] = (m[1, 1] * ba[0, j] - m[0, 1] * ba[1, j]) / det
                k[1, j] = (m[0, 0] * ba[1, j] - m[1, 0] * ba[0, j]) / det
            change = 0.0
            largest = 0.0
            for i in range(n):
                for j in range(n):
                    t = q[s, i] if i == j else 0.0
                    for c in range(n):
                        t += a[s, c, i] * pa[c, j]
                    for c in range(2):
                        t -= ba[c, i] * k[c, j]
                    new[i, j] = t
            for i in range(n):
                for j in range(n):
                    t = 0.5 * (new[i, j] + new[j, i])
                    change = max(change, abs(t - p[i, j]))
                    largest = max(largest, abs(t))
                    p[i, j] = t
            rounds[s] = step + 1
            if change < 1e-4 * largest:
                break
        for j in range(n):
            for i in range(2):
                gain[s, i, j] = k[i, j]
            for i in range(n):
                value[s, i, j] = p[i, j]


def cars(r):
    steps, tries = (8, 24) if r < 10 else (24, 2048)
    rng = np.random.default_rng(70)
    state = np.concatenate([rng.random((r, 2)) * 2.0, rng.random((r, 1)) * 6.0, rng.random((r, 1))], 1)
    return (
        state,
        4.0 + rng.random((r, 2)),
        rng.random((9, 3)) * np.array([4.0, 4.0, 0.4]) + np.array([1.0, 1.0, 0.1]),
        0.1 * rng.normal(size=(r, steps, 2)),
        0.8,
        0.1,
        zeros((r, tries)),
        zeros(r),
    )


@program("ways of cars tried at random and weighted, path integrals", cars, 3, 48)
def path_integrals(state, goal, pillar, control, heat, dt, cost, least):
    robots, steps, _ = control.shape
    tries = cost.shape[1]
    for r in range(robots):
        for k in range(tries):
            x, y, heading, speed = state[r, 0], state[r, 1], state[r, 2], state[r, 3]
            total = 0.0
            for t in range(steps):
                z = ((r * tries + k) * 2654435761 + t * 40503 + 99) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = z ^ (z >> 16)
                push = control[r, t, 0] + 2.0 * ((z & 0xFFFF) / 65536.0 - 0.5)
                turn = control[r, t, 1] + 3.0 * ((z >> 16) / 65536.0 - 0.5)
                speed = min(2.0, max(-0.5, speed + dt * push))
                heading += dt * turn * speed
                x += dt * speed * math.cos(heading)
                y += dt * speed * math.sin(heading)
                total += dt * (push * push + 0.5 * turn * turn) * 0.1
                hit = False
                for p in range(pillar.shape[0]):
                    if (x - pillar[p, 0]) ** 2 + (y - pillar[p, 1]) ** 2 < pillar[p, 2] * pillar[p, 2]:
                        hit = True
                        break
                if hit:
                    total += 10.0 + (steps - t)
                    break
            total += 2.0 * math.sqrt((x - goal[r, 0]) ** 2 + (y - goal[r, 1]) ** 2)
            cost[r, k] = total
        least[r] = cost[r, 0]
        for k in range(1, tries):
            if cost[r, k] < least[r]:
                least[r] = cost[r, k]
        whole_weight = 0.0
        change = np.zeros((steps, 2))
        for k in range(tries):
            weight = math.exp((least[r] - cost[r, k]) / heat)
            whole_weight += weight
            for t in range(steps):
                z = ((r * tries + k) * 2654435761 + t * 40503 + 99) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = z ^ (z >> 16)
                change[t, 0] += weight * 2.0 * ((z & 0xFFFF) / 65536.0 - 0.5)
                change[t, 1] += weight * 3.0 * ((z >> 16) / 65536.0 - 0.5)
        for t in range(steps):
            for c in range(2):
                control[r, t, c] += change[t, c] / whole_weight


def lenses(n):
    sources = n * 32 if n > 100 else n * 6
    rng = np.random.default_rng(71)
    return (
        rng.random((n, 2)),
        0.2 + 0.4 * rng.random(n),
        rng.random((sources, 2)),
        0.3 * rng.normal(size=(sources, 2)),
        0.3 + rng.random(sources),
        0.5 + rng.random(sources),
        0.004,
        0.15,
        zeros((12, 2)),
        zeros(12),
        zeros(12, np.int64),
        zeros(n),
    )


@program("shears of galaxies around lenses, along and across, in rings", lenses, 40, 2048)
def shears(lens, lens_z, place, shape, redshift, weight, near, far, profile, norm, pairs, signal):
    rings = len(norm)
    for i in range(lens.shape[0]):
        along_all = 0.0
        weight_all = 0.0
        for s in range(place.shape[0]):
            if redshift[s] <= lens_z[i] + 0.1:
                continue
            dx = place[s, 0] - lens[i, 0]
            dy = place[s, 1] - lens[i, 1]
            r2 = dx * dx + dy * dy
            if r2 < near * near or r2 >= far * far:
                continue
            ring = int(0.5 * math.log(r2 / (near * near)) / math.log(far / near) * rings)
            if ring >= rings:
                continue
            c = (dx * dx - dy * dy) / r2
            d = 2.0 * dx * dy / r2
            along = -(shape[s, 0] * c + shape[s, 1] * d)
            across = shape[s, 0] * d - shape[s, 1] * c
            w = weight[s] * (1.0 - lens_z[i] / redshift[s])
            profile[ring, 0] += w * along
            profile[ring, 1] += w * across
            norm[ring] += w
            pairs[ring] += 1
            along_all += w * along
            weight_all += w
        if weight_all > 0.0:
            signal[i] = along_all / weight_all
    for k in range(rings):
        if norm[k] > 0.0:
            profile[k, 0] /= norm[k]
            profile[k, 1] /= norm[k]


def quakes(n):
    rng = np.random.default_rng(72)
    middle = rng.integers(0, 12, n)
    centre = np.stack([rng.random(12) * 120 - 60, rng.random(12) * 300 - 150], 1)[middle]
    spot = centre + rng.normal(size=(n, 2)) * 6.0
    spot[n // 2 :, 1] = rng.random(n - n // 2) * 360.0 - 180.0
    magnitude = np.float32(2.0) - np.log(rng.random(n, dtype=np.float32) + np.float32(1e-6))
    return (
        spot[:, 0].copy(),
        spot[:, 1].copy(),
        magnitude,
        zeros(n, np.int32),
        zeros(65536, np.int32),
        zeros(65536, np.float32),
        zeros(65536),
    )


@program("quakes put into cells of a curve by halving, counted, the strongest kept", quakes, 2500, 4_000_000)
def curve_cells(latitude, longitude, magnitude, code, count, strongest, energy):
    used = 0
    for i in range(len(code)):
        south, north = -90.0, 90.0
        west, east = -180.0, 180.0
        z = 0
        for bit in range(16):
            if bit % 2 == 0:
                middle = 0.5 * (west + east)
                if longitude[i] >= middle:
                    z = z * 2 + 1
                    west = middle
                else:
                    z = z * 2
                    east = middle
            else:
                middle = 0.5 * (south + north)
                if latitude[i] >= middle:
                    z = z * 2 + 1
                    south = middle
                else:
                    z = z * 2
                    north = middle
        code[i] = z
        if count[z] == 0:
            used += 1
        count[z] += 1
        energy[z] += 10.0 ** (1.5 * (magnitude[i] - 4.0))
        if magnitude[i] > strongest[z]:
            strongest[z] = magnitude[i]
    return used
