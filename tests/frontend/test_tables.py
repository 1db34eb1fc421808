"""Tables at the edges: NaN, sizes, loops whose iterations have a set each, two threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def distinct(a):
    out = np.zeros(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        seen = set()
        for j in range(a.shape[1]):
            seen.add(int(a[i, j]))
        out[i] = len(seen)
    return out


def test_a_set_for_each_iteration():
    a = np.random.default_rng(2).integers(0, 30, (7, 40))
    same(distinct, a)
    assert (lw.kernel(distinct)(a) == distinct(a)).all()


def grown(n):
    seen = set()
    for k in range(n):
        seen.add(k * k % 1000003)
    return len(seen)


def test_threads():
    kernel, found = lw.kernel(grown), list[bool]()
    threads = [threading.Thread(target=lambda: found.append(kernel(200_000) == grown(200_000))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [True] * 4


def test_nan_and_keys_of_other_types():
    function = define("""
        def f(a, n):
            s = {1.5}
            s.add(a[n])
            return len(s)
        """, "keys.py")  # fmt: skip
    same(function, np.array([1.5, 2.0]), 0)
    kernel = lw.kernel(count)
    assert kernel(np.array([1, 2, 1], np.uint8)) == (2, True)
    try:
        kernel(np.array([np.nan]))
    except ValueError as error:
        assert "NaN cannot be a key" in str(error)
    else:
        raise AssertionError("NaN is a key")


def count(a):
    s = set()
    for x in a:
        s.add(x)
    return len(s), 1 in s


def test_a_list_is_no_key():
    assert "outside the language" in refusal(define("def f(n):\n    s = {(n, (n, 2))}\n    return len(s)\n", "k.py"), 3)


@pytest.mark.parametrize("text", [
    "d = {}\n    for v in x:\n        d[v] = [v, v + 1]\n    return d",
    "d = {0: [1, 2]}\n    return d[0]",
    "d = {v: [v] for v in x}\n    return len(d)",
    "d = {}\n    for v in x:\n        if v in d:\n            d[v].append(v)\n        else:\n            d[v] = [v]\n"
    "    return len(d)",
    "d = {1: (2, 3)}\n    return d.setdefault(x[0], [1, 2])",
])  # fmt: skip
def test_lists_in_a_dict_are_refused_and_do_not_become_tuples(text):
    said = refusal(define(f"def f(x):\n    {text}\n", "lists.py"), np.arange(4))
    assert "a dict of lists is outside the language" in said and "use a tuple" in said
