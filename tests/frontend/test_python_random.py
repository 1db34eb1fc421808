"""Draws of Python's global generator: its numbers, and where it stands after a call."""

from __future__ import annotations

import copy
import functools
import random
from random import uniform

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike, define

_kernel = functools.cache(lw.kernel)
"""Of a function that is judged several times: the same one, so that it is compiled once for each kind of call."""


def judge(function, *arguments, seed=5):
    """Both ways from the same state: the same result, the same arrays, and the same state behind them."""
    before = random.getstate()
    try:
        found = []
        for run in (function, _kernel(function)):
            random.seed(seed)
            given = copy.deepcopy(arguments)
            try:
                result = run(*given)
            except Exception as error:
                result = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
            found.append((result, given, random.getstate()))
        (mine, own, state), (theirs, ours, other) = found
        assert alike(mine, theirs) and all(map(alike, own, ours))
        assert state == other
    finally:
        random.setstate(before)


def draws(n, a):
    total = 0.0
    for _ in range(n):
        total += random.random() + random.uniform(-1, 3.5) + uniform(2, 1)
        total += random.randint(1, 6) + random.randrange(10) + random.randrange(3, 50, 7) + random.randrange(5, -9, -2)
        total += random.gauss(1.0, 2.0) + random.gauss() + random.normalvariate(sigma=2) + random.expovariate(0.5)
        total += (
            random.choice(a) + random.getrandbits(20) % 7 + random.getrandbits(50) % 5 + random.randint(0, 2**40) % 3
        )
    return float(total)


def orders(a):
    random.shuffle(a)
    x = [1, 2, 3, 4, 5]
    random.shuffle(x)
    return x, random.choice(x), random.choice((2.5, 1.0, 0.0)), random.gauss(0, 1)


def seeded(number):
    random.seed(number)
    return random.random(), random.randint(0, 9), random.gauss(0.0, 1.0)


@pytest.mark.parametrize("device", ["cpu", "interpreter", "emulated"])
def test_as_python_draws(device):
    with lw.options(device=device):
        for n in (0, 1, 5):
            judge(draws, n, np.arange(9.0))
        judge(orders, np.arange(9.0))
        judge(orders, np.arange(0.0))
        judge(seeded, 3)


def test_over_the_end_of_the_624_numbers():
    judge(draws, 200, np.arange(5.0)[::-1])


@pytest.mark.parametrize("number", [0, 1, -7, 2**31, 2**32 - 1, 2**32, 2**33 + 5, 2**62, -(2**40)])
def test_seeds(number):
    judge(seeded, number)


def test_a_normal_number_left_over_is_pythons():
    """One of two that Python made, drawn here; and one made here, drawn by Python."""
    function = define("def f():\n    return random.gauss(0.0, 1.0)\n", random=random)
    kernel = lw.kernel(function)
    random.seed(1)
    expected = [random.gauss(0.0, 1.0) for _ in range(4)]
    random.seed(1)
    assert [random.gauss(0.0, 1.0), kernel(), kernel(), random.gauss(0.0, 1.0)] == expected


@pytest.mark.parametrize("text", [
    "random.randint(3, 2)", "random.randrange(0)", "random.randrange(1, 5, 0)", "random.choice(a[:0])",
    "a[int(random.random() * 9) + 9]",
])  # fmt: skip
def test_what_raises_has_drawn_as_much(text):
    judge(define(f"def f(a):\n    x = random.random()\n    return {text} + x\n", random=random), np.arange(3.0))


def test_beside_numpys_generator():
    function = define("""
        def f(n):
            total = 0.0
            for i in range(n):
                total += random.random() * np.random.random()
                if i == 2:
                    print(i)
            return total
        """, random=random)  # fmt: skip
    np.random.seed(2)
    random.seed(2)
    expected = function(5)
    np.random.seed(2)
    random.seed(2)
    assert lw.kernel(function)(5) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("random.betavariate(1, 2)", "there are choice, expovariate"), ("random.seed(a[0])", "takes an integer"),
    ("random.shuffle(m)", "takes a list or an array of one axis"), ("random.uniform(1)", "takes 2 arguments"),
])  # fmt: skip
def test_refused(text, message):
    function = define(f"def f(a, m):\n    {text}\n    return 0\n", random=random)
    with pytest.raises(lw.KernelError) as caught:
        lw.kernel(function)(np.ones(3), np.ones((2, 2)))
    assert message in str(caught.value)
