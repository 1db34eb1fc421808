"""A fifth set: layers and losses, sorting and transforms, many small problems at once."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "attention, several heads",
    lambda n: (f4(2, n, 4, 32), f4(2, n, 4, 32), f4(2, n, 4, 32), zeros((2, n, 4, 32), np.float32)),
    8,
    1024,
)
def heads(q, k, v, o):
    b, n, h, d = q.shape
    scale = 1.0 / math.sqrt(d)
    for x in range(b):
        for y in range(h):
            for i in range(n):
                s = np.empty(n, np.float32)
                top = -np.inf
                for j in range(n):
                    a = 0.0
                    for c in range(d):
                        a += q[x, i, y, c] * k[x, j, y, c]
                    s[j] = a * scale
                    top = max(top, s[j])
                total = 0.0
                for j in range(n):
                    s[j] = math.exp(s[j] - top)
                    total += s[j]
                for c in range(d):
                    a = 0.0
                    for j in range(n):
                        a += s[j] * v[x, j, y, c]
                    o[x, i, y, c] = a / total


@program("RMS norm and gate", lambda n: (f4(n, 256), f4(n, 256), f4(256), zeros((n, 256), np.float32)), 10, 16384)
def rms_gate(x, g, w, o):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j]
        r = 1.0 / math.sqrt(s / x.shape[1] + 1e-6)
        for j in range(x.shape[1]):
            t = g[i, j]
            o[i, j] = x[i, j] * r * w[j] * (t / (1.0 + math.exp(-t)))


@program("group norm, 8 groups", lambda n: (f4(4, 32, n, n), f4(32), f4(32), zeros((4, 32, n, n), np.float32)), 5, 128)
def group_norm(x, w, b, y):
    groups = 8
    per = x.shape[1] // groups
    m = per * x.shape[2] * x.shape[3]
    for n in range(x.shape[0]):
        for g in range(groups):
            s = 0.0
            q = 0.0
            for c in range(g * per, (g + 1) * per):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        s += x[n, c, i, j]
                        q += x[n, c, i, j] ** 2
            mean = s / m
            inv = 1.0 / math.sqrt(q / m - mean * mean + 1e-5)
            for c in range(g * per, (g + 1) * per):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        y[n, c, i, j] = (x[n, c, i, j] - mean) * inv * w[c] + b[c]


@program(
    "average pool, any stride",
    lambda n: (f4(2, 8, n, n), 3, 2, zeros((2, 8, (n - 3) // 2 + 1, (n - 3) // 2 + 1), np.float32)),
    9,
    513,
)
def average_pool(x, size, stride, y):
    for n in range(y.shape[0]):
        for c in range(y.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    s = 0.0
                    for u in range(size):
                        for v in range(size):
                            s += x[n, c, i * stride + u, j * stride + v]
                    y[n, c, i, j] = s / (size * size)


@program(
    "focal loss with mask", lambda n: (f4(n, 20), whole(20, n), whole(2, n), zeros((n, 20), np.float32)), 15, 500_000
)
def focal(p, label, mask, grad):
    loss = 0.0
    count = 0
    for i in range(p.shape[0]):
        if mask[i] == 0:
            continue
        count += 1
        for c in range(p.shape[1]):
            x = 1.0 / (1.0 + math.exp(-p[i, c]))
            if c == label[i]:
                loss -= (1 - x) ** 2 * math.log(x)
                grad[i, c] = (1 - x) ** 2 * (2 * x * math.log(x) + x - 1)
            else:
                loss -= x**2 * math.log(1 - x)
                grad[i, c] = x**2 * (x - 2 * (1 - x) * math.log(1 - x))
    return loss / max(count, 1)


@program("positions encoded by turning", lambda n: (f4(2, n, 4, 32), zeros((2, n, 4, 32), np.float32)), 6, 4096)
def rotary(x, y):
    b, n, h, d = x.shape
    for i in range(b):
        for t in range(n):
            for k in range(h):
                for c in range(d // 2):
                    angle = t / 10000.0 ** (2.0 * c / d)
                    co = math.cos(angle)
                    si = math.sin(angle)
                    y[i, t, k, 2 * c] = x[i, t, k, 2 * c] * co - x[i, t, k, 2 * c + 1] * si
                    y[i, t, k, 2 * c + 1] = x[i, t, k, 2 * c] * si + x[i, t, k, 2 * c + 1] * co


@program(
    "bytes times bytes, scaled",
    lambda n: (
        whole(255, n, n).astype(np.uint8),
        (whole(255, n, n) - 128).astype(np.int8),
        f4(n),
        zeros((n, n), np.float32),
    ),
    12,
    1024,
)
def bytes_product(a, b, scale, o):
    n, m, d = a.shape[0], b.shape[1], a.shape[1]
    for i in range(n):
        for j in range(m):
            s = 0
            for k in range(d):
                s += (int(a[i, k]) - 128) * int(b[k, j])
            o[i, j] = s * scale[j]


@program("sorted by bitonic rounds", lambda n: (f4(1 << n),), 4, 20)
def bitonic(a):
    n = a.shape[0]
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in range(n):
                p = i ^ j
                if p > i and ((i & k == 0 and a[i] > a[p]) or (i & k != 0 and a[i] < a[p])):
                    t = a[i]
                    a[i] = a[p]
                    a[p] = t
            j //= 2
        k *= 2


@program("Fourier stages", lambda n: (f8(1 << n), f8(1 << n), zeros(1 << n), zeros(1 << n)), 4, 20)
def stockham(xr, xi, yr, yi):
    n = xr.shape[0]
    half = n // 2
    m = 1
    q = half
    while q >= 1:
        for j in range(q):
            w = -math.pi * j / q
            c = math.cos(w)
            s = math.sin(w)
            for k in range(m):
                ar = xr[k + j * m]
                ai = xi[k + j * m]
                br = xr[k + j * m + q * m]
                bi = xi[k + j * m + q * m]
                yr[k + 2 * j * m] = ar + br
                yi[k + 2 * j * m] = ai + bi
                yr[k + 2 * j * m + m] = (ar - br) * c - (ai - bi) * s
                yi[k + 2 * j * m + m] = (ar - br) * s + (ai - bi) * c
        for i in range(n):
            xr[i] = yr[i]
            xi[i] = yi[i]
        q //= 2
        m *= 2


@program("radix pass of 8 bits", lambda n: (whole(1 << 30, n), np.zeros(n, np.int64), 8), 40, 4_000_000)
def radix_pass(a, o, shift):
    count = np.zeros(257, np.int64)
    for i in range(a.shape[0]):
        count[((a[i] >> shift) & 255) + 1] += 1
    for b in range(256):
        count[b + 1] += count[b]
    for i in range(a.shape[0]):
        d = (a[i] >> shift) & 255
        o[count[d]] = a[i]
        count[d] += 1


@program("least squares of many, 4 unknowns", lambda n: (f8(n, 12, 4), f8(n, 12), zeros((n, 4))), 6, 200_000)
def least_squares(a, b, o):
    for p in range(a.shape[0]):
        m = np.zeros((4, 5))
        for r in range(a.shape[1]):
            for i in range(4):
                for j in range(4):
                    m[i, j] += a[p, r, i] * a[p, r, j]
                m[i, 4] += a[p, r, i] * b[p, r]
        for i in range(4):
            for j in range(i + 1, 4):
                f = m[j, i] / m[i, i]
                for k in range(i, 5):
                    m[j, k] -= f * m[i, k]
        for i in range(3, -1, -1):
            s = m[i, 4]
            for j in range(i + 1, 4):
                s -= m[i, j] * o[p, j]
            o[p, i] = s / m[i, i]


@program("eigenvalue of many, 16 x 16", lambda n: (f8(n, 16, 16), zeros(n)), 4, 20_000)
def largest_eigenvalues(a, o):
    n = a.shape[1]
    for p in range(a.shape[0]):
        v = np.ones(n)
        w = np.zeros(n)
        value = 0.0
        for _ in range(30):
            norm = 0.0
            for i in range(n):
                s = 0.0
                for j in range(n):
                    s += a[p, i, j] * v[j]
                w[i] = s
                norm += s * s
            norm = math.sqrt(norm)
            for i in range(n):
                v[i] = w[i] / norm
            value = norm
        o[p] = value


@program("pendulums by Runge-Kutta", lambda n: (f8(n, 4), 50, 0.01), 6, 200_000)
def double_pendulums(state, steps, h):
    for p in range(state.shape[0]):
        y = state[p].copy()
        for _ in range(steps):
            k1 = derivative(y)
            k2 = derivative(y + 0.5 * h * k1)
            k3 = derivative(y + 0.5 * h * k2)
            k4 = derivative(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        state[p] = y


def derivative(y):
    d = np.empty(4)
    delta = y[1] - y[0]
    den = 2.0 - math.cos(delta) ** 2
    d[0] = y[2]
    d[1] = y[3]
    s, c = math.sin(delta), math.cos(delta)
    d[2] = (y[2] ** 2 * s * c + 9.8 * math.sin(y[1]) * c + y[3] ** 2 * s - 19.6 * math.sin(y[0])) / den
    d[3] = (-(y[3] ** 2) * s * c + 2 * (9.8 * math.sin(y[0]) * c - y[2] ** 2 * s - 9.8 * math.sin(y[1]))) / den
    return d
