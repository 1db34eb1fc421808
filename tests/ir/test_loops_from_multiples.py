"""Loops that begin at a product: which of them count from zero, and that they do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.loops_from_multiples import loops_from_zero
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

HEAD = """kernel f(a: float64[1] C, p: int64[1] C, n: int64, m: int64):
    var k: int64
    k = n
    for g in 0 .. m:
"""


def after(head: str, body: str = "a[c] = 1.0") -> str:
    kernel = loops_from_zero(parse_kernel(f"{HEAD}        {head}\n            {body}\n"))
    verify(kernel)
    return print_kernel(kernel)


@pytest.mark.parametrize(
    ("head", "length"),
    [
        ("for c in g * n .. (g + 1) * n:", "n"),
        ("for c in g * n .. g * n + n:", "n"),
        ("for c in n * g .. (g + 2) * n:", "n * 2"),
        ("for c in g * n + 3 .. g * n + 7:", "4"),
        ("for c in g * n + 1 .. (g + 1) * n:", "n - 1"),
        ("for c in g * n .. min((g + 1) * n, size(a, 0)):", "min(n, size(a, 0) - g * n)"),
        ("for c in g * size(a, 0) .. (1 + g) * size(a, 0):", "size(a, 0)"),
    ],
)
def test_from_a_multiple_to_the_next(head: str, length: str) -> None:
    text = after(head)
    assert f"for c in 0 .. {length}:" in text
    assert f"a[{head[len('for c in ') : head.index(' ..')]} + c] = 1.0" in text


@pytest.mark.parametrize(
    "head",
    [
        "for c in g .. g + n:",
        "for c in g * n .. m * n:",
        "for c in g * n .. (g + 1) * n step 2:",
        "for c in g * n .. size(a, 0):",
        "for c in g * 4 .. g * 4 + 4:",
        "for c in p[g] * n .. p[g] * n + n:",
    ],
)
def test_others_stay(head: str) -> None:
    assert head in after(head)


def test_a_bound_that_the_loop_changes_stays() -> None:
    assert "for c in g * k .. (g + 1) * k:" in after("for c in g * k .. (g + 1) * k:", "k = k + 1")


def group_sums(x, groups, s):
    size = x.shape[0] // groups
    for g in range(groups):
        for c in range(g * size, (g + 1) * size):
            s[g] += x[c]


def in_chunks(x, chunk, s):
    for t in range((len(x) + chunk - 1) // chunk):
        for i in range(t * chunk, min((t + 1) * chunk, len(x))):
            s[i] = 2 * x[i] + t


@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
def test_they_do_the_same(device: str) -> None:
    x = np.arange(12.0)
    for function, number, size in ((group_sums, 3, 3), (group_sums, 5, 5), (in_chunks, 5, 12), (in_chunks, 12, 12)):
        wanted, found = np.zeros(size), np.zeros(size)
        function(x, number, wanted)
        with lw.options(device=device):
            lw.kernel(function)(x, number, found)
        np.testing.assert_array_equal(found, wanted)


def test_groups_are_proven_to_be_inside() -> None:
    explained: Any = str(lw.kernel(device="cpu")(group_sums).explain(np.zeros(12), 3, np.zeros(3)))
    assert (
        "bounds proven where (len(x) // groups) * (groups - 1) + (len(x) // groups) - 1 < len(x)"
        in explained.replace("((len(x) // groups))", "(len(x) // groups)")
    )
