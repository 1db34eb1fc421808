"""Stencils by hand: fdtd-2d, heat-3d, jacobi-1d, jacobi-2d, and seidel-2d along its lines."""

from __future__ import annotations

from numba import cuda

from benchmarks.polybench_cuda.grid import line, plane, space


@cuda.jit
def first_row(t, ny, ey, fict):
    j = cuda.grid(1)
    if j < ny:
        ey[0, j] = fict[t]


@cuda.jit
def field_y(nx, ny, ey, hz):
    j, i = cuda.grid(2)
    if 1 <= i < nx and j < ny:
        ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])


@cuda.jit
def field_x(nx, ny, ex, hz):
    j, i = cuda.grid(2)
    if i < nx and 1 <= j < ny:
        ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])


@cuda.jit
def field_z(nx, ny, ex, ey, hz):
    j, i = cuda.grid(2)
    if i < nx - 1 and j < ny - 1:
        hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def fdtd_2d(tmax, nx, ny, ex, ey, hz, fict):
    for t in range(tmax):
        first_row[line(ny)](t, ny, ey, fict)
        field_y[plane(nx, ny)](nx, ny, ey, hz)
        field_x[plane(nx, ny)](nx, ny, ex, hz)
        field_z[plane(nx, ny)](nx, ny, ex, ey, hz)


@cuda.jit
def seven_points(n, A, B):
    k, j, i = cuda.grid(3)
    if 1 <= i < n - 1 and 1 <= j < n - 1 and 1 <= k < n - 1:
        B[i, j, k] = (
            0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
            + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
            + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
            + A[i, j, k]
        )


def heat_3d(tsteps, n, A, B):
    for _t in range(1, tsteps + 1):
        seven_points[space(n, n, n)](n, A, B)
        seven_points[space(n, n, n)](n, B, A)


@cuda.jit
def three_points(n, A, B):
    i = cuda.grid(1)
    if 1 <= i < n - 1:
        B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])


def jacobi_1d(tsteps, n, A, B):
    for _t in range(tsteps):
        three_points[line(n)](n, A, B)
        three_points[line(n)](n, B, A)


@cuda.jit
def five_points(n, A, B):
    j, i = cuda.grid(2)
    if 1 <= i < n - 1 and 1 <= j < n - 1:
        B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])


def jacobi_2d(tsteps, n, A, B):
    for _t in range(tsteps):
        five_points[plane(n, n)](n, A, B)
        five_points[plane(n, n)](n, B, A)


@cuda.jit
def one_line(number, first, last, A):
    i = first + cuda.grid(1)
    if i <= last:
        j = number - 2 * i
        A[i, j] = (
            A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
            + A[i, j - 1] + A[i, j] + A[i, j + 1]
            + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
        ) / 9.0  # fmt: skip


def seidel_2d(tsteps, n, A):
    for _t in range(tsteps):
        for number in range(3, 3 * n - 5):  # elements of a line 2 i + j do not need each other
            first, last = max(1, -(-(number - (n - 2)) // 2)), min(n - 2, (number - 1) // 2)
            one_line[line(last - first + 1)](number, first, last, A)
