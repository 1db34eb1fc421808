"""NumPy's functions that put elements in order, written in the language as those in library.py are.

The first of equal elements stays first. Few elements go by comparisons, many by their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from loopwright.frontend.along_axis import as_before, as_rows


def _sort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        result = a.flatten()
        _sort_in_place(result)
    elif a.ndim > 2:
        rows = as_rows(a, axis).copy()
        for i in range(rows.shape[0]):
            _sort_in_place(rows[i])
        result = as_before(rows, a, axis)
    else:
        result = a.copy()
        if a.ndim == 1:
            _sort_in_place(result)
        elif axis == 0:
            for j in range(a.shape[1]):
                _sort_in_place(result[:, j])
        else:
            for i in range(a.shape[0]):
                _sort_in_place(result[i])
    return result


def _sort_method(a: Any, axis: Any = -1) -> None:
    if a.ndim == 1:
        _sort_in_place(a)
    elif a.ndim > 2:
        a[:] = _sort(a, axis)
    elif axis == 0:
        for j in range(a.shape[1]):
            _sort_in_place(a[:, j])
    else:
        for i in range(a.shape[0]):
            _sort_in_place(a[i])


def _sort_in_place(a: Any) -> None:
    n = _numbers_first(a)
    is_long = a.itemsize > 1 and n >= _BY_DIGITS
    if not is_long:
        _sort_by_comparisons(a, n)
    else:
        _sort_by_digits(a, n)


def _sort_by_comparisons(a: Any, n: Any) -> None:
    """Short runs by insertion, then merged: from `a` into `other` and back."""
    run = 16
    for start in range(0, n, run):
        for k in range(start + 1, min(start + run, n)):
            x = a[k]
            j = k - 1
            while j >= start and x < a[j]:
                a[j + 1] = a[j]
                j -= 1
            a[j + 1] = x
    other = np.empty_like(a)
    while run < n:
        _merge_runs(a, other, run, n)
        _merge_runs(other, a, 2 * run, n)
        run *= 4


_BY_DIGITS = 400
"""From so many elements on it is faster to count digits: to clear the counts takes as long as to sort a hundred."""


def _in_order(x: Any, size: Any) -> Any:
    """An unsigned integer whose lowest bytes, as many as x has, are greater for a greater number; 0.0 is -0.0."""
    lowest = -1 << (8 * size - 1)
    if isinstance(x, np.floating):
        bits = np.int64((x + 0.0).view(np.int64 if size == 8 else np.int32))
        return np.uint64(~bits if bits < 0 else bits ^ lowest)
    if isinstance(x, np.unsignedinteger):
        return np.uint64(x)
    return np.uint64(np.int64(x) ^ lowest)


def _sort_by_digits(a: Any, n: Any) -> None:
    """By each byte in turn, the lowest first (Knuth, volume 3, 5.2.5)."""
    places, moved = _places_by_digit(a, n), np.empty_like(a)
    for p in range(a.itemsize):
        if places[p, 0] < 0:
            continue
        for k in range(n):
            x = a[k]
            digit = _in_order(x, a.itemsize) >> np.uint64(8 * p) & np.uint64(255)
            moved[places[p, digit]] = x
            places[p, digit] += 1
        for k in range(n):
            a[k] = moved[k]


def _places_by_digit(a: Any, n: Any) -> Any:
    """[p, d]: where the first element goes whose byte p is d; [p, 0] is -1 where that byte is the same in all."""
    size = a.itemsize
    places = np.zeros((size, 256), np.int64)
    for k in range(n):
        number = _in_order(a[k], size)
        for p in range(size):
            places[p, number >> np.uint64(8 * p) & np.uint64(255)] += 1
    for p in range(size):
        place, most = 0, 0
        for d in range(256):
            count = places[p, d]
            most = max(most, count)
            places[p, d] = place
            place += count
        if most == n:
            places[p, 0] = -1
    return places


def _numbers_first(a: Any) -> Any:
    """Puts what is no number behind all others; how many these are."""
    n = len(a)
    for k in range(n - 1, -1, -1):
        if a[k] != a[k]:
            n -= 1
            a[k], a[n] = a[n], a[k]
    return n


def _merge_runs(a: Any, merged: Any, run: Any, n: Any) -> None:
    """Merges neighbouring runs, without a jump that the data decide; copies what is in order."""
    for start in range(0, n, 2 * run):
        middle, end = min(start + run, n), min(start + 2 * run, n)
        i, j, k = start, middle, start
        is_ordered = middle == end or not a[min(middle, n - 1)] < a[middle - 1]
        while i < middle and j < end and not is_ordered:
            x, y = a[i], a[j]
            is_right = y < x
            merged[k] = y if is_right else x
            j += is_right
            i += not is_right
            k += 1
        for left in range(i, middle):
            merged[left + j - middle] = a[left]
        for right in range(j, end):
            merged[right] = a[right]


def _argsort_rows(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    if axis is None:
        orders = _argsort(a.ravel())
    elif a.ndim > 2:
        rows = as_rows(a, axis)
        places = np.empty(rows.shape, np.int64)
        for i in range(rows.shape[0]):
            places[i] = _argsort(rows[i])
        orders = as_before(places, a, axis)
    elif axis == 0:
        orders = np.empty(a.shape, np.int64)
        for j in range(a.shape[1]):
            orders[:, j] = _argsort(a[:, j])
    else:
        orders = np.empty(a.shape, np.int64)
        for i in range(a.shape[0]):
            orders[i] = _argsort(a[i])
    return orders


def _argsort(a: Any, axis: Any = -1, kind: Any = None) -> Any:
    """The place of each element in order; what is no number comes last."""
    order, other_order = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    keys, other_keys = np.empty_like(a), np.empty_like(a)
    n = 0
    for k in range(len(a)):
        if a[k] == a[k]:
            keys[n] = a[k]
            order[n] = k
            n += 1
    behind = n
    for k in range(len(a)):
        if a[k] != a[k]:
            order[behind] = k
            behind += 1
    is_long = a.itemsize > 1 and n >= _BY_DIGITS
    if not is_long:
        _order_by_comparisons(keys, order, other_keys, other_order, n)
    else:
        _order_by_digits(keys, order, other_keys, other_order, n)
    return order


def _order_by_comparisons(keys: Any, order: Any, other_keys: Any, other_order: Any, n: Any) -> None:
    run = 16
    for start in range(0, n, run):
        for k in range(start + 1, min(start + run, n)):
            x, place = keys[k], order[k]
            j = k - 1
            while j >= start and x < keys[j]:
                keys[j + 1] = keys[j]
                order[j + 1] = order[j]
                j -= 1
            keys[j + 1] = x
            order[j + 1] = place
    while run < n:
        _merge_places(keys, order, other_keys, other_order, run, n)
        _merge_places(other_keys, other_order, keys, order, 2 * run, n)
        run *= 4


def _order_by_digits(keys: Any, order: Any, moved: Any, moved_order: Any, n: Any) -> None:
    """As `_sort_by_digits`, with the place of each element."""
    places = _places_by_digit(keys, n)
    for p in range(keys.itemsize):
        if places[p, 0] < 0:
            continue
        for k in range(n):
            x = keys[k]
            digit = _in_order(x, keys.itemsize) >> np.uint64(8 * p) & np.uint64(255)
            place = places[p, digit]
            moved[place] = x
            moved_order[place] = order[k]
            places[p, digit] += 1
        for k in range(n):
            keys[k] = moved[k]
            order[k] = moved_order[k]


def _merge_places(a: Any, order: Any, merged: Any, merged_order: Any, run: Any, n: Any) -> None:
    """As `_merge_runs`, with the places of elements; here a jump is cheaper than to carry both along."""
    for start in range(0, n, 2 * run):
        middle, end = min(start + run, n), min(start + 2 * run, n)
        i, j, k = start, middle, start
        is_ordered = middle == end or not a[min(middle, n - 1)] < a[middle - 1]
        while i < middle and j < end and not is_ordered:
            if a[j] < a[i]:
                merged[k] = a[j]
                merged_order[k] = order[j]
                j += 1
            else:
                merged[k] = a[i]
                merged_order[k] = order[i]
                i += 1
            k += 1
        for left in range(i, middle):
            merged[left + j - middle] = a[left]
            merged_order[left + j - middle] = order[left]
        for right in range(j, end):
            merged[right] = a[right]
            merged_order[right] = order[right]


def _put_in_place(a: Any, k: Any) -> None:
    """Quickselect (C. A. R. Hoare, 1961): a[k] as in sorted order, nothing greater before it, nothing less behind it.
    There is no NaN. Where pivots are unlucky, the rest is sorted."""
    low, high, rounds = 0, a.size - 1, 0
    while low < high:
        middle = (low + high) // 2
        pivot = max(min(a[low], a[middle]), min(max(a[low], a[middle]), a[high]))
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while pivot < a[j]:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            low = high
        rounds += 1
        if rounds == 100 and low < high:
            _sort_in_heap(a, low, high)
            low = high


def _sort_in_heap(a: Any, low: Any, high: Any) -> None:
    """Heapsort (J. W. J. Williams, 1964) of a[low : high + 1]: little code for what hardly ever runs."""
    root, end = (high - low + 1) // 2, high - low + 1
    while end > 1:
        if root > 0:
            root -= 1
            x = a[low + root]
        else:
            end -= 1
            x = a[low + end]
            a[low + end] = a[low]
        hole, child = root, 2 * root + 1
        while child < end:
            if child + 1 < end and a[low + child] < a[low + child + 1]:
                child += 1
            if not x < a[low + child]:
                break
            a[low + hole] = a[low + child]
            hole, child = child, 2 * child + 1
        a[low + hole] = x


def from_0_to_1(q: Any) -> Any:
    """A quantile. Raises ValueError for one outside 0 to 1."""
    if not 0.0 <= q <= 1.0:
        raise ValueError("quantiles must be in the range [0, 1], percentiles in [0, 100]")
    return q
