"""A tenth set, written without a look at the recipe: helpers, whole arrays and loops mixed, masks, axes, records."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("anomalies by month", lambda n: (f8(120, n), zeros((120, n))), 6, 200_000)
def anomalies(t, out):
    months, n = t.shape
    for m in range(12):
        mean = np.zeros(n)
        count = 0
        for y in range(m, months, 12):
            mean += t[y]
            count += 1
        mean /= count
        for y in range(m, months, 12):
            out[y] = t[y] - mean


@program("winners of rows, one hot", lambda n: (f8(n, 50), zeros((n, 50))), 5, 200_000)
def one_hot(x, out):
    best = np.argmax(x, axis=1)
    for i in range(x.shape[0]):
        out[i, best[i]] = 1.0


@program("shares of rows and columns", lambda n: (f8(n, n),), 12, 4000)
def shares(x):
    rows = x.sum(axis=1)
    columns = x.sum(axis=0)
    total = x.sum()
    chi = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            e = rows[i] * columns[j] / total
            chi += (x[i, j] - e) ** 2 / e
    return chi


@program("clipped and masked mean of images", lambda n: (f4(n, 64, 64), zeros(n)), 3, 20_000)
def masked_means(x, out):
    for k in range(x.shape[0]):
        image = x[k]
        mask = (image > 0.1) & (image < 0.9)
        out[k] = image[mask].mean() if mask.any() else 0.0


def _bilinear(g, x, y):
    i, j = int(x), int(y)
    a, b = x - i, y - j
    return (1 - a) * (1 - b) * g[i, j] + a * (1 - b) * g[i + 1, j] + (1 - a) * b * g[i, j + 1] + a * b * g[i + 1, j + 1]


@program("paths of drifters", lambda n: (f8(64, 64), f8(64, 64), f8(n, 2) * 40 + 10, 100), 20, 500_000)
def drifters(u, v, p, steps):
    for k in range(p.shape[0]):
        x, y = p[k]
        for _ in range(steps):
            dx = _bilinear(u, x, y) - 0.5
            dy = _bilinear(v, x, y) - 0.5
            x = min(max(x + 0.1 * dx, 0.0), 62.0)
            y = min(max(y + 0.1 * dy, 0.0), 62.0)
        p[k, 0] = x
        p[k, 1] = y


@program("tridiagonal systems, many right sides", lambda n: (f8(200), f8(200), f8(200) + 2, f8(200, n)), 4, 100_000)
def many_right_sides(lo, up, di, b):
    n = di.shape[0]
    c = np.zeros(n)
    c[0] = up[0] / di[0]
    b[0] /= di[0]
    for k in range(1, n):
        m = di[k] - lo[k] * c[k - 1]
        c[k] = up[k] / m
        b[k] = (b[k] - lo[k] * b[k - 1]) / m
    for k in range(n - 2, -1, -1):
        b[k] -= c[k] * b[k + 1]


@program("cumulated along the last of three axes", lambda n: (f8(n, 40, 60), zeros((n, 40, 60))), 2, 5000)
def cumulated(x, out):
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            s = 0.0
            for c in range(x.shape[2]):
                s += x[a, b, c]
                out[a, b, c] = s


@program("matrix exponentials, 4 x 4", lambda n: (f8(n, 4, 4) * 0.1, zeros((n, 4, 4))), 5, 200_000)
def exponentials(a, out):
    for m in range(a.shape[0]):
        term = np.eye(4)
        total = np.eye(4)
        for k in range(1, 12):
            term = term @ a[m] / k
            total += term
        out[m] = total


@program("fields of dipoles", lambda n: (f8(n, 3), f8(200, 3), f8(200, 3), zeros((n, 3))), 20, 100_000)
def dipoles(points, places, moments, field):
    for i in range(points.shape[0]):
        total = np.zeros(3)
        for k in range(places.shape[0]):
            r = points[i] - places[k]
            d2 = r[0] ** 2 + r[1] ** 2 + r[2] ** 2 + 1e-6
            d = np.sqrt(d2)
            dot = np.dot(moments[k], r)
            total += 3 * dot * r / d**5 - moments[k] / d**3
        field[i] = total


@program("quaternions turn vectors", lambda n: (f8(n, 4), f8(n, 3), zeros((n, 3))), 20, 2_000_000)
def quaternions(q, v, out):
    for i in range(q.shape[0]):
        w, x, y, z = q[i] / np.linalg.norm(q[i])
        u = np.array([x, y, z])
        t = 2 * np.cross(u, v[i])
        out[i] = v[i] + w * t + np.cross(u, t)


@program("boxes of a tree, Morton keys", lambda n: (f8(n, 3), zeros(n, np.int64)), 30, 5_000_000)
def morton(p, key):
    for i in range(p.shape[0]):
        k = 0
        for d in range(3):
            v = int(p[i, d] * 1023)
            for b in range(10):
                k |= ((v >> b) & 1) << (3 * b + d)
        key[i] = k


@program("flux limited advection", lambda n: (f8(n), 0.4, 50), 20, 1_000_000)
def limited(u, c, steps):
    n = len(u)
    for _ in range(steps):
        d = np.empty(n)
        for i in range(n):
            a = u[i] - u[i - 1]
            b = u[(i + 1) % n] - u[i]
            d[i] = 0.0 if a * b <= 0 else 2 * a * b / (a + b)
        f = np.empty(n)
        for i in range(n):
            f[i] = c * (u[i] + 0.5 * (1 - c) * d[i])
        for i in range(n):
            u[i] -= f[i] - f[i - 1] if i > 0 else f[0] - f[n - 1]


@program("bonds priced by day counts", lambda n: (f8(n), whole(60, n) + 2, f8(n) * 0.1, zeros(n)), 30, 2_000_000)
def bonds(coupon, periods, y, price):
    for i in range(coupon.shape[0]):
        p = 0.0
        discount = 1.0
        for _ in range(periods[i]):
            discount /= 1 + y[i] / 2
            p += coupon[i] / 2 * discount
        price[i] = p + discount


@program("worst losses of rows, sorted", lambda n: (f8(n, 128), zeros(n)), 3, 20_000)
def worst(x, out):
    for i in range(x.shape[0]):
        row = np.sort(x[i])
        out[i] = row[:6].mean()


@program(
    "scattered into bins by two keys",
    lambda n: (whole(50, n), whole(20, n), f8(n), zeros((50, 20)), zeros((50, 20))),
    60,
    10_000_000,
)
def two_keys(a, b, x, total, greatest):
    for i in range(len(a)):
        total[a[i], b[i]] += x[i]
        if x[i] > greatest[a[i], b[i]]:
            greatest[a[i], b[i]] = x[i]


@program("neighbours by a grid of cells", lambda n: (f8(n, 2), whole(4, n), zeros(n, np.int64)), 60, 100_000)
def cells(p, kind, out):
    n = p.shape[0]
    m = int(math.sqrt(n / 4)) + 1
    head = np.full((m, m), -1)
    following = np.full(n, -1)
    for i in range(n):
        a, b = int(p[i, 0] * m), int(p[i, 1] * m)
        following[i] = head[a, b]
        head[a, b] = i
    for i in range(n):
        a, b = int(p[i, 0] * m), int(p[i, 1] * m)
        count = 0
        for da in range(-1, 2):
            for db in range(-1, 2):
                if 0 <= a + da < m and 0 <= b + db < m:
                    j = head[a + da, b + db]
                    while j >= 0:
                        if (
                            j != i
                            and kind[j] == kind[i]
                            and (p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2 < 1 / (m * m)
                        ):
                            count += 1
                        j = following[j]
        out[i] = count


@program("lag by which two series agree best", lambda n: (f8(n, 256), f8(n, 256), zeros(n, np.int64)), 3, 5000)
def best_lag(a, b, out):
    for k in range(a.shape[0]):
        best = -np.inf
        for lag in range(-32, 33):
            s = 0.0
            for t in range(max(0, -lag), min(256, 256 - lag)):
                s += a[k, t] * b[k, t + lag]
            if s > best:
                best = s
                out[k] = lag


@program("polygons, areas and centres", lambda n: (f8(n, 12, 2), zeros(n), zeros((n, 2))), 10, 1_000_000)
def polygons(p, area, centre):
    for k in range(p.shape[0]):
        s = 0.0
        cx = 0.0
        cy = 0.0
        for i in range(p.shape[1]):
            j = (i + 1) % p.shape[1]
            w = p[k, i, 0] * p[k, j, 1] - p[k, j, 0] * p[k, i, 1]
            s += w
            cx += (p[k, i, 0] + p[k, j, 0]) * w
            cy += (p[k, i, 1] + p[k, j, 1]) * w
        area[k] = s / 2
        centre[k, 0] = cx / (3 * s)
        centre[k, 1] = cy / (3 * s)


@program("plasma, charges to a field and back", lambda n: (f8(n), f8(n) - 0.5, 1024, 5), 60, 2_000_000)
def plasma(x, v, m, steps):
    for _ in range(steps):
        rho = np.zeros(m)
        for i in range(x.shape[0]):
            c = int(x[i] * m)
            w = x[i] * m - c
            rho[c] += 1 - w
            rho[(c + 1) % m] += w
        rho -= rho.mean()
        e = np.cumsum(rho) / m
        e -= e.mean()
        for i in range(x.shape[0]):
            c = int(x[i] * m)
            v[i] -= 0.01 * e[c]
            x[i] = (x[i] + 0.01 * v[i]) % 1.0


@program("logistic regression, Newton's matrix", lambda n: (f8(n, 16), f8(16), zeros((16, 16)), zeros(16)), 20, 500_000)
def newton(x, w, h, g):
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(16):
            z += x[i, j] * w[j]
        p = 1 / (1 + math.exp(-z))
        for j in range(16):
            g[j] += (p - 0.5) * x[i, j]
            for k in range(16):
                h[j, k] += p * (1 - p) * x[i, j] * x[i, k]


@program("rows by their distance to a template", lambda n: (f4(n, 100), f4(100)), 10, 500_000)
def nearest_row(x, t):
    d = ((x - t) ** 2).sum(axis=1)
    return np.argmin(d), d.min()


@program("moves of a random walk with a map", lambda n: (whole(2, 64, 64), n, 200), 20, 500_000)
def walkers(walls, n, steps):
    total = 0
    for k in range(n):
        state = np.uint32(k * 2654435761 % 4294967291 + 1)
        i = 32
        j = 32
        moves = 0
        for _ in range(steps):
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            d = state % np.uint32(4)
            a = i + (1 if d == 0 else -1 if d == 1 else 0)
            b = j + (1 if d == 2 else -1 if d == 3 else 0)
            if 0 <= a < 64 and 0 <= b < 64 and walls[a, b] == 0:
                i = a
                j = b
                moves += 1
        total += moves
    return total


@program("moments of blocks of an image", lambda n: (f4(n, n), zeros((n // 16, n // 16, 4))), 32, 4096)
def block_moments(x, out):
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            block = x[16 * a : 16 * a + 16, 16 * b : 16 * b + 16]
            m = block.mean()
            d = block - m
            out[a, b, 0] = m
            out[a, b, 1] = (d**2).mean()
            out[a, b, 2] = (d**3).mean()
            out[a, b, 3] = block.max() - block.min()


@program(
    "sequence to sequence, one step of attention",
    lambda n: (f4(n, 64), f4(n, 30, 64), zeros((n, 64), np.float32)),
    3,
    20_000,
)
def attention_step(q, memory, out):
    for b in range(q.shape[0]):
        scores = memory[b] @ q[b] / 8
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
        out[b] = scores @ memory[b]


@program("rings around a point, profile", lambda n: (f4(n, n), 64), 24, 3000)
def radial_profile(image, bins):
    n = image.shape[0]
    total = np.zeros(bins)
    count = np.zeros(bins)
    for i in range(n):
        for j in range(n):
            r = math.hypot(i - n / 2, j - n / 2) / (n / 2) * bins
            k = int(r)
            if k < bins:
                total[k] += image[i, j]
                count[k] += 1
    return total / np.maximum(count, 1)
