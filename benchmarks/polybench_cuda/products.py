"""Products of matrices by hand: gemm, symm, syrk, syr2k, trmm, 2mm, 3mm, doitgen."""

from __future__ import annotations

from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane, space


@cuda.jit
def product(rows, columns, depth, alpha, beta, A, B, C):
    """C = alpha A B + beta C"""
    j, i = cuda.grid(2)
    if i < rows and j < columns:
        total = beta * C[i, j]
        for k in range(depth):
            total += alpha * A[i, k] * B[k, j]
        C[i, j] = total


@cuda.jit
def fresh_product(rows, columns, depth, alpha, A, B, C):
    """C = alpha A B, whatever C was"""
    j, i = cuda.grid(2)
    if i < rows and j < columns:
        total = 0.0
        for k in range(depth):
            total += alpha * A[i, k] * B[k, j]
        C[i, j] = total


@cuda.jit
def symmetric_product(m, n, alpha, beta, C, A, B):
    j, i = cuda.grid(2)
    if i < m and j < n:
        total = 0.0
        for k in range(i):
            total += B[k, j] * A[i, k]
        for k in range(i + 1, m):
            total += B[k, j] * A[k, i]
        C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * total


@cuda.jit
def own_product(n, m, alpha, beta, C, A):
    j, i = cuda.grid(2)
    if i < n and j <= i:
        total = C[i, j] * beta
        for k in range(m):
            total += alpha * A[i, k] * A[j, k]
        C[i, j] = total


@cuda.jit
def two_own_products(n, m, alpha, beta, C, A, B):
    j, i = cuda.grid(2)
    if i < n and j <= i:
        total = C[i, j] * beta
        for k in range(m):
            total += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]
        C[i, j] = total


@cuda.jit
def triangle_times_columns(m, n, alpha, A, B):
    j = cuda.grid(1)
    if j < n:
        for i in range(m):
            total = B[i, j]
            for k in range(i + 1, m):
                total += A[k, i] * B[k, j]
            B[i, j] = alpha * total


@cuda.jit
def products_of_rows(nr, nq, ns, A, C4, total):
    p, q, r = cuda.grid(3)
    if r < nr and q < nq and p < ns:
        one = 0.0
        for s in range(ns):
            one += A[r, q, s] * C4[s, p]
        total[r, q, p] = one


@cuda.jit
def copy_space(nr, nq, ns, total, A):
    p, q, r = cuda.grid(3)
    if r < nr and q < nq and p < ns:
        A[r, q, p] = total[r, q, p]


def gemm(ni, nj, nk, alpha, beta, C, A, B):
    product[plane(ni, nj)](ni, nj, nk, alpha, beta, A, B, C)


def symm(m, n, alpha, beta, C, A, B):
    symmetric_product[plane(m, n)](m, n, alpha, beta, C, A, B)


def syrk(n, m, alpha, beta, C, A):
    own_product[plane(n, n)](n, m, alpha, beta, C, A)


def syr2k(n, m, alpha, beta, C, A, B):
    two_own_products[plane(n, n)](n, m, alpha, beta, C, A, B)


def trmm(m, n, alpha, A, B):
    triangle_times_columns[line(n)](m, n, alpha, A, B)


def two_products(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D):
    fresh_product[plane(ni, nj)](ni, nj, nk, alpha, A, B, tmp)
    product[plane(ni, nl)](ni, nl, nj, 1.0, beta, tmp, C, D)


def three_products(ni, nj, nk, nl, nm, E, A, B, F, C, D, G):
    fresh_product[plane(ni, nj)](ni, nj, nk, 1.0, A, B, E)
    fresh_product[plane(nj, nl)](nj, nl, nm, 1.0, C, D, F)
    fresh_product[plane(ni, nl)](ni, nl, nj, 1.0, E, F, G)


def doitgen(nr, nq, ns, A, C4):
    total = cuda.device_array((nr, nq, ns), A.dtype)
    products_of_rows[space(nr, nq, ns)](nr, nq, ns, A, C4, total)
    copy_space[space(nr, nq, ns)](nr, nq, ns, total, A)
