"""NumPy's functions that put the elements of arrays into another order or place, written in the language as those in
library.py are. An `if` on the number of axes, or on an argument that is a constant, is decided when code is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _take(a: Any, indices: Any, axis: Any = None) -> Any:
    if axis is None:
        found = a.ravel()[indices]
    elif axis == 0 or a.ndim == 1:
        found = a[indices]
    elif axis == 1 or a.ndim == 2:
        found = a[:, indices]
    elif axis == 2 or a.ndim == 3:
        found = a[:, :, indices]
    else:
        found = a[:, :, :, indices]
    return found


def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        found = arr.ravel()[indices]
    elif arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    elif arr.ndim == 1:
        found = arr[indices]
    elif arr.ndim == 2:
        a, p = np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1)
        rows = p.shape[0] if a.shape[0] == 1 else a.shape[0]
        if p.shape[0] != rows and p.shape[0] != 1:
            raise ValueError("shape mismatch: indexing arrays could not be broadcast together")
        made = np.empty((rows, p.shape[1]), arr.dtype)
        for i in range(rows):
            for j in range(p.shape[1]):
                made[i, j] = a[i if a.shape[0] > 1 else 0, p[i if p.shape[0] > 1 else 0, j]]
        found = np.moveaxis(made, -1, axis)
    else:
        c, w = np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1)
        most = w.shape[0] if c.shape[0] == 1 else c.shape[0], w.shape[1] if c.shape[1] == 1 else c.shape[1]
        if (w.shape[0] != most[0] and w.shape[0] != 1) or (w.shape[1] != most[1] and w.shape[1] != 1):
            raise ValueError("shape mismatch: indexing arrays could not be broadcast together")
        box = np.empty((most[0], most[1], w.shape[2]), arr.dtype)
        for i in range(most[0]):
            for j in range(most[1]):
                at, by = (i if c.shape[0] > 1 else 0, j if c.shape[1] > 1 else 0), i if w.shape[0] > 1 else 0
                for k in range(w.shape[2]):
                    box[i, j, k] = c[at[0], at[1], w[by, j if w.shape[1] > 1 else 0, k]]
        found = np.moveaxis(box, -1, axis)
    return found


def _flip(m: Any, axis: Any = None) -> Any:
    if axis is None:
        if m.ndim == 1:
            turned = m[::-1]
        elif m.ndim == 2:
            turned = m[::-1, ::-1]
        elif m.ndim == 3:
            turned = m[::-1, ::-1, ::-1]
        else:
            turned = m[::-1, ::-1, ::-1, ::-1]
    elif axis == 0 or m.ndim == 1:
        turned = m[::-1]
    else:
        turned = np.moveaxis(np.moveaxis(m, axis, 0)[::-1], 0, axis)
    return turned


def _flipud(m: Any) -> Any:
    return m[::-1]


def _fliplr(m: Any) -> Any:
    return m[:, ::-1]


def _rot90(m: Any, k: Any = 1) -> Any:
    if k in (0, 4, -4):
        turned = m[:]
    elif k in (1, -3, 5):
        turned = np.swapaxes(m, 0, 1)[::-1]
    elif k in (2, -2):
        turned = m[::-1, ::-1]
    else:
        turned = np.swapaxes(m[::-1], 0, 1)
    return turned


def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    rolled = np.empty_like(a)
    if axis is None and a.ndim > 1:
        flat = a.ravel()
        moved = np.empty_like(flat)
        for i in range(len(flat)):
            moved[(i + shift) % len(flat)] = flat[i]
        rolled[:] = moved.reshape(a.shape)
    elif axis is None or axis == 0 or a.ndim == 1:
        n = a.shape[0]
        for i in range(n):
            rolled[(i + shift) % n] = a[i]
    elif axis == 1 or a.ndim == 2:
        n = a.shape[1]
        for i in range(n):
            rolled[:, (i + shift) % n] = a[:, i]
    elif axis == 2 or a.ndim == 3:
        n = a.shape[2]
        for i in range(n):
            rolled[:, :, (i + shift) % n] = a[:, :, i]
    else:
        n = a.shape[3]
        for i in range(n):
            rolled[:, :, :, (i + shift) % n] = a[:, :, :, i]
    return rolled


def _tile(a: Any, reps: Any) -> Any:
    if np.ndim(reps) == 0:
        rows, columns = 1, reps
    else:
        rows, columns = reps
    if a.ndim == 1 and np.ndim(reps) == 0:
        n = a.shape[0]
        tiled = np.empty(n * reps, a.dtype)
        for i in range(n * reps):
            tiled[i] = a[i % n]
    else:
        b = a[None, :] if a.ndim == 1 else a[:, :]
        n, m = b.shape
        tiled = np.empty((n * rows, m * columns), a.dtype)
        for i in range(n * rows):
            for j in range(m * columns):
                tiled[i, j] = b[i % n, j % m]
    return tiled


def _delete(arr: Any, obj: Any) -> Any:
    flat = arr.ravel()
    keeps = np.ones(len(flat), np.bool_)
    keeps[obj] = False
    return flat[keeps]


def _insert(arr: Any, obj: Any, values: Any) -> Any:
    flat = arr.ravel()
    n = len(flat)
    if obj < -n or obj > n:
        raise IndexError("index is out of bounds")
    place = obj if obj >= 0 else obj + n
    longer = np.empty(n + 1, arr.dtype)
    longer[:place] = flat[:place]
    longer[place] = values
    longer[place + 1 :] = flat[place:]
    return longer


def _pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    if np.ndim(pad_width) == 0:
        top, bottom, left, right = pad_width, pad_width, pad_width, pad_width
    elif np.ndim(pad_width) == 1:
        top, bottom = pad_width
        left, right = top, bottom
    else:
        (top, bottom), (left, right) = pad_width
    if array.ndim == 1:
        padded = _padded(array, top, bottom, mode, constant_values)
    else:
        n, m = array.shape
        rows = np.empty((top + n + bottom, m), array.dtype)
        for j in range(m):
            rows[:, j] = _padded(array[:, j], top, bottom, mode, constant_values)
        padded = np.empty((top + n + bottom, left + m + right), array.dtype)
        for i in range(top + n + bottom):
            padded[i] = _padded(rows[i], left, right, mode, constant_values)
    return padded


def _padded(array: Any, before: Any, after: Any, mode: Any, constant_values: Any) -> Any:
    n = len(array)
    padded = np.empty(before + n + after, array.dtype)
    for k in range(before + n + after):
        place = k - before
        if mode == "constant":
            padded[k] = constant_values
        elif mode == "edge":
            padded[k] = array[min(max(place, 0), n - 1)]
        elif mode == "wrap":
            padded[k] = array[place % n]
        elif mode == "reflect":
            turn = place % max(2 * n - 2, 1)
            padded[k] = array[min(turn, 2 * n - 2 - turn)]
        elif mode == "symmetric":
            turn = place % (2 * n)
            padded[k] = array[min(turn, 2 * n - 1 - turn)]
        else:
            raise NotImplementedError("np.pad has the modes constant, edge, wrap, reflect and symmetric here")
    padded[before : before + n] = array
    return padded


def diag(v: Any, k: Any = 0) -> Any:
    """`np.diag` of a vector: a matrix with it along a diagonal."""
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = len(v)
    chosen = np.zeros((n + abs(k), n + abs(k)), v.dtype)
    for i in range(n):
        chosen[i + max(-k, 0), i + max(k, 0)] = v[i]
    return chosen


def _diag_indices(n: Any) -> Any:
    places = np.arange(n)
    return places, places


def _diagflat(v: Any, k: Any = 0) -> Any:
    return diag(v.ravel(), k)


def _tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = np.float64) -> Any:
    if M is None:
        m = N
    else:
        m = M
    ones = np.zeros((N, m), dtype)
    for i in range(N):
        for j in range(min(max(i + k + 1, 0), m)):
            ones[i, j] = 1
    return ones


def _tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    if m is None:
        width = n
    else:
        width = m
    return np.nonzero(_tri(n, width, k, np.bool_))


def _triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    if m is None:
        width = n
    else:
        width = m
    return np.nonzero(~_tri(n, width, k - 1, np.bool_))


def _tril_indices_from(arr: Any, k: Any = 0) -> Any:
    return _tril_indices(arr.shape[0], k, arr.shape[1])


def _triu_indices_from(arr: Any, k: Any = 0) -> Any:
    return _triu_indices(arr.shape[0], k, arr.shape[1])


def _atleast_3d(a: Any) -> Any:
    if a.ndim == 1:
        made = a[None, :, None]
    elif a.ndim == 2:
        made = a[:, :, None]
    else:
        made = a
    return made


def _atleast_1d(a: Any) -> Any:
    if np.ndim(a) == 0:
        return np.full(1, a)
    return a


def _atleast_2d(a: Any) -> Any:
    if np.ndim(a) == 0:
        made = np.full((1, 1), a)
    elif np.ndim(a) == 1:
        made = a[None, :]
    else:
        made = a
    return made


def _resize(a: Any, new_shape: Any) -> Any:
    flat = a.ravel()
    longer = np.zeros(new_shape, a.dtype)
    cells = longer.ravel()
    if len(flat) > 0:
        for i in range(len(cells)):
            cells[i] = flat[i % len(flat)]
    return longer


def _trim_zeros(filt: Any) -> Any:
    first, last = 0, len(filt)
    while first < last and filt[first] == 0:
        first += 1
    while last > first and filt[last - 1] == 0:
        last -= 1
    return filt[first:last]


def repeat_each(a: Any, repeats: Any) -> Any:
    """`np.repeat(a, repeats)` of as many numbers as there are elements."""
    if len(a) != len(repeats):
        raise ValueError("operands could not be broadcast together")
    longer = np.empty(repeats.sum(), a.dtype)
    place = 0
    for i in range(len(a)):
        for _ in range(repeats[i]):
            longer[place] = a[i]
            place += 1
    return longer


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        if np.ndim(arr) == 1:
            return np.concatenate((arr, np.atleast_1d(values).ravel()))
        if np.ndim(arr) == 0:
            return np.concatenate((np.full(1, arr), np.atleast_1d(values).ravel()))
        return np.concatenate((arr.ravel(), np.atleast_1d(values).ravel()))
    return np.concatenate((arr, values), axis=axis)


def _extract(condition: Any, arr: Any) -> Any:
    return arr.ravel()[condition.ravel()]


def _dstack(tup: Any) -> Any:
    return np.stack(tup, axis=2)


def _put(a: Any, ind: Any, v: Any) -> None:
    flat = a.ravel() if a.ndim > 1 else a
    if np.ndim(ind) == 0 or np.ndim(v) == 0:
        flat[ind] = v
    else:  # values are repeated, or left over
        for k in range(len(ind)):
            flat[ind[k]] = v[k % len(v)]


def _putmask(a: Any, mask: Any, values: Any) -> None:
    if np.ndim(values) == 0:
        a[mask] = values
    else:
        for i in range(len(a)):
            if mask[i]:
                a[i] = values[i % len(values)]


def _place(arr: Any, mask: Any, vals: Any) -> None:
    k = 0
    for i in range(len(arr)):
        if mask[i]:
            arr[i] = vals[k % len(vals)]
            k += 1


def _copyto(dst: Any, src: Any) -> None:
    dst[:] = src


def _partition(a: Any, kth: Any) -> Any:
    for k in np.atleast_1d(kth):
        if k >= a.shape[-1] or k < -a.shape[-1]:
            raise ValueError("kth is out of bounds")
    return np.sort(a)


def _argpartition(a: Any, kth: Any) -> Any:
    for k in np.atleast_1d(kth):
        if k >= a.shape[-1] or k < -a.shape[-1]:
            raise ValueError("kth is out of bounds")
    return np.argsort(a)


def _item(a: Any, place: Any = None) -> Any:
    if place is None:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        place = 0
    return a.ravel()[place].item()


METHODS: dict[str, Any] = {"take": _take, "item": _item}
By = Callable[..., Any]
FUNCTIONS: dict[Any, By | tuple[int, By, By]] = {
    np.take: _take, np.take_along_axis: _take_along_axis, np.flip: _flip,
    np.flipud: _flipud, np.fliplr: _fliplr, np.rot90: _rot90, np.roll: _roll,
    np.tile: _tile, np.delete: _delete, np.insert: _insert, np.pad: _pad, np.diag_indices: _diag_indices, np.diagflat:
    _diagflat, np.tri: _tri, np.tril_indices: _tril_indices, np.triu_indices: _triu_indices,
    np.tril_indices_from: _tril_indices_from, np.triu_indices_from: _triu_indices_from,
    np.atleast_1d: _atleast_1d, np.atleast_2d: _atleast_2d, np.atleast_3d:
    _atleast_3d, np.resize: _resize, np.trim_zeros: _trim_zeros, np.append: _append,
    np.extract: _extract, np.dstack: _dstack, np.put: _put, np.putmask: _putmask, np.place: _place, np.copyto:
    _copyto, np.partition: _partition, np.argpartition: _argpartition,
}  # fmt: skip
"""By NumPy's function: ours, or one for a number and one for an array as the argument at a place."""
