"""Operations that both sides of a condition end with: which are done behind it, and that values stay the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel

HEAD = """
kernel f(a: float64[1] C, out: float64[1] C, k: float64, m: float64):
    var x: float64
    var y: float64
    x = k
    y = k
    for i in 0 .. size(a, 0):
"""
SUNK = {
    "y = a[i] / k if a[i] > 0.0 else m / k": " / k",
    "y = k / a[i] if a[i] > 0.0 else k / m": "k / ",
    "y = sqrt(a[i]) if a[i] > 0.0 else sqrt(m)": "sqrt",
    "y = arctan2(a[i], k) if a[i] > 0.0 else arctan2(m, k)": "arctan2",
    "if a[i] > 0.0:\n            y = a[i] / k\n        else:\n            y = m / k": " / k",
    "if a[i] > 0.0:\n            x = 2.0\n            y = a[i] / k\n        else:\n            y = x / k": " / k",
    "if a[i] > 1.0:\n            y = a[i] / k\n        else:\n            if a[i] > 0.0:\n                y = x / k\n"
    "            else:\n                y = m / k": " / k",
}
NOT = {
    "y = a[i] / k if a[i] > 0.0 else m / x": " / ",
    "y = a[i] / k if a[i] > 0.0 else x / m": " / ",
    "y = k / a[0] if a[i] > 0.0 else m / a[0]": " / ",  # it may be outside
    "y = sqrt(a[i]) if a[i] > 0.0 else exp(m)": "(",
    "y = a[i] + k if a[i] > 0.0 else m + k": " + k",  # costs nothing
    "if a[i] > 0.0:\n            x = 2.0\n            y = a[i] / x\n        else:\n            y = m / x": " / x",
    "if a[i] > 0.0:\n            y = a[i] / y\n        else:\n            y = m / y": " / y",
    "if a[i] > 0.0:\n            y = a[i] / k\n        else:\n            x = m / k": " / k",
}


@pytest.mark.parametrize("text", [*SUNK, *NOT])
def test_which(text: str) -> None:
    kernel = parse_kernel(f"{HEAD}        {text}\n        out[i] = x + y\n")
    simple = simplify(kernel)
    before, after = (print_kernel(one).split("for i")[1].count((SUNK | NOT)[text]) for one in (kernel, simple))
    assert after == (1 if text in SUNK else before) and before > 1
    a = np.array([1.5, -2.0, 0.0, np.nan, np.inf, -np.inf, 3.0, 1e300, -0.0])
    mine, expected = np.zeros((2, len(a)))
    interpret(kernel, [a, expected, 3.0, 0.7])
    interpret(simple, [a, mine, 3.0, 0.7])
    np.testing.assert_array_equal(mine.view(np.int64), expected.view(np.int64))


def upwind(u: Any, flux: Any, dx: Any) -> None:
    for i in range(1, len(u) - 1):
        if u[i] > 0:
            slope = u[i] * (u[i] - u[i - 1]) / dx
        elif u[i] < -1:
            slope = u[i] / dx
        else:
            slope = u[i] * (u[i + 1] - u[i]) / dx
        flux[i] = slope


def test_as_python() -> None:
    u = np.random.default_rng(1).normal(size=500)
    mine, pythons = np.zeros((2, 500))
    lw.kernel(upwind)(u, mine, np.float64(0.3))
    upwind(u, pythons, np.float64(0.3))
    np.testing.assert_allclose(mine, pythons, rtol=1e-14)
