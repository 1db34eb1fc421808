"""Solvers by hand: cholesky, durbin, gramschmidt, lu, ludcmp, trisolv. Eliminations are right-looking: after each
column all that is right of it and below is brought up to date at once."""

from __future__ import annotations

import math

from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane

ONE = (1, 1)
"""A grid of one thread."""


@cuda.jit
def root(k, A):
    A[k, k] = math.sqrt(A[k, k])


@cuda.jit
def scale_column(k, n, A):
    i = k + 1 + cuda.grid(1)
    if i < n:
        A[i, k] = A[i, k] / A[k, k]


@cuda.jit
def update_triangle(k, n, A):
    x, y = cuda.grid(2)
    i, j = k + 1 + y, k + 1 + x
    if i < n and j <= i:
        A[i, j] -= A[i, k] * A[j, k]


@cuda.jit
def update_square(k, n, A):
    x, y = cuda.grid(2)
    i, j = k + 1 + y, k + 1 + x
    if i < n and j < n:
        A[i, j] -= A[i, k] * A[k, j]


def cholesky(n, A):
    for k in range(n):
        root[ONE](k, A)
        scale_column[line(n - k - 1)](k, n, A)
        update_triangle[plane(n - k - 1, n - k - 1)](k, n, A)


def lu(n, A):
    for k in range(n - 1):
        scale_column[line(n - k - 1)](k, n, A)
        update_square[plane(n - k - 1, n - k - 1)](k, n, A)


@cuda.jit
def copy_line(n, source, target):
    i = cuda.grid(1)
    if i < n:
        target[i] = source[i]


@cuda.jit
def divide_one(i, x, A):
    x[i] = x[i] / A[i, i]


@cuda.jit
def update_below(k, n, A, x):
    i = k + 1 + cuda.grid(1)
    if i < n:
        x[i] -= A[i, k] * x[k]


@cuda.jit
def update_above(k, A, x):
    i = cuda.grid(1)
    if i < k:
        x[i] -= A[i, k] * x[k]


def ludcmp(n, A, b, x, y):
    lu(n, A)
    copy_line[line(n)](n, b, y)
    for k in range(n - 1):
        update_below[line(n - k - 1)](k, n, A, y)
    copy_line[line(n)](n, y, x)
    for k in range(n - 1, -1, -1):
        divide_one[ONE](k, x, A)
        update_above[line(k)](k, A, x)


def trisolv(n, L, x, b):
    copy_line[line(n)](n, b, x)
    for k in range(n):
        divide_one[ONE](k, x, L)
        update_below[line(n - k - 1)](k, n, L, x)


@cuda.jit
def durbin_begin(r, y, state):
    y[0] = -r[0]
    state[0] = -r[0]  # alpha
    state[1] = 1.0  # beta
    state[2] = 0.0  # the sum


@cuda.jit
def durbin_sum(k, r, y, state):
    i = cuda.grid(1)
    if i < k:
        cuda.atomic.add(state, 2, r[k - i - 1] * y[i])


@cuda.jit
def durbin_step(k, r, state):
    state[1] = (1.0 - state[0] * state[0]) * state[1]
    state[0] = -(r[k] + state[2]) / state[1]
    state[2] = 0.0


@cuda.jit
def durbin_mirror(k, y, z, state):
    i = cuda.grid(1)
    if i < k:
        z[i] = y[i] + state[0] * y[k - i - 1]


@cuda.jit
def durbin_copy(k, y, z, state):
    i = cuda.grid(1)
    if i < k:
        y[i] = z[i]
    elif i == k:
        y[k] = state[0]


def durbin(n, r, y):
    z, state = cuda.device_array(n, y.dtype), cuda.device_array(3, y.dtype)
    durbin_begin[ONE](r, y, state)
    for k in range(1, n):
        durbin_sum[line(k)](k, r, y, state)
        durbin_step[ONE](k, r, state)
        durbin_mirror[line(k)](k, y, z, state)
        durbin_copy[line(k + 1)](k, y, z, state)


@cuda.jit
def sum_of_squares(k, m, A, R):
    i = cuda.grid(1)
    if i < m:
        cuda.atomic.add(R, (k, k), A[i, k] * A[i, k])


@cuda.jit
def set_diagonal(k, R, value):
    R[k, k] = value


@cuda.jit
def normal_column(k, m, A, R, Q):
    i = cuda.grid(1)
    if i < m:
        Q[i, k] = A[i, k] / R[k, k]


@cuda.jit
def other_columns(k, m, n, A, R, Q):
    j = k + 1 + cuda.grid(1)
    if j < n:
        total = 0.0
        for i in range(m):
            total += Q[i, k] * A[i, j]
        R[k, j] = total
        for i in range(m):
            A[i, j] = A[i, j] - Q[i, k] * total


def gramschmidt(m, n, A, R, Q):
    for k in range(n):
        set_diagonal[ONE](k, R, 0.0)
        sum_of_squares[line(m)](k, m, A, R)
        root[ONE](k, R)
        normal_column[line(m)](k, m, A, R, Q)
        other_columns[line(n - k - 1)](k, m, n, A, R, Q)
