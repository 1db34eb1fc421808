"""Dicts with texts as keys, texts, and empty dicts, sets and lists as results, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import same


def by_name(x, k):
    if k == 0:
        return {}
    if k == 1:
        return {"mean": x.mean(), "twice": x * 2, "inner": (1, "text", {"a": k})}
    if k == 2:
        return "a text", []
    return set()


def table(x):
    if not len(x):
        return {}
    return {q: x[q] * 2.0 for q in range(3)}


def verdict(x):
    if x.sum() > 1:
        return "large", x
    return "small", x


@pytest.mark.parametrize("k", range(4))
def test_results_of_several_forms(k):
    same(by_name, np.arange(3.0), k)


def test_nothing_is_a_result_too():
    same(table, np.zeros(0))
    same(table, np.arange(4.0))
    same(verdict, np.zeros(2))
    same(verdict, np.ones(2))


def test_another_process_makes_the_same(tmp_path):
    with lw.options(cache=tmp_path):
        for _ in range(2):
            found = lw.kernel(by_name)(np.ones(2), 1)
            assert found["mean"] == 1.0 and list(found) == ["mean", "twice", "inner"]
            assert found["inner"] == (1, "text", {"a": 1}) and np.array_equal(found["twice"], [2.0, 2.0])


def chosen(a, k):
    out = []
    if a[k] == 0:
        return out
    for i in range(3):
        if a[i] > 2:
            out.append(i)
            if i == k:
                return out
    out.append(7)
    return out


def steps_and_end(a, k):
    out = []
    s = 0.5
    if a[k] > 4:
        return out, s
    while True:
        s += 1
        out.append((k + 1, s))
        if s > a[0]:
            return out, s


def test_one_list_that_several_returns_give():
    def f(a):
        n = 0
        kept = []
        for k in range(len(a)):
            n += len(chosen(a, k)) * 10 + sum(chosen(a, k))
            kept.append(chosen(a, k))
        x, y = chosen(a, 1), chosen(a, 2)
        x.append(100)
        pairs, end = steps_and_end(a, 0)
        others, begin = steps_and_end(a, 2)
        others.append((9, 1.0))
        return n, kept, x, y, pairs, end, others, begin

    for values in ([3.0, 0, 5, 1], [0.0, 0, 2, 8]):
        a = np.array(values)
        assert lw.kernel(f)(a) == f(a)
