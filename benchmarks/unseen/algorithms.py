"""A fourth set: textbook algorithms on arrays: heaps, trees, codes, strings, alignments, small systems, geometry."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


@program(
    "edit distances, given up early",
    lambda n: (whole(4, n, 60), whole(4, n, 60)[::-1].copy(), zeros(n, np.int64)),
    6,
    60_000,
)
def edits(a, b, o):
    m = a.shape[1]
    for q in range(a.shape[0]):
        row = np.arange(m + 1)
        for i in range(1, m + 1):
            last = row[0]
            row[0] = i
            least = i
            for j in range(1, m + 1):
                above = row[j]
                cost = last if a[q, i - 1] == b[q, j - 1] else 1 + min(last, above, row[j - 1])
                row[j] = cost
                last = above
                if cost < least:
                    least = cost
            if least > 25:
                break
        o[q] = row[m]


@program(
    "levels equalised by counts",
    lambda n: ((whole(256, n, n) * 3 // 4).astype(np.uint8), zeros(256, np.int64), zeros((n, n), np.uint8)),
    16,
    8000,
)
def equalised(a, h, o):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            h[a[y, x]] += 1
    for k in range(1, 256):
        h[k] += h[k - 1]
    n = a.shape[0] * a.shape[1]
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            o[y, x] = h[a[y, x]] * 255 // n


@program(
    "components by union and find", lambda n: (whole(n, n), whole(n, n)[::-1].copy(), zeros(n, np.int64)), 60, 2_000_000
)
def components(a, b, parent):
    for i in range(parent.shape[0]):
        parent[i] = i
    left = parent.shape[0]
    for e in range(a.shape[0]):
        x = a[e]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[e]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[max(x, y)] = min(x, y)
            left -= 1
    return left


@program("heap filled and emptied", lambda n: (f8(n), zeros(n + 1), zeros(n)), 60, 1_000_000)
def heap(x, h, o):
    n = 0
    for v in x:
        i = n
        n += 1
        while i > 0 and h[(i - 1) // 2] > v:
            h[i] = h[(i - 1) // 2]
            i = (i - 1) // 2
        h[i] = v
    for k in range(o.shape[0]):
        o[k] = h[0]
        n -= 1
        v = h[n]
        i = 0
        while 2 * i + 1 < n:
            c = 2 * i + 1
            if c + 1 < n and h[c + 1] < h[c]:
                c += 1
            if h[c] >= v:
                break
            h[i] = h[c]
            i = c
        h[i] = v


@program(
    "shortest paths with a heap",
    lambda n: (np.arange(n + 1) * 6, whole(n, 6 * n), f8(6 * n), zeros(n), zeros(6 * n), zeros(6 * n, np.int64)),
    40,
    200_000,
)
def dijkstra(start, to, w, dist, key, node):
    for i in range(dist.shape[0]):
        dist[i] = 1e300
    dist[0] = 0.0
    key[0] = 0.0
    node[0] = 0
    n = 1
    while n > 0:
        d = key[0]
        u = node[0]
        n -= 1
        k = key[n]
        v = node[n]
        i = 0
        while True:
            c = 2 * i + 1
            if c >= n:
                break
            if c + 1 < n and key[c + 1] < key[c]:
                c += 1
            if key[c] >= k:
                break
            key[i] = key[c]
            node[i] = node[c]
            i = c
        key[i] = k
        node[i] = v
        if d > dist[u]:
            continue
        for e in range(start[u], start[u + 1]):
            t = d + w[e]
            if t < dist[to[e]]:
                dist[to[e]] = t
                i = n
                n += 1
                while i > 0 and key[(i - 1) // 2] > t:
                    key[i] = key[(i - 1) // 2]
                    node[i] = node[(i - 1) // 2]
                    i = (i - 1) // 2
                key[i] = t
                node[i] = to[e]


@program("primes by a sieve", lambda n: (np.ones(n, np.bool_),), 400, 20_000_000)
def sieve(is_prime):
    n = is_prime.shape[0]
    is_prime[0] = False
    is_prime[1] = False
    i = 2
    while i * i < n:
        if is_prime[i]:
            for k in range(i * i, n, i):
                is_prime[k] = False
        i += 1
    count = 0
    for i in range(n):
        if is_prime[i]:
            count += 1
    return count


@program("checksums by a table", lambda n: (whole(256, n, 500).astype(np.uint8), zeros(n, np.uint32)), 4, 40_000)
def checksums(data, o):
    table = np.empty(256, np.uint32)
    for i in range(256):
        c = i
        for _ in range(8):
            if c & 1:
                c = 0xEDB88320 ^ (c >> 1)
            else:
                c = c >> 1
        table[i] = c
    for q in range(data.shape[0]):
        crc = 0xFFFFFFFF
        for k in range(data.shape[1]):
            crc = table[(crc ^ int(data[q, k])) & 0xFF] ^ (crc >> 8)
        o[q] = crc ^ 0xFFFFFFFF


@program("bits set", lambda n: (whole(1 << 62, n), zeros(n, np.int64)), 60, 4_000_000)
def bits(a, o):
    for i in range(a.shape[0]):
        v = a[i]
        n = 0
        while v:
            v &= v - 1
            n += 1
        o[i] = n


@program("text found, Knuth-Morris-Pratt", lambda n: (whole(2, n), whole(2, 12), zeros(12, np.int64)), 100, 10_000_000)
def kmp(text, word, fail):
    m = word.shape[0]
    k = 0
    for i in range(1, m):
        while k > 0 and word[i] != word[k]:
            k = fail[k - 1]
        if word[i] == word[k]:
            k += 1
        fail[i] = k
    found = 0
    k = 0
    for i in range(text.shape[0]):
        while k > 0 and text[i] != word[k]:
            k = fail[k - 1]
        if text[i] == word[k]:
            k += 1
        if k == m:
            found += 1
            k = fail[k - 1]
    return found


@program(
    "text found, Horspool", lambda n: (whole(20, n).astype(np.uint8), whole(20, 9).astype(np.uint8)), 100, 10_000_000
)
def horspool(text, word):
    n = text.shape[0]
    m = word.shape[0]
    shift = np.full(256, m)
    for i in range(m - 1):
        shift[word[i]] = m - 1 - i
    found = 0
    at = 0
    while at <= n - m:
        k = m - 1
        while k >= 0 and text[at + k] == word[k]:
            k -= 1
        if k < 0:
            found += 1
        at += shift[text[at + m - 1]]
    return found


@program("time warped, within a band", lambda n: (f8(n), f8(n)[::-1].copy(), zeros((n + 1, n + 1)), 20), 30, 8000)
def warped(x, y, d, band):
    n = x.shape[0]
    for i in range(n + 1):
        for j in range(n + 1):
            d[i, j] = np.inf
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - band), min(n, i + band) + 1):
            cost = abs(x[i - 1] - y[j - 1])
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, n]


@program(
    "most likely states",
    lambda n: (whole(16, n), f8(8, 8), f8(8, 16), zeros(8), zeros((n, 8), np.int64), zeros(n, np.int64)),
    40,
    2_000_000,
)
def viterbi(seen, move, emit, p, back, path):
    n = seen.shape[0]
    s = p.shape[0]
    new = np.zeros(s)
    for t in range(n):
        for j in range(s):
            best = -1e300
            k = 0
            for i in range(s):
                v = p[i] + move[i, j]
                if v > best:
                    best = v
                    k = i
            new[j] = best + emit[j, seen[t]]
            back[t, j] = k
        for j in range(s):
            p[j] = new[j]
    k = 0
    for j in range(1, s):
        if p[j] > p[k]:
            k = j
    for t in range(n - 1, -1, -1):
        path[t] = k
        k = back[t, k]


@program("Kalman filter, position and speed", lambda n: (f8(n), zeros((n, 2)), 0.1, 1e-3, 0.5), 40, 2_000_000)
def kalman(z, o, dt, q, r):
    x = np.zeros(2)
    p = np.eye(2)
    for t in range(z.shape[0]):
        x[0] += dt * x[1]
        p00 = p[0, 0] + dt * (p[1, 0] + p[0, 1]) + dt * dt * p[1, 1] + q
        p01 = p[0, 1] + dt * p[1, 1]
        p10 = p[1, 0] + dt * p[1, 1]
        p11 = p[1, 1] + q
        s = p00 + r
        k0 = p00 / s
        k1 = p10 / s
        e = z[t] - x[0]
        x[0] += k0 * e
        x[1] += k1 * e
        p[0, 0] = (1 - k0) * p00
        p[0, 1] = (1 - k0) * p01
        p[1, 0] = p10 - k1 * p00
        p[1, 1] = p11 - k1 * p01
        o[t, 0] = x[0]
        o[t, 1] = x[1]


@program("Lorenz, Runge-Kutta", lambda n: (f8(n, 3), 200, 0.01), 4, 20_000)
def lorenz(p, steps, h):
    k = np.empty((4, 3))
    at = np.empty(3)
    for i in range(p.shape[0]):
        for _ in range(steps):
            for s in range(4):
                f = 0.0 if s == 0 else (h if s == 3 else h / 2)
                for c in range(3):
                    at[c] = p[i, c] + (f * k[s - 1, c] if s > 0 else 0.0)
                k[s, 0] = 10.0 * (at[1] - at[0])
                k[s, 1] = at[0] * (28.0 - at[2]) - at[1]
                k[s, 2] = at[0] * at[1] - 8.0 / 3.0 * at[2]
            for c in range(3):
                p[i, c] += h / 6 * (k[0, c] + 2 * k[1, c] + 2 * k[2, c] + k[3, c])


@program(
    "longest matches before",
    lambda n: (whole(3, n).astype(np.uint8), zeros(n, np.int64), zeros(n, np.int64)),
    60,
    50_000,
)
def matches(text, length, distance):
    n = text.shape[0]
    for i in range(n):
        best = 0
        back = 0
        for d in range(1, min(i, 64) + 1):
            k = 0
            while k < 32 and i + k < n and text[i + k] == text[i + k - d]:
                k += 1
            if k > best:
                best = k
                back = d
        length[i] = best
        distance[i] = back


@program("points in a polygon", lambda n: (f8(n, 2), f8(40, 2), zeros(n, np.bool_)), 40, 1_000_000)
def inside(p, v, o):
    m = v.shape[0]
    for i in range(p.shape[0]):
        c = False
        j = m - 1
        for k in range(m):
            if (v[k, 1] > p[i, 1]) != (v[j, 1] > p[i, 1]):
                x = (v[j, 0] - v[k, 0]) * (p[i, 1] - v[k, 1]) / (v[j, 1] - v[k, 1]) + v[k, 0]
                if p[i, 0] < x:
                    c = not c
            j = k
        o[i] = c


@program("rays and triangles", lambda n: (f8(n, 3), f8(n, 3)[::-1] - 0.5, f8(50, 3, 3), zeros(n)), 20, 400_000)
def rays(origin, way, tri, o):
    for r in range(origin.shape[0]):
        nearest = 1e30
        for t in range(tri.shape[0]):
            ax = tri[t, 1, 0] - tri[t, 0, 0]
            ay = tri[t, 1, 1] - tri[t, 0, 1]
            az = tri[t, 1, 2] - tri[t, 0, 2]
            bx = tri[t, 2, 0] - tri[t, 0, 0]
            by = tri[t, 2, 1] - tri[t, 0, 1]
            bz = tri[t, 2, 2] - tri[t, 0, 2]
            hx = way[r, 1] * bz - way[r, 2] * by
            hy = way[r, 2] * bx - way[r, 0] * bz
            hz = way[r, 0] * by - way[r, 1] * bx
            det = ax * hx + ay * hy + az * hz
            if abs(det) < 1e-9:
                continue
            f = 1.0 / det
            sx = origin[r, 0] - tri[t, 0, 0]
            sy = origin[r, 1] - tri[t, 0, 1]
            sz = origin[r, 2] - tri[t, 0, 2]
            u = f * (sx * hx + sy * hy + sz * hz)
            if u < 0 or u > 1:
                continue
            qx = sy * az - sz * ay
            qy = sz * ax - sx * az
            qz = sx * ay - sy * ax
            v = f * (way[r, 0] * qx + way[r, 1] * qy + way[r, 2] * qz)
            if v < 0 or u + v > 1:
                continue
            w = f * (bx * qx + by * qy + bz * qz)
            if w > 1e-9 and w < nearest:
                nearest = w
        o[r] = nearest


@program("seasons smoothed, Holt-Winters", lambda n: (1 + f8(n), zeros(n), zeros(12), 0.3, 0.1, 0.2), 60, 4_000_000)
def holt_winters(x, o, season, alpha, beta, gamma):
    level = x[0]
    trend = 0.0
    for t in range(x.shape[0]):
        s = season[t % 12]
        before = level
        level = alpha * (x[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        season[t % 12] = gamma * (x[t] - level) + (1 - gamma) * s
        o[t] = level + trend + season[(t + 1) % 12]


@program("likelihood of a GARCH", lambda n: (f8(n) - 0.5, zeros(n), 0.01, 0.1, 0.85), 60, 8_000_000)
def garch(r, h, omega, alpha, beta):
    h[0] = 0.1
    total = 0.0
    for t in range(1, r.shape[0]):
        h[t] = omega + alpha * r[t - 1] * r[t - 1] + beta * h[t - 1]
        total -= 0.5 * (math.log(h[t]) + r[t] * r[t] / h[t])
    return total


@program("barrier option, own random numbers", lambda n: (n, 100, zeros(n)), 20, 400_000)
def barrier(n, steps, o):
    for i in range(n):
        seed = (i + 1) * 7919 % 4294967296
        price = 100.0
        alive = True
        for _ in range(steps):
            g = 0.0
            for _ in range(4):
                seed = (1664525 * seed + 1013904223) % 4294967296
                g += seed / 4294967296.0 - 0.5
            price *= 1.0 + 0.02 * g
            if price < 92.0:
                alive = False
                break
        o[i] = max(price - 100.0, 0.0) if alive else 0.0


@program("forces by cell lists", lambda n: (f8(n, 2) * math.sqrt(n), zeros((n, 2)), 2.0), 60, 200_000)
def cells(p, f, cut):
    n = p.shape[0]
    m = int(math.sqrt(n) / cut) + 1
    head = np.full((m, m), -1)
    after = np.empty(n, np.int64)
    for i in range(n):
        cx = int(p[i, 0] / cut)
        cy = int(p[i, 1] / cut)
        after[i] = head[cx, cy]
        head[cx, cy] = i
    for i in range(n):
        cx = int(p[i, 0] / cut)
        cy = int(p[i, 1] / cut)
        for ax in range(max(cx - 1, 0), min(cx + 2, m)):
            for ay in range(max(cy - 1, 0), min(cy + 2, m)):
                j = head[ax, ay]
                while j >= 0:
                    if j != i:
                        dx = p[i, 0] - p[j, 0]
                        dy = p[i, 1] - p[j, 1]
                        r2 = dx * dx + dy * dy
                        if r2 < cut * cut:
                            g = 1.0 / (r2 + 0.1) ** 2
                            f[i, 0] += g * dx
                            f[i, 1] += g * dy
                    j = after[j]


@program("game of life in bits", lambda n: (whole(1 << 62, n, 8), zeros((n, 8), np.int64)), 16, 400_000)
def life(a, o):
    n = a.shape[0]
    for i in range(1, n - 1):
        for w in range(a.shape[1]):
            for b in range(1, 61):
                s = 0
                for di in range(-1, 2):
                    for db in range(-1, 2):
                        if di != 0 or db != 0:
                            s += a[i + di, w] >> (b + db) & 1
                if s == 3 or (s == 2 and a[i, w] >> b & 1):
                    o[i, w] |= 1 << b


@program(
    "triangle solved, sparse",
    lambda n: (np.arange(n + 1) * 6, f8(6 * n), whole(n, 6 * n), f8(n), zeros(n)),
    60,
    2_000_000,
)
def lower_solved(start, a, col, b, x):
    for i in range(x.shape[0]):
        s = b[i]
        for e in range(start[i], start[i + 1]):
            if col[e] < i:
                s -= 0.1 * a[e] * x[col[e]]
        x[i] = s


@program("red and black, Gauss-Seidel", lambda n: (f8(n, n), f8(n, n)), 14, 4000)
def red_black(u, f):
    n = u.shape[0]
    for colour in range(2):
        for i in range(1, n - 1):
            for j in range(1 + (i + colour) % 2, n - 1, 2):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@program("sorted by a heap", lambda n: (f8(n),), 60, 1_000_000)
def heap_sort(a):
    n = a.shape[0]
    for begin in range(n // 2 - 1, -1, -1):
        i = begin
        while 2 * i + 1 < n:
            c = 2 * i + 1
            if c + 1 < n and a[c] < a[c + 1]:
                c += 1
            if a[i] >= a[c]:
                break
            a[i], a[c] = a[c], a[i]
            i = c
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        i = 0
        while 2 * i + 1 < end:
            c = 2 * i + 1
            if c + 1 < end and a[c] < a[c + 1]:
                c += 1
            if a[i] >= a[c]:
                break
            a[i], a[c] = a[c], a[i]
            i = c


@program("keys in an open table", lambda n: (whole(n, n), np.full(4 * n, -1), zeros(4 * n, np.int64)), 60, 1_000_000)
def open_table(keys, table, count):
    m = table.shape[0]
    distinct = 0
    for k in keys:
        h = k * 2654435761 % m
        while table[h] != -1 and table[h] != k:
            h += 1
            if h == m:
                h = 0
        if table[h] == -1:
            table[h] = k
            distinct += 1
        count[h] += 1
    return distinct


@program("inverse with pivots", lambda n: (f8(n, n), np.eye(n)), 10, 1000)
def gauss_jordan(a, b):
    n = a.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
                b[k, j], b[p, j] = b[p, j], b[k, j]
        f = 1.0 / a[k, k]
        for j in range(n):
            a[k, j] *= f
            b[k, j] *= f
        for i in range(n):
            if i != k:
                f = a[i, k]
                for j in range(n):
                    a[i, j] -= f * a[k, j]
                    b[i, j] -= f * b[k, j]


@program("rotations of Givens", lambda n: (f8(n, n), np.eye(n)), 10, 1000)
def givens(r, q):
    n = r.shape[0]
    for j in range(n):
        for i in range(n - 1, j, -1):
            h = math.hypot(r[i - 1, j], r[i, j])
            c = r[i - 1, j] / h
            s = r[i, j] / h
            for k in range(n):
                x = r[i - 1, k]
                y = r[i, k]
                r[i - 1, k] = c * x + s * y
                r[i, k] = c * y - s * x
                x = q[i - 1, k]
                y = q[i, k]
                q[i - 1, k] = c * x + s * y
                q[i, k] = c * y - s * x
