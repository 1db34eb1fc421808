"""A quarter of a twentieth set, written without a look at the recipe: samples, graphs, places and pictures."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def cloud_pair(n):
    x = f8(n, 3)
    return x, np.stack([np.sin(3.0 * x[:, 0]), x[:, 1] * x[:, 2]], 1), zeros((n, n)), zeros((n, n))


@program("correlation of distances, two samples, centred twice", cloud_pair, 40, 4096)
def distance_correlation(x, y, a, b):
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - x[j, k]) ** 2
            a[i, j] = math.sqrt(s)
            s = 0.0
            for k in range(y.shape[1]):
                s += (y[i, k] - y[j, k]) ** 2
            b[i, j] = math.sqrt(s)
    for z in (a, b):
        row = np.zeros(n)
        grand = 0.0
        for i in range(n):
            for j in range(n):
                row[i] += z[i, j] / n
            grand += row[i] / n
        for j in range(n):
            for i in range(n):
                z[i, j] += grand - row[i] - row[j]
    ab = 0.0
    aa = 0.0
    bb = 0.0
    for i in range(n):
        for j in range(n):
            ab += a[i, j] * b[i, j]
            aa += a[i, j] * a[i, j]
            bb += b[i, j] * b[i, j]
    return math.sqrt(ab / math.sqrt(aa * bb))


def risers(b):
    n = 32 if b < 1000 else 64
    return f8(b, n) + np.linspace(0.0, 1.0, n), 0.5 + f8(b, n)[:, ::-1].copy(), zeros((b, n))


@program("rising fits of many rows, neighbours pooled", risers, 30, 8192)
def pooled_rising(y, weight, fit):
    rows, n = y.shape
    for r in range(rows):
        level = np.zeros(n)
        mass = np.zeros(n)
        size = np.zeros(n, np.int64)
        blocks = 0
        for i in range(n):
            level[blocks] = y[r, i]
            mass[blocks] = weight[r, i]
            size[blocks] = 1
            blocks += 1
            while blocks > 1 and level[blocks - 2] > level[blocks - 1]:
                both = mass[blocks - 2] + mass[blocks - 1]
                level[blocks - 2] = (level[blocks - 2] * mass[blocks - 2] + level[blocks - 1] * mass[blocks - 1]) / both
                mass[blocks - 2] = both
                size[blocks - 2] += size[blocks - 1]
                blocks -= 1
        i = 0
        for k in range(blocks):
            for _ in range(size[k]):
                fit[r, i] = level[k]
                i += 1


def flips(r):
    n, p = (20, 6) if r < 1000 else (256, 64)
    return f8(n, p) - 0.45, zeros(r), zeros(p)


@program("signs flipped at random, the greatest of many means", flips, 120, 20_000)
def sign_flips(x, best, share):
    n, p = x.shape
    for r in range(len(best)):
        for k in range(p):
            total = 0.0
            for i in range(n):
                z = (r * 7919 + i * 104729 + 12345) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = z ^ (z >> 16)
                if z & 1:
                    total += x[i, k]
                else:
                    total -= x[i, k]
            best[r] = max(best[r], abs(total) / n)
    for k in range(p):
        seen = 0.0
        for i in range(n):
            seen += x[i, k]
        count = 1
        for r in range(len(best)):
            if best[r] >= abs(seen) / n:
                count += 1
        share[k] = count / (len(best) + 1)


def ring_graph(n, degree, reach, both):
    rng = np.random.default_rng(15)
    u = np.repeat(np.arange(n), degree)
    v = u + np.cumsum(rng.integers(1, 2 * reach // degree, (n, degree)), 1).reshape(-1)
    u, v = u[v < n], v[v < n]
    if both:
        u, v = np.concatenate([v, u]), np.concatenate([u, v])
        order = np.argsort(u, kind="stable")
        u, v = u[order], v[order]
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(u, minlength=n), out=start[1:])
    return start, v


@program(
    "triangles at each node, sorted lists merged",
    lambda n: (*ring_graph(n, 8, 24, False), zeros(n, np.int64)),
    120,
    200_000,
)
def triangles(start, neighbour, corner):
    total = 0
    for u in range(len(start) - 1):
        for e in range(start[u], start[u + 1]):
            v = neighbour[e]
            i = start[u]
            j = start[v]
            while i < start[u + 1] and j < start[v + 1]:
                if neighbour[i] == neighbour[j]:
                    corner[u] += 1
                    corner[v] += 1
                    corner[neighbour[i]] += 1
                    total += 1
                    i += 1
                    j += 1
                elif neighbour[i] < neighbour[j]:
                    i += 1
                else:
                    j += 1
    return total


def arcs(n):
    rng = np.random.default_rng(16)
    m = 10 * n
    return (
        rng.integers(0, n, m).astype(np.int32),
        rng.integers(0, n, m).astype(np.int32),
        rng.random(m) + 0.01,
        zeros(n),
    )


@program("ways from one place, arcs relaxed in rounds until settled", arcs, 80, 200_000)
def relaxed_arcs(source, target, length, distance):
    n = len(distance)
    new = np.zeros(n)
    for i in range(n):
        distance[i] = np.inf
        new[i] = np.inf
    distance[0] = 0.0
    new[0] = 0.0
    rounds = 0
    changed = True
    while changed:
        changed = False
        for a in range(len(source)):
            through = distance[source[a]] + length[a]
            if through < new[target[a]]:
                new[target[a]] = through
        for i in range(n):
            if new[i] != distance[i]:
                distance[i] = new[i]
                changed = True
        rounds += 1
    return rounds


@program(
    "an independent set of a graph, Luby's rounds",
    lambda n: (*ring_graph(n, 5, 40, True), zeros(n, np.int32)),
    150,
    500_000,
)
def luby(start, neighbour, state):
    n = len(start) - 1
    rank = np.zeros(n, np.int64)
    open_nodes = n
    rounds = 0
    while open_nodes > 0:
        for u in range(n):
            z = (u * 2654435 + rounds * 40503 + 17) & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            rank[u] = (z ^ (z >> 16)) * n + u
        for u in range(n):
            if state[u] != 0:
                continue
            first = True
            for e in range(start[u], start[u + 1]):
                v = neighbour[e]
                if state[v] != -1 and state[v] != 1 and rank[v] > rank[u]:
                    first = False
                    break
            if first:
                state[u] = 2
        open_nodes = 0
        for u in range(n):
            if state[u] == 2:
                continue
            if state[u] == 0:
                for e in range(start[u], start[u + 1]):
                    if state[neighbour[e]] == 2:
                        state[u] = -1
                        break
            if state[u] == 0:
                open_nodes += 1
        for u in range(n):
            if state[u] == 2:
                state[u] = 1
        rounds += 1
    return rounds


@program(
    "colours of nodes refined by their neighbours', Weisfeiler and Leman",
    lambda n: (*ring_graph(n, 6, 1000, True), whole(7, n), zeros((4, 1024), np.int64)),
    200,
    500_000,
)
def refined_colours(start, neighbour, colour, counts):
    n = len(colour)
    for step in range(counts.shape[0]):
        new = np.zeros(n, np.int64)
        for u in range(n):
            z = colour[u] * 31 + 7
            for e in range(start[u], start[u + 1]):
                c = colour[neighbour[e]]
                c = ((c ^ (c >> 15)) * 0x2C1B3C6D) & 0xFFFFFFFF
                z += c ^ (c >> 12)
            z = z & 0xFFFFFFFF
            z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
            new[u] = z ^ (z >> 16)
        for u in range(n):
            colour[u] = new[u]
            counts[step, new[u] & 1023] += 1


def eyes(n):
    rng = np.random.default_rng(17)
    left = rng.integers(0, 256, (n, n)).astype(np.uint8)
    right = np.roll(left, -5, 1)
    return left, right, 8 if n < 100 else 48, zeros((n, n), np.int32)


@program("stereo by census, bits that differ", eyes, 20, 1024)
def census(left, right, most, disparity):
    h, w = left.shape
    codes = np.zeros((2, h, w), np.int64)
    for side in range(2):
        for i in range(2, h - 2):
            for j in range(3, w - 3):
                code = 0
                for a in range(-2, 3):
                    for b in range(-3, 4):
                        code <<= 1
                        if side == 0:
                            if left[i + a, j + b] < left[i, j]:
                                code |= 1
                        elif right[i + a, j + b] < right[i, j]:
                            code |= 1
                codes[side, i, j] = code
    for i in range(2, h - 2):
        for j in range(3, w - 3):
            least = 99
            for d in range(most):
                if j - d < 3:
                    break
                x = codes[0, i, j] ^ codes[1, i, j - d]
                bits = 0
                while x != 0:
                    x &= x - 1
                    bits += 1
                if bits < least:
                    least = bits
                    disparity[i, j] = d


@program(
    "a lens undone, cubic between pixels", lambda n: (f4(n, n, 3), 0.2, 0.05, zeros((n, n, 3), np.float32)), 14, 2048
)
def undistorted(picture, k1, k2, out):
    h, w, colours = picture.shape
    for i in range(h):
        for j in range(w):
            y = 2.0 * i / (h - 1) - 1.0
            x = 2.0 * j / (w - 1) - 1.0
            r2 = x * x + y * y
            s = (1.0 + k1 * r2 + k2 * r2 * r2) / (1.0 + 2.0 * k1 + 4.0 * k2)
            fy = (y * s + 1.0) * (h - 1) / 2.0
            fx = (x * s + 1.0) * (w - 1) / 2.0
            iy = math.floor(fy)
            ix = math.floor(fx)
            wy = np.zeros(4)
            wx = np.zeros(4)
            for k in range(4):
                for which in range(2):
                    d = abs((fy - iy if which == 0 else fx - ix) - (k - 1))
                    if d < 1.0:
                        t = (1.5 * d - 2.5) * d * d + 1.0
                    elif d < 2.0:
                        t = ((-0.5 * d + 2.5) * d - 4.0) * d + 2.0
                    else:
                        t = 0.0
                    if which == 0:
                        wy[k] = t
                    else:
                        wx[k] = t
            for c in range(colours):
                total = 0.0
                for a in range(4):
                    for b in range(4):
                        p = min(max(iy + a - 1, 0), h - 1)
                        q = min(max(ix + b - 1, 0), w - 1)
                        total += wy[a] * wx[b] * picture[p, q, c]
                out[i, j, c] = total


def scene(n):
    depth = f4(n, n) * np.float32(4.0) + np.float32(0.5)
    return f4(n, n), depth, 2.0, 9.0, zeros((n, n), np.float32)


@program("out of focus as deep as the scene, discs gathered", scene, 16, 1536)
def out_of_focus(picture, depth, focus, aperture, out):
    h, w = picture.shape
    radius = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            radius[i, j] = min(5, int(aperture * abs(1.0 / depth[i, j] - 1.0 / focus)))
    for i in range(h):
        for j in range(w):
            total = 0.0
            weight = 0.0
            for a in range(max(0, i - 5), min(h, i + 6)):
                for b in range(max(0, j - 5), min(w, j + 6)):
                    r = radius[a, b]
                    if (a - i) ** 2 + (b - j) ** 2 > r * r:
                        continue
                    if depth[a, b] > depth[i, j] and radius[i, j] < r:
                        continue
                    share = 1.0 / (1 + r * r)
                    total += share * picture[a, b]
                    weight += share
            out[i, j] = total / weight if weight > 0.0 else picture[i, j]
