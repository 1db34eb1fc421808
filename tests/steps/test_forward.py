from __future__ import annotations

import pytest

from loopwright.ir.nodes import Assign
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import statements
from loopwright.steps.forward import Forward
from steps.kernels import MATMUL
from steps.pictures import check_picture
from steps.same import check_same, refusal

SCALED = """
kernel scaled(n: int64, a: float64[2] C, b: float64[2] C, c: float64[2] C):
    var s: float64
    var t: float64
    t = 2.0
    for i in 0 .. n:
        for k in 0 .. n:
            s = t * a[i, k]{more}
            for j in 0 .. n:
                c[i, j] = c[i, j] + s * b[k, j]{inner}
            b[k, i] = s + 1.0{end}
"""


def scaled(more: str = "", inner: str = "", end: str = "") -> str:
    return SCALED.format(more=more, inner=inner, end=end)


def test_the_picture() -> None:
    check_picture(Forward)


def test_what_is_written_behind_the_last_read_or_elsewhere_is_no_matter() -> None:
    for text in (
        scaled(),
        scaled(end="\n            a[i, k] = 5.0"),
        scaled(inner="\n                a[i + 1, j] = s"),
    ):
        changed = check_same(text, "forward s")
        assert [stmt.name for stmt in statements(changed.body, Assign)] == ["t"]
    assert "2.0 * a[i, k] * b[k, j]" in print_kernel(check_same(scaled(), "forward s; forward t"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (scaled(inner="\n                a[i, j] = 1.0"), "'a' is written before"),
        (scaled(inner="\n                t = t + 1.0"), "'t' changes before"),
        (scaled(end="\n            s = 3.0"), "just one statement"),
        (scaled().replace("s = t", "a[i, 0] = s\n            s = t"), "another iteration's value"),
        (scaled(more=" * s"), "another iteration's value"),
        (scaled(more=" / checked(t, t != 0.0, zero_division)"), "may fail"),
        (scaled().replace("a[i, k]", "a[int64(b[i, k]), k]"), "may fail"),
        (MATMUL, "just one statement"),
    ],
)
def test_refusals_say_why(text: str, word: str) -> None:
    assert word in refusal(text, "forward s", strict=False)
