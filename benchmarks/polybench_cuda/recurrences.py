"""Recurrences by hand: deriche, floyd-warshall, nussinov, adi."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane


@cuda.jit
def rows_forward(w, h, c, image, out):
    i = cuda.grid(1)
    if i < w:
        ym1, ym2, xm1 = c[8], c[8], c[8]
        for j in range(h):
            one = c[0] * image[i, j] + c[1] * xm1 + c[4] * ym1 + c[5] * ym2
            out[i, j] = one
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = one


@cuda.jit
def rows_backward(w, h, c, image, out):
    i = cuda.grid(1)
    if i < w:
        yp1, yp2, xp1, xp2 = c[8], c[8], c[8], c[8]
        for j in range(h - 1, -1, -1):
            one = c[2] * xp1 + c[3] * xp2 + c[4] * yp1 + c[5] * yp2
            out[i, j] = one
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = one


@cuda.jit
def columns_forward(w, h, c, image, out):
    j = cuda.grid(1)
    if j < h:
        ym1, ym2, xm1 = c[8], c[8], c[8]
        for i in range(w):
            one = c[0] * image[i, j] + c[1] * xm1 + c[4] * ym1 + c[5] * ym2
            out[i, j] = one
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = one


@cuda.jit
def columns_backward(w, h, c, image, out):
    j = cuda.grid(1)
    if j < h:
        yp1, yp2, xp1, xp2 = c[8], c[8], c[8], c[8]
        for i in range(w - 1, -1, -1):
            one = c[2] * xp1 + c[3] * xp2 + c[4] * yp1 + c[5] * yp2
            out[i, j] = one
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = one


@cuda.jit
def both_sides(w, h, y1, y2, out):
    j, i = cuda.grid(2)
    if i < w and j < h:
        out[i, j] = y1[i, j] + y2[i, j]


def deriche(w, h, alpha, img_in, img_out, y1, y2):
    fall = math.exp(-alpha)
    gain = (1.0 - fall) * (1.0 - fall) / (1.0 + 2.0 * alpha * fall - math.exp(2.0 * alpha))
    a = [gain, gain * fall * (alpha - 1.0), gain * fall * (alpha + 1.0), -gain * math.exp(-2.0 * alpha)]
    b = [2.0 ** (-alpha), -math.exp(-2.0 * alpha)]
    c = cuda.to_device(np.array([*a, *b, 1.0, 1.0, 0.0], np.float32))
    rows_forward[line(w)](w, h, c, img_in, y1)
    rows_backward[line(w)](w, h, c, img_in, y2)
    both_sides[plane(w, h)](w, h, y1, y2, img_out)
    columns_forward[line(h)](w, h, c, img_out, y1)
    columns_backward[line(h)](w, h, c, img_out, y2)
    both_sides[plane(w, h)](w, h, y1, y2, img_out)


@cuda.jit
def through(k, n, path):
    j, i = cuda.grid(2)
    if i < n and j < n:
        path[i, j] = min(path[i, j], path[i, k] + path[k, j])


def floyd_warshall(n, path):
    for k in range(n):  # row and column k keep their values, since no length is negative
        through[plane(n, n)](k, n, path)


@cuda.jit
def stretches(length, n, seq, table):
    i = cuda.grid(1)
    j = i + length
    if j < n:
        best = max(table[i, j], table[i, j - 1], table[i + 1, j])
        pair = 1 if length > 1 and seq[i] + seq[j] == 3 else 0
        best = max(best, table[i + 1, j - 1] + pair)
        for k in range(i + 1, j):
            best = max(best, table[i, k] + table[k + 1, j])
        table[i, j] = best


def nussinov(n, seq, table):
    for length in range(1, n):
        stretches[line(n - length)](length, n, seq, table)


@cuda.jit
def sweep_columns(n, a, b, c, d, f, u, v, p, q):
    i = 1 + cuda.grid(1)
    if i < n - 1:
        v[0, i] = 1.0
        p[i, 0] = 0.0
        q[i, 0] = v[0, i]
        for j in range(1, n - 1):
            p[i, j] = -c / (a * p[i, j - 1] + b)
            q[i, j] = (-d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]) / (
                a * p[i, j - 1] + b
            )
        v[n - 1, i] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]


@cuda.jit
def sweep_rows(n, a, c, d, e, f, u, v, p, q):
    i = 1 + cuda.grid(1)
    if i < n - 1:
        u[i, 0] = 1.0
        p[i, 0] = 0.0
        q[i, 0] = u[i, 0]
        for j in range(1, n - 1):
            p[i, j] = -f / (d * p[i, j - 1] + e)
            q[i, j] = (-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]) / (
                d * p[i, j - 1] + e
            )
        u[i, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def adi(tsteps, n, u, v, p, q):
    mul = 2.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    other = 1.0 * (1.0 / tsteps) / ((1.0 / n) * (1.0 / n))
    a, b, d, e = -mul / 2.0, 1.0 + mul, -other / 2.0, 1.0 + other
    for _t in range(1, tsteps + 1):
        sweep_columns[line(n - 2)](n, a, b, a, d, d, u, v, p, q)
        sweep_rows[line(n - 2)](n, a, a, d, e, d, u, v, p, q)
