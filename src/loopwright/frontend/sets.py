"""NumPy's functions of arrays as sets, written in the language as those in library.py are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _unique(ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False) -> Any:
    flat = ar.flatten()
    if return_index or return_inverse:
        order = np.argsort(flat)
        ordered = flat[order]
    else:
        ordered = np.sort(flat)
    first = np.empty(ordered.size, np.bool_)
    for i in range(ordered.size):
        first[i] = i == 0 or (
            ordered[i] != ordered[i - 1] and (ordered[i] == ordered[i] or ordered[i - 1] == ordered[i - 1])
        )
    if return_index or return_counts:
        starts = np.flatnonzero(first)
    if return_inverse:
        inverse = np.empty(flat.size, np.int64)
        place = -1
        for i in range(flat.size):
            place += int(first[i])
            inverse[order[i]] = place
        places = inverse.reshape(ar.shape)
    if return_counts:
        counts = np.empty(len(starts), np.int64)
        for k in range(len(starts)):
            counts[k] = (starts[k + 1] if k + 1 < len(starts) else flat.size) - starts[k]
    made: Any
    if return_index and return_inverse and return_counts:
        made = ordered[first], order[starts], places, counts
    elif return_index and return_inverse:
        made = ordered[first], order[starts], places
    elif return_index and return_counts:
        made = ordered[first], order[starts], counts
    elif return_inverse and return_counts:
        made = ordered[first], places, counts
    elif return_index:
        made = ordered[first], order[starts]
    elif return_inverse:
        made = ordered[first], places
    elif return_counts:
        made = ordered[first], counts
    else:
        made = ordered[first]
    return made


def _isin_one(element: Any, test_elements: Any) -> Any:
    found = False
    for y in test_elements:
        if element == y:
            found = True
    return np.bool_(found)


def _isin(element: Any, test_elements: Any) -> Any:
    found = np.zeros(element.shape, np.bool_)
    for place, x in np.ndenumerate(element):
        for y in test_elements:
            if x == y:
                found[place] = True
    return found


def _intersect1d(ar1: Any, ar2: Any) -> Any:
    one, two = np.unique(ar1), np.unique(ar2)
    return one[_is_among(one, two)]


def _setdiff1d(ar1: Any, ar2: Any) -> Any:
    one, two = np.unique(ar1), np.unique(ar2)
    return one[~_is_among(one, two)]


def _union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((ar1.ravel(), ar2.ravel())))


def _setxor1d(ar1: Any, ar2: Any) -> Any:
    one, two = np.unique(ar1), np.unique(ar2)
    return np.sort(np.concatenate((one[~_is_among(one, two)], two[~_is_among(two, one)])))


def _is_among(values: Any, ordered: Any) -> Any:
    found = np.zeros(len(values), np.bool_)
    for i in range(len(values)):
        k = int(np.searchsorted(ordered, values[i]))
        if k < len(ordered):
            found[i] = ordered[k] == values[i]
    return found


def holds(a: Any, x: Any) -> Any:
    """`x in a`."""
    return bool((a == x).any())


def numbers_of_range(start: Any, stop: Any, step: Any) -> Any:
    """A range as an array, where it is an index: `a[range(2, n)]`."""
    return np.arange(start, stop, step)


By = Callable[..., Any]
FUNCTIONS: dict[Any, By | tuple[int, By, By]] = {
    np.unique: _unique, np.isin: (0, _isin_one, _isin), np.intersect1d: _intersect1d, np.setdiff1d: _setdiff1d,
    np.union1d: _union1d, np.setxor1d: _setxor1d,
}  # fmt: skip
"""By NumPy's function: ours, or one for a number and one for an array as the argument at a place."""
