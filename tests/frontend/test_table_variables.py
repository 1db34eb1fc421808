"""Names for several sets or dicts: one that is begun anew, the frontier of a search; what is refused."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same


def packets(rings):
    of = np.full(len(rings), -1)
    seen = set()
    packet = 0
    for i in range(len(rings)):
        r = int(rings[i])
        if r in seen:
            packet += 1
            seen = set()
        seen.add(r)
        of[i] = packet
    return of, len(seen), sorted(seen)


def levels(linked, start):
    frontier = {start}
    done = set()
    sizes = []
    while frontier:
        following = set()
        for u in frontier:
            done.add(u)
            for v in range(len(linked)):
                if linked[u, v] and v not in done and v not in frontier:
                    following.add(v)
        sizes.append(len(following))
        frontier = following
    return sizes, sorted(done)


def in_order(n):
    s = {1000, 7}
    met = []
    for k in range(n):
        t = set()
        for x in s:
            t.add((x * 7 + k) % 1023)
        t.discard(7)
        t.add(k * 64)
        s = t
        for x in s:
            met.append(x)
    s.add(5)
    s.pop()
    for x in s:
        met.append(x)
    return met


def dicts(n):
    d = {0: 1.5}
    for k in range(n):
        e = {}
        for a, b in d.items():
            if a % 3:
                e[a] = b + 1
        e[k] = 0.5 * k
        d = e
    return list(d.items())


def the_one_before(n):
    s = set()
    met = 0
    for k in range(n):
        old = s
        s = set()
        s.add(k)
        for x in old:
            s.add(x + 1)
        met += len(old) * len(s)
    return met, sorted(s)


def updated(n):
    s = set()
    if n > 1:
        s = {n}
    for x in range(n):
        s |= {x, x + 1}
    return sorted(s)


def found(a):
    result = set()
    for x in a:
        result.add(int(x))
    return result


def of_helpers(a, n):
    s = found(a)
    for k in range(n):
        s = found(a[k:])
    return sorted(s)


def chosen(a, first):
    if first:
        s = set(a)
    else:
        s = {x * 2 for x in a}
    s.add(a[0])
    return len(s), sorted(s)


def of_pairs(n):
    s = {(0, 1)}
    for k in range(n):
        s = {(k, k + 1), (k, 5)}
        s = s | {(k, 9)}
    return sorted(s)


def test_as_cpython():
    rng = np.random.default_rng(1)
    linked = rng.random((12, 12)) > 0.8
    for rings in (rng.integers(-1, 6, 60), np.array([], np.int64), np.array([3, 3], np.int8)):
        same(packets, rings)
    same(levels, linked, 0)
    for n in (0, 1, 2, 7, 30):
        for function in (in_order, dicts, the_one_before, updated, of_pairs):
            same(function, n)
        same(of_helpers, np.arange(5), min(n, 4))
    for first in (True, False):
        same(chosen, np.array([3, 1, 3]), first)


def later(a):
    for x in a:
        if x > 2:
            s = set()
        s.add(x)
    return len(s)


def test_read_before_it_is_assigned():
    same(later, np.array([3, 1]))
    with pytest.raises(UnboundLocalError):
        lw.kernel(later)(np.array([1, 3]))


REFUSED = {
    "s = {1}\n    t = s\n    for k in range(n):\n        s = {k}\n    t.add(9)\n    return len(t) + len(s)": "'t' is another name for a set that is assigned again",
    "s = {1}\n    t = {2}\n    for k in range(n):\n        s = t\n        s.add(k)\n    return len(t) + len(s)": "'s' is assigned a set that another name still refers to",
    "s = {1}\n    for k in range(n):\n        s = {1: k}\n    return len(s)": "'s' stands for several dicts that hold lists or arrays, or for dicts and sets",
    "s = None\n    for k in range(n):\n        if s is None:\n            s = {k}\n    return s": "'s' is a set here, and None elsewhere",
    "s = None\n    for k in range(n):\n        t = [k]\n        t.append(n)\n        if s is None or k > len(s):\n            s = t\n    return s": "'s' is a list here, and None elsewhere",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    assert REFUSED[body] in refusal(define(f"def f(n):\n    {body}\n", f"table_variables_{len(body)}.py"), 3)
