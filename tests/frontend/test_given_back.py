"""Dicts of the caller's that a call changes, and lists that get another length."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import loopwright as lw
from breadth.cases import differences, outcome, same_error
from loopwright.numba import types
from loopwright.numba.typed import Dict, List

NAN = float("nan")


def filled(codes, values, last):
    out = np.empty(len(codes))
    for i in range(len(codes)):
        c = codes[i]
        if np.isnan(values[i]):
            if c in last:
                out[i] = last[c]
            else:
                out[i] = np.nan
        else:
            out[i] = values[i]
            last[c] = values[i]
    return out


def counted(a, d):
    for i in range(len(a) - 1):
        k = (a[i], a[i + 1])
        d[k] = d.get(k, 0) + 1
    if len(d) > 3:
        return len(d)
    return None


def taken_out(d, k, j):
    del d[k]
    d.pop(j)
    d[k] = 9.5
    for x, y in d.items():
        if y > 5:
            return x
    return -1


def put(d, x):
    d[x] = d.get(x, 0) + 1


def emptied(d):
    d.clear()


def by_helpers(d, e, n):
    for i in range(n):
        put(d, i % 5)
        e[i] = (i, i + 0.5)
    if n > 3:
        emptied(d)
        put(d, 3)


def grown(x, n):
    for i in range(n):
        x.append(i * 2)
    if len(x) > 1:
        x.pop(0)
    return len(x)


def several(x, y, n):
    if n > 3:
        return
    x.append((n, n * 0.5))
    del y[0]
    y.insert(1, 4.5)
    y[0] += 1


def drained(queue):
    total = 0
    while queue:
        total += queue.pop()
    return total


@pytest.mark.parametrize(
    "function, given",
    [
        (filled, (np.array([1, 1, 2, 1, 2]), np.array([10, NAN, 20, 15, NAN]), {})),
        (filled, (np.array([1, 1, 7]), np.array([10, NAN, NAN]), {7: 2.0, 3: 1.0})),
        (filled, (np.array([], np.int64), np.array([]), {7: 2.0})),
        (filled, (np.array([4], np.int8)[::-1], np.array([2], np.float32), {})),
        (counted, (np.array([1, 2, 1, 2, 3]), {})),
        (counted, (np.array([1, 2, 1, 2, 3]), {(1, 2): 5, (0, 9): 2})),
        (taken_out, ({1: 1.5, 2: 2.5, 3: 0.0}, 1, 3)),
        (by_helpers, ({}, {}, 7)),
        (by_helpers, ({8: 8}, {3: (4, 1.5)}, 2)),
        (by_helpers, ({8: 8, 3: 2}, {3: (4, 1.5)}, 7)),
        (emptied, ({4: 1},)),
        (grown, ([1, 2], 3)),
        (grown, ([], 3)),
        (grown, ([1], 0)),
        (several, ([(1, 2.5)], [1.5, 2.5], 2)),
        (several, ([(1, 2.5)], [1.5, 2.5], 7)),
        (several, ([], [1.5], 2)),
        (several, ([], [], 4)),
        (drained, ([1, 2, 3],)),
        (drained, ([],)),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "interpreter"])
def test_what_a_call_changes_shows(function, given, device):
    expected, actual = copy.deepcopy(given), copy.deepcopy(given)
    with np.errstate(all="ignore"):
        of_python = outcome(function, expected)
    with lw.options(device=device):
        of_kernel = outcome(lw.kernel(function), actual)
    assert same_error(of_python.error, of_kernel.error)
    assert differences(of_python.result, of_kernel.result) == []
    for one, other in zip(expected, actual, strict=True):
        if isinstance(one, dict):  # keys that were there are the same objects
            assert [*one.items()] == [*other.items()]
            assert [type(key) for key in one] == [type(key) for key in other]
        elif isinstance(one, list):
            assert one == other


def test_on_the_emulated_gpu():
    d, x = {8: 8}, [1]
    with lw.options(device="emulated"):
        lw.kernel(put)(d, 3)
        lw.kernel(grown)(x, 2)
    assert (d, x) == ({8: 8, 3: 1}, [0, 2])


def test_numbas_own_containers():
    d, x = Dict.empty(key_type=types.int64, value_type=types.float64), List.empty_list(types.int64)
    lw.kernel(filled)(np.array([1]), np.array([2.0]), d)
    lw.kernel(grown)(x, 2)
    assert (type(d), d, type(x), x) == (Dict, {1: 2.0}, List, [2])


def test_they_are_given_once():
    same, own = {1: 1}, [2.0]
    with pytest.raises(lw.ArgumentValueError, match="argument 'd': this dict is changed, and given twice"):
        lw.kernel(by_helpers)(same, same, 3)
    with pytest.raises(lw.ArgumentValueError, match="this list is changed, and given twice"):
        lw.kernel(several)(own, own, 1)
    assert (same, own) == ({1: 1}, [2.0])


def fails(d, x):
    d[1] = 5
    x.append(3)
    raise ValueError("after all")


def test_a_call_that_fails_leaves_them_as_they_were():
    d, x = {1: 2}, [1]
    with pytest.raises(ValueError, match="after all"):
        lw.kernel(fails)(d, x)
    assert (d, x) == ({1: 2}, [1])


def of_many(d):
    if len(d) > 2:
        return 1
    return 0


def of_any(d):
    if d:
        return 1
    return 0


def test_how_many_items_a_dict_has_is_known_when_it_is_given():
    for d in ({}, {1: 1}, {1: 1, 2: 2, 3: 3}, {(1, 2): 1}, {(1, 2): 1, (2, 3): 1, (3, 4): 1}):
        assert (lw.kernel(of_many)(d), lw.kernel(of_any)(d)) == (of_many(d), of_any(d))


def calls_itself(n, cache):
    if n < 2:
        return n
    if n in cache:
        return cache[n]
    cache[n] = calls_itself(n - 1, cache) + calls_itself(n - 2, cache)
    return cache[n]


def gets_another(d):
    d[1] = 2
    d = {}
    d[3] = 4
    return d


@pytest.mark.parametrize("function, given", [(calls_itself, (5, {1: 1})), (gets_another, ({1: 1},))])
def test_refused(function, given):
    with pytest.raises(lw.KernelError):
        lw.kernel(function)(*given)
