"""NumPy's functions that compute with whole arrays, written in the language as those in library.py and arrangement.py
are: polynomials, windows, differences, statistics, and elementwise functions that C has no name for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from loopwright.frontend.along_axis import as_rows, of_rows
from loopwright.frontend.running import _cumprod, _cumsum, _nancumprod, _nancumsum, _unwrap
from loopwright.frontend.sorting import _numbers_first, _put_in_place, from_0_to_1

# ---- differences and areas -------------------------------------------------------------------------------------------


def _diff(a: Any, n: Any = 1, axis: Any = -1) -> Any:
    if n == 0:
        steps = a[:]
    elif n > 2:
        raise NotImplementedError("np.diff has an n of 0, 1 or 2 here")
    elif axis == 0 or a.ndim == 1:
        steps = a[1:] - a[:-1] if n == 1 else (a[2:] - a[1:-1]) - (a[1:-1] - a[:-2])
    elif axis == -1 or axis == a.ndim - 1:
        steps = a[..., 1:] - a[..., :-1] if n == 1 else _second(a)
    else:
        b = np.moveaxis(a, axis, -1)
        steps = np.moveaxis(b[..., 1:] - b[..., :-1] if n == 1 else _second(b), -1, axis)
    return steps


def _second(a: Any) -> Any:
    return (a[..., 2:] - a[..., 1:-1]) - (a[..., 1:-1] - a[..., :-2])


def _ediff1d(ary: Any) -> Any:
    return ary.ravel()[1:] - ary.ravel()[:-1]


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    if x is None:
        if y.ndim == 1:
            area = (dx * (y[1:] + y[:-1]) / 2.0).sum()
        else:
            b = np.moveaxis(y, axis, -1)
            area = (dx * (b[..., 1:] + b[..., :-1]) / 2.0).sum(axis=-1)
    elif y.ndim == 1:
        area = ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2.0).sum()
    elif x.ndim == 1:
        b = np.moveaxis(y, axis, -1)
        area = ((x[1:] - x[:-1]) * (b[..., 1:] + b[..., :-1]) / 2.0).sum(axis=-1)
    else:
        b = np.moveaxis(y, axis, -1)
        c = np.moveaxis(x, axis, -1)
        area = ((c[..., 1:] - c[..., :-1]) * (b[..., 1:] + b[..., :-1]) / 2.0).sum(axis=-1)
    return area


# ---- polynomials and products ------------------------------------------------------------------------------------


def _polyval(p: Any, x: Any) -> Any:
    at, factors = np.multiply(x, 1), np.asarray(p)
    total = at * 0 + factors[0]
    for c in factors[1:]:
        total = total * at + c
    return total


def _polyval_all(p: Any, x: Any) -> Any:
    factors = np.asarray(p)
    totals = x * 0 + factors[0]
    for c in factors[1:]:
        totals[:] = totals * x + c
    return totals


def _polyadd(a1: Any, a2: Any) -> Any:
    n, m = len(a1), len(a2)
    total = np.zeros(max(n, m), (a1[:1] + a2[:1]).dtype)
    total[max(n, m) - n :] += a1
    total[max(n, m) - m :] += a2
    return total


def _polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(_without_zeros(a1), _without_zeros(a2))


def _without_zeros(a: Any) -> Any:
    first = 0
    while first < len(a) - 1 and a[first] == 0:
        first += 1
    return a[first:]


def _vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    if N is None:
        n = len(x)
    else:
        n = N
    wide = x + np.int64(0)
    powers = np.empty((len(x), n), wide.dtype)
    for i in range(len(x)):
        for j in range(n):
            k, last = (j, j - 1) if increasing else (n - 1 - j, n - j)
            powers[i, k] = powers[i, last] * wide[i] if j > 0 else 1
    return powers


def _correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    other = v.conj() if np.iscomplexobj(v) else v
    if len(v) > len(a):
        turned = np.convolve(other, a[::-1], mode)[::-1]
    else:
        turned = np.convolve(a, other[::-1], mode)
    return turned


def _kron(a: Any, b: Any) -> Any:
    if a.ndim == 1:
        n = len(b)
        product = np.empty(len(a) * n, (a[:1] * b[:1]).dtype)
        for i in range(len(a)):
            for j in range(n):
                product[i * n + j] = a[i] * b[j]
    else:
        n, m = b.shape
        product = np.empty((a.shape[0] * n, a.shape[1] * m), (a[:1, :1] * b[:1, :1]).dtype)
        for i in range(a.shape[0] * n):
            for j in range(a.shape[1] * m):
                product[i, j] = a[i // n, j // m] * b[i % n, j % m]
    return product


def _cross(a: Any, b: Any) -> Any:
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("np.cross() takes vectors of 3 elements here")
    if a.ndim == 1 and b.ndim == 1:
        product = np.empty(3, (a[0] * b[0]).dtype)
        product[0] = a[1] * b[2] - a[2] * b[1]
        product[1] = a[2] * b[0] - a[0] * b[2]
        product[2] = a[0] * b[1] - a[1] * b[0]
    else:
        first = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
        product = np.empty((*first.shape, 3), first.dtype)
        product[..., 0] = first
        product[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
        product[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


# ---- windows and ranges ------------------------------------------------------------------------------------------


def _window(M: Any, first: Any, second: Any, third: Any) -> Any:
    made = np.empty(M)
    for k in range(M):
        turn = np.pi * (1.0 - M + 2.0 * k) / max(M - 1, 1)
        made[k] = first + second * np.cos(turn) + third * np.cos(2.0 * turn)
    if M == 1:
        made[0] = 1.0
    return made


def _hanning(M: Any) -> Any:
    return _window(M, 0.5, 0.5, 0.0)


def _hamming(M: Any) -> Any:
    return _window(M, 0.54, 0.46, 0.0)


def _blackman(M: Any) -> Any:
    return _window(M, 0.42, 0.5, 0.08)


def _bartlett(M: Any) -> Any:
    made = np.empty(M)
    for k in range(M):
        n = 1.0 - M + 2.0 * k
        made[k] = 1.0 + n / max(M - 1, 1) if n <= 0 else 1.0 - n / (M - 1)
    return made


def _logspace(start: Any, stop: Any, num: Any = 50) -> Any:
    return 10.0 ** np.linspace(start, stop, num)


def _geomspace(start: Any, stop: Any, num: Any = 50) -> Any:
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    sign = -1.0 if start < 0 else 1.0
    made = 10.0 ** np.linspace(np.log10(sign * start), np.log10(sign * stop), num)
    if num > 0:
        made[0] = sign * start
    if num > 1:
        made[-1] = sign * stop
    return sign * made


# ---- statistics ----------------------------------------------------------------------------------------------------


def _percentile(a: Any, q: Any, axis: Any = None) -> Any:
    if np.ndim(q) == 0:
        part = q / 100
    else:
        part = np.array(q) / 100
    return _quantile(a, part, axis)


def _quantile(a: Any, q: Any, axis: Any = None) -> Any:
    if axis is None or a.ndim == 1:
        flat = a.flatten()
        if np.ndim(q) == 0:
            found = _of_unordered(flat, from_0_to_1(q))
        else:
            flat.sort()
            found = np.empty(len(q), (flat[:1] * np.float64(0.5)).dtype)
            for k in range(len(q)):
                found[k] = _of_ordered(flat, from_0_to_1(np.float64(q[k])))
    elif a.ndim == 2:
        found = _quantiles(a.T if axis == 0 else a, from_0_to_1(q))
    else:
        found = of_rows(_quantiles(as_rows(a, axis), from_0_to_1(q)), a, axis)
    return found


def _quantiles(rows: Any, q: Any) -> Any:
    found = np.empty(rows.shape[0], (rows[:0, 0] * 0.5).dtype)
    for i in range(rows.shape[0]):
        found[i] = _of_unordered(rows[i].copy(), q)
    return found


def _of_unordered(a: Any, q: Any) -> Any:
    n = a.size
    place = q * (n - 1)
    low = int(np.floor(place))
    if _numbers_first(a) == n:
        _put_in_place(a, low)
    upper = a[low]
    if low < n - 1:
        upper = a[low + 1 :].min()
    return _between(a[low], upper, place - low, a[n - 1])


def _of_ordered(ordered: Any, q: Any) -> Any:
    n = ordered.size
    place = q * (n - 1)
    low = int(np.floor(place))
    return _between(ordered[low], ordered[min(low + 1, n - 1)], place - low, ordered[n - 1])


def _between(lower: Any, upper: Any, part: Any, last: Any) -> Any:
    gap = upper - lower
    inner = lower + gap * part if part < 0.5 else upper - gap * (1 - part)
    return inner if last == last else inner + last


def _nanquantile(a: Any, q: Any) -> Any:
    return _quantile(_numbers_or_all(a.ravel()), q)


def _numbers_or_all(flat: Any) -> Any:
    """What is no NaN; where there is nothing else, the NaN."""
    is_number = ~np.isnan(flat)
    return flat[is_number | (not is_number.any())]


def _nanpercentile(a: Any, q: Any) -> Any:
    return _percentile(_numbers_or_all(a.ravel()), q)


def _nanmedian(a: Any, axis: Any = None) -> Any:
    if axis is None or a.ndim == 1:
        flat = a.ravel()
        center = np.median(flat[~np.isnan(flat)])
    elif a.ndim == 2:
        center = _nanmedians(a.T if axis == 0 else a)
    else:
        center = of_rows(_nanmedians(as_rows(a, axis)), a, axis)
    return center


def _nanmedians(rows: Any) -> Any:
    centers = np.empty(rows.shape[0], (rows[:0, 0] / 2).dtype)
    for i in range(rows.shape[0]):
        row = rows[i]
        centers[i] = np.median(row[~np.isnan(row)])
    return centers


def _nanargmax(a: Any) -> Any:
    if np.all(np.isnan(a)):
        raise ValueError("All-NaN slice encountered")
    return np.argmax(np.where(np.isnan(a), -np.inf, a))


def _nanargmin(a: Any) -> Any:
    if np.all(np.isnan(a)):
        raise ValueError("All-NaN slice encountered")
    return np.argmin(np.where(np.isnan(a), np.inf, a))


def _nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0) -> Any:
    whole = np.multiply(x, True)
    if np.multiply(x, 1.0).dtype != whole.dtype:
        number = np.multiply(x, True)  # integers are no NaN
    elif np.ndim(x) == 0:
        number = _number_of(x, nan)
    else:
        number = np.empty_like(x)
        for place, value in np.ndenumerate(x):
            number[place] = _number_of(value, nan)
    if copy or np.ndim(x) == 0:
        return number
    x[...] = number
    return x


def _number_of(x: Any, nan: Any) -> Any:
    largest = np.finfo(np.multiply(x, 1.0).dtype).max
    if x != x:
        return np.float64(nan)
    if x == np.inf:
        return np.float64(largest)
    if x == -np.inf:
        return np.float64(-largest)
    return np.float64(x)


def _cov(m: Any, y: Any = None, rowvar: Any = True, ddof: Any = 1) -> Any:
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if y is None:
        if m.ndim == 1:
            centred = m * np.float64(1.0) - (m * np.float64(1.0)).mean()
            other = centred.conj() if np.iscomplexobj(m) else centred
            found = np.sum(centred * other) / max(len(m) - ddof, 0)
        elif rowvar:
            found = _covariances(m, ddof)
        else:
            found = _covariances(m.T, ddof)
    else:
        both = np.empty((2, len(m)))
        both[0] = m
        both[1] = y
        found = _covariances(both, ddof)
    return found


def _covariances(m: Any, ddof: Any) -> Any:
    wide = m * np.float64(1.0)
    centred = wide - wide.mean(axis=1)[:, None]
    count = max(m.shape[1] - ddof, 0)
    if np.iscomplexobj(m):
        found = centred @ centred.conj().T / count
    else:  # as BLAS does: half of it, which is the other half as well
        n, depth = centred.shape
        found = np.zeros((n, n))
        for i in range(n):
            for k in range(depth):
                for j in range(i + 1):
                    found[i, j] += centred[i, k] * centred[j, k]
        for i in range(n):
            for j in range(i):
                found[j, i] = found[i, j]
        found /= count
    return found


def _corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    c = _cov(x, y, rowvar)
    n = c.shape[0]
    d = np.empty(n)
    for i in range(n):
        d[i] = np.sqrt(c[i, i])
    for i in range(n):
        for j in range(n):
            c[i, j] = min(max(c[i, j] / d[i] / d[j], -1.0), 1.0)
    return c


def _digitize(x: Any, bins: Any, right: Any = False) -> Any:
    n = len(bins)
    side = "left" if right else "right"
    falls = n > 1 and bins[0] > bins[n - 1]
    for k in range(n - 1):
        if bins[k] < bins[k + 1] if falls else bins[k] > bins[k + 1]:
            raise ValueError("bins must be monotonically increasing or decreasing")
    if falls:
        turned = n - np.searchsorted(bins[::-1], x, side)  # type: ignore[call-overload]
    else:
        turned = np.searchsorted(bins, x, side)  # type: ignore[call-overload]
    return turned


def _lexsort(keys: Any) -> Any:
    order = np.arange(len(keys[0]))
    for key in keys:
        order = order[np.argsort(key[order])]
    return order


# ---- linear algebra ------------------------------------------------------------------------------------------------


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """`np.linalg.norm(x, ord, axis)`."""
    if x.ndim == 1 or axis is not None:
        lengths = abs(x * 1.0)
        if axis is None:
            along = 0
        else:
            along = axis
        if ord == np.inf:
            found = lengths.max(axis=along)
        elif ord == -np.inf:
            found = lengths.min(axis=along)
        elif ord == 0:
            found = (lengths != 0).sum(axis=along) * 1.0
        elif ord == 1:
            found = lengths.sum(axis=along) * 1.0
        elif ord is None or ord == 2:
            found = np.sqrt((lengths**2).sum(axis=along))
        else:
            found = (lengths**ord).sum(axis=along) ** (1.0 / ord)
    elif ord == 1:
        found = abs(x * 1.0).sum(axis=0).max()
    elif ord == np.inf:
        found = abs(x * 1.0).sum(axis=1).max()
    elif ord is None or ord == "fro":
        found = np.sqrt((abs(x) ** 2).sum())
    else:
        raise NotImplementedError("a norm of a matrix has the order 'fro', 1 or inf here")
    return found


def _slogdet(a: Any) -> Any:
    det = np.linalg.det(a)
    return np.sign(det), np.log(abs(det))


def _matrix_power(a: Any, n: Any) -> Any:
    if n < 0 and (a[:1, :1] * 0.5).dtype != a.dtype:
        raise NotImplementedError("np.linalg.matrix_power() of integers has an n of 0 or more here")
    power, left, base = np.eye(a.shape[0], dtype=a.dtype), n, a.copy()
    if n < 0:
        base[:] = np.linalg.inv(a)
        left = -n
    while left > 0:
        if left % 2 == 1:
            power[:] = power @ base
        base[:] = base @ base
        left //= 2
    return power


def _polyfit(x: Any, y: Any, deg: Any) -> Any:
    columns = _vander(x * 1.0, deg + 1)
    scale = np.sqrt((columns * columns).sum(axis=0))
    columns /= scale
    n, m = columns.shape
    right = y * 1.0
    for k in range(m):  # Householder's reflections
        length = 0.0
        for i in range(k, n):
            length += columns[i, k] ** 2
        length = np.sqrt(length)
        if columns[k, k] > 0.0:
            length = -length
        first = columns[k, k] - length
        square = -length * first
        if square > 0.0:
            columns[k, k] = first
            for j in range(k + 1, m):
                total = 0.0
                for i in range(k, n):
                    total += columns[i, k] * columns[i, j]
                for i in range(k, n):
                    columns[i, j] -= total / square * columns[i, k]
            total = 0.0
            for i in range(k, n):
                total += columns[i, k] * right[i]
            for i in range(k, n):
                right[i] -= total / square * columns[i, k]
        columns[k, k] = length
    found = np.empty(m)
    for k in range(m - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, m):
            total -= columns[k, j] * found[j]
        found[k] = total / columns[k, k]
    return found / scale


# ---- element by element --------------------------------------------------------------------------------------------


def _gcd(x1: Any, x2: Any) -> Any:
    a, b = abs(x1), abs(x2)
    while b != 0:
        a, b = b, a % b
    return abs(a)


def _lcm(x1: Any, x2: Any) -> Any:
    divisor = _gcd(x1, x2)
    return abs(x1) // (divisor if divisor != 0 else divisor + 1) * abs(x2)


def _heaviside(x1: Any, x2: Any) -> Any:
    return x1 * 0.0 + x2 if x1 == 0 else (np.sign(x1) + 1.0) / 2.0


def _logaddexp(x1: Any, x2: Any) -> Any:
    high, low = np.maximum(x1, x2), np.minimum(x1, x2)
    return high + 0.6931471805599453 if high == low else high + np.log1p(np.exp(low - high))


def _logaddexp2(x1: Any, x2: Any) -> Any:
    high, low = np.maximum(x1, x2), np.minimum(x1, x2)
    return high + 1.0 if high == low else high + np.log2(1.0 + np.exp2(low - high))


def _sinc(x: Any) -> Any:
    turn = np.pi * (x if x != 0 else 1e-20)
    return np.sin(turn) / turn


def _fix(x: Any) -> Any:
    return np.trunc(x)


def _ldexp(x1: Any, x2: Any) -> Any:
    return math.ldexp(x1, int(x2))


def _isposinf(x: Any) -> Any:
    return np.bool_(x == np.inf)


def _isneginf(x: Any) -> Any:
    return np.bool_(x == -np.inf)


def _isreal(x: Any) -> Any:
    return np.bool_(np.imag(x) == 0)


def _iscomplex(x: Any) -> Any:
    return np.bool_(np.imag(x) != 0)


METHODS: dict[str, Any] = {"cumsum": _cumsum, "cumprod": _cumprod}
By = Callable[..., Any]
FUNCTIONS: dict[Any, By | tuple[int, By, By]] = {
    np.cumsum: _cumsum, np.cumprod: _cumprod, np.nancumsum: _nancumsum, np.nancumprod: _nancumprod, np.diff: _diff,
    np.ediff1d: _ediff1d, np.trapezoid: _trapezoid, np.polyadd: _polyadd,
    np.polyval: (1, _polyval, _polyval_all), np.polymul: _polymul, np.polyfit: _polyfit, np.vander: _vander,
    np.correlate: _correlate, np.kron: _kron, np.cross: _cross, np.hanning: _hanning, np.hamming: _hamming,
    np.blackman: _blackman, np.bartlett: _bartlett, np.logspace: _logspace, np.geomspace: _geomspace,
    np.percentile: _percentile, np.quantile: _quantile, np.nanquantile: _nanquantile,
    np.nanpercentile: _nanpercentile, np.nanmedian: _nanmedian, np.nanargmax: _nanargmax, np.nanargmin: _nanargmin,
    np.nan_to_num: _nan_to_num, np.cov: _cov, np.corrcoef: _corrcoef, np.digitize: _digitize, np.lexsort: _lexsort,
    np.linalg.slogdet: _slogdet, np.linalg.matrix_power: _matrix_power, np.unwrap: _unwrap,
}  # fmt: skip
"""By NumPy's function: ours, or one for a number and one for an array as the argument at a place."""

ELEMENTWISE: dict[Any, By] = {
    np.gcd: _gcd, np.lcm: _lcm, np.heaviside: _heaviside, np.logaddexp: _logaddexp, np.logaddexp2: _logaddexp2,
    np.sinc: _sinc, np.fix: _fix, np.ldexp: _ldexp, np.isposinf: _isposinf, np.isneginf: _isneginf,
    np.isreal: _isreal, np.iscomplex: _iscomplex,
}  # fmt: skip
"""By NumPy's function: ours for one element of each operand."""
