"""Images: patterns, seams, dithering, noise."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case

BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])


@case(lambda rng: (rng.integers(0, 256, (9, 9)).astype(np.uint8),))
def local_binary_pattern(img):
    h, w = img.shape
    hist = np.zeros(256, dtype=np.int64)
    out = np.zeros_like(img)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            c = img[y, x]
            code = 0
            code |= (img[y - 1, x - 1] >= c) << 7
            code |= (img[y - 1, x] >= c) << 6
            code |= (img[y - 1, x + 1] >= c) << 5
            code |= (img[y, x + 1] >= c) << 4
            code |= (img[y + 1, x + 1] >= c) << 3
            code |= (img[y + 1, x] >= c) << 2
            code |= (img[y + 1, x - 1] >= c) << 1
            code |= (img[y, x - 1] >= c) << 0
            out[y, x] = code
            hist[code] += 1
    return out, hist / max(hist.sum(), 1)



@case(lambda rng: (rng.random((9, 9)),))
def seam(energy):
    h, w = energy.shape
    cost = energy.copy()
    back = np.zeros((h, w), dtype=np.int8)
    for y in range(1, h):
        for x in range(w):
            best, step = cost[y - 1, x], 0
            if x > 0 and cost[y - 1, x - 1] < best:
                best, step = cost[y - 1, x - 1], -1
            if x < w - 1 and cost[y - 1, x + 1] < best:
                best, step = cost[y - 1, x + 1], 1
            cost[y, x] += best
            back[y, x] = step
    path = np.empty(h, dtype=np.int64)
    path[-1] = np.argmin(cost[-1])
    for y in range(h - 2, -1, -1):
        path[y] = path[y + 1] + back[y + 1, path[y + 1]]
    return path



@case(lambda rng: (rng.integers(0, 256, (9, 9)).astype(np.uint8),))
def ordered_dither(img):
    h, w = img.shape
    tiled = np.zeros((h, w), np.bool_)
    for y in range(h):
        for x in range(w):
            tiled[y, x] = img[y, x] > (BAYER[y % 4, x % 4] + 0.5) * 16
    packed = np.zeros((h, (w + 7) // 8), dtype=np.uint8)
    for y in range(h):
        for x in range(w):
            if tiled[y, x]:
                packed[y, x >> 3] |= np.uint8(128 >> (x & 7))
    return packed



def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)



@case(lambda rng: (9, 7.3, rng.permutation(256)))
def perlin(n, scale, perm):
    out = np.empty((n, n), dtype=np.float32)
    for i in range(n):
        for j in range(n):
            x, y = i / scale, j / scale
            xi, yi = int(math.floor(x)) & 255, int(math.floor(y)) & 255
            xf, yf = x - math.floor(x), y - math.floor(y)
            u, v = fade(xf), fade(yf)
            total = 0.0
            for dx in (0, 1):
                for dy in (0, 1):
                    g = perm[(perm[(xi + dx) & 255] + yi + dy) & 255] & 3
                    sx = 1 if g & 1 else -1
                    sy = 1 if g & 2 else -1
                    dot = sx * (xf - dx) + sy * (yf - dy)
                    total += dot * (u if dx else 1 - u) * (v if dy else 1 - v)
            out[i, j] = total
    return out
