from __future__ import annotations

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.walk import loops
from loopwright.steps.lockstep import MOST, Lockstep
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.split import Split
from steps.kernels import PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture

HALVES = """
kernel halves(a: float64[1] C, b: int64[1] C, last: float64[1] C):
    var x: float64
    var n: int64
    for i in 0 .. size(a, 0):
        x = a[i]
        n = 0
        while x > 1.0 named w:
            x = x * 0.5
            n = n + {more}
        b[i] = n
    {behind}
"""


def halves(more: str = "1", behind: str = "") -> str:
    return HALVES.format(more=more, behind=behind)


def test_the_picture() -> None:
    check_picture(Lockstep)


def test_it_is_a_mark_that_others_leave_alone() -> None:
    kernel, facts = known(halves())
    assert Lockstep("i", 2).illegal(kernel, facts, strict=True) is None
    after = Lockstep("i", 2).apply(kernel)
    loop = loops(after)["i"]
    assert isinstance(loop, For) and (loop.run, loop.threads) == ("lockstep", 2)
    for other in (Parallelize("i"), Lockstep("i", 1)):
        rejection = other.illegal(after, facts, strict=True)
        assert rejection is not None and "marked" in rejection.reason
    assert Lockstep("i", MOST) in Lockstep.instances(kernel, facts, True)


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (halves(), "w", "while loop"),
        (halves(), "k", "no loop"),
        (halves(behind="last[0] = x"), "i", "last iteration"),
        (halves().replace("b[i] = n", "b[0] = n"), "i", "need no order"),
        (halves().replace("a, 0):", "a, 0) step 2:"), "i", "other steps than one"),
        (halves("int64(last[n])").replace("b[i] = n", "a[i] = x"), "i", "can begin again"),
        (halves().replace("b[i] = n", "b[i] = int64(last[n])"), "i", "outside of its rounds"),
        (ROWS, "i", "does not hold one loop"),
        (PREFIX, "i", "need no order"),
        (TOTAL, "i", "need no order"),
        (WHILE, "w", "while loop"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    rejection = Lockstep(loop, 1).illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_no_more_vectors_than_fit() -> None:
    rejection = Lockstep("i", MOST + 1).illegal(*known(halves()), strict=False)
    assert rejection is not None and "vectors" in rejection.reason


def test_threads_share_stretches_of_it() -> None:
    kernel, facts = known(halves())
    split = Split("i", 64).apply(kernel)
    assert {name for name in loops(split) if name.startswith("i")} == {"i.o", "i"}
    assert Parallelize("i").illegal(Lockstep("i", 2).apply(kernel), facts, strict=False) is not None
