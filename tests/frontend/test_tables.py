"""Tables at the edges: NaN, sizes, loops whose iterations have a set each, two threads."""

from __future__ import annotations

import threading
from textwrap import dedent

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


LISTS = {
    "filled": """
        for v in x:
            if v % 3 in d:
                d[v % 3].append(v)
            else:
                d[v % 3] = [v]
        for k in d:
            n += k * len(d[k]) + sum(d[k])
            for v in d[k]:
                n += v
        return d, n, 2 in d""",
    "by setdefault": """
        for v in x:
            d.setdefault(int(v) // 2, []).append((int(v), 0.5))
        for k, l in d.items():
            l += [(k, 1.5)]
        return len(d), [len(l) for l in d.values()], d[0][0], d""",
    "made at once": """
        e = {k: [k] for k in range(3)}
        e[1] += [7, 8]
        l = e[2]
        l.append(9)
        e[0] = l
        l[0] = 5
        e[2] = [1]
        return e, e.pop(1), {4: [x[0]]}[4], len(e)""",
    "of helpers": """
        l = [0]
        for v in x:
            l = [int(v)]
            l.append(2)
            d[int(v), 1] = l
        return d""",
    "arrays": """
        for k in range(3):
            d[k] = x[k:] * 2
        d[0] += 1
        d[1][0] = 50
        d[2] = np.append(d[1], 4)
        for v in d.values():
            n += v.sum()
        return d, n""",
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_and_arrays_in_a_dict(name):
    body = f"d, n = {{}}, np.int64(0)\n{dedent(LISTS[name])}".replace("\n", "\n    ")
    function = define(f"def f(x):\n    {body}\n", "lists.py")
    same(function, np.arange(5))


SHARED = {
    "l = [1]\n    d[0] = l\n    l.append(2)\n    return len(d[0])": "holds a copy of 'l'",
    "d[0] = x\n    d[0][1] = 7\n    return 1": "holds a copy of 'x'",
    "d[0] = x * 1\n    d[1] = d[0]\n    d[1][0] = 5\n    return d[0][0]": "holds a copy of 'd[0]'",
    "l = [x[0]]\n    e = {1: l}\n    return e": "would be a copy",
    "d[0] = [1]\n    return d.get(3, [])": "write: if k in d",
    "d[0] = 1\n    d[1] = [2]\n    return len(d)": "of one kind here",
}


@pytest.mark.parametrize("text", SHARED)
def test_lists_in_a_dict_that_are_refused(text):
    said = refusal(define(f"def f(x):\n    d = {{}}\n    {text}\n", "lists.py"), np.arange(4))
    assert SHARED[text] in said


def test_texts_as_keys():
    counts = define(
        "def f(n):\n    d = {}\n    for c in 'aba':\n        if c in d:\n            d[c] += 1\n"
        "        else:\n            d[c] = 1\n    return len(d)\n"
    )
    assert "use numbers, such as ord(c)" in refusal(counts, 1)


def joined_in_a_loop(n):
    seen, all_of = {v % 5 for v in range(2)}, {0}
    for i in range(n):
        seen |= {i, 2 * i}
        if i > 1:
            all_of |= seen
        else:
            seen.remove(0)
    return seen, all_of


def test_a_set_takes_in_another_one_in_a_loop():
    same(joined_in_a_loop, 0)
    same(joined_in_a_loop, 4)


def ten_times(v):
    return 10 * v


def takes_what_is_made_on_the_way(n):
    x = list(range(n))
    seen, pairs = {1, 7}, {(0, 0)}
    seen.update(reversed(x))
    seen.update(map(ten_times, x))
    pairs.update(enumerate(x))
    pairs.update(zip(x, x[::-1]))  # noqa: B905
    return seen, pairs


def test_a_set_takes_in_what_is_no_value():
    same(takes_what_is_made_on_the_way, 5)
    same(takes_what_is_made_on_the_way, 0)
