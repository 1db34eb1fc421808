"""Draws of NumPy's global generator that are functions of others: the same numbers, and the same state afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define

CASES = [
    ("lognormal", ("", "0.5, 2.0", "-1.0, 0.0")), ("weibull", ("0.0", "0.7", "5.0")), ("pareto", ("0.3", "4.0")),
    ("power", ("0.3", "4.0")), ("rayleigh", ("", "2.5", "0.0")), ("laplace", ("", "1.5, 0.2")),
    ("gumbel", ("", "1.5, 0.2")), ("logistic", ("", "1.5, 0.2")), ("triangular", ("0.0, 0.5, 1.0", "-2.0, -2.0, 3.0")),
    ("beta", ("0.5, 0.7", "2.0, 3.0", "1.0, 1.0", "0.001, 0.001", "0.4, 9.0")), ("standard_t", ("0.8", "3.0", "40.0")),
    ("standard_cauchy", ("",)), ("f", ("1.0, 2.0", "9.0, 4.0")), ("wald", ("1.0, 2.0", "5.0, 0.3")),
    ("vonmises", ("0.0, 1.0", "1.0, 0.0", "-2.0, 1e-6", "3.0, 40.0")), ("zipf", ("1.1", "2.0", "6.0")),
    ("logseries", ("0.1", "0.6", "0.99")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "all_given"), CASES, ids=[name for name, _ in CASES])
def test_the_numbers_are_numpys(name, all_given):
    lines = "".join(f"    a{k} = np.random.{name}({given})\n" for k, given in enumerate(all_given))
    lines += "".join(f"    for i in range(len(out)):\n        out[i, {k}] = np.random.{name}({given})\n"
                     for k, given in enumerate(all_given))  # fmt: skip
    results = ", ".join(f"a{k}" for k in range(len(all_given)))
    function = define(f"def f(out):\n{lines}    return {results}, np.random.random()\n", file=f"draws {name}.py")
    found = []
    for run in (function, lw.kernel(function)):
        out = np.zeros((150, len(all_given)))
        np.random.seed(11)
        found.append((*run(out), out, np.random.random()))
    for mine, theirs in zip(*found, strict=True):
        assert np.array_equal(mine, theirs) and np.result_type(mine) == np.result_type(theirs)


@pytest.mark.parametrize("text", [
    "lognormal(0.0, -1.0)", "weibull(-1.0)", "pareto(0.0)", "power(-2.0)", "rayleigh(-1.0)", "laplace(0.0, -1.0)",
    "gumbel(0.0, -1.0)", "logistic(0.0, -1.0)", "triangular(1.0, 0.5, 2.0)", "triangular(1.0, 3.0, 2.0)",
    "triangular(1.0, 1.0, 1.0)", "beta(0.0, 1.0)", "beta(1.0, -1.0)", "standard_t(0.0)", "f(0.0, 1.0)", "f(1.0, 0.0)",
    "wald(0.0, 1.0)", "wald(1.0, 0.0)", "vonmises(0.0, -1.0)", "zipf(1.0)", "logseries(1.0)", "logseries(np.nan)",
])  # fmt: skip
def test_parameters_out_of_range(text):
    function = define(f"def f():\n    return np.random.{text}\n", file=f"draws {text}.py")
    with pytest.raises(ValueError) as theirs:
        function()
    with pytest.raises(ValueError) as ours:
        lw.kernel(function)()
    assert str(ours.value) == str(theirs.value)
