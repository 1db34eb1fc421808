"""What the bounds of loops decide, and what they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.nodes import Binary, Const, For, Kernel
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.types import INT64
from loopwright.ir.value_ranges import decided_by_ranges
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, statements

HEAD = """kernel f(a: float64[2] C, b: float64[1] C, n: int64):
    var t: int64
    var u: int64
    var s: float64
"""


def after(body: str) -> Kernel:
    kernel = parse_kernel(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    found = simplify(decided_by_ranges(simplify(kernel)))
    verify(found)
    return found


def body_of(kernel: Kernel) -> str:
    return "\n".join(line[4:] for line in print_kernel(kernel).splitlines() if not line.startswith("    var"))


@pytest.mark.parametrize(
    ("asked", "decided"),
    [
        ("max(i - 1, 0)", "i - 1"),
        ("max(i - 2, 0)", None),
        ("min(i + 1, size(a, 0))", "i + 1"),
        ("min(i + 2, size(a, 0))", "i + 2"),
        ("min(i + 3, size(a, 0))", None),
        ("min(i + 1, size(a, 1))", None),
        ("min(i, n)", None),
        ("min(size(a, 0) - 2, i)", "i"),
        ("max(i, 1)", "i"),
        ("max(-i, -1)", "-1"),
    ],
)
def test_minima_and_maxima(asked: str, decided: str | None) -> None:
    kernel = after(f"for i in 1 .. size(a, 0) - 1:\n    b[{asked}] = 1.0")
    assert f"b[{decided or asked}] = 1.0" in print_kernel(kernel)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("i > 0", True),
        ("i < 1", False),
        ("i >= 2", None),
        ("i <= size(a, 0) - 2", True),
        ("i == 0", False),
        ("i != size(a, 0)", True),
        ("i < size(a, 1)", None),
        ("i < n", None),
        ("n < size(a, 0)", None),
        ("n - 2 <= n", None),
        ("i - 2 <= i", True),
    ],
)
def test_conditions(condition: str, holds: bool | None) -> None:
    kernel = after(
        f"for i in 1 .. size(a, 0) - 1:\n    if {condition}:\n        b[i] = 1.0\n    else:\n        b[i] = 2.0"
    )
    text = print_kernel(kernel)
    assert ("1.0" in text, "2.0" in text) == (holds is not False, holds is not True)


def test_a_window_has_a_constant_length() -> None:
    kernel = after(
        "for i in 1 .. size(b, 0) - 1:\n    t = max(i - 1, 0)\n    for k in 0 .. min(i + 2, size(b, 0)) - t:\n"
        "        b[k + t] = 1.0"
    )
    (inner,) = (loop for loop in statements(kernel.body, For) if loop.name == "k")
    assert inner.upper == Const(3, INT64)
    assert "t =" not in body_of(kernel)


def test_a_scalar_that_is_read_elsewhere_stays() -> None:
    kernel = after("t = 0\nfor i in 1 .. size(b, 0) - 1:\n    t = max(i - 1, 0)\n    b[t] = 1.0\nb[t] = 2.0")
    assert "t = i - 1" in print_kernel(kernel)


def test_loops_that_count_down_or_by_unknown_steps_decide_nothing() -> None:
    for head in ("for i in size(b, 0) - 1 .. 0 step -1:", "for i in 1 .. size(b, 0) step n:"):
        kernel = after(f"{head}\n    b[max(i, 0)] = 1.0")
        assert any(expr.op == "max" for expr in expressions(kernel.body, Binary))


def smoothed(x, out):
    for i in range(2, x.shape[0] - 2):
        for j in range(1, x.shape[1] - 1):
            out[i, j] = x[i - 2 : i + 3, j - 1 : j + 2].max() + x[i - 1 : i + 1, j].sum()


def at_the_edge(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[max(i - 1, 0) : i + 2, max(0, j - 2) : j + 1].sum()


@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
@pytest.mark.parametrize("function", [smoothed, at_the_edge])
def test_windows_give_what_python_says(function: Any, device: str) -> None:
    for shape in ((0, 3), (4, 2), (5, 3), (9, 11)):
        x = np.random.default_rng(1).integers(0, 9, shape).astype(float)
        wanted, found = np.zeros(shape), np.zeros(shape)
        function(x, wanted)
        with lw.options(device=device):
            lw.kernel(function)(x, found)
        np.testing.assert_array_equal(found, wanted)
