"""Stencils, filters and images."""

from __future__ import annotations

import numpy as np

from benchmarks.gpu.shapes.case import Case, z4

windows = np.lib.stride_tricks.sliding_window_view


def seven_points(x, y):
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            for k in range(1, x.shape[2] - 1):
                y[i, j, k] = 0.4 * x[i, j, k] + 0.1 * (
                    x[i - 1, j, k] + x[i + 1, j, k] + x[i, j - 1, k] + x[i, j + 1, k] + x[i, j, k - 1] + x[i, j, k + 1]
                )


def all_neighbours(x, y):
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            for k in range(1, x.shape[2] - 1):
                s = 0.0
                for a in range(-1, 2):
                    for b in range(-1, 2):
                        for c in range(-1, 2):
                            s += x[i + a, j + b, k + c]
                y[i, j, k] = s / 27.0


def star(x, w, y):
    for i in range(4, x.shape[0] - 4):
        for j in range(4, x.shape[1] - 4):
            s = w[0] * x[i, j]
            for r in range(1, 5):
                s += w[r] * (x[i - r, j] + x[i + r, j] + x[i, j - r] + x[i, j + r])
            y[i, j] = s


def median(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            v = np.empty(9, np.float32)
            for a in range(3):
                for b in range(3):
                    v[3 * a + b] = x[i + a, j + b]
            for a in range(5):
                for b in range(a + 1, 9):
                    if v[b] < v[a]:
                        t = v[a]
                        v[a] = v[b]
                        v[b] = t
            y[i, j] = v[4]


def bilateral(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            middle = x[i + 2, j + 2]
            s = 0.0
            t = 0.0
            for a in range(5):
                for b in range(5):
                    v = x[i + a, j + b]
                    w = np.exp(-((a - 2) ** 2 + (b - 2) ** 2) / 8.0 - (v - middle) ** 2 * 10.0)
                    s += w * v
                    t += w
            y[i, j] = s / t


def dilate(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            m = x[i, j]
            for a in range(7):
                for b in range(7):
                    m = max(m, x[i + a, j + b])
            y[i, j] = m


def long_filter(x, w, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(w.shape[0]):
            s += x[i + k] * w[k]
        y[i] = s


def convolve_channels_last(x, w, y):
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(y.shape[3]):
                    s = 0.0
                    for a in range(3):
                        for b in range(3):
                            for c in range(x.shape[3]):
                                s += x[n, i + a, j + b, c] * w[a, b, c, o]
                    y[n, i, j, o] = s


def each_channel(x, w, y):
    for n in range(y.shape[0]):
        for c in range(y.shape[1]):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    s = 0.0
                    for a in range(3):
                        for b in range(3):
                            s += x[n, c, i + a, j + b] * w[c, a, b]
                    y[n, c, i, j] = s


def pool(x, y):
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                m = x[n, 2 * i, 2 * j]
                for a in range(2):
                    for b in range(2):
                        m = max(m, x[n, 2 * i + a, 2 * j + b])
                y[n, i, j] = m


def enlarge(x, y):
    for n in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                y[n, i, j] = x[n, i // 2, j // 2]


def red_black(u, f):
    for _t in range(10):
        for colour in range(2):
            for i in range(1, u.shape[0] - 1):
                for j in range(1 + (i + colour) % 2, u.shape[1] - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


def gauss_seidel(f, u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


def laplacian(u, out):
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]


def _seven(x, y):
    y, m = np.zeros_like(x), slice(1, -1)
    y[m, m, m] = 0.4 * x[m, m, m] + 0.1 * (x[:-2, m, m] + x[2:, m, m] + x[m, :-2, m] + x[m, 2:, m]
                                           + x[m, m, :-2] + x[m, m, 2:])  # fmt: skip
    return (y,)


def _all(x, y):
    y = np.zeros_like(x)
    y[1:-1, 1:-1, 1:-1] = windows(x, (3, 3, 3)).mean((3, 4, 5))
    return (y,)


def _star(x, w, y):
    y, m = np.zeros_like(x), slice(4, -4)
    y[m, m] = w[0] * x[m, m]
    for r in range(1, 5):
        up, down = slice(4 - r, -4 - r), slice(4 + r, x.shape[0] - 4 + r)
        left, right = up, slice(4 + r, x.shape[1] - 4 + r)
        y[m, m] += w[r] * (x[up, m] + x[down, m] + x[m, left] + x[m, right])
    return (y,)


def _star_weights(torch, w):
    k = torch.zeros(9, 9, device=w.device)
    k[4, 4] = w[0]
    for r in range(1, 5):
        k[4 - r, 4] = k[4 + r, 4] = k[4, 4 - r] = k[4, 4 + r] = w[r]
    return k[None, None]


def _bilateral(x, y):
    v = windows(x, (5, 5))
    a, b = np.mgrid[-2:3, -2:3]
    w = np.exp(-(a * a + b * b) / 8.0 - (v - x[2:-2, 2:-2, None, None]) ** 2 * 10.0)
    return ((w * v).sum((2, 3)) / w.sum((2, 3)),)


def _bilaterally(torch, x, y):
    s, t, middle = torch.zeros_like(y), torch.zeros_like(y), x[2:-2, 2:-2]
    for a in range(5):
        for b in range(5):
            v = x[a : a + y.shape[0], b : b + y.shape[1]]
            w = torch.exp(-((a - 2) ** 2 + (b - 2) ** 2) / 8.0 - (v - middle) ** 2 * 10.0)
            s, t = s + w * v, t + w
    return s / t


def _last(x, w, y):
    return (np.einsum("nijcab,abco->nijo", windows(x, (3, 3), (1, 2)), w),)


def _channels_last(torch, x, w, y):
    return torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1))


def _coloured(u, f):
    u, (i, j) = u.copy(), np.indices(u.shape)
    inside = (i > 0) & (j > 0) & (i < len(u) - 1) & (j < u.shape[1] - 1)
    for step in range(20):
        new = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - f)
        u = np.where(inside & ((i + j + step) % 2 == 1), new, u)
    return u, f


def _colours(torch, u, f):
    for _ in range(10):
        for colour in range(2):
            for i in (1, 2):
                j = 1 + (i + colour) % 2
                m = f[i:-1:2, j:-1:2]
                p, q = m.shape
                at = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
                a, b, c, d = (u[k : k + 2 * p : 2, n : n + 2 * q : 2] for k, n in at)
                u[i : i + 2 * p : 2, j : j + 2 * q : 2] = 0.25 * (a + b + c + d - m)


def _in_place(f, u):
    u = u.copy()
    gauss_seidel(f, u)
    return (u,)


def _laplacian(u, out):
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
    return (out,)


_MEDIAN = """
extern "C" __global__ void peer(const float *x, float *y, long long n) {
  long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (t >= n * n) return;
  long long i = t / n, j = t % n;
  float v[9];
#pragma unroll
  for (int a = 0; a < 9; a++) v[a] = x[(i + a / 3) * (n + 2) + j + a % 3];
#pragma unroll
  for (int a = 0; a < 5; a++)
#pragma unroll
    for (int b = a + 1; b < 9; b++) { float s = fminf(v[a], v[b]); v[b] = fmaxf(v[a], v[b]); v[a] = s; }
  y[t] = v[4];
}"""

_SEVEN = """
extern "C" __global__ void peer(const float *x, float *y, long long n) {
  long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = t / (n * n), j = t / n % n, k = t % n;
  if (i < 1 || j < 1 || k < 1 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
  y[t] = 0.4f * x[t] + 0.1f * (x[t - n * n] + x[t + n * n] + x[t - n] + x[t + n] + x[t - 1] + x[t + 1]);
}"""


def _cube(r, n):
    return r.f4(n, n, n), z4(n, n, n)


def _square(edge: int):
    return lambda r, n: (r.f4(n + edge, n + edge), z4(n, n))


CASES = (
    Case("3-D, 7 points", seven_points, _cube, (20,), (400,), _seven,
         cuda=_SEVEN, threads=lambda n: n**3),
    Case("3-D, 27 points", all_neighbours, _cube, (20,), (400,), _all,
         lambda torch, x, y: torch.nn.functional.avg_pool3d(x[None, None], 3, 1)),
    Case("2-D star of radius 4", star, lambda r, n: (r.f4(n, n), r.f4(5), z4(n, n)), (50,), (8000,), _star,
         lambda torch, x, w, y: torch.nn.functional.conv2d(x[None, None], _star_weights(torch, w))),
    Case("median of 3x3", median, _square(2), (50,), (4000,), lambda x, y: (np.median(windows(x, (3, 3)), (2, 3)),),
         cuda=_MEDIAN, threads=lambda n: n * n),
    Case("bilateral filter, 5x5", bilateral, _square(4), (40,), (2000,), _bilateral, _bilaterally,
         ops=lambda n: 25.0 * 20 * n * n),
    Case("greatest of 7x7", dilate, _square(6), (40,), (3000,), lambda x, y: (windows(x, (7, 7)).max((2, 3)),),
         lambda torch, x, y: torch.nn.functional.max_pool2d(x[None], 7, 1)),
    Case("1-D filter, 1025 taps", long_filter, lambda r, n, m: (r.f4(n + m - 1), r.f4(m), z4(n)), (500, 65),
         (1_000_000, 1025), lambda x, w, y: (np.convolve(x, w[::-1], "valid"),),
         lambda torch, x, w, y: torch.nn.functional.conv1d(x[None, None], w[None, None]), ops=lambda n, m: 2.0 * n * m),
    Case("convolution, channels last", convolve_channels_last,
         lambda r, n, s, c: (r.f4(n, s + 2, s + 2, c), r.f4(3, 3, c, c), z4(n, s, s, c)), (2, 7, 8), (16, 56, 64),
         _last, _channels_last, ops=lambda n, s, c: 18.0 * n * s * s * c * c),
    Case("convolution of each channel", each_channel,
         lambda r, n, c, s: (r.f4(n, c, s + 2, s + 2), r.f4(c, 3, 3), z4(n, c, s, s)), (2, 3, 10), (32, 128, 56),
         lambda x, w, y: (np.einsum("ncijab,cab->ncij", windows(x, (3, 3), (2, 3)), w),),
         lambda torch, x, w, y: torch.nn.functional.conv2d(x, w[:, None], groups=len(w))),
    Case("max pool 2x2", pool, lambda r, n, s: (r.f4(n, 2 * s, 2 * s), z4(n, s, s)), (3, 10), (2048, 56),
         lambda x, y: (x.reshape(len(x), y.shape[1], 2, y.shape[1], 2).max((2, 4)),),
         lambda torch, x, y: torch.nn.functional.max_pool2d(x, 2)),
    Case("enlarged twice", enlarge, lambda r, n, s: (r.f4(n, s, s), z4(n, 2 * s, 2 * s)), (3, 10), (2048, 56),
         lambda x, y: (x.repeat(2, 1).repeat(2, 2),),
         lambda torch, x, y: torch.nn.functional.interpolate(x[None], scale_factor=2)),
    Case("red and black, 10 sweeps", red_black, lambda r, n: (r.f8(n, n), r.f8(n, n)), (30,), (2000,), _coloured,
         _colours, moved=lambda n: 10 * 2 * 24.0 * n * n, restore=True),
    Case("Gauss-Seidel, one sweep", gauss_seidel, lambda r, n: (r.f8(n, n), r.f8(n, n)), (30,), (1000,), _in_place,
         restore=True),
    Case("Laplacian, expression", laplacian, lambda r, n: (r.f8(n, n), r.f8(n, n) * 0), (30,), (5000,), _laplacian,
         lambda torch, u, out: u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]),
)  # fmt: skip
