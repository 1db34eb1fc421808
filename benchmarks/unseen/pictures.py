"""With the fourth set: pictures and grids, alignments, searches, and simulations with random numbers."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, whole, zeros


@program("median filter, sorted by insertion", lambda n: (f8(n, n), zeros((n, n))), 12, 3000)
def median_filter(a, o):
    w = np.empty(9)
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            n = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    v = a[y + dy, x + dx]
                    k = n
                    while k > 0 and w[k - 1] > v:
                        w[k] = w[k - 1]
                        k -= 1
                    w[k] = v
                    n += 1
            o[y, x] = w[4]


@program("dithered, errors passed on", lambda n: (255 * f8(n, n), zeros((n, n), np.uint8)), 16, 5000)
def floyd_steinberg(a, o):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            old = a[y, x]
            new = 255 if old > 127.5 else 0
            o[y, x] = new
            e = old - new
            if x + 1 < w:
                a[y, x + 1] += e * 7 / 16
            if y + 1 < h:
                if x > 0:
                    a[y + 1, x - 1] += e * 3 / 16
                a[y + 1, x] += e * 5 / 16
                if x + 1 < w:
                    a[y + 1, x + 1] += e / 16


@program(
    "integral image and its boxes",
    lambda n: (whole(256, n, n).astype(np.uint8), zeros((n + 1, n + 1), np.int64), zeros((n, n))),
    16,
    5000,
)
def integral(a, s, o):
    h, w = a.shape
    for y in range(h):
        row = 0
        for x in range(w):
            row += int(a[y, x])
            s[y + 1, x + 1] = s[y, x + 1] + row
    for y in range(h):
        for x in range(w):
            y0 = max(y - 3, 0)
            y1 = min(y + 4, h)
            x0 = max(x - 3, 0)
            x1 = min(x + 4, w)
            o[y, x] = (s[y1, x1] - s[y0, x1] - s[y1, x0] + s[y0, x0]) / ((y1 - y0) * (x1 - x0))


@program("noise of gradients", lambda n: (np.random.default_rng(4).permutation(256), zeros((n, n)), 0.05), 12, 5000)
def noise(perm, o, scale):
    for i in range(o.shape[0]):
        for j in range(o.shape[1]):
            x = i * scale
            y = j * scale
            xi = int(x) & 255
            yi = int(y) & 255
            x -= math.floor(x)
            y -= math.floor(y)
            u = x * x * x * (x * (x * 6 - 15) + 10)
            v = y * y * y * (y * (y * 6 - 15) + 10)
            s = 0.0
            for a in range(2):
                for b in range(2):
                    g = perm[(perm[(xi + a) & 255] + yi + b) & 255] & 3
                    d = (x - a if g & 1 else a - x) + (y - b if g & 2 else b - y)
                    s += d * (u if a else 1 - u) * (v if b else 1 - v)
            o[i, j] = s


@program("Mandelbrot, smooth colours", lambda n: (zeros((n, n)), 200), 12, 4000)
def mandelbrot(o, most):
    n = o.shape[0]
    for i in range(n):
        for j in range(n):
            cx = -2.2 + 3.0 * j / n
            cy = -1.5 + 3.0 * i / n
            x = 0.0
            y = 0.0
            k = 0
            while k < most and x * x + y * y < 100.0:
                x, y = x * x - y * y + cx, 2 * x * y + cy
                k += 1
            if k < most:
                o[i, j] = k + 1 - math.log2(math.log(math.sqrt(x * x + y * y)))


@program(
    "alignments with gaps, three tables",
    lambda n: (
        whole(4, n),
        whole(4, n)[::-1].copy(),
        zeros((n + 1, n + 1)),
        zeros((n + 1, n + 1)),
        zeros((n + 1, n + 1)),
    ),
    20,
    6000,
)
def gotoh(a, b, m, x, y):
    n = a.shape[0]
    for i in range(1, n + 1):
        m[i, 0] = -1e9
        x[i, 0] = -1e9
        y[i, 0] = -2 - 0.5 * i
    for j in range(1, n + 1):
        m[0, j] = -1e9
        y[0, j] = -1e9
        x[0, j] = -2 - 0.5 * j
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            s = 1.0 if a[i - 1] == b[j - 1] else -1.0
            m[i, j] = s + max(m[i - 1, j - 1], x[i - 1, j - 1], y[i - 1, j - 1])
            x[i, j] = max(m[i, j - 1] - 2.5, x[i, j - 1] - 0.5)
            y[i, j] = max(m[i - 1, j] - 2.5, y[i - 1, j] - 0.5)
    return max(m[n, n], x[n, n], y[n, n])


@program(
    "local alignment and the way back",
    lambda n: (whole(4, n), whole(4, n)[::-1].copy(), zeros((n + 1, n + 1), np.int64), zeros((2 * n, 2), np.int64)),
    20,
    6000,
)
def smith_waterman(a, b, h, path):
    n = a.shape[0]
    best = 0
    bi = 0
    bj = 0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            s = 2 if a[i - 1] == b[j - 1] else -1
            v = max(0, h[i - 1, j - 1] + s, h[i - 1, j] - 1, h[i, j - 1] - 1)
            h[i, j] = v
            if v > best:
                best = v
                bi = i
                bj = j
    k = 0
    while h[bi, bj] > 0:
        path[k, 0] = bi
        path[k, 1] = bj
        k += 1
        s = 2 if a[bi - 1] == b[bj - 1] else -1
        if h[bi, bj] == h[bi - 1, bj - 1] + s:
            bi -= 1
            bj -= 1
        elif h[bi, bj] == h[bi - 1, bj] - 1:
            bi -= 1
        else:
            bj -= 1
    return best, k


@program("charges on a grid", lambda n: (f8(n, 2), f8(n), zeros((33, 33))), 80, 4_000_000)
def deposit(p, q, rho):
    m = rho.shape[0] - 1
    for i in range(p.shape[0]):
        x = p[i, 0] * m
        y = p[i, 1] * m
        ix = int(x)
        iy = int(y)
        fx = x - ix
        fy = y - iy
        rho[ix, iy] += q[i] * (1 - fx) * (1 - fy)
        rho[ix + 1, iy] += q[i] * fx * (1 - fy)
        rho[ix, iy + 1] += q[i] * (1 - fx) * fy
        rho[ix + 1, iy + 1] += q[i] * fx * fy


@program(
    "filled from a seed", lambda n: (whole(3, n, n), zeros((n, n), np.int64), zeros((n * n * 4, 2), np.int64)), 16, 2000
)
def flood(a, o, stack):
    n = a.shape[0]
    colour = 0
    for i in range(n):
        for j in range(n):
            if o[i, j] == 0 and a[i, j] > 0:
                colour += 1
                top = 1
                stack[0, 0] = i
                stack[0, 1] = j
                while top > 0:
                    top -= 1
                    y = stack[top, 0]
                    x = stack[top, 1]
                    if y < 0 or y >= n or x < 0 or x >= n:
                        continue
                    if o[y, x] != 0 or a[y, x] == 0:
                        continue
                    o[y, x] = colour
                    stack[top, 0] = y - 1
                    stack[top, 1] = x
                    stack[top + 1, 0] = y + 1
                    stack[top + 1, 1] = x
                    stack[top + 2, 0] = y
                    stack[top + 2, 1] = x - 1
                    stack[top + 3, 0] = y
                    stack[top + 3, 1] = x + 1
                    top += 4
    return colour


@program("lines drawn by Bresenham", lambda n: (whole(300, n, 4), zeros((300, 300), np.int64)), 20, 60_000)
def drawn(lines, o):
    for q in range(lines.shape[0]):
        x = lines[q, 0]
        y = lines[q, 1]
        dx = abs(lines[q, 2] - x)
        dy = -abs(lines[q, 3] - y)
        sx = 1 if x < lines[q, 2] else -1
        sy = 1 if y < lines[q, 3] else -1
        e = dx + dy
        while True:
            o[y, x] += 1
            if x == lines[q, 2] and y == lines[q, 3]:
                break
            e2 = 2 * e
            if e2 >= dy:
                e += dy
                x += sx
            if e2 <= dx:
                e += dx
                y += sy


@program("distances by two passes", lambda n: (whole(12, n, n), zeros((n, n))), 16, 4000)
def chamfer(a, d):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            d[y, x] = 0.0 if a[y, x] == 0 else 1e9
    for y in range(1, h):
        for x in range(1, w - 1):
            d[y, x] = min(d[y, x], d[y, x - 1] + 1, d[y - 1, x] + 1, d[y - 1, x - 1] + 1.4, d[y - 1, x + 1] + 1.4)
    for y in range(h - 2, -1, -1):
        for x in range(w - 2, 0, -1):
            d[y, x] = min(d[y, x], d[y, x + 1] + 1, d[y + 1, x] + 1, d[y + 1, x + 1] + 1.4, d[y + 1, x - 1] + 1.4)


@program("convex hull, sorted points", lambda n: (np.sort(f8(n)), f8(n), zeros(n + 1, np.int64)), 60, 4_000_000)
def hull(x, y, on):
    k = 0
    for i in range(x.shape[0]):
        while k >= 2:
            a = on[k - 2]
            b = on[k - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a]) > 0:
                break
            k -= 1
        on[k] = i
        k += 1
    return k


@program("eigenvalues by Jacobi", lambda n: (np.tril(f8(n, n)) + np.tril(f8(n, n), -1).T,), 6, 300)
def eigenvalues(a):
    n = a.shape[0]
    for _ in range(4):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-12:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = (1.0 if theta >= 0 else -1.0) / (abs(theta) + math.sqrt(theta * theta + 1))
                c = 1 / math.sqrt(t * t + 1)
                s = t * c
                for k in range(n):
                    x = a[k, p]
                    y = a[k, q]
                    a[k, p] = c * x - s * y
                    a[k, q] = s * x + c * y
                for k in range(n):
                    x = a[p, k]
                    y = a[q, k]
                    a[p, k] = c * x - s * y
                    a[q, k] = s * x + c * y


@program("places by binary search", lambda n: (np.sort(f8(n)), f8(n), zeros(n, np.int64)), 60, 2_000_000)
def places(a, x, o):
    for i in range(x.shape[0]):
        low = 0
        high = a.shape[0]
        while low < high:
            mid = (low + high) // 2
            if a[mid] < x[i]:
                low = mid + 1
            else:
                high = mid
        o[i] = low


@program(
    "places by interpolation",
    lambda n: (np.sort(whole(1 << 40, n)), whole(1 << 40, n), zeros(n, np.int64)),
    60,
    2_000_000,
)
def interpolated(a, x, o):
    for i in range(x.shape[0]):
        low = 0
        high = a.shape[0] - 1
        while low < high and a[low] < x[i] <= a[high]:
            mid = low + int((x[i] - a[low]) / (a[high] - a[low]) * (high - low))
            mid = min(mid, high - 1)
            if a[mid] < x[i]:
                low = mid + 1
            else:
                high = mid
        o[i] = low


@program("reactions by Gillespie", lambda n: (n, zeros((n, 2))), 10, 20_000)
def gillespie(n, o):
    for i in range(n):
        seed = (i + 1) * 48271 % 2147483647
        t = 0.0
        births = 50
        pairs = 0
        while t < 2.0:
            r0 = 10.0
            r1 = 0.2 * births
            r2 = 0.01 * births * (births - 1)
            r3 = 0.3 * pairs
            total = r0 + r1 + r2 + r3
            seed = seed * 48271 % 2147483647
            t -= math.log(seed / 2147483647) / total
            seed = seed * 48271 % 2147483647
            u = seed / 2147483647 * total
            if u < r0:
                births += 1
            elif u < r0 + r1:
                births -= 1
            elif u < r0 + r1 + r2:
                births -= 2
                pairs += 1
            else:
                births += 2
                pairs -= 1
        o[i, 0] = births
        o[i, 1] = pairs


@program("nearest in a k-d tree", lambda n: (np.sort(f8(2 * n).reshape(n, 2), axis=0), f8(n, 2), zeros(n)), 60, 200_000)
def nearest(tree, q, o):
    n = tree.shape[0]
    stack = np.empty((64, 3), np.int64)
    for i in range(q.shape[0]):
        best = 1e30
        stack[0, 0] = 0
        stack[0, 1] = n
        stack[0, 2] = 0
        top = 1
        while top > 0:
            top -= 1
            a = stack[top, 0]
            b = stack[top, 1]
            axis = stack[top, 2]
            if a >= b:
                continue
            mid = (a + b) // 2
            dx = q[i, 0] - tree[mid, 0]
            dy = q[i, 1] - tree[mid, 1]
            best = min(best, dx * dx + dy * dy)
            d = dx if axis == 0 else dy
            if d * d < best:
                stack[top, 0] = mid + 1 if d < 0 else a
                stack[top, 1] = b if d < 0 else mid
                stack[top, 2] = axis
                if d < 0:
                    stack[top, 0] = mid + 1
                    stack[top, 1] = b
                    stack[top, 2] = axis
                top += 1
            stack[top, 0] = a if d < 0 else mid + 1
            stack[top, 1] = mid if d < 0 else b
            stack[top, 2] = axis
            top += 1
        o[i] = best


@program("sampled between pixels", lambda n: (f8(300, 300), 298 * f8(n, 2), zeros(n)), 60, 4_000_000)
def bilinear(a, p, o):
    for i in range(p.shape[0]):
        y = int(p[i, 0])
        x = int(p[i, 1])
        fy = p[i, 0] - y
        fx = p[i, 1] - x
        o[i] = (
            a[y, x] * (1 - fy) * (1 - fx)
            + a[y, x + 1] * (1 - fy) * fx
            + a[y + 1, x] * fy * (1 - fx)
            + a[y + 1, x + 1] * fy * fx
        )


@program("sorted by halves, own stack", lambda n: (f8(n), zeros((64, 2), np.int64)), 60, 1_000_000)
def quicksort(a, stack):
    stack[0, 0] = 0
    stack[0, 1] = a.shape[0] - 1
    top = 1
    while top > 0:
        top -= 1
        low = stack[top, 0]
        high = stack[top, 1]
        while low < high:
            pivot = a[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while a[i] < pivot:
                    i += 1
                while a[j] > pivot:
                    j -= 1
                if i <= j:
                    a[i], a[j] = a[j], a[i]
                    i += 1
                    j -= 1
            if j - low < high - i:
                if i < high:
                    stack[top, 0] = i
                    stack[top, 1] = high
                    top += 1
                high = j
            else:
                if low < j:
                    stack[top, 0] = low
                    stack[top, 1] = j
                    top += 1
                low = i


@program("cumulated, with and without gaps", lambda n: (f8(n), zeros(n), zeros(n)), 60, 10_000_000)
def gaps(x, total, since):
    s = 0.0
    k = 0
    for i in range(x.shape[0]):
        if x[i] < 0.1:
            k = 0
        else:
            s += x[i]
            k += 1
        total[i] = s
        since[i] = k
