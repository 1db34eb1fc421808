"""NumPy's functions that are loops of their own, written in the language: a call is read as that of any helper.

They are Python, and run as such: the tests compare them with NumPy. Where NumPy leaves an order open (`argsort` of
equal elements), the first stays first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from loopwright.frontend.along_axis import as_rows, of_rows
from loopwright.frontend.sorting import _argsort, _argsort_rows, _numbers_first, _put_in_place, _sort, _sort_method


def _searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    """NaN stands behind all numbers: a comparison with one in `a` says that the place of a number is before it."""
    low, high = 0, len(a)
    if v == v:
        while low < high:
            middle = (low + high) // 2
            if a[middle] < v if side == "left" else a[middle] <= v:
                low = middle + 1
            else:
                high = middle
    elif side == "left":
        while low < high:
            middle = (low + high) // 2
            if a[middle] == a[middle]:
                low = middle + 1
            else:
                high = middle
    else:
        low = high
    return np.int64(low)


def _searchsorted_all(a: Any, v: Any, side: Any = "left") -> Any:
    result = np.empty(v.shape, np.int64)
    for place, x in np.ndenumerate(v):
        result[place] = _searchsorted(a, x, side)
    return result


def _median(a: Any, axis: Any = None) -> Any:
    if axis is None or a.ndim == 1:
        center = _middle(a.flatten())
    elif a.ndim == 2:
        center = _medians(a.T if axis == 0 else a)
    else:
        center = of_rows(_medians(as_rows(a, axis)), a, axis)
    return center


def _medians(rows: Any) -> Any:
    centers = np.empty(rows.shape[0], (rows[:0, 0].sum() / 2).dtype)
    for i in range(rows.shape[0]):
        centers[i] = _middle(rows[i].flatten())
    return centers


def _middle(flat: Any) -> Any:
    n = flat.size
    if n == 0:
        return flat.sum() * np.nan
    middle = n // 2
    if _numbers_first(flat) == n:
        _put_in_place(flat, middle)
    center = flat[n - 1] * 1.0
    if center == center:
        lower = flat[middle] if n % 2 == 1 else flat[:middle].max()
        center = (lower * 1.0 + flat[middle] * 1.0) / 2
    return center


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    return _interpolated(np.float64(x), xp, fp, left, right)


def _interpolated(x: Any, xp: Any, fp: Any, below: Any, above: Any) -> Any:
    n = len(xp)
    if x != x:
        return x
    if x < xp[0]:
        return np.float64(fp[0] if below is None else below)
    if x > xp[n - 1]:
        return np.float64(fp[n - 1] if above is None else above)
    if x == xp[n - 1]:
        return np.float64(fp[n - 1])
    k = _searchsorted(xp, x, "right") - 1
    left, right, low, high = np.float64(xp[k]), np.float64(xp[k + 1]), np.float64(fp[k]), np.float64(fp[k + 1])
    if x == left:
        return low
    slope = (high - low) / (right - left)
    value = slope * (x - left) + low
    if value != value:  # an infinite value, or an infinite slope
        value = slope * (x - right) + high
        if value != value and low == high:
            value = low
    return value


def _interp_all(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    result = np.empty(len(x), np.float64)
    for i in range(len(x)):
        result[i] = _interpolated(np.float64(x[i]), xp, fp, left, right)
    return result


def _bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    if len(x) > 0 and x.min() < 0:
        raise ValueError("'list' argument must have no negative elements")
    if weights is not None and len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    size = max(int(x.max()) + 1 if len(x) > 0 else 0, minlength)
    result = np.zeros(size, np.int64 if weights is None else np.float64)
    for i in range(len(x)):
        if weights is None:
            result[x[i]] += 1
        else:
            result[x[i]] += weights[i]
    return result


def _histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    flat = a.ravel()
    if range is not None:
        low, high = float(range[0]), float(range[1])
    elif flat.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = float(flat.min()), float(flat.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of np.histogram() is not finite")
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1).astype((flat[:1] * 1.0).dtype)
    counts = np.zeros(bins, np.int64 if weights is None else weights.dtype)
    given = None if weights is None else weights.ravel()
    for number, x in enumerate(flat):
        if low <= x <= high:
            k = min(int((x - low) / (high - low) * bins), bins - 1)
            if x < edges[k]:
                k -= 1
            elif k < bins - 1 and x >= edges[k + 1]:
                k += 1
            counts[k] += 1 if given is None else given[number]
    return counts, edges


def _histogram_of_edges(a: Any, bins: Any) -> Any:
    edges = np.asarray(bins)
    last = len(edges) - 1
    for k in range(last):
        if edges[k] > edges[k + 1]:
            raise ValueError("`bins` must increase monotonically, when an array")
    counts = np.zeros(last, np.int64)
    for x in a.ravel():
        if edges[0] <= x <= edges[last]:
            counts[min(_searchsorted(edges, x, "right"), last) - 1] += 1
    return counts, edges


def _argwhere(a: Any) -> Any:
    found = np.nonzero(a)
    result = np.empty((len(found[0]), a.ndim), np.int64)
    for k in range(len(found[0])):
        for axis, place in enumerate(found):
            result[k, axis] = place[k]
    return result


def _nanvar(a: Any) -> Any:
    flat = a.ravel()
    return flat[~np.isnan(flat)].var()


def _nanstd(a: Any) -> Any:
    flat = a.ravel()
    return flat[~np.isnan(flat)].std()


def repeat(a: Any, repeats: Any) -> Any:
    """`np.repeat(a, repeats)` of an array with one axis."""
    result = np.empty(len(a) * repeats, a.dtype)
    for i in range(len(a)):
        for k in range(repeats):
            result[i * repeats + k] = a[i]
    return result


def repeat_in_a_row(a: Any, repeats: Any) -> Any:
    """The same of an array with several axes, whose elements are taken in C order."""
    result = np.empty(a.size * repeats, a.dtype)
    for i, x in enumerate(a.flat):
        for k in range(repeats):
            result[i * repeats + k] = x
    return result


def _shape(a: Any) -> Any:
    return a.shape


def _size(a: Any) -> Any:
    return a.size


def _rank(a: Any) -> Any:
    return a.ndim


def _trace(a: Any) -> Any:
    total = a[:0, :0].sum()
    for i in range(min(a.shape[0], a.shape[1])):
        total += a[i, i]
    return total


def _isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    wanted = b * 1.0
    is_near = np.logical_and(np.less_equal(abs(a - wanted), atol + rtol * abs(wanted)), np.isfinite(wanted))
    return np.logical_or(is_near, np.equal(a, b))


def _allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return bool(np.all(_isclose(a, b, rtol, atol)))


def _array_equal(a: Any, b: Any) -> Any:
    if a.shape != b.shape:
        return False
    return bool(np.all(a == b))


def _convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    n, m = len(a), len(v)
    first = 0 if mode == "full" else (min(n, m) - 1) // 2 if mode == "same" else min(n, m) - 1
    size = n + m - 1 if mode == "full" else max(n, m) if mode == "same" else max(n, m) - min(n, m) + 1
    result = np.zeros(size, (a[0] * v[0]).dtype)
    for i in range(size):
        for k in range(max(0, first + i - m + 1), min(n, first + i + 1)):
            result[i] += a[k] * v[first + i - k]
    return result


def _triu(m: Any, k: Any = 0) -> Any:
    result = np.zeros_like(m)
    for i in range(m.shape[-2]):
        for j in range(max(i + k, 0), m.shape[-1]):
            result[..., i, j] = m[..., i, j]
    return result


def _tril(m: Any, k: Any = 0) -> Any:
    result = np.zeros_like(m)
    for i in range(m.shape[-2]):
        for j in range(min(i + k + 1, m.shape[-1])):
            result[..., i, j] = m[..., i, j]
    return result


def _fill_diagonal(a: Any, val: Any) -> None:
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = val


def _eliminated(a: Any, b: Any) -> Any:
    """Gaussian elimination with pivots: `a` becomes upper triangular, `b` goes with it; the sign of the order, or 0."""
    n = a.shape[0]
    sign = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if a[pivot, k] == 0.0:
            return 0.0
        if pivot != k:
            sign = -sign
            for j in range(n):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
            for j in range(b.shape[1]):
                b[k, j], b[pivot, j] = b[pivot, j], b[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= factor * a[k, j]
            for j in range(b.shape[1]):
                b[i, j] -= factor * b[k, j]
    return sign


def _substituted(a: Any, b: Any) -> None:
    n = a.shape[0]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for j in range(b.shape[1]):
                b[i, j] -= a[i, k] * b[k, j]
        for j in range(b.shape[1]):
            b[i, j] /= a[i, i]


def _refuse_oblong(a: Any) -> None:
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def _refuse_other_size(a: Any, b: Any) -> None:
    _refuse_oblong(a)
    if a.shape[0] != b.shape[0]:
        raise ValueError("solve: Input operand 1 has a mismatch in its core dimension 0")


def _solve(a: Any, b: Any) -> Any:
    _refuse_other_size(a, b)
    kind = (a[:1, :1] * b[:1, :1] * 0.5).dtype
    lower, result = a.astype(kind), b.astype(kind)
    if _eliminated(lower, result) == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substituted(lower, result)
    return result


def _solve_vector(a: Any, b: Any) -> Any:
    _refuse_other_size(a, b)
    kind = (a[:1, :1] * b[:1] * 0.5).dtype
    lower, right = a.astype(kind), np.empty((len(b), 1), kind)
    right[:, 0] = b
    if _eliminated(lower, right) == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substituted(lower, right)
    return right[:, 0].copy()


def _inverse(a: Any) -> Any:
    _refuse_oblong(a)
    kind = (a[:1, :1] * 0.5).dtype
    lower, result = a.astype(kind), np.eye(a.shape[0], dtype=kind)
    if _eliminated(lower, result) == 0.0:
        raise np.linalg.LinAlgError("Singular matrix")
    _substituted(lower, result)
    return result


def _determinant(a: Any) -> Any:
    _refuse_oblong(a)
    kind = (a[:1, :1] * 0.5).dtype
    lower, nothing = a.astype(kind), np.zeros((a.shape[0], 1), kind)
    result = _eliminated(lower, nothing)
    if result != 0.0:
        for k in range(a.shape[0]):
            result *= lower[k, k]
    return result


def _cholesky(a: Any) -> Any:
    _refuse_oblong(a)
    n = a.shape[0]
    lower = np.zeros((n, n), (a[:1, :1] * 0.5).dtype)
    for i in range(n):
        for j in range(i + 1):
            lower[i, j] = a[i, j]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                lower[i, j] -= lower[i, k] * lower[j, k]
            lower[i, j] /= lower[j, j]
        for k in range(i):
            lower[i, i] -= lower[i, k] * lower[i, k]
        lower[i, i] = np.sqrt(lower[i, i])
    for i in range(n):
        if not lower[i, i] > 0.0:  # then all pivots that follow are NaN
            pivot = a[i, i] * 1.0
            for k in range(i):
                pivot -= lower[i, k] * lower[i, k]
            if pivot <= 0.0:
                raise np.linalg.LinAlgError("Matrix is not positive definite")
            break
    return lower


By = Callable[..., Any]
FUNCTIONS: dict[Any, By | tuple[int, By, By]] = {
        np.searchsorted: (1, _searchsorted, _searchsorted_all),
    np.sort: _sort, np.median: _median,
    np.interp: (0, _interp, _interp_all), np.bincount: _bincount,
    np.argwhere: _argwhere, np.histogram: (1, _histogram, _histogram_of_edges),
    np.triu: _triu, np.tril: _tril, np.fill_diagonal: _fill_diagonal,
    np.shape: _shape, np.size: _size, np.ndim: _rank,
    np.nanvar: _nanvar, np.nanstd: _nanstd,
    np.trace: _trace,
    np.isclose: _isclose, np.allclose: _allclose, np.array_equal: _array_equal,
    np.convolve: _convolve, np.linalg.inv: _inverse, np.linalg.det: _determinant,
    np.linalg.cholesky: _cholesky,
}  # fmt: skip
"""By NumPy's function: ours, or one for a number and one for an array as the argument at a place."""

BY_RANK: dict[Any, tuple[int, By, By]] = {
    np.linalg.solve: (1, _solve_vector, _solve),
    np.argsort: (0, _argsort, _argsort_rows),
}  # fmt: skip
"""By NumPy's function: ours for an array of one axis and for one of two as the argument at a place."""

METHODS: dict[str, By] = {
    "sort": _sort_method, "argsort": _argsort, "trace": _trace,
    "searchsorted": _searchsorted,
}  # fmt: skip
