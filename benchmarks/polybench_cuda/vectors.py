"""Matrices times vectors by hand: gemver, gesummv, atax, bicg, mvt."""

from __future__ import annotations

from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane


@cuda.jit
def add_two_products(n, A, u1, v1, u2, v2):
    j, i = cuda.grid(2)
    if i < n and j < n:
        A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]


@cuda.jit
def add_rows(rows, columns, factor, A, x, y):
    """y += factor A x"""
    i = cuda.grid(1)
    if i < rows:
        total = y[i]
        for j in range(columns):
            total += factor * A[i, j] * x[j]
        y[i] = total


@cuda.jit
def add_columns(rows, columns, factor, A, x, y):
    """y += factor A^T x"""
    j = cuda.grid(1)
    if j < columns:
        total = y[j]
        for i in range(rows):
            total += factor * A[i, j] * x[i]
        y[j] = total


@cuda.jit
def add(n, x, z):
    i = cuda.grid(1)
    if i < n:
        x[i] = x[i] + z[i]


@cuda.jit
def clear(n, x):
    i = cuda.grid(1)
    if i < n:
        x[i] = 0.0


@cuda.jit
def two_rows(n, alpha, beta, A, B, tmp, x, y):
    i = cuda.grid(1)
    if i < n:
        first, second = 0.0, 0.0
        for j in range(n):
            first += A[i, j] * x[j]
            second += B[i, j] * x[j]
        tmp[i] = first
        y[i] = alpha * first + beta * second


def gemver(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    add_two_products[plane(n, n)](n, A, u1, v1, u2, v2)
    add_columns[line(n)](n, n, beta, A, y, x)
    add[line(n)](n, x, z)
    add_rows[line(n)](n, n, alpha, A, x, w)


def gesummv(n, alpha, beta, A, B, tmp, x, y):
    two_rows[line(n)](n, alpha, beta, A, B, tmp, x, y)


def atax(m, n, A, x, y, tmp):
    clear[line(n)](n, y)
    clear[line(m)](m, tmp)
    add_rows[line(m)](m, n, 1.0, A, x, tmp)
    add_columns[line(n)](m, n, 1.0, A, tmp, y)


def bicg(m, n, A, s, q, p, r):
    clear[line(m)](m, s)
    clear[line(n)](n, q)
    add_columns[line(m)](n, m, 1.0, A, r, s)
    add_rows[line(n)](n, m, 1.0, A, p, q)


def mvt(n, x1, x2, y1, y2, A):
    add_rows[line(n)](n, n, 1.0, A, y1, x1)
    add_columns[line(n)](n, n, 1.0, A, y2, x2)
