"""Part of a fourteenth set, written without a look at the recipe: images, volumes, projections."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("edges kept, Perona and Malik", lambda n: (f4(n, n), 0.1, 0.2, 10), 20, 3_000)
def perona_malik(image, kappa, step, rounds):
    n, m = image.shape
    now = image.copy()
    for _r in range(rounds):
        after = np.empty_like(now)
        for i in range(n):
            for j in range(m):
                c = now[i, j]
                north = now[max(i - 1, 0), j] - c
                south = now[min(i + 1, n - 1), j] - c
                west = now[i, max(j - 1, 0)] - c
                east = now[i, min(j + 1, m - 1)] - c
                flow = np.float32(0)
                for d in (north, south, west, east):
                    flow += d * math.exp(-((d / kappa) ** 2))
                after[i, j] = c + step * flow
        now = after
    return now


@program("total variation made small, Chambolle", lambda n: (f8(n, n), 0.1, 10), 20, 2_000)
def chambolle(image, weight, rounds):
    n, m = image.shape
    px = np.zeros((n, m))
    py = np.zeros((n, m))
    out = image.copy()
    for _r in range(rounds):
        for i in range(n):
            for j in range(m):
                d = -px[i, j] - py[i, j]
                if i > 0:
                    d += px[i - 1, j]
                if j > 0:
                    d += py[i, j - 1]
                out[i, j] = image[i, j] + d
        for i in range(n):
            for j in range(m):
                gx = out[i + 1, j] - out[i, j] if i < n - 1 else 0.0
                gy = out[i, j + 1] - out[i, j] if j < m - 1 else 0.0
                norm = math.sqrt(gx * gx + gy * gy) * 0.25 / weight + 1
                px[i, j] = (px[i, j] - 0.25 * gx) / norm
                py[i, j] = (py[i, j] - 0.25 * gy) / norm
    return out


def _pyramid(n):
    return f4(n, n), np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16), zeros((n // 2, n // 2), np.float32)


@program("one level down a pyramid", _pyramid, 24, 6_000)
def pyramid(image, taps, small):
    n, m = image.shape
    for i in range(small.shape[0]):
        for j in range(small.shape[1]):
            total = np.float32(0)
            for a in range(-2, 3):
                y = 2 * i + a
                if y < 0:
                    y = -y
                if y >= n:
                    y = 2 * n - 2 - y
                for b in range(-2, 3):
                    x = 2 * j + b
                    if x < 0:
                        x = -x
                    if x >= m:
                        x = 2 * m - 2 - x
                    total += taps[a + 2] * taps[b + 2] * image[y, x]
            small[i, j] = total


@program("corners after Harris, strongest of nine", lambda n: (f4(n, n), 0.05, 0.01), 20, 3_000)
def harris(image, k, threshold):
    n, m = image.shape
    xx = np.zeros((n, m), np.float32)
    yy = np.zeros((n, m), np.float32)
    xy = np.zeros((n, m), np.float32)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            gx = image[i, j + 1] - image[i, j - 1]
            gy = image[i + 1, j] - image[i - 1, j]
            xx[i, j] = gx * gx
            yy[i, j] = gy * gy
            xy[i, j] = gx * gy
    score = np.zeros((n, m), np.float32)
    for i in range(2, n - 2):
        for j in range(2, m - 2):
            a = xx[i - 1 : i + 2, j - 1 : j + 2].sum()
            b = yy[i - 1 : i + 2, j - 1 : j + 2].sum()
            c = xy[i - 1 : i + 2, j - 1 : j + 2].sum()
            score[i, j] = a * b - c * c - k * (a + b) ** 2
    found = 0
    for i in range(2, n - 2):
        for j in range(2, m - 2):
            if score[i, j] > threshold and score[i, j] == score[i - 1 : i + 2, j - 1 : j + 2].max():
                found += 1
    return score, found


@program("likeness of two images, SSIM", lambda n: (f8(n, n), f8(n, n)[::-1].copy(), 7), 20, 1_500)
def ssim(x, y, window):
    n, m = x.shape
    c1, c2 = 0.01**2, 0.03**2
    total = 0.0
    area = window * window
    for i in range(n - window + 1):
        for j in range(m - window + 1):
            sx = sy = sxx = syy = sxy = 0.0
            for a in range(window):
                for b in range(window):
                    p = x[i + a, j + b]
                    q = y[i + a, j + b]
                    sx += p
                    sy += q
                    sxx += p * p
                    syy += q * q
                    sxy += p * q
            mx = sx / area
            my = sy / area
            vx = sxx / area - mx * mx
            vy = syy / area - my * my
            cov = sxy / area - mx * my
            total += ((2 * mx * my + c1) * (2 * cov + c2)) / ((mx * mx + my * my + c1) * (vx + vy + c2))
    return total / ((n - window + 1) * (m - window + 1))


def _cosines(n):
    u, x = np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
    table = np.cos((2 * x + 1) * u * np.pi / 16) * np.where(u == 0, np.sqrt(0.125), 0.5)
    return whole(256, n, n).astype(np.uint8), table, 10 + np.arange(64.0).reshape(8, 8), zeros((n, n), np.int16)


@program("cosines of blocks of 8, rounded", _cosines, 24, 4_000)
def jpeg_blocks(image, table, steps, out):
    for bi in range(image.shape[0] // 8):
        for bj in range(image.shape[1] // 8):
            rows = np.zeros((8, 8))
            for u in range(8):
                for y in range(8):
                    total = 0.0
                    for x in range(8):
                        total += table[u, x] * (float(image[bi * 8 + x, bj * 8 + y]) - 128.0)
                    rows[u, y] = total
            for u in range(8):
                for v in range(8):
                    total = 0.0
                    for y in range(8):
                        total += table[v, y] * rows[u, y]
                    out[bi * 8 + u, bj * 8 + v] = round(total / steps[u, v])


def _palette(n):
    return whole(256, n, n, 3).astype(np.uint8), whole(256, 64, 3).astype(np.uint8), zeros((n, n), np.uint8)


@program("colours of a palette, the nearest of 64", _palette, 12, 2_000)
def palette(image, colours, out):
    sums = np.zeros((len(colours), 3))
    counts = np.zeros(len(colours), np.int64)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            best = 1 << 30
            which = 0
            for c in range(len(colours)):
                d = 0
                for k in range(3):
                    diff = int(image[i, j, k]) - int(colours[c, k])
                    d += diff * diff
                if d < best:
                    best = d
                    which = c
            out[i, j] = which
            counts[which] += 1
            for k in range(3):
                sums[which, k] += image[i, j, k]
    for c in range(len(colours)):
        if counts[c] > 0:
            for k in range(3):
                sums[c, k] /= counts[c]
    return sums


def _sinogram(n):
    angle = np.linspace(0, np.pi, n, endpoint=False)
    return f4(n, n), np.cos(angle), np.sin(angle), zeros((n, n), np.float32)


@program("projected from all sides, then back", _sinogram, 12, 500)
def tomography(image, cosine, sine, back):
    n = image.shape[0]
    angles = len(cosine)
    sinogram = np.zeros((angles, n), np.float32)
    centre = (n - 1) / 2
    for a in range(angles):
        for s in range(n):
            total = 0.0
            for t in range(n):
                x = (s - centre) * cosine[a] - (t - centre) * sine[a] + centre
                y = (s - centre) * sine[a] + (t - centre) * cosine[a] + centre
                i = math.floor(y)
                j = math.floor(x)
                if 0 <= i < n - 1 and 0 <= j < n - 1:
                    fy = y - i
                    fx = x - j
                    total += (1 - fy) * ((1 - fx) * image[i, j] + fx * image[i, j + 1])
                    total += fy * ((1 - fx) * image[i + 1, j] + fx * image[i + 1, j + 1])
            sinogram[a, s] = total
    for i in range(n):
        for j in range(n):
            total = 0.0
            for a in range(angles):
                s = (j - centre) * cosine[a] + (i - centre) * sine[a] + centre
                k = int(s)
                if s >= 0 and k < n - 1:
                    total += sinogram[a, k] + (s - k) * (sinogram[a, k + 1] - sinogram[a, k])
            back[i, j] = total * math.pi / angles


def _matching(n):
    return whole(64, n, n, 16).astype(np.int16), 5, 20


@program("stereo, costs along paths from the left", _matching, 8, 900)
def semi_global(cost, p1, p2):
    h, w, d = cost.shape
    total = np.zeros((h, w, d), np.int32)
    for y in range(h):
        for k in range(d):
            total[y, 0, k] = cost[y, 0, k]
        for x in range(1, w):
            least = total[y, x - 1, 0]
            for k in range(1, d):
                least = min(least, total[y, x - 1, k])
            for k in range(d):
                best = total[y, x - 1, k]
                if k > 0:
                    best = min(best, total[y, x - 1, k - 1] + p1)
                if k < d - 1:
                    best = min(best, total[y, x - 1, k + 1] + p1)
                best = min(best, least + p2)
                total[y, x, k] = cost[y, x, k] + best - least
    disparity = np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            disparity[y, x] = np.argmin(total[y, x])
    return disparity


@program("weak edges that touch strong ones", lambda n: (f4(n, n), 0.6, 0.97), 20, 2_000)
def hysteresis(strength, low, high):
    n, m = strength.shape
    mark = np.zeros((n, m), np.uint8)
    for i in range(n):
        for j in range(m):
            if strength[i, j] >= high:
                mark[i, j] = 2
            elif strength[i, j] >= low:
                mark[i, j] = 1
    changed = True
    while changed:
        changed = False
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                if mark[i, j] == 1:
                    touches = False
                    for a in range(-1, 2):
                        for b in range(-1, 2):
                            if mark[i + a, j + b] == 2:
                                touches = True
                    if touches:
                        mark[i, j] = 2
                        changed = True
    count = 0
    for i in range(n):
        for j in range(m):
            if mark[i, j] == 2:
                count += 1
    return count


@program("a volume smoothed by its medians of 7", lambda n: (f4(n, n, n), zeros((n, n, n), np.float32)), 8, 256)
def medians_of_cross(volume, out):
    n, m, o = volume.shape
    values = np.empty(7, np.float32)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            for k in range(1, o - 1):
                values[0] = volume[i, j, k]
                values[1] = volume[i - 1, j, k]
                values[2] = volume[i + 1, j, k]
                values[3] = volume[i, j - 1, k]
                values[4] = volume[i, j + 1, k]
                values[5] = volume[i, j, k - 1]
                values[6] = volume[i, j, k + 1]
                out[i, j, k] = np.median(values)


def _warp(n):
    return f4(n, n, 3), np.array([[0.9, 0.1, 3.0], [-0.05, 1.1, -2.0], [1e-5, 2e-5, 1.0]]), zeros((n, n, 3), np.float32)


@program("a picture seen from elsewhere, homography", _warp, 16, 3_000)
def warp(image, h, out):
    n, m, channels = image.shape
    for y in range(n):
        for x in range(m):
            w = h[2, 0] * x + h[2, 1] * y + h[2, 2]
            sx = (h[0, 0] * x + h[0, 1] * y + h[0, 2]) / w
            sy = (h[1, 0] * x + h[1, 1] * y + h[1, 2]) / w
            x0 = int(np.floor(sx))
            y0 = int(np.floor(sy))
            if x0 < 0 or y0 < 0 or x0 + 1 >= m or y0 + 1 >= n:
                out[y, x] = 0
                continue
            fx = sx - x0
            fy = sy - y0
            for c in range(channels):
                top = image[y0, x0, c] * (1 - fx) + image[y0, x0 + 1, c] * fx
                low = image[y0 + 1, x0, c] * (1 - fx) + image[y0 + 1, x0 + 1, c] * fx
                out[y, x, c] = top * (1 - fy) + low * fy
