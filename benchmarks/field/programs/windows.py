"""Loops over windows, channels and coordinates whose sizes are constants."""

import math

import numpy as np


def conv5(img, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for p in range(5):
                for q in range(5):
                    s += img[i + p, j + q] * k[p, q]
            out[i, j] = s


def conv_nhwc(x, w, y):
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    s = 0.0
                    for p in range(3):
                        for q in range(3):
                            for c in range(x.shape[3]):
                                s += x[n, i + p, j + q, c] * w[p, q, c, o]
                    y[n, i, j, o] = s


def depthwise3(x, w, y):
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = 0.0
                for p in range(3):
                    for q in range(3):
                        s += x[c, i + p, j + q] * w[c, p, q]
                y[c, i, j] = s


def fir8(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(8):
            s += x[i + k] * h[k]
        y[i] = s


def blur_rgb(img, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for c in range(3):
                s = 0.0
                for p in range(5):
                    s += img[i, j + p, c] * k[p]
                out[i, j, c] = s


def rotate(points, m, out):
    for n in range(points.shape[0]):
        for i in range(3):
            s = 0.0
            for k in range(3):
                s += m[i, k] * points[n, k]
            out[n, i] = s


def batched4(a, b, c):
    for n in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                s = 0.0
                for k in range(4):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


def quaternion(q, v, out):
    for n in range(q.shape[0]):
        w, x, y, z = q[n, 0], q[n, 1], q[n, 2], q[n, 3]
        tx = 2.0 * (y * v[n, 2] - z * v[n, 1])
        ty = 2.0 * (z * v[n, 0] - x * v[n, 2])
        tz = 2.0 * (x * v[n, 1] - y * v[n, 0])
        out[n, 0] = v[n, 0] + w * tx + (y * tz - z * ty)
        out[n, 1] = v[n, 1] + w * ty + (z * tx - x * tz)
        out[n, 2] = v[n, 2] + w * tz + (x * ty - y * tx)


def distances3(x, y, d):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(3):
                t = x[i, k] - y[j, k]
                s += t * t
            d[i, j] = math.sqrt(s)


def nearest3(x, y, index):
    for i in range(x.shape[0]):
        best = 1e300
        arg = -1
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(3):
                t = x[i, k] - y[j, k]
                s += t * t
            if s < best:
                best = s
                arg = j
        index[i] = arg


def lbm9(f, g, omega):
    cx = (0, 1, 0, -1, 0, 1, -1, -1, 1)
    cy = (0, 0, 1, 0, -1, 1, 1, -1, -1)
    w = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
    for y in range(1, f.shape[1] - 1):
        for x in range(1, f.shape[2] - 1):
            rho = 0.0
            ux = 0.0
            uy = 0.0
            for q in range(9):
                rho += f[q, y, x]
                ux += cx[q] * f[q, y, x]
                uy += cy[q] * f[q, y, x]
            ux /= rho
            uy /= rho
            for q in range(9):
                cu = 3.0 * (cx[q] * ux + cy[q] * uy)
                g[q, y + cy[q], x + cx[q]] = f[q, y, x] + omega * (
                    w[q] * rho * (1.0 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy)) - f[q, y, x]
                )


def covariance3(p, c):
    for i in range(3):
        for j in range(3):
            c[i, j] = 0.0
    for n in range(p.shape[0]):
        for i in range(3):
            for j in range(3):
                c[i, j] += p[n, i] * p[n, j]


def nonlocal_means(img, out, h):
    for i in range(5, img.shape[0] - 5):
        for j in range(5, img.shape[1] - 5):
            total = 0.0
            norm = 0.0
            for a in range(-3, 4):
                for b in range(-3, 4):
                    d = 0.0
                    for p in range(-1, 2):
                        for q in range(-1, 2):
                            t = img[i + p, j + q] - img[i + a + p, j + b + q]
                            d += t * t
                    w = math.exp(-d / h)
                    total += w * img[i + a, j + b]
                    norm += w
            out[i, j] = total / norm


def jacobi_system(a, b, x, y):
    for n in range(x.shape[0]):
        for i in range(6):
            s = b[n, i]
            for j in range(6):
                if j != i:
                    s -= a[n, i, j] * x[n, j]
            y[n, i] = s / a[n, i, i]


def local_binary(img, out):
    for i in range(1, img.shape[0] - 1):
        for j in range(1, img.shape[1] - 1):
            code = 0
            c = img[i, j]
            k = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    if p != 0 or q != 0:
                        if img[i + p, j + q] >= c:
                            code |= 1 << k
                        k += 1
            out[i, j] = code


def haar(x, out):
    n = x.shape[0] // 2
    for i in range(n):
        out[i] = (x[2 * i] + x[2 * i + 1]) * 0.7071067811865476
        out[n + i] = (x[2 * i] - x[2 * i + 1]) * 0.7071067811865476


def dct8(x, c, y):
    for b in range(x.shape[0]):
        for u in range(8):
            for v in range(8):
                s = 0.0
                for i in range(8):
                    for j in range(8):
                        s += x[b, i, j] * c[u, i] * c[v, j]
                y[b, u, v] = s


def gradient_stats(p, v, out):
    for i in range(p.shape[0]):
        for k in range(3):
            out[i, k] = 0.0
        for n in range(6):
            for k in range(3):
                out[i, k] += (p[v[i, n], k] - p[i, k]) / 6.0


def cases(big):
    """Functions and their arguments, large ones or small ones."""
    r = np.random.default_rng(5)

    def B(large, small):
        return large if big else small

    s = B(600, 12)
    yield conv5, (r.random((s + 4, s + 4)), r.random((5, 5)), np.zeros((s, s)))
    yield (
        conv_nhwc,
        (
            r.random((1, B(40, 6), B(40, 5), B(16, 3))),
            r.random((3, 3, B(16, 3), B(32, 4))),
            np.zeros((1, B(38, 4), B(38, 3), B(32, 4))),
        ),
    )
    yield (
        depthwise3,
        (
            r.random((B(32, 3), B(100, 8), B(100, 7))),
            r.random((B(32, 3), 3, 3)),
            np.zeros((B(32, 3), B(98, 6), B(98, 5))),
        ),
    )
    n = B(1000000, 40)
    yield fir8, (r.random(n + 8), r.random(8), np.zeros(n))
    yield blur_rgb, (r.random((s, s + 4, 3)), r.random(5), np.zeros((s, s, 3)))
    m = B(200000, 20)
    yield rotate, (r.random((m, 3)), r.random((3, 3)), np.zeros((m, 3)))
    yield batched4, (r.random((m // 4, 4, 4)), r.random((m // 4, 4, 4)), np.zeros((m // 4, 4, 4)))
    yield quaternion, (r.random((m, 4)), r.random((m, 3)), np.zeros((m, 3)))
    yield distances3, (r.random((B(800, 8), 3)), r.random((B(700, 9), 3)), np.zeros((B(800, 8), B(700, 9))))
    yield nearest3, (r.random((B(800, 8), 3)), r.random((B(700, 9), 3)), np.zeros(B(800, 8), np.int64))
    yield lbm9, (r.random((9, B(300, 8), B(300, 9))) + 0.5, np.zeros((9, B(300, 8), B(300, 9))), 1.2)
    yield covariance3, (r.random((m, 3)), np.zeros((3, 3)))
    yield nonlocal_means, (r.random((B(120, 14), B(120, 13))), np.zeros((B(120, 14), B(120, 13))), 0.5)
    yield (
        jacobi_system,
        (r.random((m // 6, 6, 6)) + 1, r.random((m // 6, 6)), r.random((m // 6, 6)), np.zeros((m // 6, 6))),
    )
    yield local_binary, (r.integers(0, 255, (s, s)).astype(np.uint8), np.zeros((s, s), np.uint8))
    yield haar, (r.random(n), np.zeros(n))
    yield dct8, (r.random((B(2000, 3), 8, 8)), r.random((8, 8)), np.zeros((B(2000, 3), 8, 8)))
    yield gradient_stats, (r.random((m, 3)), r.integers(0, m, (m, 6)), np.zeros((m, 3)))
