from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.ir.nodes import Kernel, Stmt
from loopwright.ir.walk import loops, rewrite_body
from loopwright.steps.parallelize import Parallelize
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture


def test_the_picture() -> None:
    check_picture(Parallelize)


def test_only_the_named_loop_changes() -> None:
    kernel, facts = known(ROWS)
    after = Parallelize("i").apply(kernel)
    assert {name: loop.run for name, loop in loops(after).items()} == {"i": "parallel", "j": "sequential"}  # type: ignore[union-attr]
    assert loops(after)["j"] is loops(kernel)["j"]
    assert Parallelize("i").illegal(kernel, facts, strict=True) is None


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (PREFIX, "i", "a[i - 1]"),
        (WHILE, "w", "while"),
        (ROWS, "k", "no loop"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    rejection = Parallelize(loop).illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_a_scatter_whose_array_is_read_elsewhere_needs_an_order() -> None:
    text = """
kernel spread(a: int64[1] C, h: int64[1] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            h[j] = h[j] + a[i]
        a[i] = h[n + i]
"""
    kernel, facts = known(text)
    rejection = Parallelize("i").illegal(kernel, facts, strict=False)
    assert facts.loops["i"].verdict == "reduction"
    assert rejection is not None and "copy of 'h'" in rejection.reason


def test_strict_keeps_the_order_of_float_sums_only() -> None:
    kernel, facts = known(TOTAL)
    assert Parallelize("i").illegal(kernel, facts, strict=False) is None
    rejection = Parallelize("i").illegal(kernel, facts, strict=True)
    assert rejection is not None and "'s'" in rejection.reason
    assert Parallelize("i").illegal(*known(COUNT), strict=True) is None


def _asserted(kernel: Kernel) -> Kernel:
    def mark(stmt: Stmt) -> tuple[Stmt, ...]:
        return (replace(stmt, asserted=True),) if hasattr(stmt, "asserted") else (stmt,)

    return replace(kernel, body=rewrite_body(kernel.body, stmt=mark))


def test_a_users_word_decides_what_is_undecided_but_not_what_is_proven() -> None:
    scatter, facts = known(COUNT.replace("h[a[i]] + 1", "i"))
    assert facts.loops["i"].verdict == "undecided"
    assert Parallelize("i").illegal(scatter, facts, strict=False) is not None
    assert Parallelize("i").illegal(_asserted(scatter), facts, strict=False) is None
    prefix, facts = known(PREFIX)
    assert Parallelize("i").illegal(_asserted(prefix), facts, strict=False) is not None


def test_instances() -> None:
    assert Parallelize.instances(*known(ROWS), strict=False) == (Parallelize("i"), Parallelize("j"))
    assert Parallelize.instances(*known(PREFIX), strict=False) == ()


def test_text() -> None:
    assert str(Parallelize("i")) == "parallelize i"
    assert Parallelize.parse(("i",)) == Parallelize("i")
    with pytest.raises(ValueError, match="LOOP"):
        Parallelize.parse(("i", "j"))
