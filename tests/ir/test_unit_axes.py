from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.unit_axes import without_unit_axes
from loopwright.ir.verify import verify

HEAD = "kernel k(a: float64[1] C, b: float64[1] C):\n"


def narrowed(body: str) -> str:
    """The body without unit axes, which computes the same."""
    kernel = parse_kernel(HEAD + body)
    changed = without_unit_axes(kernel)
    verify(changed)
    outcomes = []
    for one in (kernel, changed):
        a, b = np.arange(5.0) + 1, np.zeros(5)
        interpret(one, [a, b])
        outcomes.append((a.tolist(), b.tolist()))
    assert outcomes[0] == outcomes[1]
    text = print_kernel(changed)
    assert print_kernel(parse_kernel(text)) == text
    return text


def test_an_axis_of_size_one_is_left_out() -> None:
    text = narrowed(
        "    allocate t: float64[1, 5, 1]\n    for i in 0 .. 5:\n        t[0, i, 0] = 2.0 * a[i]\n"
        "    for i.2 in 0 .. size(t, 1):\n        b[i.2] = t[0, i.2, 0] + float64(size(t, 2))\n"
    )
    assert "allocate t: float64[5]" in text and "t[i] = " in text and "size(t, 0)" in text and "float64(1)" in text


@pytest.mark.parametrize("made", ["allocate t: float64[1] = 0.0", "allocate t: float64[1]\n    t[0] = 0.5"])
def test_an_array_of_one_element_is_a_scalar(made: str) -> None:
    text = narrowed(
        f"    {made}\n    for i in 0 .. 5:\n        t[0] = t[0] + a[i]\n    b[0] = t[0] * float64(size(t, 0))\n"
    )
    assert "allocate" not in text and "t.v = t.v + a[i]" in text


@pytest.mark.parametrize(
    "body",
    [
        "    allocate t: float64[1]\n    if a[0] > 0.0:\n        t[0] = 1.0\n    b[0] = t[0]\n",
        "    allocate t: float64[1, 5] = 0.0\n    for i in 0 .. 1:\n        t[i, 2] = 1.0\n    b[0] = t[0, 2]\n",
        "    allocate t: float64[size(a, 0)] = 0.0\n    t[0] = 1.0\n    b[0] = t[0]\n",
    ],
)
def test_where_that_is_not_certain_arrays_stay(body: str) -> None:
    kernel = parse_kernel(HEAD + body)
    assert without_unit_axes(kernel) is kernel


@lw.kernel
def counted(x, y):
    n = np.zeros(1, np.int64)
    for i in range(len(x)):
        if x[i] > 0.5:
            n[0] += 1
    y[0] = n[0]
    return n


def test_arrays_that_are_returned_stay_arrays() -> None:
    x, y = np.array([0.2, 0.7, 0.9]), np.zeros(1)
    found = counted(x, y)
    assert isinstance(found, np.ndarray) and found.tolist() == [2] and y[0] == 2
