"""The loops of the GPU benchmark as users write them, and the same by hand for numba.cuda: one thread per item."""

from __future__ import annotations

from typing import Any

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


def by_hand() -> dict[str, Any]:
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
    } | _sums_by_hand()


def _sums_by_hand() -> dict[str, Any]:
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

    return {"gemm": (gemm_items, (32, 8)), "spmv": (spmv_rows, (256,))}


def matrix(rows: int, mean: int, power_law: bool, seed: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A square matrix in CSR: pointers, columns, values (float64), with about `mean` entries a row."""
    random = np.random.default_rng(seed)
    lengths = np.full(rows, mean)
    if power_law:
        lengths = np.minimum(np.maximum(1, (random.pareto(1.2, rows) + 1) * mean / 6).astype(np.int64), rows // 8)
    pointer = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = int(pointer[-1])
    return pointer, random.integers(0, rows, entries), random.random(entries)
