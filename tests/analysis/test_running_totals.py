from __future__ import annotations

import pytest

from loopwright.analysis.running_totals import RunningTotal, running_totals
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

HEAD = """
kernel one(a: float64[1] C, b: float64[1] C, c: float64[2] C, p: int64[1] C, q: int64[1] C, r: int64):
    var s: float64
    var t: int64
    s = 0.0
    t = 0
    for k in 0 .. 64:
"""


def totals(*lines: str) -> tuple[RunningTotal, ...]:
    """Those of a loop with these lines."""
    loop = loops(parse_kernel(HEAD + "".join(f"        {line}\n" for line in lines)))["k"]
    assert isinstance(loop, For)
    return running_totals(loop)


def test_one_and_two_scalars() -> None:
    (found,) = totals("b[k] = s", "s = s + a[k]")
    assert (found.name, found.op, found.exact) == ("s", "add", False)
    found, other = totals("b[k] = s", "s = max(s, a[k])", "q[k] = t", "t = t + p[k]")
    assert (found.op, found.exact, other.op, other.exact) == ("max", True, "add", True)


def test_of_one_row() -> None:
    (found,) = totals("c[r, k] = s", "s = s + a[k]")
    assert found.begin.array == "c"


@pytest.mark.parametrize(
    "lines",
    [
        ("s = s + a[k]", "b[k] = s"),
        ("b[k] = s",),
        ("b[k] = s", "s = s + a[k]", "a[k] = 0.0"),
        ("b[k] = s", "s = s - a[k]"),
        ("b[k] = s", "s = s + b[k]"),
        ("b[k] = s", "s = s + a[k + 1]"),
        ("b[63 - k] = s", "s = s + a[k]"),
        ("b[r] = s", "s = s + a[k]"),
        ("c[t, k] = s", "s = s + a[k]", "q[k] = t", "t = t + p[k]"),
        ("c[k, k] = s", "s = s + a[k]"),
        ("b[k] = s", "s = s + a[k]", "a[k] = s", "s = s + a[k]"),
        ("q[k] = t", "t = t + p[t]"),
        ("b[k] = s", "s = s + 2.0 * a[k]"),
    ],
)
def test_what_only_looks_like_it(lines: tuple[str, ...]) -> None:
    assert totals(*lines) == ()
