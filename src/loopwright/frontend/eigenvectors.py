"""Eigenvalues and eigenvectors of symmetric matrices, written in the language.

The steps are those of LAPACK's unblocked routines (E. Anderson and others, LAPACK Users' Guide, 3rd edition: dsytd2,
dsteqr), so that the signs of eigenvectors are LAPACK's for matrices of up to 25 rows. For larger ones LAPACK divides
the matrix, and signs may differ. Complex matrices are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg._linalg import EighResult

_EPS = 1.1102230246251565e-16  # half the distance from 1.0 to the next float64
_LEAST = 2.2250738585072014e-308
_MOST_ITERATIONS = 30


def rotation(f: Any, g: Any) -> Any:
    """Cosine and sine of the rotation that takes (f, g) to (r, 0), and r, as LAPACK's dlartg."""
    if g == 0.0:
        c, s, r = 1.0, 0.0, f
    elif f == 0.0:
        c, s, r = 0.0, math.copysign(1.0, g), abs(g)
    else:
        r = math.copysign(math.hypot(f, g), f)
        c, s = f / r, g / r
    return c, s, r


def rotate_columns(z: Any, j: Any, turns: Any) -> None:
    """Turn column j of a matrix and the one after it by the rotation in row j (LAPACK's dlasr, from the right)."""
    c, s = turns[j, 0], turns[j, 1]
    for i in range(z.shape[0]):
        one, other = z[i, j], z[i, j + 1]
        z[i, j + 1] = c * other - s * one
        z[i, j] = s * other + c * one


def reflector(w: Any, i: Any, k: Any) -> Any:
    """Make the elements of column k below row i zero by a reflection, and keep its vector there; its factor."""
    below = 0.0
    for r in range(i + 1, w.shape[0]):
        below = math.hypot(below, w[r, k])
    tau = 0.0
    if below != 0.0:
        first = w[i, k]
        beta = -math.copysign(math.hypot(first, below), first)
        tau = (beta - first) / beta
        for r in range(i + 1, w.shape[0]):
            w[r, k] /= first - beta
        w[i, k] = beta
    return tau


def _tridiagonal(a: Any, d: Any, e: Any) -> Any:
    """Reflect a symmetric matrix until only d and e are left on and beside its diagonal; the reflections together."""
    n = a.shape[0]
    tau, w = np.zeros(n), np.zeros(n)
    for i in range(n - 1):
        tau[i] = reflector(a, i + 1, i)
        e[i] = a[i + 1, i]
        a[i + 1, i] = 1.0
        for r in range(i + 1, n):
            w[r] = 0.0
            for j in range(i + 1, n):
                w[r] += tau[i] * a[max(r, j), min(r, j)] * a[j, i]
        along = 0.0
        for r in range(i + 1, n):
            along += w[r] * a[r, i]
        for r in range(i + 1, n):
            w[r] -= 0.5 * tau[i] * along * a[r, i]
        for r in range(i + 1, n):
            for j in range(i + 1, r + 1):
                a[r, j] -= a[r, i] * w[j] + w[r] * a[j, i]
    for i in range(n):
        d[i] = a[i, i]
    z = np.eye(n)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            total = 0.0
            for r in range(i + 1, n):
                total += a[r, i] * z[r, j]
            for r in range(i + 1, n):
                z[r, j] -= tau[i] * total * a[r, i]
    return z


def _of_two(a: Any, b: Any, c: Any) -> Any:
    """The eigenvalues of [[a, b], [b, c]], the larger size first, and cosine and sine of the first vector (dlaev2)."""
    total, apart, twice = a + c, a - c, b + b
    root = math.hypot(apart, twice)
    larger, smaller = (a, c) if abs(a) > abs(c) else (c, a)
    if total == 0.0:
        first, second = 0.5 * root, -0.5 * root
    else:
        first = 0.5 * (total + math.copysign(root, total))
        second = (larger / first) * smaller - (b / first) * b
    cs = apart + root if apart >= 0.0 else apart - root
    if abs(cs) > abs(twice):
        s = 1.0 / math.sqrt(1.0 + (twice / cs) * (twice / cs))
        c = -twice / cs * s
    elif twice == 0.0:
        c, s = 1.0, 0.0
    else:
        c = 1.0 / math.sqrt(1.0 + (cs / twice) * (cs / twice))
        s = -cs / twice * c
    if (total >= 0.0) == (apart >= 0.0):
        c, s = -s, c
    return first, second, c, s


