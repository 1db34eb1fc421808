"""Part of a twelfth set, written without a look at the recipe: pictures in batches, motion, wavelets, sensors."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, program, whole, zeros


def _grey(*shape):
    return whole(256, *shape).astype(np.uint8)


def _disc(n):
    y, x = np.mgrid[-3:4, -3:4]
    return _grey(3, n, n), x * x + y * y <= 10, zeros((3, n, n), np.uint8)


@program("what an opening by a disc takes away", _disc, 14, 2000)
def top_hat(x, disc, out):
    images, h, w = x.shape
    r = disc.shape[0] // 2
    eroded = np.empty_like(x)
    for b in range(images):
        for i in range(h):
            for j in range(w):
                v = 255
                for p in range(-r, r + 1):
                    for q in range(-r, r + 1):
                        if disc[p + r, q + r] and 0 <= i + p < h and 0 <= j + q < w:
                            v = min(v, x[b, i + p, j + q])
                eroded[b, i, j] = v
    for b in range(images):
        for i in range(h):
            for j in range(w):
                v = 0
                for p in range(-r, r + 1):
                    for q in range(-r, r + 1):
                        if disc[p + r, q + r] and 0 <= i + p < h and 0 <= j + q < w:
                            v = max(v, eroded[b, i + p, j + q])
                out[b, i, j] = x[b, i, j] - v


@program("spread of windows, from integral images", lambda n: (_grey(8, n, n), zeros((8, n, n), np.float32)), 12, 1500)
def window_spread(x, out):
    images, h, w = x.shape
    one = np.zeros((images, h + 1, w + 1), np.int64)
    two = np.zeros((images, h + 1, w + 1), np.int64)
    for b in range(images):
        for i in range(h):
            row = 0
            squares = 0
            for j in range(w):
                v = int(x[b, i, j])
                row += v
                squares += v * v
                one[b, i + 1, j + 1] = one[b, i, j + 1] + row
                two[b, i + 1, j + 1] = two[b, i, j + 1] + squares
    for b in range(images):
        for i in range(h):
            for j in range(w):
                t, e = max(i - 7, 0), max(j - 7, 0)
                u, r = min(i + 8, h), min(j + 8, w)
                count = (u - t) * (r - e)
                s = one[b, u, r] - one[b, t, r] - one[b, u, e] + one[b, t, e]
                q = two[b, u, r] - two[b, t, r] - two[b, u, e] + two[b, t, e]
                out[b, i, j] = math.sqrt(max(q / count - (s / count) ** 2, 0.0))


def _array(n):
    rng = np.random.default_rng(6)
    noise = (rng.standard_normal((32, n)) + 1j * rng.standard_normal((32, n))).astype(np.complex64)
    steer = np.exp(1j * np.pi * np.outer(np.sin(np.linspace(-1.5, 1.5, 64)), np.arange(32))).astype(np.complex64)
    return noise + steer[20][:, None], steer, zeros(64)


@program("where a sound comes from, 32 sensors", _array, 40, 200_000)
def beamform(x, steer, power):
    sensors, n = x.shape
    for a in range(steer.shape[0]):
        total = 0.0
        for t in range(n):
            s = np.complex64(0)
            for k in range(sensors):
                s += np.conj(steer[a, k]) * x[k, t]
            total += s.real * s.real + s.imag * s.imag
        power[a] = total / n
    return np.argmax(power)


def _mean_around(u, i, j):
    h, w = u.shape
    up, down, left, right = max(i - 1, 0), min(i + 1, h - 1), max(j - 1, 0), min(j + 1, w - 1)
    near = u[up, j] + u[down, j] + u[i, left] + u[i, right]
    far = u[up, left] + u[up, right] + u[down, left] + u[down, right]
    return near / 6 + far / 12


def _frames(n):
    return f4(n, n), np.roll(f4(n, n), 1, axis=1), 0.5, 20


@program("motion by Horn and Schunck", _frames, 14, 2000)
def horn_schunck(first, second, alpha, rounds):
    h, w = first.shape
    ex = np.zeros((h, w), np.float32)
    ey = np.zeros((h, w), np.float32)
    et = np.zeros((h, w), np.float32)
    for i in range(h - 1):
        for j in range(w - 1):
            for f in range(2):
                a = first if f == 0 else second
                ex[i, j] += 0.25 * (a[i, j + 1] - a[i, j] + a[i + 1, j + 1] - a[i + 1, j])
                ey[i, j] += 0.25 * (a[i + 1, j] - a[i, j] + a[i + 1, j + 1] - a[i, j + 1])
            et[i, j] = second[i, j] - first[i, j]
    u, v = np.zeros((h, w), np.float32), np.zeros((h, w), np.float32)
    for _ in range(rounds):
        nu, nv = np.empty_like(u), np.empty_like(v)
        for i in range(h):
            for j in range(w):
                mu, mv = _mean_around(u, i, j), _mean_around(v, i, j)
                t = (ex[i, j] * mu + ey[i, j] * mv + et[i, j]) / (alpha**2 + ex[i, j] ** 2 + ey[i, j] ** 2)
                nu[i, j] = mu - ex[i, j] * t
                nv[i, j] = mv - ey[i, j] * t
        u, v = nu, nv
    return u, v


@program("wavelets 5/3 by lifting, three levels", lambda n: (whole(256, n, n).astype(np.int32), 3), 16, 4096)
def lifting(a, levels):
    size = a.shape[0]
    for _ in range(levels):
        half = size // 2
        row = np.empty(size, np.int32)
        for i in range(size):
            for j in range(half):
                right = a[i, 2 * j + 2] if 2 * j + 2 < size else a[i, 2 * j]
                row[half + j] = a[i, 2 * j + 1] - ((a[i, 2 * j] + right) >> 1)
            for j in range(half):
                row[j] = a[i, 2 * j] + ((row[half + abs(j - 1)] + row[half + j] + 2) >> 2)
            for j in range(size):
                a[i, j] = row[j]
        column = np.empty(size, np.int32)
        for j in range(size):
            for i in range(half):
                below = a[2 * i + 2, j] if 2 * i + 2 < size else a[2 * i, j]
                column[half + i] = a[2 * i + 1, j] - ((a[2 * i, j] + below) >> 1)
            for i in range(half):
                column[i] = a[2 * i, j] + ((column[half + abs(i - 1)] + column[half + i] + 2) >> 2)
            for i in range(size):
                a[i, j] = column[i]
        size = half


def _two_pictures(n):
    return _grey(n, n, 3), (255 * f4(n // 2, n, 3) ** 2).astype(np.uint8), zeros((n, n, 3), np.uint8)


@program("colours matched to another picture", _two_pictures, 60, 5000)
def match_colours(x, like, out):
    for c in range(3):
        mine = np.zeros(256, np.int64)
        other = np.zeros(256, np.int64)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                mine[x[i, j, c]] += 1
        for i in range(like.shape[0]):
            for j in range(like.shape[1]):
                other[like[i, j, c]] += 1
        for k in range(1, 256):
            mine[k] += mine[k - 1]
            other[k] += other[k - 1]
        table = np.zeros(256, np.uint8)
        level = 0
        for k in range(256):
            while level < 255 and other[level] * mine[255] < mine[k] * other[255]:
                level += 1
            table[k] = level
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j, c] = table[x[i, j, c]]


def _blurred(a, weight):
    """Rows, then columns; beyond the border is zero."""
    h, w = a.shape
    r = len(weight) // 2
    rows = np.zeros((h, w), np.float32)
    out = np.zeros((h, w), np.float32)
    for i in range(h):
        for j in range(w):
            for k in range(max(-r, -j), min(r + 1, w - j)):
                rows[i, j] += weight[k + r] * a[i, j + k]
    for i in range(h):
        for j in range(w):
            for k in range(max(-r, -i), min(r + 1, h - i)):
                out[i, j] += weight[k + r] * rows[i + k, j]
    return out


@program("local contrast, colours of a batch", lambda n: (f4(3, n, n, 3), zeros((3, n, n, 3), np.float32)), 12, 1500)
def local_contrast(x, out):
    weight = np.exp(-(np.arange(-4, 5) ** 2) / 8.0).astype(np.float32)
    weight /= weight.sum()
    for b in range(x.shape[0]):
        for c in range(x.shape[3]):
            centred = x[b, :, :, c] - _blurred(x[b, :, :, c], weight)
            spread = np.sqrt(_blurred(centred * centred, weight))
            usual = spread.mean()
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    out[b, i, j, c] = centred[i, j] / max(spread[i, j], usual)


@program("the most usual colour of nine", lambda n: (_grey(n, n, 3), zeros((n, n, 3), np.uint8)), 14, 2500)
def vector_median(x, out):
    h, w, _ = x.shape
    out[:] = x
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            least = 1 << 30
            for a in range(9):
                far = 0
                for b in range(9):
                    for c in range(3):
                        far += abs(int(x[i + a // 3 - 1, j + a % 3 - 1, c]) - int(x[i + b // 3 - 1, j + b % 3 - 1, c]))
                    if far >= least:
                        break
                if far < least:
                    least = far
                    for c in range(3):
                        out[i, j, c] = x[i + a // 3 - 1, j + a % 3 - 1, c]
