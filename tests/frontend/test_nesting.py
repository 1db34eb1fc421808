"""What is nested more deeply than Python's stack goes is refused at its place; with a larger stack it works."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import loopwright as lw
from loopwright.errors import KernelError
from meaning.judge import function_of

SUM = (
    "def kernel(a):\n    for i in range(len(a)):\n        b = 1.0\n        a[i] = " + " + ".join(["a[i]"] * 600) + "\n"
)
CHOICES = "def kernel(a):\n    for i in range(len(a)):\n        if i == 0:\n            a[i] = 0.5\n" + "".join(
    f"        elif i == {j}:\n            a[i] = {j}.0\n" for j in range(1, 400)
)
CONDITION = "def kernel(a):\n    for i in range(len(a)):\n        if " + " and ".join(
    f"a[i] != {j}.0" for j in range(2, 1000)
) + ":\n            a[i] = 1.0\n"  # fmt: skip


@pytest.mark.parametrize(("text", "line"), [(SUM, 4), (CONDITION, 3), (CHOICES, 802)], ids=["sum", "and", "elif"])
def test_it_is_refused_at_its_place(text: str, line: int) -> None:
    kernel = lw.kernel(function_of(text))
    with lw.options(device="interpreter"), pytest.raises(KernelError) as caught:
        kernel(np.ones(3))
    error = caught.value
    assert error.at is not None
    assert "nested too deeply" in error.what and abs(error.at.line - line) <= 2 and "levels" in error.why
    assert "statements of their own" in error.remedy and "setrecursionlimit" in error.remedy


def test_a_larger_stack_is_enough() -> None:
    kernel, a = lw.kernel(function_of(SUM.replace("len(a)", "len(a) + 0"))), np.ones(3)
    kept = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        with lw.options(device="interpreter"):
            kernel(a)
    finally:
        sys.setrecursionlimit(kept)
    assert a.tolist() == [600.0, 600.0, 600.0]


@pytest.mark.parametrize("depth", [10, 18])
def test_nests_as_deep_as_python_allows(depth: int) -> None:
    loops = "".join(f"{'    ' * (level + 1)}for i{level} in range(n):\n" for level in range(depth))
    inside = f"{'    ' * (depth + 1)}a[{' + '.join(f'i{level}' for level in range(depth))}] += 1.0\n"
    function, a, b = function_of(f"def kernel(a, n):\n{loops}{inside}"), np.zeros(30), np.zeros(30)
    function(a, 2 if depth == 10 else 1)
    with lw.options(device="interpreter"):
        lw.kernel(function)(b, 2 if depth == 10 else 1)
    np.testing.assert_array_equal(a, b)
