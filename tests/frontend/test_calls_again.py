"""What a function that calls itself may pass on: numbers, tuples, parts of arrays; and what it may return."""

from __future__ import annotations

import numpy as np

from frontend.judge import refusal, same


def sorted_part(a, low, high):
    if low >= high:
        return a
    pivot, i, j = a[(low + high) // 2], low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i, j = i + 1, j - 1
    sorted_part(a, low, j)
    return sorted_part(a, i, high)


def merge_sort(a, kept):
    n = len(a)
    if n < 2:
        return
    m = n // 2
    merge_sort(a[:m], kept[:m])
    merge_sort(a[m:], kept[m:])
    i, j = 0, m
    for k in range(n):
        if j >= n or (i < m and a[i] <= a[j]):
            kept[k] = a[i]
            i += 1
        else:
            kept[k] = a[j]
            j += 1
    a[:] = kept


def endless(n):
    return 1 + endless(n + 1)


def own_array(n):
    w = np.zeros(2)
    w[0] = n
    return 0.0 if n == 0 else own_array(n - 1) + w[0]


def other_array(a, b, n):
    if n > 0:
        other_array(b, a, n - 1)
    a[n] += 1


def drawn(pair, k):
    x, y = pair
    return x + y if k == 0 else drawn((x + 1, y * 2), k - 1) - drawn((x, y - 1.0), k - 1)


def numbers(n):
    return np.random.default_rng(3).random(n)


def test_parts_and_tuples():
    same(sorted_part, numbers(30), 0, 29)
    same(merge_sort, numbers(13), np.zeros(13))
    same(drawn, (1, 2.0), 4)


def test_refused():
    assert "what 'endless' returns is not known" in refusal(endless, 3)
    assert "make it outside, and pass it as an argument" in refusal(own_array, 3)
    told = refusal(other_array, numbers(3), numbers(3), 2)
    assert "'a' is something else in a call of 'other_array' inside itself" in told
