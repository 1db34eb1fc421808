"""Sets and dicts in kernels, interpreted and compiled: CPython's results, order and errors."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define, refusal, same

BODIES = [
    "s = set(); s.add(n); s.add(3); s.add(n); return len(s), 3 in s, 4 in s, n in s, 4 not in s",
    "s = {3, n}; s.discard(3); s.discard(99); return len(s), 3 in s, 5.0 in s", "s = {1}; s.remove(n); return len(s)",
    "s = {40, 1, 33, 8, 17, 100, -1, -2}; return list(s)", "s = {1, 2}; s.clear(); s.add(n); return s",
    "s = {k * 37 % 1001 for k in range(n * 50)}; s.discard(37); s.add(5005); return list(s), sum(s), min(s), max(s)",
    "s = {k * 0.37 for k in range(n * 10)}; s.add(-1.0); s.add(1e300); s.add(-3.7e-310); return list(s), 2 in s",
    "s = {(k % 7, -k) for k in range(n * 10)}; s.add((1, 2)); return list(s), (0, 0) in s, (0, 1) in s",
    "s = {1, 2, 3, n}; x = s.pop(); s.add(77); y = s.pop(); return x, y, list(s)", "s = {1}; s.pop(); return s.pop()",
    "s = set(range(0, 60, 3)); t = set(range(0, 60, 2)); return list(s | t), list(s & t), list(s - t), list(t - s)",
    "s = set([5, 1, 9]); s.update([4, 4, 2]); s.update({1000 * k for k in range(n)}); s |= {7}; return list(s.copy())",
    "s = set(a); return s, sorted(s, reverse=True)", "return sorted({k % 3 for k in range(n)})",
    "s = {n}; t = 0\n    while s:\n        t += s.pop()\n        if t < 99:\n            s.add(t)\n            s.add(t + 1)\n    return t",
    "d = {}; d[n] = 1.5; d[3] = 2.5; d[n] += 1.0; return d[n], d[3], len(d), 4 in d, 3 in d",
    "d = {1: 2, n: 4}; return d.get(1, 0), d.get(2, 7)", "d = {1: 2}; return d[n]", "d = {1: 2}; del d[n]; return 1",
    "d = {5: 1, 2: 2, 9: 3}; del d[2]; d[2] = 8; d[n] = 4; return list(d), list(d.values()), list(d.items()), d",
    "d = {k * k % 101: k for k in range(n * 20)}; return d, list(d), sum(d.values()), max(d), min(d.values())",
    "d = {(i, j): i * 0.5 + j for i in range(n) for j in range(i)}; d[7, 7] = 1.0; return d, list(d), d[2, 1], (1, 0) in d",
    "d = {1: (2, 3.5)}; d[n] = (4, 5.5); x, y = d[n]; return x, y, list(d.values()), d.get(8, (0, 1.5))",
    "d = {k * 7 % 5: k for k in range(n)}; e = d.copy(); e[100] = 1; d[200] = 2; d.update(e); d.update(d); del e[0]; return d, e, list(d)",
    "d = {(1, 2): (3, 4.0)}; e = d.copy(); d[n, n] = (1, 1.0); e.update(d); e[1, 2] = (9, 9.0); return d, e, list(e.items())",
    "d = {1: 2, 5: 6}; x = d.pop(1); y = d.pop(9, -1); d.setdefault(5, 0); d.setdefault(7, 70); return x, y, d",
    "d = dict(); d[1] = True; d[0] = n > 9; return any(d.values()), all(d.values()), not d", "d = {1: 1}; d.clear(); d[4] = 5; return d",
    "d = {1: 2}\n    for k in d:\n        d[k + n] = 3\n    return len(d)", "s = {1, 2}\n    for k in s:\n        s.add(k + n)\n    return len(s)",
    "d = {1: 2}\n    for k in d:\n        if k + n > 0:\n            d[k + n] = 3\n            break\n    return d",
    "d = {}\n    for x in a:\n        if x in d:\n            d[x] += 1\n        else:\n            d[x] = 1\n    return d",
    "d = {1: 1.0, 2: 0.5}\n    for k, v in d.items():\n        d[2] += v\n    for i, v in enumerate(d.values()):\n        d[1] -= i * v\n    return d",
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_as_python(body):
    lines = body if "\n" in body else "\n    ".join(body.split("; "))
    same(define(f"def f(a, n):\n    {lines}\n"), np.array([4.0, 0.5, 4.0]), 5)


def everything(a, n):
    counts = {}
    seen = set()
    pairs = {}
    for k in range(len(a)):
        counts[int(a[k])] = counts.get(int(a[k]), 0) + 1
        seen.add(int(a[k]) % n)
        pairs[k % n, int(a[k])] = float(k)
        if k % 5 == 4:
            del counts[int(a[k])]
            seen.discard(k % n)
    total = 0.0
    for (i, j), v in pairs.items():
        total += i * j * v
    return counts, list(counts.items()), seen, list(seen), total, sorted(seen & {k * 2 for k in range(n)})


def test_compiled():
    kernel = lw.kernel(everything)
    for size, n in ((0, 1), (9, 4), (5000, 700)):
        a = np.random.default_rng(size).integers(0, 1000, size)
        assert alike_tables(kernel(a, n), everything(a, n))


def alike_tables(one, other):
    return all(alike(list(x.items()) if isinstance(x, dict) else x, list(y.items()) if isinstance(y, dict) else y)
               if not isinstance(x, set) else x == y for x, y in zip(one, other, strict=True))  # fmt: skip


REFUSED = {
    "s = set()\n    return len(s), s.pop()": "nothing is put into this set",
    "d = {1: 2}\n    return d.get(n)": "'.get()' may give None here",
    "s = {1}\n    s.add((1, 2))\n    return len(s)": "each key is of one kind here",
    "s = {(1, 0.5)}\n    return len(s)": "a key that is a tuple with a float in it",
    "s = {'a'}\n    return len(s)": "a key that is a str is outside the language",
    "s = {1, 2}\n    return s[0]": "a set has no elements to index",
    "d = {1: [n]}\n    e = d.copy()\n    return len(e)": "a dict of lists or arrays cannot be copied",
    "d = {1: n}\n    d.update([n])\n    return len(d)": "a dict cannot be updated by",
    "s = {1}\n    s.frob()": "'.frob()' of a set is outside the language",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body):
    assert REFUSED[body] in refusal(define(f"def f(n):\n    {body}\n", f"tables_{len(body)}.py"), 3)


def merged_with_itself(n):
    s = {1, 9, 17, 33}
    for i in range(n):
        s.add(i * 5)
    s |= s
    s.update(s)
    return list(s)


def test_a_set_merged_with_itself_keeps_its_order():
    for n in (0, 1, 3, 7, 20):
        same(merged_with_itself, n)
