from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.normalize import Normalize
from steps.kernels import WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = "\nkernel counted(n: int64, m: int64, a: float64[1] C, b: float64[2] C, c: int64[1] C):\n"


def _over(bounds: str, body: str = "a[i] = a[i] + 1.0") -> str:
    return f"{HEAD}    for i in {bounds}:\n        {body}\n"


def test_the_picture() -> None:
    check_picture(Normalize)


@pytest.mark.parametrize(
    ("bounds", "count", "index"),
    [
        ("0 .. n step checked(m, m != 0, zero_step)", "(n + (m - 1)) // checked(m, m != 0, zero_step)", "i.n * m"),
        ("2 .. n step size(b, 0) + 1", "(n - 2 + size(b, 0)) // (size(b, 0) + 1)", "i.n * (size(b, 0) + 1) + 2"),
        ("0 .. checked(n // m, m != 0, zero_division)", "checked(n // m, m != 0, zero_division)", "i.n"),
    ],
)
def test_bounds(bounds: str, count: str, index: str) -> None:
    changed = print_kernel(check_same(_over(bounds), "normalize i", scalars=(1, 2, 3, 7, 12), room=16))
    assert f"i.c = {count}" in changed and "for i.n in 0 .. i.c:" in changed and f"a[{index}]" in changed


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (WHILE, "w", "while"),
        (_over("0 .. n"), "j", "no loop 'j'"),
        (_over("0 .. n step 2"), "i", "constant"),
        (_over("0 .. n step m"), "i", "may be negative"),
        (_over("0 .. n step c[0]"), "i", "may change"),
        (_over("0 .. n step size(b, 0) + 1 parallel"), "i", "marked to run parallel"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    assert word in refusal(text, f"normalize {loop}")


def test_a_step_that_changes_inside_stays() -> None:
    text = f"""{HEAD}
    var s: int64
    s = size(b, 0) + 1
    for i in 0 .. n step s:
        s = s + 1
"""
    assert "may change" in refusal(text.replace("\n\n", "\n"), "normalize i")


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_what_leaves_an_iteration_leaves_that_of_the_new_loop(jump: str) -> None:
    body = f"if a[i] > 2.0:\n            {jump} i\n        a[i] = a[i] + 1.0"
    changed = print_kernel(check_same(_over("m .. n", body), "normalize i", scalars=(0, 1, 2, 7), room=16))
    assert f"{jump} i.n" in changed


def test_instances() -> None:
    text = _over("0 .. n step size(b, 0) + 1")
    assert Normalize.instances(*known(text), strict=True) == (Normalize("i"),)
