from __future__ import annotations

import pytest

from loopwright.ir.walk import loops
from loopwright.steps.vectorize import Vectorize
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Vectorize)


def test_only_the_named_loop_changes() -> None:
    kernel, _ = known(ROWS)
    after = Vectorize("j").apply(kernel)
    assert {name: loop.run for name, loop in loops(after).items()} == {"i": "sequential", "j": "vector"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (ROWS, "i", "innermost"),
        (PREFIX, "i", "a[i - 1]"),
        (COUNT, "i", "same element"),
        (WHILE, "w", "while"),
        (ROWS, "k", "no loop"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    rejection = Vectorize(loop).illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_strict_keeps_the_order_of_float_sums() -> None:
    kernel, facts = known(TOTAL)
    assert Vectorize("j").illegal(kernel, facts, strict=False) is None
    assert Vectorize("j").illegal(kernel, facts, strict=True) is not None


def test_instances() -> None:
    assert Vectorize.instances(*known(ROWS), strict=False) == (Vectorize("j"),)


def test_text() -> None:
    assert str(Vectorize("i")) == "vectorize i"
    assert Vectorize.parse(("i",)) == Vectorize("i")
    with pytest.raises(ValueError, match="LOOP"):
        Vectorize.parse(())
