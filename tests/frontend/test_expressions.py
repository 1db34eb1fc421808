"""Expressions of several kinds in one place, against CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest

from frontend.judge import define, refusal, same

EXPRESSIONS = [
    "1 + 2 * x - (3 // 2)", "x ** 2 + y ** 0.5", "-x % 3, x % -3, -x // 2", "(1, *(x, y), 2)[2]", "((x, y), 3)[0][1]",
    "(x, y)[1:][0]", "(1, 2, x)[::-1][0]", "(x,) + (y, 1)", "len((x,) + (y, 1))", "math.pi * x", "x << 2 | y & 1 ^ 3",
    "True + x", "0xff & x", "1_000 * x", "1e-3 * x", "+x - -y", "~x", "(w := x + 1) * w", "x if x > y else -x",
    "a.shape[0] * x",
    "a.size + a.ndim", "np.float32(x) + y", "a[x - 3] + a[-1]", "a.shape[-1]", "len(a.shape)",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_like_python(expression):
    function = define(f"def f(a, x, y):\n    r = {expression}\n    return r\n", math=math)
    same(function, np.array([3.0, 1.5]), 3, 2)


def test_attributes_of_what_is_known():
    class Numbers:
        SCALE = 3

    function = define("def f(x):\n    return x * Numbers.SCALE\n", Numbers=Numbers)
    same(function, 2)
    assert "'.missing' of a type" in refusal(define("def f(x):\n    return Numbers.missing\n", Numbers=Numbers), 2)


def test_star_of_what_is_no_tuple():
    assert "'*' takes a tuple here" in refusal(define("def f(a, x):\n    return (1, *a)\n"), np.zeros(2), 1)


def test_slices_of_tuples_need_constants():
    assert "constant bounds" in refusal(define("def f(a, x):\n    return (1, 2.5)[x:]\n"), np.zeros(2), 1)
