"""The markers work in plain Python, and are found whatever they are called."""

from __future__ import annotations

import numpy as np

import loopwright
from frontend.judge import define, kernel_of, same
from loopwright.frontend.markers import function, prange


def test_plain_python_is_left_alone():
    @function
    def helper(x):
        return x + 1

    assert helper(1) == 2
    assert list(prange(1, 6, 2)) == [1, 3, 5]
    assert list(prange(3)) == [0, 1, 2]
    assert len(prange(4)) == 4
    assert repr(prange(4)) == "prange(0, 4)"


def test_the_public_names():
    assert loopwright.prange is prange
    assert loopwright.function is function


def test_other_names_for_them():
    helper = function(define("def helper(x):\n    return x + 1\n", file="helper.py"))
    text = """
        def f(a):
            for i in loops(len(a)):
                a[i] = plus(a[i])
        """
    kernel = define(text, loops=prange, plus=helper)
    same(kernel, np.zeros(3))
    assert kernel_of(kernel, np.zeros(3)).body[0].asserted
