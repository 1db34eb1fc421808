"""Decompositions of matrices, written in the language: what is unique of them, so that NumPy gives the same.

Singular values are found by one-sided Jacobi rotations, eigenvalues of symmetric matrices by two-sided ones (G. H.
Golub and C. F. Van Loan, Matrix Computations, 4th edition, 8.5 and 8.6), and QR by Householder reflections with
LAPACK's signs. Those with vectors: eigenvectors.py, singular_vectors.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg._linalg import QRResult

_MOST_SWEEPS = 60
_SMALLEST = 2.220446049250313e-16  # the distance from 1.0 to the next float64


def _tall(a: Any) -> Any:
    """A copy of a matrix with at least as many rows as columns, in float64: of one with fewer, its transpose."""
    rows, columns = a.shape
    w = np.empty((max(rows, columns), min(rows, columns)))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            if rows >= columns:
                w[i, j] = a[i, j]
            else:
                w[i, j] = a[j, i]
            if not abs(w[i, j]) < np.inf:
                raise np.linalg.LinAlgError("SVD did not converge")
    return w


def _rotate(w: Any, p: Any, q: Any, c: Any, s: Any) -> None:
    """Turn two columns in their plane."""
    for i in range(w.shape[0]):
        x, y = w[i, p], w[i, q]
        w[i, p] = c * x - s * y
        w[i, q] = s * x + c * y


def _orthogonalise(w: Any, v: Any) -> None:
    """Turn the columns of w until each two are orthogonal, and those of v with them: what w was is w @ v.T then."""
    sweep, is_done = 0, False
    while not is_done and sweep < _MOST_SWEEPS:
        is_done = True
        for p in range(w.shape[1] - 1):
            for q in range(p + 1, w.shape[1]):
                a, b, g = 0.0, 0.0, 0.0
                for i in range(w.shape[0]):
                    a += w[i, p] * w[i, p]
                    b += w[i, q] * w[i, q]
                    g += w[i, p] * w[i, q]
                if abs(g) > _SMALLEST * np.sqrt(a) * np.sqrt(b) and g != 0.0:
                    is_done = False
                    zeta = (b - a) / (2.0 * g)
                    t = np.copysign(1.0, zeta) / (abs(zeta) + np.hypot(1.0, zeta))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    _rotate(w, p, q, c, c * t)
                    _rotate(v, p, q, c, c * t)
        sweep += 1


def _scaled(w: Any) -> Any:
    """Divide by the largest element, so that no square overflows or is lost; what was divided by."""
    scale = 0.0
    for x in w.flat:
        scale = max(scale, abs(x))
    if scale == 0.0:
        scale = 1.0
    w /= scale
    return scale


def _lengths(w: Any) -> Any:
    lengths = np.empty(w.shape[1])
    for j in range(w.shape[1]):
        total = 0.0
        for i in range(w.shape[0]):
            total += w[i, j] * w[i, j]
        lengths[j] = np.sqrt(total)
    return lengths


def svdvals(x: Any) -> Any:
    """The singular values, the largest first."""
    w = _tall(x)
    v = np.eye(w.shape[1])
    scale = _scaled(w)
    _orthogonalise(w, v)
    return (np.sort(_lengths(w) * scale)[::-1]).astype((x[:1, :1] * 0.5).dtype)


def norm_of_singular_values(x: Any, ord: Any) -> Any:
    """`np.linalg.norm(x, ord)` of a matrix, for the orders 2, -2 and "nuc"."""
    lengths = svdvals(x)
    if ord == "nuc":
        found = lengths.sum()
    elif ord == 2:
        found = lengths.max()
    else:
        found = lengths.min()
    return found


def _pinv(a: Any, rcond: Any = 1e-15) -> Any:
    w = _tall(a)
    v = np.eye(w.shape[1])
    scale = _scaled(w)
    _orthogonalise(w, v)
    lengths = _lengths(w)
    largest = 0.0
    for x in lengths:
        largest = max(largest, x)
    result = np.zeros((a.shape[1], a.shape[0]))
    for k in range(len(lengths)):
        if lengths[k] > rcond * largest:
            for i in range(v.shape[0]):
                for j in range(w.shape[0]):
                    part = (v[i, k] / lengths[k]) * (w[j, k] / lengths[k]) / scale
                    if a.shape[0] >= a.shape[1]:
                        result[i, j] += part
                    else:
                        result[j, i] += part
    return result.astype((a[:1, :1] * 0.5).dtype)


def _least(a: Any, b: Any, x: Any, rcond: Any) -> Any:
    """Write the shortest least-squares solution for each column of b to x; the rank, and the singular values."""
    w = _tall(a)
    v = np.eye(w.shape[1])
    scale = _scaled(w)
    _orthogonalise(w, v)
    lengths = _lengths(w)
    largest = 0.0
    for one in lengths:
        largest = max(largest, one)
    if rcond is None:
        least = _SMALLEST * max(a.shape[0], a.shape[1])
    elif rcond < 0.0:
        least = _SMALLEST
    else:
        least = rcond * 1.0
    is_tall = a.shape[0] >= a.shape[1]
    rank = 0
    x[:] = 0.0
    for k in range(len(lengths)):
        if lengths[k] > least * largest:
            rank += 1
            for j in range(b.shape[1]):
                part = 0.0
                for i in range(a.shape[0]):
                    if is_tall:
                        part += w[i, k] / lengths[k] * b[i, j]
                    else:
                        part += v[i, k] * b[i, j]
                part = part / lengths[k] / scale
                for i in range(a.shape[1]):
                    if is_tall:
                        x[i, j] += v[i, k] * part
                    else:
                        x[i, j] += w[i, k] / lengths[k] * part
    return rank, np.sort(lengths * scale)[::-1]


def _residuals(a: Any, b: Any, x: Any, rank: Any) -> Any:
    """The sums of squares that are left, for each column; none where the rank or the rows are too few."""
    count = 0
    if rank == a.shape[1] and a.shape[0] > a.shape[1]:
        count = b.shape[1]
    left = np.zeros(count)
    for j in range(count):
        for i in range(a.shape[0]):
            miss = b[i, j] * 1.0
            for k in range(a.shape[1]):
                miss -= a[i, k] * x[k, j]
            left[j] += miss * miss
    return left


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    if a.shape[0] != b.shape[0]:
        raise ValueError("Incompatible dimensions")
    columns = np.empty((b.shape[0], 1 if b.ndim == 1 else b.shape[1]), b.dtype)
    if b.ndim == 1:
        columns[:, 0] = b
    else:
        columns[:] = b
    kind = (a[:1, :1] * columns[:1, :1] * 0.5).dtype
    x = np.empty((a.shape[1], columns.shape[1]))
    rank, lengths = _least(a, columns, x, rcond)
    left = _residuals(a, columns, x, rank)
    if b.ndim == 1:
        return x[:, 0].astype(kind), left.astype(kind), np.int32(rank), lengths.astype(kind)
    return x.astype(kind), left.astype(kind), np.int32(rank), lengths.astype(kind)


def _matrix_rank(A: Any, tol: Any = None) -> Any:
    lengths = svdvals(A)
    largest = lengths.dtype.type(0.0)
    for one in lengths:
        largest = max(largest, one)
    if tol is None:
        least = largest * max(A.shape[0], A.shape[1]) * np.finfo(lengths.dtype).eps
    else:
        least = tol * 1.0
    rank = 0
    for one in lengths:
        if one > least:
            rank += 1
    return np.int64(rank)


def _cond(x: Any) -> Any:
    lengths = svdvals(x)
    ratio = lengths[0] / lengths[-1]
    if ratio != ratio:  # no number: 0 by 0
        ratio = ratio.dtype.type(np.inf)
    return ratio


def _eigvalsh(a: Any) -> Any:
    """The eigenvalues of the symmetric matrix whose lower triangle this is, the smallest first."""
    n = a.shape[0]
    if n != a.shape[1]:
        raise ValueError("Last 2 dimensions of the array must be square")
    w = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            w[i, j] = a[i, j]
            w[j, i] = a[i, j]
            if not abs(w[i, j]) < np.inf:
                raise np.linalg.LinAlgError("Eigenvalues did not converge")
    scale = _scaled(w)
    sweep, is_done = 0, False
    while not is_done and sweep < _MOST_SWEEPS:
        is_done = True
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(w[p, q]) > 1e-17 * (abs(w[p, p]) + abs(w[q, q])) and abs(w[p, q]) > 1e-300:
                    is_done = False
                    theta = (w[q, q] - w[p, p]) / (2.0 * w[p, q])
                    t = np.copysign(1.0, theta) / (abs(theta) + np.hypot(1.0, theta))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    _rotate(w, p, q, c, c * t)
                    _rotate(w.T, p, q, c, c * t)
        sweep += 1
    return np.sort(np.diag(w) * scale).astype((a[:1, :1] * 0.5).dtype)


def _reflected(w: Any, tau: Any) -> None:
    """Householder reflections as LAPACK's geqrf makes them: R in the upper triangle, and the vectors below."""
    for k in range(len(tau)):
        below = 0.0
        for i in range(k + 1, w.shape[0]):
            below = np.hypot(below, w[i, k])
        tau[k] = 0.0
        if below != 0.0:
            first = w[k, k]
            beta = -np.copysign(np.hypot(first, below), first)
            tau[k] = (beta - first) / beta
            for i in range(k + 1, w.shape[0]):
                w[i, k] /= first - beta
            w[k, k] = beta
            _reflect(w, w, tau[k], k, k + 1)


