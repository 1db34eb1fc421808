"""Lambdas: with a name, as arguments; what their free names mean."""

from __future__ import annotations

import numpy as np

from frontend.judge import define, refusal, same


def twice(function, value):
    return function(value) + function(1.0)


def test_a_lambda_reads_its_names_when_it_is_called():
    function = define(
        """
        def f(a, n):
            k = 1
            f = lambda x: x + k
            k = 2
            g = lambda x, y=3: f(x) * y
            total = 0.0
            for i in range(n):
                k += i
                total += f(a[0]) + g(i)
            h = lambda v: twice(lambda w: w * v + total, v)
            return total, g(1), h(2.0), twice(f, 2), twice(lambda x: x * n, 3)
        """,
        twice=twice,
    )
    same(function, np.array([4.0, 0.5]), 5)


def test_refused():
    told = refusal(define("def f(n):\n    f, g = lambda x: x, 1\n    return g\n"), 3)
    assert "a lambda cannot be used here" in told
    text = "def f(n):\n    x = [twice(lambda v: v * q, 1.0) for q in range(n)]\n    return x[0]\n"
    assert "'q' belongs to a comprehension" in refusal(define(text, twice=twice), 3)
