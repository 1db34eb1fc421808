"""Sparse matrices: the shape of a loaded membrane, from a sparse system of equations by conjugate gradients.

Rows of different lengths, whose bounds come out of an array, and a `while` around all of it."""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import loopwright as lw


@lw.kernel
def conjugate_gradients(starts, columns, values, b, tolerance):
    n = len(b)
    x = np.zeros(n)
    r = b.copy()
    p = b.copy()
    q = np.zeros(n)
    rho = r @ r
    rounds = 0
    while rho > tolerance * tolerance and rounds < 10 * n:
        for i in range(n):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * p[columns[k]]
            q[i] = total
        alpha = rho / (p @ q)
        x += alpha * p
        r -= alpha * q
        before = rho
        rho = r @ r
        p[:] = r + rho / before * p
        rounds += 1
    return x, rounds


def membrane(size):
    """A triangular frame of points: the matrix, the load, and where the frame is open."""
    y, x = np.mgrid[:size, :size] / (size - 1.0)
    inside = (y > 0.03) & (y < 0.97) & (np.abs(x - 0.5) < 0.47 * y)
    number = np.where(inside, np.cumsum(inside).reshape(inside.shape) - 1, -1)
    rows, columns, values = [], [], []
    for shift in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)):
        other = np.roll(number, shift, (0, 1))
        both = inside & (other >= 0)
        rows.append(number[both])
        columns.append(other[both])
        values.append(np.full(np.count_nonzero(both), 4.0 if shift == (0, 0) else -1.0))
    matrix = scipy.sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
    load = np.where((x - 0.35) ** 2 + (y - 0.7) ** 2 < 0.01, 4.0, 1.0)[inside]
    return matrix, load, inside


def compute(size=120):
    matrix, load, inside = membrane(size)
    x, _ = conjugate_gradients(matrix.indptr, matrix.indices, matrix.data, load, 1e-8)
    shape = np.full(inside.shape, np.nan)
    shape[inside] = x
    return shape


def check(size=30):
    matrix, load, inside = membrane(size)
    expected = scipy.sparse.linalg.spsolve(matrix.tocsc(), load)
    np.testing.assert_allclose(compute(size)[inside], expected, rtol=1e-6)


def picture(axes, result):
    axes.contourf(result[::-1], levels=24, cmap="viridis")
    axes.contour(result[::-1], levels=8, colors="white", linewidths=0.4)
    axes.set_aspect("equal")


if __name__ == "__main__":
    check()
    print(f"the membrane sags by {np.nanmax(compute()):.1f}")
