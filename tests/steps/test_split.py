from __future__ import annotations

import pytest

from loopwright.ir.walk import loops
from loopwright.steps.split import Split
from steps.kernels import MATMUL, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Split)


@pytest.mark.parametrize(
    ("text", "loop", "word"), [(WHILE, "w", "while"), (ROWS, "k", "no loop 'k' (there are: i, j)")]
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    rejection = Split(loop, 4).illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_a_bound_that_changes_in_the_loop_is_refused() -> None:
    text = """
kernel grow(a: int64[1] C):
    for i in 0 .. a[0]:
        a[0] = a[0] + 1
"""
    rejection = Split("i", 4).illegal(*known(text), strict=True)
    assert rejection is not None and "may change" in rejection.reason


def test_a_loop_that_counts_down() -> None:
    text = """
kernel down(a: float64[1] C, n: int64):
    for i in n .. 0 step -3:
        a[i] = 1.0
"""
    loop = loops(Split("i", 8).apply(known(text)[0]))["i"]
    assert "max(i.o - 24, 0)" in str(loop) or loop.upper.op == "max"  # type: ignore[union-attr]


def test_names_that_are_taken_get_a_number() -> None:
    kernel, _ = known(MATMUL)
    once = Split("i", 64).apply(kernel)
    assert set(loops(Split("i", 8).apply(once))) == {"k", "i.o", "i.o.1", "i", "j"}


def test_instances_are_legal_and_many() -> None:
    kernel, facts = known(TOTAL)
    assert {step.loop for step in Split.instances(kernel, facts, strict=True)} == {"i", "j"}


def test_text() -> None:
    assert str(Split("i", 32)) == "split i 32"
    assert Split.parse(("i", "32")) == Split("i", 32)
    for words in (("i",), ("i", "1"), ("i", "x"), ("i", "-4")):
        with pytest.raises(ValueError, match="SIZE"):
            Split.parse(words)


def test_a_break_would_end_only_its_stretch() -> None:
    text = "kernel f(a: float64[1] C, n: int64):\n    for i in 0 .. n:\n        if a[i] > 2.0:\n            break i\n"
    rejection = Split("i", 4).illegal(*known(text), strict=False)
    assert rejection is not None and "break" in rejection.reason
