"""What stands between two loops is written out in the inner one, where that means the same."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.perfect_nests import perfect_nests
from loopwright.ir.text import parse_kernel, print_kernel

HEAD = """
kernel rows(n: int64, m: int64, a: float64[1] C, c: int64[1] C):
    var start: int64
    var k: int64
    for i in 0 .. n:
"""
INNER = """        for j in 0 .. m:
            a[start + j] = float64(start)
"""


def test_it_is_written_out() -> None:
    kernel = parse_kernel(HEAD + "        k = i + 1\n        start = k * m\n" + INNER)
    changed = print_kernel(perfect_nests(kernel))
    assert "a[(i + 1) * m + j] = float64((i + 1) * m)" in changed and "start =" not in changed


@pytest.mark.parametrize(
    "body",
    [
        "        start = c[i]\n" + INNER,
        "        start = checked(n // m, m != 0, zero_division)\n" + INNER,
        "        start = i * m\n        start = start + 1\n" + INNER,
        "        start = i * m\n" + INNER + "        a[start] = 0.0\n",
        "        start = i * m\n" + INNER + "    c[0] = start\n",
        "        start = k * m\n" + INNER + "            k = k + 1\n",
        "        allocate b: int64[i]\n        start = size(b, 0)\n"
        + INNER.replace("a[start + j]", "allocate b: int64[j]\n            a[start + j]"),
        "        a[i] = 0.0\n        start = i * m\n" + INNER,
    ],
)
def test_what_would_mean_something_else_stays(body: str) -> None:
    head = (
        HEAD.replace("    for i", "    k = 0\n    start = 0\n    for i") if "k = k" in body or "c[0]" in body else HEAD
    )
    kernel = parse_kernel(head + body)
    assert perfect_nests(kernel) is kernel


@lw.kernel
def blocks(x, w):
    n = len(x)
    size = 1
    while size < n:
        for s in range(n // (2 * size)):
            start = 2 * s * size
            for k in range(size):
                t = x[start + k]
                x[start + k] = t + w[k] * x[start + k + size]
        size = 2 * size


@pytest.mark.parametrize("n", [0, 1, 8, 100])
def test_results_are_cpythons(n: int) -> None:
    x, w = np.arange(float(n)), np.ones(n)
    wanted = x.copy()
    blocks.py_func(wanted, w)
    blocks(x, w)
    np.testing.assert_array_equal(x, wanted)
