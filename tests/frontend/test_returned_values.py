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
