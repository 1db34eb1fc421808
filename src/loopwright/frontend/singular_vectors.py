"""Singular values and vectors, written in the language.

The steps are those of LAPACK's unblocked routines (E. Anderson and others, LAPACK Users' Guide, 3rd edition: dgebd2,
dbdsqr), so that the signs of the vectors are LAPACK's for matrices with up to 25 rows or columns, but where rounding
changes the course of the sweeps. For larger ones LAPACK divides the matrix, and signs may differ.
Complex matrices are refused.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.linalg._linalg import SVDResult

from loopwright.frontend.eigenvectors import reflector, rotate_columns, rotation

_EPS = 1.1102230246251565e-16
_TOLERANCE = 10.0 * _EPS * 9.8  # eps ** -0.125 is 98.7
_LEAST = 2.2250738585072014e-308
_MOST_ITERATIONS = 6
_TALL = 11.0 / 6.0


def _reflect(w: Any, i: Any, k: Any, tau: Any, target: Any, begin: Any) -> None:
    """Apply the reflection that column k of w keeps below row i to the columns of `target` from one on."""
    for j in range(begin, target.shape[1]):
        total = target[i, j]
        for r in range(i + 1, w.shape[0]):
            total += w[r, k] * target[r, j]
        total *= tau
        target[i, j] -= total
        for r in range(i + 1, w.shape[0]):
            target[r, j] -= total * w[r, k]


def _bidiagonal(a: Any, d: Any, e: Any, u: Any, v: Any) -> None:
    """Reflect a matrix with at least as many rows as columns until only d and e are left, on its diagonal and above;
    multiply u and v, which have the unit vectors as columns, by the reflections."""
    n = a.shape[1]
    left, right = np.zeros(n), np.zeros(n)
    for i in range(n):
        left[i] = reflector(a, i, i)
        d[i] = a[i, i]
        _reflect(a, i, i, left[i], a, i + 1)
        if i < n - 1:
            right[i] = reflector(a.T, i + 1, i)
            e[i] = a[i, i + 1]
            _reflect(a.T, i + 1, i, right[i], a.T, i + 1)
    for i in range(n - 1, -1, -1):
        _reflect(a, i, i, left[i], u, 0)
        if i < n - 1:
            _reflect(a.T, i + 1, i, right[i], v, 0)


def _smallest_of_two(f: Any, g: Any, h: Any) -> Any:
    """The smaller singular value of [[f, g], [0, h]] (dlas2)."""
    least, most, beside = min(abs(f), abs(h)), max(abs(f), abs(h)), abs(g)
    found = 0.0
    if least != 0.0:
        added, apart = 1.0 + least / most, (most - least) / most
        if beside < most:
            ratio = (beside / most) * (beside / most)
            found = least * (2.0 / (math.sqrt(added * added + ratio) + math.sqrt(apart * apart + ratio)))
        else:
            ratio = most / beside
            first, second = added * ratio, apart * ratio
            found = 2.0 * least * ratio / (math.sqrt(1.0 + first * first) + math.sqrt(1.0 + second * second))
    return found


def _vectors_of_two(f: Any, g: Any, h: Any) -> Any:
    """For |f| >= |h| and g that is not 0: the singular values of [[f, g], [0, h]] without signs, the larger first, and
    cosines and sines of their left and right vectors (the middle of dlasv2)."""
    if abs(g) > abs(f) and abs(f) / abs(g) < _EPS:
        least = abs(f) / (abs(g) / abs(h)) if abs(h) > 1.0 else abs(f) / abs(g) * abs(h)
        return abs(g), least, 1.0, h / g, f / g, 1.0
    apart = abs(f) - abs(h)
    ratio = 1.0 if apart == abs(f) else apart / abs(f)
    m, t = g / f, 2.0 - ratio
    s = math.sqrt(t * t + m * m)
    r = abs(m) if ratio == 0.0 else math.sqrt(ratio * ratio + m * m)
    a = 0.5 * (s + r)
    if m * m != 0.0:
        t = (m / (s + t) + m / (r + ratio)) * (1.0 + a)
    elif ratio == 0.0:
        t = math.copysign(2.0, f) * math.copysign(1.0, g)
    else:
        t = g / math.copysign(apart, f) + m / t
    length = math.sqrt(t * t + 4.0)
    cr, sr = 2.0 / length, t / length
    return abs(f) * a, abs(h) / a, (cr + sr * m) / a, h / f * sr / a, cr, sr


def _of_two(f: Any, g: Any, h: Any) -> Any:
    """The singular values of [[f, g], [0, h]] with signs, the larger first, and cosines and sines of the left and right
    vectors (dlasv2)."""
    swapped = abs(h) > abs(f)
    ft, ht = (h, f) if swapped else (f, h)
    if g == 0.0:
        most, least, cl, sl, cr, sr = abs(ft), abs(ht), 1.0, 0.0, 1.0, 0.0
    else:
        most, least, cl, sl, cr, sr = _vectors_of_two(ft, g, ht)
    if swapped:
        cl, sl, cr, sr = sr, cr, sl, cl
    if g != 0.0 and abs(g) > abs(ft):
        sign = math.copysign(1.0, sr) * math.copysign(1.0, cl) * math.copysign(1.0, g)
    elif swapped:
        sign = math.copysign(1.0, sr) * math.copysign(1.0, sl) * math.copysign(1.0, h)
    else:
        sign = math.copysign(1.0, cr) * math.copysign(1.0, cl) * math.copysign(1.0, f)
    other = sign * math.copysign(1.0, f) * math.copysign(1.0, h)
    return math.copysign(most, sign), math.copysign(least, other), cl, sl, cr, sr


def _chase(d: Any, e: Any, turns: Any, begin: Any, end: Any, step: Any, shift: Any) -> None:
    """One implicit QR sweep with a shift, down or up; the rotations of left and right vectors are kept in `turns`."""
    f = (abs(d[begin]) - shift) * (math.copysign(1.0, d[begin]) + shift / d[begin])
    i, k = begin, min(begin, begin + step)
    g = e[k]
    while i != end:
        cr, sr, r = rotation(f, g)
        if i != begin:
            e[k - step] = r
        f, e[k] = cr * d[i] + sr * e[k], cr * e[k] - sr * d[i]
        g = sr * d[i + step]
        d[i + step] = cr * d[i + step]
        cl, sl, d[i] = rotation(f, g)
        f, d[i + step] = cl * e[k] + sl * d[i + step], cl * d[i + step] - sl * e[k]
        if i + step != end:
            g = sl * e[k + step]
            e[k + step] = cl * e[k + step]
        _keep(turns, k, step, cl, sl, cr, sr)
        i, k = i + step, k + step
    e[k - step] = f


def _keep(turns: Any, k: Any, step: Any, cl: Any, sl: Any, cr: Any, sr: Any) -> None:
    """Left and right vectors change places where a sweep goes up."""
    side = (1 - step) // 2
    turns[side, k, 0], turns[side, k, 1] = cl, step * sl
    turns[1 - side, k, 0], turns[1 - side, k, 1] = cr, step * sr


def _chase_without_shift(d: Any, e: Any, turns: Any, begin: Any, end: Any, step: Any) -> None:
    """A sweep of the zero-shift QR algorithm (J. Demmel and W. Kahan, Accurate singular values of bidiagonal matrices,
    1990), down or up."""
    c, old_c, old_s = 1.0, 1.0, 0.0
    i, k = begin, min(begin, begin + step)
    while i != end:
        c, s, r = rotation(d[i] * c, e[k])
        if i != begin:
            e[k - step] = old_s * r
        old_c, old_s, d[i] = rotation(old_c * r, d[i + step] * s)
        _keep(turns, k, step, old_c, old_s, c, s)
        i, k = i + step, k + step
    h = d[end] * c
    d[end] = h * old_c
    e[k - step] = h * old_s


def _converged(d: Any, e: Any, begin: Any, end: Any, step: Any) -> Any:
    """Whether an element above the diagonal may count as zero, which it is then; and a bound of the values below."""
    k = min(end, end - step)
    is_done = abs(e[k]) <= _TOLERANCE * abs(d[end])
    mu = abs(d[begin])
    least, i = mu, begin
    while i != end and not is_done:
        k = min(i, i + step)
        is_done = abs(e[k]) <= _TOLERANCE * mu
        mu = abs(d[i + step]) * (mu / (mu + abs(e[k])))
        least = min(least, mu)
        i += step
    if is_done:
        e[k] = 0.0
    return is_done, least


def _shift(d: Any, e: Any, begin: Any, end: Any, step: Any, least: Any) -> Any:
    """Where a sweep begins: 0.0 for one without a shift."""
    most = abs(d[end])
    i = begin
    while i != end:
        most = max(most, abs(d[i]), abs(e[min(i, i + step)]))
        i += step
    shift = 0.0
    if len(d) * _TOLERANCE * (least / most) > max(_EPS, 0.01 * _TOLERANCE):
        k = min(end, end - step)
        shift = _smallest_of_two(d[k], e[k], d[k + 1])
        beside = abs(d[begin])
        if beside > 0.0 and (shift / beside) * (shift / beside) < _EPS:
            shift = 0.0
    return shift


def _threshold(d: Any, e: Any) -> Any:
    """What is above the diagonal and below this counts as zero."""
    mu = abs(d[0])
    least = mu
    for i in range(1, len(d)):
        if least != 0.0:
            mu = abs(d[i]) * (mu / (mu + abs(e[i - 1])))
            least = min(least, mu)
    return max(_TOLERANCE * (least / math.sqrt(1.0 * len(d))), _MOST_ITERATIONS * len(d) * len(d) * _LEAST)


def _solve(d: Any, e: Any, z: Any) -> None:
    """The singular values of an upper bidiagonal matrix, and what its rotations make of the columns of left and right
    vectors, z[0] and z[1] (dbdsqr)."""
    n = len(d)
    turns, threshold, left = np.zeros((2, n, 2)), _threshold(d, e), _MOST_ITERATIONS * n * n
    old_first, old_last, last, step = -1, -1, n - 1, 1
    while last > 0:
        first, count = last, 0
        while first > 0 and abs(e[first - 1]) > threshold:
            first -= 1
        if first > 0:
            e[first - 1] = 0.0
        if first == last:
            last -= 1
        elif first == last - 1:
            d[first], d[last], cl, sl, cr, sr = _of_two(d[first], e[first], d[last])
            _keep(turns, first, 1, cl, sl, cr, sr)
            e[first] = 0.0
            count, last, step = 1, last - 2, 1
        else:
            if first > old_last or last < old_first:
                step = 1 if abs(d[first]) >= abs(d[last]) else -1
            begin, end = (first, last) if step == 1 else (last, first)
            is_done, least = _converged(d, e, begin, end, step)
            if not is_done:
                left -= last - first
                if left < 0:
                    raise np.linalg.LinAlgError("SVD did not converge")
                old_first, old_last, count = first, last, last - first
                shift = _shift(d, e, begin, end, step, least)
                if shift == 0.0:
                    _chase_without_shift(d, e, turns, begin, end, step)
                else:
                    _chase(d, e, turns, begin, end, step, shift)
                if abs(e[min(end, end - step)]) <= threshold:
                    e[min(end, end - step)] = 0.0
        for side in range(2):
            for k in range(count):
                rotate_columns(z[side], first + k if step == 1 else first + count - 1 - k, turns[side])


def _in_order(d: Any, z: Any) -> None:
    """No singular value below 0, and the largest first, each with its columns."""
    n = len(d)
    for i in range(n):
        if math.copysign(1.0, d[i]) < 0.0:
            d[i] = -d[i]
            side = 0 if n == 1 else 1
            for r in range(z.shape[1]):
                z[side, r, i] = -z[side, r, i]
    for i in range(n - 1):
        least, end = 0, n - 1 - i
        for j in range(1, end + 1):
            if d[j] <= d[least]:
                least = j
        if least != end:
            d[end], d[least] = d[least], d[end]
            for side in range(2):
                for r in range(z.shape[1]):
                    z[side, r, end], z[side, r, least] = z[side, r, least], z[side, r, end]


def _upper(d: Any, e: Any, z: Any) -> None:
    """Of a lower bidiagonal matrix an upper one, by rotations of its rows, which the left vectors take part in."""
    turns = np.zeros((len(d), 2))
    for i in range(len(d) - 1):
        turns[i, 0], turns[i, 1], d[i] = rotation(d[i], e[i])
        e[i] = turns[i, 1] * d[i + 1]
        d[i + 1] = turns[i, 0] * d[i + 1]
        rotate_columns(z[0], i, turns)


def _triangular(w: Any, tau: Any, is_wide: Any) -> Any:
    """Reflect a matrix until its upper triangle is left, which is returned; its transpose where it is wide."""
    n = w.shape[1]
    square = np.zeros((n, n))
    for i in range(n):
        tau[i] = reflector(w, i, i)
        _reflect(w, i, i, tau[i], w, i + 1)
        for j in range(i, n):
            if is_wide:
                square[j, i] = w[i, j]
            else:
                square[i, j] = w[i, j]
    return square


def _decomposed(w: Any, d: Any, is_wide: Any) -> Any:
    """The singular values of a matrix with at least as many rows as columns, and its left and right vectors; of its
    transpose where it is wide. LAPACK's dgesdd begins with a QR decomposition where it has many more rows."""
    m, n = w.shape
    is_tall = m >= int(n * _TALL)
    e, tau, z = np.zeros(n), np.zeros(n), np.zeros((2, m, m))
    square = np.zeros((n if is_tall else m, n))
    if is_tall:
        square[:] = _triangular(w, tau, is_wide)
    else:
        square[:] = w
    own = 0 if is_tall or not is_wide else 1
    for side in range(2):
        for i in range(m):
            z[side, i, i] = 1.0
    _bidiagonal(square, d, e, z[own, : square.shape[0]], z[1 - own, :n, :n])
    if own == 1:
        _upper(d, e, z)
    _solve(d, e, z)
    _in_order(d, z)
    if is_tall:
        for i in range(n - 1, -1, -1):
            _reflect(w, i, i, tau[i], z[1 if is_wide else 0], 0)
    return z


def svd(a: Any, full_matrices: Any = True) -> Any:
    """The left singular vectors, the singular values, the largest first, and the right vectors as rows."""
    m, n = a.shape
    is_wide = m < n
    w = np.zeros((max(m, n), min(m, n)))
    scale = 0.0
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            w[i, j] = a[j, i] if is_wide else a[i, j]
            scale = max(scale, abs(w[i, j]))
            if not abs(w[i, j]) < np.inf:
                raise np.linalg.LinAlgError("SVD did not converge")
    if scale == 0.0 or 1e-146 < scale < 1e146:
        scale = 1.0
    w /= scale
    d = np.zeros(min(m, n))
    z = _decomposed(w, d, is_wide)
    kind = (a[:1, :1] * 0.5).dtype
    rows = m if full_matrices else min(m, n)
    columns = n if full_matrices else min(m, n)
    return SVDResult(z[0, :m, :rows].astype(kind), (d * scale).astype(kind), z[1, :n, :columns].T.astype(kind))
