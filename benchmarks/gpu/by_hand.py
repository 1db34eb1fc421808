"""The same by hand for numba.cuda: one thread for each item."""

from __future__ import annotations

from typing import Any

import numpy as np


def kernels() -> dict[str, Any]:
    """numba.cuda kernels by name, each with the threads of its blocks."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # releases of numba-cuda look for it, and newer NumPy does not have it
    from numba import cuda

    @cuda.jit
    def add_items(a, b, c):
        i = cuda.grid(1)
        if i < a.shape[0]:
            c[i] = a[i] + 2.0 * b[i]

    @cuda.jit
    def jacobi_items(a, b):
        j, i = cuda.grid(2)
        if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1:
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])

    @cuda.jit
    def heat_items(a, b):
        k, j, i = cuda.grid(3)
        if 1 <= i < a.shape[0] - 1 and 1 <= j < a.shape[1] - 1 and 1 <= k < a.shape[2] - 1:
            b[i, j, k] = (
                0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                + a[i, j, k]
            )

    @cuda.jit
    def transpose_items(a, b):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            b[j, i] = a[i, j]

    return {
        "add": (add_items, (256,)),
        "jacobi-2d": (jacobi_items, (32, 8)),
        "heat-3d": (heat_items, (32, 8, 1)),
        "transpose": (transpose_items, (32, 8)),
    } | _sums()


def _sums() -> dict[str, Any]:
    from numba import cuda

    @cuda.jit
    def gemm_items(a, b, c):
        j, i = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            s = c[i, j]
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s

    @cuda.jit
    def spmv_rows(pointer, column, value, x, y):
        row = cuda.grid(1)
        if row < y.shape[0]:
            s = 0.0
            for k in range(pointer[row], pointer[row + 1]):
                s += value[k] * x[column[k]]
            y[row] = s

    @cuda.jit
    def histogram_items(b, h):
        i = cuda.grid(1)
        if i < b.shape[0]:
            cuda.atomic.add(h, b[i], 1)

    @cuda.jit
    def convolve_items(image, weights, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            s = np.float32(0.0)
            for di in range(weights.shape[0]):
                for dj in range(weights.shape[1]):
                    s += weights[di, dj] * image[i + di, j + dj]
            out[i, j] = s

    return {
        "gemm": (gemm_items, (32, 8)),
        "spmv": (spmv_rows, (256,)),
        "histogram": (histogram_items, (256,)),
        "convolve": (convolve_items, (32, 8)),
    }
