from __future__ import annotations

import pytest

from loopwright.ir.walk import loops
from loopwright.steps.separate import Separate
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = (
    "\nkernel rows(n: int64, a: float64[1] C, p: int64[1] C, c: float64[2] C):\n    var s: float64\n    var e: int64\n"
)
CSR = f"""{HEAD}
    for i in 0 .. size(p, 0) - 1:
        s = 0.0
        for k in p[i] .. p[i + 1]:
            s = s + 2.0
        a[i] = s
"""
WHOLE = CSR.replace("float64", "int64").replace(".0", "")
DOWN = f"""{HEAD}
    for i in 0 .. n:
        for k in i .. -1 step -2:
            c[i, k] = 1.0
"""


def test_the_picture() -> None:
    check_picture(Separate)


@pytest.mark.parametrize("length", [1, 2, 1000])
@pytest.mark.parametrize(("text", "outer"), [(CSR, "i"), (DOWN, "i")])
def test_every_iteration_runs_once(text: str, outer: str, length: int) -> None:
    changed = check_same(text, f"separate {outer} k {length}")
    assert list(loops(changed)) == ["i", "k", "i.1", "k.1"]


@pytest.mark.parametrize("jump", ["continue k", "break k"])
def test_what_ends_an_inner_loop_ends_that_of_its_own_copy(jump: str) -> None:
    text = DOWN.replace("c[i, k] = 1.0", f"if c[k, i] > 2.0:\n                {jump}\n            c[i, k] = 1.0")
    text = text.replace("c[k, i]", "a[k]")
    check_same(text, "separate i k 2")
    check_same(text, "split k 3; separate i k.o 2") if jump == "continue k" else None


def test_then_each_of_them_is_shared_out_in_its_own_way() -> None:
    check_same(WHOLE, "split i 4; separate i k 2; bind i.o block.x; bind i thread.y; bind k thread.x 4; split k.1 4; "
                    "bind k.1.o thread.y 4; bind k.1 thread.x")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CSR.replace("a[i] = s", "a[i] = a[i + 1]"), "iteration"),
        (CSR.replace("a[i] = s", "a[0] = a[0] + s"), "the iterations of 'i' meet in a reduction"),
        (CSR.replace("p[i] .. p[i + 1]", "0 .. 5"), "'k' is as long in every iteration"),
        (CSR.replace("s = 0.0", "s = 0.0\n        e = p[i]").replace("p[i] ..", "e .."),
         "the length of 'k' depends on 'e', which is set inside"),
        (CSR.replace("p[i + 1]", "p[p[i]]"), "the length of 'k' needs an element that may not exist"),
        (CSR.replace("a[i] = s", "p[i] = 3"), "iteration i reads p[i + 1], which iteration i+1 writes"),
        (CSR.replace("p[i + 1]", "p[i] + 5").replace("a[i] = s", "p[i] = 3"),
         "the length of 'k' depends on 'p', which is written inside"),
        (CSR.replace("a[i] = s", "a[i] = s\n        if a[i] > 3.0:\n            break i"), "'break' can end the loop"),
    ],
)  # fmt: skip
def test_refusals_say_why(text: str, words: str) -> None:
    assert words in refusal(text, "separate i k 8", strict=False)


def test_names_that_do_not_fit() -> None:
    assert "'i' is not inside 'k'" in refusal(CSR, "separate k i 8")
    assert "there is no loop 'z'" in refusal(CSR, "separate i z 8")
    assert str(Separate("i", "k", 8)) == "separate i k 8"
