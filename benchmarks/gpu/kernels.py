"""The loops of the GPU benchmark as users write them."""

from __future__ import annotations

import numpy as np

import loopwright as lw


@lw.kernel
def add(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + 2.0 * b[i]


@lw.kernel
def jacobi_2d(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])


@lw.kernel
def heat_3d(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = (
                    0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                    + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                    + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                    + a[i, j, k]
                )


@lw.kernel
def transpose(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


@lw.kernel
def gemm(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@lw.kernel
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@lw.kernel
def dot(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


@lw.kernel
def spmv(pointer, column, value, x, y):
    for row in range(y.shape[0]):
        s = 0.0
        for k in range(pointer[row], pointer[row + 1]):
            s += value[k] * x[column[k]]
        y[row] = s


@lw.kernel
def argmax(a):
    best = a[0]
    where = 0
    for i in range(a.shape[0]):
        if a[i] > best:
            best = a[i]
            where = i
    return where


@lw.kernel
def histogram(b, h):
    for i in range(b.shape[0]):
        h[b[i]] += 1


@lw.kernel
def convolve(image, weights, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            s = np.float32(0.0)
            for di in range(weights.shape[0]):
                for dj in range(weights.shape[1]):
                    s += weights[di, dj] * image[i + di, j + dj]
            out[i, j] = s
