"""Gamma, chi-square and Poisson numbers of NumPy's global generator: the same ones, and the same state afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define


@lw.kernel
def drawn(out, counts, a, b):
    for i in range(len(out)):
        out[i, 0] = np.random.gamma(a, b)
        out[i, 1] = np.random.chisquare(a * 2)
        out[i, 2] = np.random.standard_gamma(shape=b)
        counts[i] = np.random.poisson(b)
    return np.random.poisson(b * 3, 4), np.random.gamma(a, size=(2, 2)), np.random.poisson(), np.random.random()


@pytest.mark.parametrize("a", [0.3, 1.0, 2.5, 40.0])
@pytest.mark.parametrize("b", [0.0, 0.5, 3.0, 9.9, 10.0, 55.5, 1e4])
def test_the_numbers_are_numpys(a, b):
    results = []
    for run in (drawn.py_func, drawn):
        out, counts = np.zeros((200, 3)), np.zeros(200, np.int64)
        np.random.seed(4)
        results.append((*run(out, counts, a, b), out, counts, np.random.random()))
    for mine, theirs in zip(*results, strict=True):
        assert np.array_equal(mine, theirs) and np.result_type(mine) == np.result_type(theirs)


@pytest.mark.parametrize(
    "text", ["poisson(-1.0)", "poisson(np.nan)", "gamma(-1.0)", "gamma(1.0, -2.0)", "chisquare(0.0)", "poisson(1e19)"]
)
def test_parameters_out_of_range(text):
    function = define(f"def f():\n    return np.random.{text}\n", file=f"draws {text}.py")
    with pytest.raises(ValueError) as theirs:
        function()
    with pytest.raises(ValueError) as ours:
        lw.kernel(function)()
    assert str(ours.value) == str(theirs.value)


def test_a_parameter_that_is_missing():
    with pytest.raises(lw.KernelError, match="needs a value for 'df'"):
        lw.kernel(define("def f():\n    return np.random.chisquare()\n", file="missing.py"))()