def _reflect(w: Any, target: Any, tau: Any, k: Any, begin: Any) -> None:
    """Apply the reflection in column k of w to the columns of `target` from one on."""
    for j in range(begin, target.shape[1]):
        total = target[k, j]
        for i in range(k + 1, w.shape[0]):
            total += w[i, k] * target[i, j]
        total *= tau
        target[k, j] -= total
        for i in range(k + 1, w.shape[0]):
            target[i, j] -= w[i, k] * total


def _qr(a: Any, mode: Any = "reduced") -> Any:
    kind = (a[:1, :1] * 0.5).dtype
    w, least = a.astype(np.float64), min(a.shape[0], a.shape[1])
    tau = np.zeros(least)
    _reflected(w, tau)
    count = a.shape[0] if mode == "complete" else least
    r = np.zeros((count, a.shape[1]))
    for i in range(least):
        for j in range(i, a.shape[1]):
            r[i, j] = w[i, j]
    q = np.zeros((a.shape[0], count))
    for i in range(count):
        q[i, i] = 1.0
    for k in range(least - 1, -1, -1):
        _reflect(w, q, tau[k], k, 0)
    return QRResult(q.astype(kind), r.astype(kind))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.svdvals: svdvals, np.linalg.pinv: _pinv, np.linalg.lstsq: _lstsq, np.linalg.matrix_rank: _matrix_rank,
    np.linalg.cond: _cond, np.linalg.eigvalsh: _eigvalsh, np.linalg.qr: _qr,
}  # fmt: skip
"""By NumPy's function: ours."""
