from __future__ import annotations

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.walk import loops
from loopwright.steps.distribute import Distribute
from steps.kernels import MATMUL, PREFIX, WHILE
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

HEAD = "\nkernel parts(n: int64, a: float64[2] C, b: float64[2] C, c: float64[2] C):\n    var s: float64\n"
SYMMETRIC = f"""{HEAD}
    for i in 0 .. n:
        for j in 0 .. n:
            s = 0.0
            for k in 0 .. i:
                c[k, j] = c[k, j] + b[i, j] * a[i, k]
                s = s + b[k, j] * a[i, k]
            c[i, j] = c[i, j] + b[i, j] * a[i, i] + s
"""
IN_TURN = f"""{HEAD}
    for i in 1 .. n:
        for j in 0 .. n:
            a[i, j] = b[i - 1, j] + 1.0
            c[i, j] = 2.0 * a[i, j]
        for j.2 in 0 .. n:
            b[i, j.2] = a[i, j.2] * 3.0
"""
BACKWARDS = f"""{HEAD}
    for i in 1 .. n:
        c[i, 0] = b[i - 1, 0]
        a[i, 0] = a[i - 1, 0] + 1.0
        b[i, 0] = a[i, 0]
"""
REST = f"""{HEAD}
    for i in 0 .. n:
        a[i, 0] = 1.0
        for k in 0 .. n:
            c[i, k] = c[i, k] + b[i, k]
        b[0, i] = 3.0
        a[i, 1] = 2.0
"""


def test_the_picture() -> None:
    check_picture(Distribute)


def order(text: str, schedule: str) -> list[str]:
    """The loops after a schedule, in the order of the text."""
    return list(loops(check_same(text, schedule)))


def test_a_sum_that_others_need_in_the_same_iteration_keeps_them_with_it() -> None:
    assert order(SYMMETRIC, "distribute i") == ["i", "j", "k", "i.1", "j.1", "k.1"]
    assert order(SYMMETRIC, "expand s i j; distribute i") == [
        "i", "j", "i.1", "j.1", "k", "i.2", "j.2", "i.3", "j.3", "k.1",
    ]  # fmt: skip


def test_what_needs_one_another_in_turn_shares_the_loop_that_carries_it_and_no_other() -> None:
    changed = check_same(IN_TURN, "distribute i")
    (first, second) = changed.body
    assert isinstance(first, For) and isinstance(second, For)
    assert [getattr(stmt, "name", "") for stmt in first.body] == ["j", "j.2"]
    assert list(loops(changed)) == ["i", "j", "j.2", "i.1", "j.1"]


def test_what_is_needed_comes_first_whatever_the_text_says() -> None:
    changed = check_same(BACKWARDS, "distribute i")
    assert [stmt.body[0].array for stmt in changed.body] == ["a", "b", "c"]  # type: ignore[union-attr]


def test_all_but_the_named_ones_stay_together() -> None:
    changed = check_same(REST, "distribute i c")
    assert [len(stmt.body) for stmt in changed.body] == [2, 1, 1]  # type: ignore[union-attr]
    assert len(check_same(REST.replace("+ b[i, k]", "+ 1.0"), "distribute i c").body) == 2
    assert len(check_same(REST, "distribute i").body) == 4


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (MATMUL, "distribute k", "need one another"),
        (PREFIX, "distribute i", "need one another"),
        (WHILE, "distribute w", "while"),
        (REST.replace("0 .. n:\n        a", "0 .. n vector:\n        a"), "distribute i", "marked to run vector"),
        (REST.replace("0 .. n:\n            c", "0 .. n vector:\n            c"), "distribute i", "'k' is marked"),
        (REST.replace("b[0, i] = 3.0", "if a[i, 0] > 3.0:\n            break i"), "distribute i", "holds a break"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step, strict=False)


def test_the_text_says_what_gets_nests_of_its_own() -> None:
    assert str(Distribute("i", ("a", "s.x"))) == "distribute i a s.x"
    assert len(after(REST, "distribute i a c").body) == 4
