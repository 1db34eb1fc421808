"""Loops over windows, channels and coordinates whose sizes are constants."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _conv5(r, big):
    s = 600 if big else 12
    return (r.random((s + 4, s + 4)), r.random((5, 5)), np.zeros((s, s)))


@program(_conv5)
def conv5(img, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = 0.0
            for p in range(5):
                for q in range(5):
                    s += img[i + p, j + q] * k[p, q]
            out[i, j] = s


def _conv_nhwc(r, big):
    return (
        r.random((1, 40 if big else 6, 40 if big else 5, 16 if big else 3)),
        r.random((3, 3, 16 if big else 3, 32 if big else 4)),
        np.zeros((1, 38 if big else 4, 38 if big else 3, 32 if big else 4)),
    )


@program(_conv_nhwc)
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


def _depthwise3(r, big):
    return (
        r.random((32 if big else 3, 100 if big else 8, 100 if big else 7)),
        r.random((32 if big else 3, 3, 3)),
        np.zeros((32 if big else 3, 98 if big else 6, 98 if big else 5)),
    )


@program(_depthwise3)
def depthwise3(x, w, y):
    for c in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = 0.0
                for p in range(3):
                    for q in range(3):
                        s += x[c, i + p, j + q] * w[c, p, q]
                y[c, i, j] = s


def _fir8(r, big):
    n = 1000000 if big else 40
    return (r.random(n + 8), r.random(8), np.zeros(n))


@program(_fir8)
def fir8(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(8):
            s += x[i + k] * h[k]
        y[i] = s


def _blur_rgb(r, big):
    s = 600 if big else 12
    return (r.random((s, s + 4, 3)), r.random(5), np.zeros((s, s, 3)))


@program(_blur_rgb)
def blur_rgb(img, k, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for c in range(3):
                s = 0.0
                for p in range(5):
                    s += img[i, j + p, c] * k[p]
                out[i, j, c] = s


def _rotate(r, big):
    m = 200000 if big else 20
    return (r.random((m, 3)), r.random((3, 3)), np.zeros((m, 3)))


@program(_rotate)
def rotate(points, m, out):
    for n in range(points.shape[0]):
        for i in range(3):
            s = 0.0
            for k in range(3):
                s += m[i, k] * points[n, k]
            out[n, i] = s


def _batched4(r, big):
    m = 200000 if big else 20
    return (r.random((m // 4, 4, 4)), r.random((m // 4, 4, 4)), np.zeros((m // 4, 4, 4)))


@program(_batched4)
def batched4(a, b, c):
    for n in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                s = 0.0
                for k in range(4):
                    s += a[n, i, k] * b[n, k, j]
                c[n, i, j] = s


def _quaternion(r, big):
    m = 200000 if big else 20
    return (r.random((m, 4)), r.random((m, 3)), np.zeros((m, 3)))


@program(_quaternion)
def quaternion(q, v, out):
    for n in range(q.shape[0]):
        w, x, y, z = q[n, 0], q[n, 1], q[n, 2], q[n, 3]
        tx = 2.0 * (y * v[n, 2] - z * v[n, 1])
        ty = 2.0 * (z * v[n, 0] - x * v[n, 2])
        tz = 2.0 * (x * v[n, 1] - y * v[n, 0])
        out[n, 0] = v[n, 0] + w * tx + (y * tz - z * ty)
        out[n, 1] = v[n, 1] + w * ty + (z * tx - x * tz)
        out[n, 2] = v[n, 2] + w * tz + (x * ty - y * tx)


def _distances3(r, big):
    return (
        r.random((800 if big else 8, 3)),
        r.random((700 if big else 9, 3)),
        np.zeros((800 if big else 8, 700 if big else 9)),
    )


@program(_distances3)
def distances3(x, y, d):
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(3):
                t = x[i, k] - y[j, k]
                s += t * t
            d[i, j] = math.sqrt(s)


def _nearest3(r, big):
    return (r.random((800 if big else 8, 3)), r.random((700 if big else 9, 3)), np.zeros(800 if big else 8, np.int64))


@program(_nearest3)
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


def _lbm9(r, big):
    return (
        r.random((9, 300 if big else 8, 300 if big else 9)) + 0.5,
        np.zeros((9, 300 if big else 8, 300 if big else 9)),
        1.2,
    )


@program(_lbm9)
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


def _covariance3(r, big):
    m = 200000 if big else 20
    return (r.random((m, 3)), np.zeros((3, 3)))


@program(_covariance3)
def covariance3(p, c):
    for i in range(3):
        for j in range(3):
            c[i, j] = 0.0
    for n in range(p.shape[0]):
        for i in range(3):
            for j in range(3):
                c[i, j] += p[n, i] * p[n, j]


def _nonlocal_means(r, big):
    return (r.random((120 if big else 14, 120 if big else 13)), np.zeros((120 if big else 14, 120 if big else 13)), 0.5)


@program(_nonlocal_means)
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


def _jacobi_system(r, big):
    m = 200000 if big else 20
    return (r.random((m // 6, 6, 6)) + 1, r.random((m // 6, 6)), r.random((m // 6, 6)), np.zeros((m // 6, 6)))


@program(_jacobi_system)
def jacobi_system(a, b, x, y):
    for n in range(x.shape[0]):
        for i in range(6):
            s = b[n, i]
            for j in range(6):
                if j != i:
                    s -= a[n, i, j] * x[n, j]
            y[n, i] = s / a[n, i, i]


def _local_binary(r, big):
    s = 600 if big else 12
    return (r.integers(0, 255, (s, s)).astype(np.uint8), np.zeros((s, s), np.uint8))


@program(_local_binary)
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


def _haar(r, big):
    n = 1000000 if big else 40
    return (r.random(n), np.zeros(n))


@program(_haar)
def haar(x, out):
    n = x.shape[0] // 2
    for i in range(n):
        out[i] = (x[2 * i] + x[2 * i + 1]) * 0.7071067811865476
        out[n + i] = (x[2 * i] - x[2 * i + 1]) * 0.7071067811865476


def _dct8(r, big):
    return (r.random((2000 if big else 3, 8, 8)), r.random((8, 8)), np.zeros((2000 if big else 3, 8, 8)))


@program(_dct8)
def dct8(x, c, y):
    for b in range(x.shape[0]):
        for u in range(8):
            for v in range(8):
                s = 0.0
                for i in range(8):
                    for j in range(8):
                        s += x[b, i, j] * c[u, i] * c[v, j]
                y[b, u, v] = s


def _gradient_stats(r, big):
    m = 200000 if big else 20
    return (r.random((m, 3)), r.integers(0, m, (m, 6)), np.zeros((m, 3)))


@program(_gradient_stats)
def gradient_stats(p, v, out):
    for i in range(p.shape[0]):
        for k in range(3):
            out[i, k] = 0.0
        for n in range(6):
            for k in range(3):
                out[i, k] += (p[v[i, n], k] - p[i, k]) / 6.0
