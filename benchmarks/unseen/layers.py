"""Half of a second set, written after the first had been looked at: layers of networks, and images."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program(
    "convolution, bias and ReLU",
    lambda n: (f4(n, 16, 34, 34), f4(32, 16, 3, 3), f4(32), zeros((n, 32, 32, 32), np.float32)),
    1,
    64,
)
def conv_relu(x, w, b, o):
    for n in range(o.shape[0]):
        for k in range(o.shape[1]):
            for i in range(o.shape[2]):
                for j in range(o.shape[3]):
                    s = b[k]
                    for c in range(x.shape[1]):
                        for p in range(3):
                            for q in range(3):
                                s += x[n, c, i + p, j + q] * w[k, c, p, q]
                    o[n, k, i, j] = s if s > 0 else np.float32(0)


@program(
    "transposed convolution, stride 2",
    lambda n: (f4(n, 16, 32, 32), f4(16, 8, 2, 2), zeros((n, 8, 64, 64), np.float32)),
    1,
    128,
)
def up(x, w, o):
    for n in range(x.shape[0]):
        for c in range(x.shape[1]):
            for k in range(w.shape[1]):
                for i in range(x.shape[2]):
                    for j in range(x.shape[3]):
                        for p in range(2):
                            for q in range(2):
                                o[n, k, 2 * i + p, 2 * j + q] += x[n, c, i, j] * w[c, k, p, q]


@program("batch norm, NCHW", lambda n: (f4(n, 32, 28, 28), f4(32), f4(32), zeros((n, 32, 28, 28), np.float32)), 2, 256)
def batch_norm(x, g, b, o):
    n, ch, h, w = x.shape
    for c in range(ch):
        s = 0.0
        q = 0.0
        for i in range(n):
            for y in range(h):
                for z in range(w):
                    s += x[i, c, y, z]
                    q += x[i, c, y, z] * x[i, c, y, z]
        mean = s / (n * h * w)
        scale = g[c] / math.sqrt(q / (n * h * w) - mean * mean + 1e-5)
        for i in range(n):
            for y in range(h):
                for z in range(w):
                    o[i, c, y, z] = (x[i, c, y, z] - mean) * scale + b[c]


@program("cross entropy", lambda n: (f4(n, 1000), whole(1000, n), zeros((n, 1000), np.float32)), 5, 20_000)
def cross_entropy(x, label, grad):
    n = x.shape[0]
    loss = 0.0
    for i in range(n):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            m = max(m, x[i, j])
        z = 0.0
        for j in range(x.shape[1]):
            z += math.exp(x[i, j] - m)
        for j in range(x.shape[1]):
            grad[i, j] = math.exp(x[i, j] - m) / z / n
        grad[i, label[i]] -= 1.0 / n
        loss += math.log(z) + m - x[i, label[i]]
    return loss / n


@program(
    "layer norm, backward",
    lambda n: (f4(n, 512), f4(n, 512), f4(512), zeros((n, 512), np.float32), zeros(512), zeros(512)),
    5,
    20_000,
)
def layer_norm_back(x, dy, g, dx, dg, db):
    n, d = x.shape
    for i in range(n):
        m = 0.0
        for j in range(d):
            m += x[i, j]
        m /= d
        v = 0.0
        for j in range(d):
            v += (x[i, j] - m) ** 2
        r = 1.0 / math.sqrt(v / d + 1e-5)
        a = 0.0
        b = 0.0
        for j in range(d):
            h = (x[i, j] - m) * r
            a += dy[i, j] * g[j] * h
            b += dy[i, j] * g[j]
            dg[j] += dy[i, j] * h
            db[j] += dy[i, j]
        for j in range(d):
            h = (x[i, j] - m) * r
            dx[i, j] = r * (dy[i, j] * g[j] - b / d - h * a / d)


@program(
    "max pool, backward", lambda n: (f4(n, 16, 32, 32), f4(n, 16, 16, 16), zeros((n, 16, 32, 32), np.float32)), 1, 512
)
def pool_back(x, dy, dx):
    for n in range(dy.shape[0]):
        for c in range(dy.shape[1]):
            for i in range(dy.shape[2]):
                for j in range(dy.shape[3]):
                    bi = 2 * i
                    bj = 2 * j
                    for p in range(2):
                        for q in range(2):
                            if x[n, c, 2 * i + p, 2 * j + q] > x[n, c, bi, bj]:
                                bi = 2 * i + p
                                bj = 2 * j + q
                    dx[n, c, bi, bj] += dy[n, c, i, j]


@program(
    "gated recurrent unit",
    lambda n: (f4(n, 128), f4(n, 128), f4(3, 128, 128), f4(3, 128, 128), zeros((n, 128), np.float32)),
    3,
    4096,
)
def gru(x, h, w, u, o):
    n, d = x.shape
    for i in range(n):
        for j in range(d):
            a = np.float32(0)
            b = np.float32(0)
            c = np.float32(0)
            e = np.float32(0)
            for k in range(d):
                a += x[i, k] * w[0, j, k] + h[i, k] * u[0, j, k]
                b += x[i, k] * w[1, j, k] + h[i, k] * u[1, j, k]
                c += x[i, k] * w[2, j, k]
                e += h[i, k] * u[2, j, k]
            z = 1 / (1 + math.exp(-a))
            r = 1 / (1 + math.exp(-b))
            o[i, j] = (1 - z) * math.tanh(c + r * e) + z * h[i, j]


@program("causal softmax in place", lambda n: (f4(8, n, n),), 20, 2048)
def causal(s):
    for b in range(s.shape[0]):
        for i in range(s.shape[1]):
            m = s[b, i, 0]
            for j in range(1, i + 1):
                if s[b, i, j] > m:
                    m = s[b, i, j]
            z = np.float32(0)
            for j in range(i + 1):
                s[b, i, j] = math.exp(s[b, i, j] - m)
                z += s[b, i, j]
            for j in range(i + 1):
                s[b, i, j] /= z
            for j in range(i + 1, s.shape[2]):
                s[b, i, j] = 0


@program(
    "two best of 64 experts",
    lambda n: (f4(n, 64), zeros((n, 2), np.int64), zeros((n, 2), np.float32), zeros(64, np.int64)),
    50,
    1_000_000,
)
def experts(x, which, weight, load):
    for i in range(x.shape[0]):
        a = -1
        b = -1
        for j in range(64):
            if a < 0 or x[i, j] > x[i, a]:
                b = a
                a = j
            elif b < 0 or x[i, j] > x[i, b]:
                b = j
        e = math.exp(x[i, b] - x[i, a])
        which[i, 0] = a
        which[i, 1] = b
        weight[i, 0] = 1 / (1 + e)
        weight[i, 1] = e / (1 + e)
        load[a] += 1
        load[b] += 1


@program(
    "gradient of an embedding", lambda n: (whole(30000, n), f4(n, 64), zeros((30000, 64), np.float32)), 300, 500_000
)
def embedding_back(idx, dy, dw):
    for i in range(len(idx)):
        for d in range(dy.shape[1]):
            dw[idx[i], d] += dy[i, d]


@program("cosine similarities", lambda n: (f4(n, 128), zeros((n, n), np.float32)), 20, 4096)
def cosine(x, o):
    n, d = x.shape
    for i in range(n):
        for j in range(n):
            s = np.float32(0)
            a = np.float32(0)
            b = np.float32(0)
            for k in range(d):
                s += x[i, k] * x[j, k]
                a += x[i, k] * x[i, k]
                b += x[j, k] * x[j, k]
            o[i, j] = s / math.sqrt(a * b)


@program("logistic regression, gradient", lambda n: (f8(n, 40), f8(40), whole(2, n), zeros(40)), 100, 1_000_000)
def logistic(x, w, y, g):
    for i in range(x.shape[0]):
        t = 0.0
        for j in range(x.shape[1]):
            t += x[i, j] * w[j]
        e = 1.0 / (1.0 + math.exp(-t)) - y[i]
        for j in range(x.shape[1]):
            g[j] += e * x[i, j]


@program(
    "quantised in groups of 32",
    lambda n: (f4(n, 1024), zeros((n, 1024), np.int8), zeros((n, 32), np.float32)),
    3,
    20_000,
)
def quantise(x, q, scale):
    for i in range(x.shape[0]):
        for g in range(32):
            m = np.float32(0)
            for j in range(32):
                m = max(m, abs(x[i, 32 * g + j]))
            s = m / 127 if m > 0 else np.float32(1)
            scale[i, g] = s
            for j in range(32):
                q[i, 32 * g + j] = round(x[i, 32 * g + j] / s)


@program(
    "blur in two passes, clamped",
    lambda n: (f4(n, n), f4(9), zeros((n, n), np.float32), zeros((n, n), np.float32)),
    40,
    4096,
)
def blur(x, k, t, o):
    h, w = x.shape
    for i in range(h):
        for j in range(w):
            s = np.float32(0)
            for p in range(-4, 5):
                c = min(max(j + p, 0), w - 1)
                s += x[i, c] * k[p + 4]
            t[i, j] = s
    for i in range(h):
        for j in range(w):
            s = np.float32(0)
            for p in range(-4, 5):
                c = min(max(i + p, 0), h - 1)
                s += t[c, j] * k[p + 4]
            o[i, j] = s


@program("image resized", lambda n: (f4(n, n, 3), zeros((3 * n // 2, 3 * n // 2, 3), np.float32)), 20, 3000)
def resize(x, o):
    h, w = x.shape[0], x.shape[1]
    for i in range(o.shape[0]):
        y = (i + 0.5) * h / o.shape[0] - 0.5
        y0 = int(math.floor(y))  # noqa: RUF046
        fy = y - y0
        for j in range(o.shape[1]):
            z = (j + 0.5) * w / o.shape[1] - 0.5
            z0 = int(math.floor(z))  # noqa: RUF046
            fz = z - z0
            for c in range(3):
                a = x[max(y0, 0), max(z0, 0), c]
                b = x[max(y0, 0), min(z0 + 1, w - 1), c]
                d = x[min(y0 + 1, h - 1), max(z0, 0), c]
                e = x[min(y0 + 1, h - 1), min(z0 + 1, w - 1), c]
                o[i, j, c] = (1 - fy) * ((1 - fz) * a + fz * b) + fy * ((1 - fz) * d + fz * e)


@program("distances along rows", lambda n: (whole(40, n, n), zeros((n, n), np.int64)), 50, 4096)
def distances(x, d):
    h, w = x.shape
    for i in range(h):
        last = w + h
        for j in range(w):
            last = 0 if x[i, j] == 0 else last + 1
            d[i, j] = last
        last = w + h
        for j in range(w - 1, -1, -1):
            last = 0 if x[i, j] == 0 else last + 1
            d[i, j] = min(d[i, j], last)


@program("histogram equalised", lambda n: (whole(256, n, n).astype(np.uint8), zeros((n, n), np.uint8)), 60, 6000)
def equalise(x, o):
    counts = np.zeros(256, np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            counts[x[i, j]] += 1
    for k in range(1, 256):
        counts[k] += counts[k - 1]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            o[i, j] = counts[x[i, j]] * 255 // x.size


@program("errors diffused", lambda n: (f8(n, n), zeros((n, n), np.uint8)), 40, 1500)
def dither(x, o):
    h, w = x.shape
    for i in range(h):
        for j in range(w):
            new = 1.0 if x[i, j] > 0.5 else 0.0
            o[i, j] = int(255 * new)
            e = x[i, j] - new
            if j + 1 < w:
                x[i, j + 1] += e * 7 / 16
            if i + 1 < h:
                if j > 0:
                    x[i + 1, j - 1] += e * 3 / 16
                x[i + 1, j] += e * 5 / 16
                if j + 1 < w:
                    x[i + 1, j + 1] += e * 1 / 16


@program("edges thinned", lambda n: (f4(n, n), f4(n, n), zeros((n, n), np.float32)), 50, 6000)
def thin(gx, gy, o):
    for i in range(1, gx.shape[0] - 1):
        for j in range(1, gx.shape[1] - 1):
            a = gx[i, j] - 0.5
            b = gy[i, j] - 0.5
            m = math.sqrt(a * a + b * b)
            if abs(a) > 2 * abs(b):
                di, dj = 0, 1
            elif abs(b) > 2 * abs(a):
                di, dj = 1, 0
            elif a * b > 0:
                di, dj = 1, 1
            else:
                di, dj = 1, -1
            p = (gx[i + di, j + dj] - 0.5) ** 2 + (gy[i + di, j + dj] - 0.5) ** 2
            q = (gx[i - di, j - dj] - 0.5) ** 2 + (gy[i - di, j - dj] - 0.5) ** 2
            if m * m >= p and m * m >= q:
                o[i, j] = m


@program(
    "stereo by census",
    lambda n: (whole(1 << 24, n, n).astype(np.uint32), whole(1 << 24, n, n).astype(np.uint32), zeros((n, n), np.int64)),
    40,
    2000,
)
def stereo(left, right, o):
    for i in range(left.shape[0]):
        for j in range(64, left.shape[1]):
            best = 99
            at = 0
            for d in range(64):
                v = left[i, j] ^ right[i, j - d]
                c = 0
                while v:
                    v &= v - 1
                    c += 1
                if c < best:
                    best = c
                    at = d
            o[i, j] = at


@program("motion of windows", lambda n: (f4(n, n), f4(n, n), f4(n, n), zeros((n, n, 2), np.float32)), 40, 3000)
def motion(ix, iy, it, o):
    for i in range(2, ix.shape[0] - 2):
        for j in range(2, ix.shape[1] - 2):
            a = b = c = d = e = np.float32(0)
            for p in range(-2, 3):
                for q in range(-2, 3):
                    x = ix[i + p, j + q]
                    y = iy[i + p, j + q]
                    t = it[i + p, j + q]
                    a += x * x
                    b += x * y
                    c += y * y
                    d += x * t
                    e += y * t
            det = a * c - b * b
            if abs(det) > 1e-4:
                o[i, j, 0] = (b * e - c * d) / det
                o[i, j, 1] = (b * d - a * e) / det


@program("components until nothing changes", lambda n: ((whole(10, n, n) > 3), zeros((n, n), np.int64)), 30, 500)
def components(mask, label):
    h, w = mask.shape
    for i in range(h):
        for j in range(w):
            label[i, j] = i * w + j if mask[i, j] else -1
    changed = True
    rounds = 0
    while changed:
        changed = False
        rounds += 1
        for i in range(1, h - 1):
            for j in range(1, w - 1):
                if mask[i, j]:
                    m = label[i, j]
                    if mask[i - 1, j]:
                        m = min(m, label[i - 1, j])
                    if mask[i + 1, j]:
                        m = min(m, label[i + 1, j])
                    if mask[i, j - 1]:
                        m = min(m, label[i, j - 1])
                    if mask[i, j + 1]:
                        m = min(m, label[i, j + 1])
                    if m != label[i, j]:
                        label[i, j] = m
                        changed = True
    return rounds
