"""Local arrays that become scalars: what each iteration of a loop writes, and reads itself."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.steps.contract import Contract
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

HEAD = "\nkernel one(n: int64, m: int64, a: float64[1] C, b: float64[1] C, c: float64[2] C):\n"
ROWS = (
    HEAD
    + """
    allocate t: float64[n, 3] = 0.0
    for i in 0 .. n:
        for j in 0 .. 3:
            t[i, j] = a[i] + float64(j)
            if t[i, j] > 1.0:
                t[i, j] = t[i, j] - b[j]
                for k in 0 .. 2:
                    c[i, k] = c[i, k] + t[i, j]
            b[j] = b[j] + t[i, j]
"""
)


def test_the_picture() -> None:
    check_picture(Contract)


def test_an_element_that_is_changed_and_read_under_conditions() -> None:
    text = print_kernel(check_same(ROWS, "contract t"))
    assert "allocate" not in text and "t.c = t.c - b[j]" in text


def test_a_negative_size_is_still_an_error() -> None:
    text = ROWS.replace("t: float64[n, 3]", "t: float64[n + m, 3]").replace("i in 0 .. n", "i in 0 .. n + m")
    for kernel in (known(text)[0], after(text, "contract t")):
        given = np.zeros(9), np.zeros(9), np.zeros((9, 9))
        with pytest.raises(ValueError, match="negative dimensions"):
            interpret(kernel, [1, -2, *given])
        interpret(kernel, [1, 1, *given])


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("b[j] = b[j] + t[i, j]", "b[j] = b[j] + t[i, 0]", "not just one element"),
        ("b[j] = b[j] + t[i, j]", "b[j] = b[j] + t[0, j]", "not just one element"),
        ("t[i, j] = a[i] + float64(j)", "t[i, j] = a[i] + t[i, j]", "read before it is written"),
        ("t[i, j] = a[i]", "if a[i] > 0.0:\n                t[i, j] = a[i]", "read before it is written"),
        ("b[j] = b[j] + t[i, j]", "b[j] = b[j] + float64(size(t, 0))", "is asked for"),
        ("t: float64[n, 3]", "t: float64[n, 2]", "may be outside"),
        ("t: float64[n, 3]", "u: float64[n, 3]", "no local array"),
    ],
)  # fmt: skip
def test_refused(old: str, new: str, word: str) -> None:
    changed = ROWS.replace(old, new)
    if word == "no local array":
        changed = changed.replace("t[i, j]", "u[i, j]")
    assert changed != ROWS and word in refusal(changed, "contract t")


def test_what_another_iteration_may_read_stays_an_array() -> None:
    text = (
        HEAD
        + """
    allocate t: float64[n]
    for i in 0 .. n:
        t[i] = a[i]
    for j in 0 .. n:
        b[j] = t[j]
"""
    )
    assert "read before it is written" in refusal(text, "contract t") or "not just one" in refusal(text, "contract t")
    index = (
        HEAD
        + """
    var k: int64
    allocate t: float64[3]
    k = 0
    for i in 0 .. n:
        t[k] = a[i]
        k = (k + 1) % 3
        b[i] = t[k]
"""
    )
    assert refusal(index, "contract t")
