"""Iterators that have a name, against CPython."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, refusal, same
from loopwright.ir.interp import interpret


def places(g):
    it = np.ndindex(g.shape)
    next(it)
    s = np.float64(0.0)
    for k, idx in enumerate(it):
        s += g[idx] * (k + 1) + idx[0]
    return s


def two_loops(x):
    it = iter(x)
    first = next(it)
    out = []
    for v in it:
        if v > first:
            break
        out.append(v)
    rest = np.float64(0.0)
    for v in it:
        rest += v
    return first, out, rest


def pairs(x, n):
    pairs = zip(x, range(n))  # noqa: B905
    s = np.float64(0.0)
    while True:
        u, k = next(pairs)
        s += u * k
        if s > 3:
            break
    return s


def anew(x):
    s = np.float64(0.0)
    for i in range(3):
        e = enumerate(x)
        next(e)
        for k, v in e:
            s += k * v + i
    return s


def over_again(x):
    it = iter(x)
    s = np.float64(0.0)
    for i in range(2):
        for v in it:
            s += v
            if i == 0:
                break
    return s


def not_the_first(g):
    indices = np.ndindex(g.shape)
    next(indices)
    m = np.float64(0.0)
    for idx in indices:
        i = 0
        for k, v in enumerate(idx):
            if v > 0:
                i = k
                break
        m += g[idx] + i
    return m


def cases():
    yield places, np.arange(6.0).reshape(2, 3)
    yield places, np.arange(6.0)
    yield two_loops, np.array([3.0, 1, 2, 4, 5])
    yield two_loops, np.ones(1)
    yield pairs, np.arange(5.0), 5
    yield anew, np.arange(4.0)
    yield over_again, np.arange(4.0)
    yield over_again, np.zeros(0)
    yield not_the_first, np.arange(8.0).reshape(2, 2, 2)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0].__name__)
def test_like_python(case):
    function, *arguments = case
    same(function, *arguments)


@pytest.mark.parametrize("case", [
    (places, np.zeros((0, 3))), (two_loops, np.zeros(0)), (pairs, np.arange(5.0), 2), (anew, np.zeros(0)),
], ids=lambda case: case[0].__name__)  # fmt: skip
def test_an_end_is_an_exception(case):
    function, *arguments = case
    with pytest.raises(StopIteration):
        function(*arguments)
    with pytest.raises(StopIteration):
        interpret(kernel_of(function, *arguments), arguments)


@pytest.mark.parametrize(("text", "message"), [
    ("next(x)", "next() of a 1-dimensional array is outside the language"),
    ("next(iter(x), 0)", "next() takes an iterator here"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(x):\n    return {text}\n"), np.ones(2))
