"""Returns out of loops become breaks, and then the kernel ends; on a GPU other loops stay on it."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.early_returns import without_early_returns
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import For, Return, While
from loopwright.ir.text import parse_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements

HEAD = (
    "kernel k(a: float64[2] C, t: float64) -> tuple(python int64, python float64):\n    var s: float64\n    s = 0.0\n"
)
FILL = "for k in 0 .. size(a, 0):\n    a[k, 0] = a[k, 0] + 1.0\n"
BODIES = {
    "one loop": "for i in 0 .. size(a, 0):\n    s = s + a[i, 0]\n    if s > t:\n        return i, s * 2.0\n",
    "two": (
        "for i in 0 .. size(a, 0):\n    for j in 0 .. size(a, 1):\n        s = s + a[i, j]\n        if s > t:\n"
        "            return i + j, s\n        a[i, j] = 0.0\n    s = s + 1.0\n"
    ),
    "a while in a branch": (
        "if t > 2.0:\n    while s < t named w:\n        s = s + 1.5\n        if s > 3.0:\n            return 7, s\n"
        "for i in 0 .. size(a, 0):\n    if a[i, 0] > t:\n        return i, a[i, 0]\n    else:\n        a[i, 0] = 2.0\n"
    ),
}


@pytest.mark.parametrize("case", BODIES)
def test_the_same_is_computed(case: str) -> None:
    body = FILL + BODIES[case] + "return -1, s\n"
    kernel = parse_kernel(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    changed = without_early_returns(kernel)
    verify(changed)
    inside = [one for loop in statements(changed.body, For, While) for one in statements(loop.body)]
    assert not any(isinstance(one, Return) for one in inside)
    for rows, limit in ((0, 1.0), (1, 0.5), (3, 4.0), (3, 2.5), (4, 100.0), (4, -1.0)):
        found = []
        for one in (kernel, changed):
            a = np.arange(2.0 * rows).reshape(rows, 2)
            found.append((interpret(one, [a, limit]), a.tolist()))
        assert found[0] == found[1]


def test_a_loop_alone_is_left_to_be_searched() -> None:
    kernel = parse_kernel(
        HEAD + "".join(f"    {line}\n" for line in (BODIES["one loop"] + "return -1, s").splitlines())
    )
    assert without_early_returns(kernel) is kernel


@lw.kernel
def quantile(x, share, counts):
    for i in range(x.shape[0]):
        counts[int(x[i] * counts.shape[0])] += 1
    below = 0
    for b in range(50):
        below += counts[b]
        if below >= share * x.shape[0]:
            return b / 50, below
    return 1.0, below


@pytest.mark.parametrize("share", [0.1, 0.9, 0.0, 2.0])
def test_on_a_gpu_the_other_loops_stay_there(share: float) -> None:
    x, mine, right = np.random.default_rng(2).random(300), np.zeros(50, np.int64), np.zeros(50, np.int64)
    with lw.options(device="emulated"):
        assert quantile(x, share, mine) == quantile.py_func(x, share, right)
        assert "block.x" in str(quantile.explain(x, share, mine).schedule)
    np.testing.assert_array_equal(mine, right)
