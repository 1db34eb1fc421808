"""Draws of NumPy's global generator that count trials: the same numbers, and the same state afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define


@lw.kernel
def drawn(out, n, p):
    for i in range(len(out)):
        out[i, 0] = np.random.binomial(n, p)
        out[i, 1] = np.random.geometric(p)
        out[i, 2] = np.random.negative_binomial(n, p)
    return (
        np.random.binomial(n, p),
        np.random.binomial(n, p, 5),
        np.random.geometric(p, size=(2, 2)),
        np.random.random(),
    )


@pytest.mark.parametrize("p", [1e-3, 0.1, 0.3333, 0.5, 0.77, 0.999, 1.0])
@pytest.mark.parametrize("n", [1, 7, 61, 200, 100_000])
def test_the_numbers_are_numpys(n, p):
    results = []
    for run in (drawn.py_func, drawn):
        out = np.zeros((120, 3), np.int64)
        np.random.seed(n)
        results.append((*run(out, n, p), out, np.random.random()))
    for mine, theirs in zip(*results, strict=True):
        assert np.array_equal(mine, theirs) and np.result_type(mine) == np.result_type(theirs)


@lw.kernel
def divided(n, p):
    total = np.zeros(len(p), np.int64)
    for _ in range(60):
        total += np.random.multinomial(n, p) * (1 + total % 3)
    return total, np.random.random()


@pytest.mark.parametrize("p", [(0.2, 0.3, 0.5), (1.0,), (0.0, 1.0), (0.5, 0.5, 0.0), (0.1, 0.1, 0.1, 0.1)])
@pytest.mark.parametrize("n", [0, 1, 40, 5000])
def test_how_many_end_in_each_way(n, p):
    results = []
    for run in (divided.py_func, divided):
        np.random.seed(8)
        results.append(run(n, np.array(p)))
    assert (results[0][0] == results[1][0]).all() and results[0][1] == results[1][1]


@pytest.mark.parametrize("text", [
    "binomial(5, -0.1)", "binomial(5, 1.1)", "binomial(-1, 0.5)", "geometric(0.0)",
    "geometric(1.5)", "negative_binomial(0.0, 0.5)", "negative_binomial(2.0, 1.5)",
    "multinomial(3, np.array([0.7, 0.7, 0.1]))", "multinomial(3, np.array([-0.7, 0.7, 0.1]))",
    "multinomial(-3, np.array([0.2, 0.8]))",
])  # fmt: skip
def test_parameters_out_of_range(text):
    function = define(f"def f():\n    return np.random.{text}\n", file=f"draws {text}.py")
    with pytest.raises(ValueError) as theirs:
        function()
    with pytest.raises(ValueError) as ours:
        lw.kernel(function)()
    assert str(ours.value) == str(theirs.value)


def test_a_size_is_refused():
    with pytest.raises(lw.KernelError, match="takes no size here"):
        lw.kernel(define("def f(p):\n    return np.random.multinomial(3, p, 4)\n", file="size.py"))(
            np.array([0.5, 0.5])
        )
