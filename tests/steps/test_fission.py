from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.fission import Fission
from steps.kernels import MATMUL, PREFIX, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.same import check_same, refusal

HEAD = "\nkernel parts(n: int64, m: int64, a: float64[1] C, b: float64[1] C, c: int64[1] C):\n    var s: float64\n"
CHAIN = f"""{HEAD}
    for i in 0 .. n:
        a[i] = b[i]
        b[i] = a[i] + 1.0
        a[i] = 2.0 * a[i]
"""
BEHIND = f"""{HEAD}
    for i in 1 .. n:
        a[i] = b[i - 1]
        b[i] = 3.0
"""
SCALAR = f"""{HEAD}
    for i in 0 .. n:
        s = b[i]
        b[i] = 2.0
        a[i] = s
"""
LOCAL = f"""{HEAD}
    for i in 0 .. n:
        allocate t: float64[4] = 0.0
        t[1] = b[i]
        b[i] = t[1] + t[2]
        a[i] = 1.0
"""
SUM = f"""{HEAD}
    s = 0.0
    for i in 0 .. n:
        s = s + b[i]
        a[i] = s
        b[i] = 1.0
"""
BREAK = f"""{HEAD}
    for i in 0 .. n:
        a[i] = 1.0
        if b[i] > 3.0:
            break i
"""


def test_the_picture() -> None:
    check_picture(Fission)


@pytest.mark.parametrize("bounds", ["0 .. n", "n .. 0 step -1", "n .. 0 step -3", "1 .. n step 2", "0 .. 1", "m .. m"])
@pytest.mark.parametrize("place", [2, 3])
def test_parts_of_a_chain(bounds: str, place: int) -> None:
    changed = check_same(CHAIN.replace("0 .. n", bounds), f"fission i {place}")
    assert [len(loop.body) for loop in loops(changed).values()] == [place - 1, 4 - place]


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (BEHIND, "fission i 2", "touch the same elements of 'b'"),
        (SCALAR, "fission i 2", "the value of 's'"),
        (SCALAR, "fission i 3", "the value of 's'"),
        (SCALAR.replace("0 .. n", "0 .. 1"), "fission i 2", "the value of 's'"),
        (LOCAL, "fission i 2", "local array 't'"),
        (LOCAL, "fission i 3", "local array 't'"),
        (SUM, "fission i 2", "'s'"),
        (BREAK, "fission i 2", "holds a break"),
        (CHAIN, "fission i 4", "3 statements"),
        (CHAIN.replace("0 .. n", "0 .. c[0]"), "fission i 2", "not known"),
        (CHAIN.replace("0 .. n:", "0 .. n vector:"), "fission i 2", "marked to run vector"),
        (ROWS, "fission i 2", "1 statements"),
        (WHILE, "fission w 2", "while"),
        (MATMUL, "fission x 2", "no loop 'x'"),
        (PREFIX, "fission i 2", "1 statements"),
    ],
)
def test_refusals_say_why(text: str, step: str, word: str) -> None:
    assert word in refusal(text, step, strict=False)


def test_what_does_not_cross_the_cut_may_be_an_iterations_own() -> None:
    assert set(loops(check_same(LOCAL, "fission i 4"))) == {"i", "i.1"}
    check_same(SUM, "fission i 3")
    check_same(LOCAL.replace("a[i] = 1.0", "s = b[i]\n        a[i] = s"), "fission i 4")


def test_a_value_that_is_used_after_the_loop() -> None:
    text = """
kernel last(n: int64, a: float64[1] C) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = a[i]
        a[i] = 1.0
    return s
"""
    check_same(text, "fission i 2")


def test_loops_inside_keep_what_they_mean() -> None:
    text = """
kernel inside(n: int64, a: float64[2] C, b: float64[2] C):
    var k: int64
    for i in 0 .. n:
        for j in 0 .. i:
            a[i, j] = 2.0
        k = 3
        while k > 0 named w:
            b[i, k] = a[k, i]
            k = k - 1
        for p in i .. n:
            b[p, i] = a[i, p]
"""
    refused = refusal(text, "fission i 2")
    assert "touch the same elements of 'a'" in refused
    assert "'k'" in refusal(text, "fission i 3")
    free = text.replace("a[k, i]", "1.0")
    changed = check_same(free, "fission i 2")
    assert "for j in 0 .. i:" in print_kernel(changed) and "for p in i.1 .. n:" in print_kernel(changed)


def test_names_that_are_taken_get_a_number() -> None:
    changed = check_same(CHAIN, "fission i 2; fission i.1 2")
    assert list(loops(changed)) == ["i", "i.1", "i.1.1"]
    changed = check_same(CHAIN, "fission i 3; fission i 2")
    assert list(loops(changed)) == ["i", "i.1.1", "i.1"]


def test_a_nest_in_two_and_back() -> None:
    text = """
kernel matmul(n: int64, a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. n:
        for j in 0 .. n:
            c[i, j] = 0.0
            for k in 0 .. n:
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""
    check_same(text, "fission j 2; fission i 2; reorder i.1 k j.1", scalars=(0, 1, 2, 5))
    back = check_same(text, "fission j 2; fuse j j.1", scalars=(0, 1, 2, 5))
    assert print_kernel(back) == print_kernel(known(text)[0])


def test_instances() -> None:
    assert Fission.instances(*known(CHAIN), strict=True) == (Fission("i", 2), Fission("i", 3))
    assert Fission.instances(*known(LOCAL), strict=True) == (Fission("i", 4),)
    assert Fission.instances(*known(BEHIND), strict=True) == ()


def test_text() -> None:
    assert str(Fission("i", 2)) == "fission i 2"
    assert Fission.parse(("i", "2")) == Fission("i", 2)
    for words in (("i",), ("i", "1"), ("i", "x")):
        with pytest.raises(ValueError, match="PLACE"):
            Fission.parse(words)


SUMS = f"""{HEAD}
    s = 1.0
    for i in 1 .. n:
        s = s + b[i]
        a[i] = a[i - 1] * 2.0 + s
    b[0] = s
"""


def test_what_is_handed_on_is_kept_where_that_is_asked_for() -> None:
    assert "would change places" in refusal(SUMS, "fission i 2 kept")
    after = check_same(SUMS, "fission i 2 kept handed")
    assert "s.1.x[" in print_kernel(after)
    changed = SUMS.replace("a[i] = a[i - 1] * 2.0 + s", "s = s + 1.0")
    assert refusal(changed, "fission i 2 kept handed")
