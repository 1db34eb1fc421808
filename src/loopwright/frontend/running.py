"""NumPy's running sums and products, and the phases that it unwraps, written in the language."""

from __future__ import annotations

from typing import Any

import numpy as np

from loopwright.frontend.along_axis import as_before, as_rows


def _cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    if dtype is None:
        sums = _sums_along(a, axis, None)
    else:
        sums = _sums_along(a.astype(dtype), axis, dtype)
    return sums


def _sums_along(a: Any, axis: Any, dtype: Any) -> Any:
    if axis is None or a.ndim == 1:
        flat = a.ravel()
        sums = np.empty(flat.size, (flat[:0].sum(dtype=dtype)).dtype)
        total = -flat[:0].sum(dtype=dtype)
        for i in range(flat.size):
            total += flat[i]
            sums[i] = total
    elif a.ndim == 2 and axis == 0:
        sums = np.empty(a.shape, (a[:0].sum(dtype=dtype)).dtype)
        sums[:1] = a[:1]
        for i in range(1, a.shape[0]):
            for j in range(a.shape[1]):
                sums[i, j] = sums[i - 1, j] + a[i, j]
    elif a.ndim == 2:
        sums = _running_sums(a, dtype)
    else:
        sums = as_before(_running_sums(as_rows(a, axis), dtype), a, axis)
    return sums


def _running_sums(rows: Any, dtype: Any) -> Any:
    sums = np.empty(rows.shape, (rows[:0].sum(dtype=dtype)).dtype)
    nothing = -rows[:0].sum(dtype=dtype)
    for i in range(rows.shape[0]):
        total = nothing
        for j in range(rows.shape[1]):
            total += rows[i, j]
            sums[i, j] = total
    return sums


def _cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    if dtype is None:
        products = _products_along(a, axis, None)
    else:
        products = _products_along(a.astype(dtype), axis, dtype)
    return products


def _products_along(a: Any, axis: Any, dtype: Any) -> Any:
    if axis is None or a.ndim == 1:
        flat = a.ravel()
        products = np.empty(flat.size, (flat[:0].prod(dtype=dtype)).dtype)
        total = flat[:0].prod(dtype=dtype)
        for i in range(flat.size):
            total *= flat[i]
            products[i] = total
    elif a.ndim == 2 and axis == 0:
        products = np.empty(a.shape, (a[:0].prod(dtype=dtype)).dtype)
        products[:1] = a[:1]
        for i in range(1, a.shape[0]):
            for j in range(a.shape[1]):
                products[i, j] = products[i - 1, j] * a[i, j]
    elif a.ndim == 2:
        products = _running_products(a, dtype)
    else:
        products = as_before(_running_products(as_rows(a, axis), dtype), a, axis)
    return products


def _running_products(rows: Any, dtype: Any) -> Any:
    products = np.empty(rows.shape, (rows[:0].prod(dtype=dtype)).dtype)
    nothing = rows[:0].prod(dtype=dtype)
    for i in range(rows.shape[0]):
        total = nothing
        for j in range(rows.shape[1]):
            total *= rows[i, j]
            products[i, j] = total
    return products


def _nancumsum(a: Any, axis: Any = None) -> Any:
    return _cumsum(np.where(np.isnan(a), 0, a), axis)


def _nancumprod(a: Any, axis: Any = None) -> Any:
    return _cumprod(np.where(np.isnan(a), 1, a), axis)


def _unwrap(p: Any, discont: Any = None, axis: Any = -1, period: Any = 6.283185307179586) -> Any:
    half = period / 2.0
    limit = half if discont is None else discont
    steps = np.diff(p * 1.0, axis=axis)
    turned = np.mod(steps + half, period) - half
    turned = np.where((turned == -half) & (steps > 0), half, turned)
    turned = np.where(np.abs(steps) < limit, steps * 0.0, turned - steps)
    phases = p + period * 0.0
    if p.ndim == 1:
        phases[1:] += np.cumsum(turned)
    elif axis == 0:
        phases[1:] += np.cumsum(turned, axis=0)
    elif p.ndim == 2:
        phases[:, 1:] += np.cumsum(turned, axis=1)
    else:
        raise NotImplementedError("np.unwrap takes arrays of one or two axes here")
    return phases