def _sweep(d: Any, e: Any, turns: Any, begin: Any, m: Any, step: Any) -> None:
    """One implicit sweep over the rows from m to where it begins; its rotations are kept in `turns`, by their rows."""
    k = min(begin, begin + step)
    g = (d[begin + step] - d[begin]) / (2.0 * e[k])
    g = d[m] - d[begin] + e[k] / (g + math.copysign(math.hypot(g, 1.0), g))
    s, c, p, i = 1.0, 1.0, 0.0, m
    while i != begin:
        k = min(i, i - step)
        f, b = s * e[k], c * e[k]
        c, s, r = rotation(g, f)
        if i != m:
            e[min(i, i + step)] = r
        g = d[i] - p
        r = (d[i - step] - g) * s + 2.0 * c * b
        p = s * r
        d[i] = g + p
        g = c * r - b
        turns[k, 0], turns[k, 1] = c, -step * s
        i -= step
    d[begin] -= p
    e[k] = g


def _solve_block(d: Any, e: Any, z: Any, first: Any, last: Any) -> None:
    """The eigenvalues of the rows of a tridiagonal matrix between two zeros beside its diagonal (dsteqr)."""
    turns, begin, end, step = np.zeros((len(d), 2)), first, last, 1
    if abs(d[last]) < abs(d[first]):
        begin, end, step = last, first, -1
    left = _MOST_ITERATIONS * len(d)
    while (end - begin) * step >= 0:
        m = begin
        while m != end:
            k = min(m, m + step)
            if e[k] * e[k] <= (_EPS * _EPS * abs(d[k])) * abs(d[k + 1]) + _LEAST:
                e[k] = 0.0
                break
            m += step
        low = min(begin, m)
        count = abs(m - begin)
        if count == 0:
            begin += step
        elif count == 1:
            d[low], d[low + 1], turns[low, 0], turns[low, 1] = _of_two(d[low], e[low], d[low + 1])
            e[low] = 0.0
            begin += 2 * step
        else:
            left -= 1
            if left < 0:
                raise np.linalg.LinAlgError("Eigenvalues did not converge")
            _sweep(d, e, turns, begin, m, step)
        for k in range(count):
            rotate_columns(z, low + count - 1 - k if step == 1 else low + k, turns)


def _solve(d: Any, e: Any, z: Any) -> None:
    """The eigenvalues of a tridiagonal matrix, and what its rotations make of the columns of z."""
    n, first = len(d), 0
    while first < n:
        last = first
        while last < n - 1 and abs(e[last]) > math.sqrt(abs(d[last])) * math.sqrt(abs(d[last + 1])) * _EPS:
            last += 1
        if last < n - 1:
            e[last] = 0.0
        _solve_block(d, e, z, first, last)
        first = last + 1


def _in_order(d: Any, z: Any) -> None:
    """The smallest eigenvalue first, each with its column."""
    for i in range(len(d) - 1):
        least = i
        for j in range(i + 1, len(d)):
            if d[j] < d[least]:
                least = j
        if least != i:
            d[i], d[least] = d[least], d[i]
            for r in range(z.shape[0]):
                z[r, i], z[r, least] = z[r, least], z[r, i]


def _eigh(a: Any) -> Any:
    """Eigenvalues and eigenvectors of the symmetric matrix whose lower triangle this is."""
    n = a.shape[0]
    if n != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    w, scale = np.zeros((n, n)), 0.0
    for i in range(n):
        for j in range(i + 1):
            w[i, j] = a[i, j]
            scale = max(scale, abs(w[i, j]))
            if not abs(w[i, j]) < np.inf:
                raise np.linalg.LinAlgError("Eigenvalues did not converge")
    if scale == 0.0 or 1e-146 < scale < 1e146:
        scale = 1.0
    w /= scale
    d, e = np.zeros(n), np.zeros(n)
    z = _tridiagonal(w, d, e)
    _solve(d, e, z)
    _in_order(d, z)
    kind = (a[:1, :1] * 0.5).dtype
    return EighResult((d * scale).astype(kind), z.astype(kind))


FUNCTIONS: dict[Any, Callable[..., Any]] = {np.linalg.eigh: _eigh}
"""By NumPy's function: ours."""
