from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.fuse import Fuse
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.same import after, check_same, refusal

HEAD = "\nkernel two(n: int64, m: int64, a: float64[1] C, b: float64[1] C, c: int64[1] C):\n"
CHAIN = (
    HEAD
    + """
    for i in 0 .. n:
        a[i] = b[i]
    for j in 0 .. n:
        b[j] = a[j] + 1.0
"""
)
AHEAD = (
    HEAD
    + """
    for i in 0 .. n:
        a[i] = b[i]
    for j in 0 .. n:
        b[j] = a[j + 1]
"""
)
BETWEEN = (
    HEAD
    + """
    var t.1: float64
    allocate u: float64[m]
    for k in 0 .. m:
        u[k] = 1.0
    for i in 0 .. n:
        a[i] = b[i]
    t.1 = 2.0
    for k.1 in 0 .. m:
        u[k.1] = u[k.1] + a[k.1]
    for j in 0 .. n:
        b[j] = a[j] + t.1
    for k.2 in 0 .. m:
        b[k.2] = b[k.2] + u[k.2]
"""
)
LOCAL = (
    HEAD
    + """
    var t.1: int64
    allocate u: float64[size(a, 0)]
    for i in 0 .. size(a, 0):
        u[i] = b[i]
    t.1 = checked(0, c[0] < 4, shape)
    for j in 0 .. size(a, 0):
        a[j] = u[j] + 1.0
"""
)


def test_the_picture() -> None:
    check_picture(Fuse)


def test_what_stands_between_goes_before_or_behind() -> None:
    text = print_kernel(check_same(BETWEEN, "fuse i j", scalars=(0, 1, 3)))
    assert text.index("t.1 = 2.0") < text.index("in 0 .. n:") < text.index("for k.1")
    assert text.index("b[i] = a[i] + t.1") < text.index("for k.1")


def test_a_test_goes_before_a_loop_that_leaves_nothing() -> None:
    changed = after(LOCAL, "fuse i j")
    text = print_kernel(changed)
    assert text.index("checked") < text.index("for i")
    for kernel in (known(LOCAL)[0], changed):
        a, b = np.zeros(3), np.arange(3.0)
        with pytest.raises(ValueError):
            interpret(kernel, [3, 1, a, b, np.full(1, 4)])
        assert not a.any()
        interpret(kernel, [3, 1, a, b, np.zeros(1, np.int64)])
        assert a.tolist() == [1.0, 2.0, 3.0]
    assert "may end with an error" in refusal(
        LOCAL.replace("u[i] = b[i]", "a[i] = b[i]").replace("u[j]", "b[j]"), "fuse i j"
    )


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("0 .. n", "0 .. n", "b[i] = b[i] + 2.0"),
        ("0 .. n", "2 .. n + 2", "b[i + 2] = b[i + 2] + 2.0"),
        ("n .. 0 step -1", "n - 1 .. -1 step -1", "b[i - 1] = b[i - 1] + 2.0"),
        ("1 .. n step 3", "1 .. n step 3", "b[i] = b[i] + 2.0"),
        ("m .. m + n", "2 .. n + 2", "b[i + (2 - m)] = b[i + (2 - m)] + 2.0"),
        ("0 .. min(n, m)", "1 .. 1 + min(n, m)", "b[i + 1] = b[i + 1] + 2.0"),
    ],
)
def test_equal_trips(first: str, second: str, shown: str) -> None:
    text = f"""{HEAD}
    for i in {first}:
        a[i] = 3.0
    for j in {second}:
        b[j] = b[j] + 2.0
"""
    changed = check_same(text, "fuse i j")
    assert shown in print_kernel(changed) and set(loops(changed)) == {"i"}


@pytest.mark.parametrize(
    ("text", "loops_", "word"),
    [
        (AHEAD, "i j", "touch the same elements of 'a'"),
        (CHAIN, "j i", "does not stand after"),
        (CHAIN.replace("    for j", "    c[c[1]] = 1\n    for j"), "i j", "may end with an error"),
        (CHAIN.replace("    for j", "    b[n] = a[n]\n    for j"), "i j", "has its place there"),
        (BETWEEN.replace("t.1 = 2.0", "t.1 = checked(2.0, c[0] > 0, shape)"), "i j", "may end with an error"),
        (CHAIN.replace("j in 0 .. n", "j in 0 .. m"), "i j", "may differ in their trip counts or steps"),
        (CHAIN.replace("j in 0 .. n", "j in 0 .. n step 2"), "i j", "may differ in their trip counts or steps"),
        (CHAIN.replace("j in 0 .. n", "j in n .. 0 step -1"), "i j", "may differ in their trip counts or steps"),
        (CHAIN.replace("j in 0 .. n", "j in 0 .. c[0]"), "i j", "not known before"),
        (CHAIN.replace("b[j] = a[j] + 1.0", "if a[j] > 1.0:\n            break j"), "i j", "holds a break"),
        (CHAIN.replace("b[j] = a[j] + 1.0", "if a[j] > 1.0:\n            continue j"), "i j", "holds a continue"),
        (CHAIN.replace("0 .. n:\n        b", "0 .. n parallel:\n        b"), "i j", "comes last"),
        (ROWS, "i j", "does not stand after"),
        (ROWS, "i k", "no loop 'k'"),
        (CHAIN, "i j -1", "touch the same elements of"),
        (CHAIN, "i j 65", "at most 64"),
        (CHAIN.replace("0 .. n", "0 .. n step 2"), "i j 1", "may differ in their trip counts or steps"),
        (CHAIN.replace("j in 0 .. n", "j in 0 .. m"), "i j 1", "may differ in their trip counts or steps"),
        (WHILE, "w w", "while"),
        (MATMUL, "k k", "named twice"),
    ],
)
def test_refusals_say_why(text: str, loops_: str, word: str) -> None:
    assert word in refusal(text, f"fuse {loops_}")


@pytest.mark.parametrize(
    ("first", "second", "step", "shown"),
    [
        ("0 .. n", "0 .. n", "fuse i j 1", ["0 .. min(1, n)", "1 .. n", "max(n - 1, 0) .. n"]),
        ("0 .. n", "0 .. n", "fuse i j 0", ["0 .. n"]),
        ("0 .. n", "0 .. n - 2", "fuse i j 3", ["0 .. min(3, n)", "3 .. n", "max(n - 3, 0) .. n - 2"]),
        ("0 .. n", "1 .. n", "fuse i j", ["0 .. min(1, n)", "1 .. n"]),
        ("0 .. n", "0 .. n - 1", "fuse i j", ["0 .. n - 1", "max(n - 1, 0) .. n"]),
        ("0 .. n", "2 .. n - 1", "fuse i j", ["0 .. min(2, n)", "2 .. n - 1", "max(n - 1, 2) .. n"]),
        ("1 .. n", "0 .. n", "fuse i j 1", ["1 .. n", "max(n - 1, 0) .. n"]),
        ("0 .. m", "1 .. m + 4", "fuse i j", ["0 .. min(1, m)", "1 .. m", "max(m, 1) .. m + 4"]),
    ],
)
def test_what_has_no_partner_stays_in_loops_of_its_own(first: str, second: str, step: str, shown: list[str]) -> None:
    text = CHAIN.replace("i in 0 .. n", f"i in {first}").replace("j in 0 .. n", f"j in {second}")
    changed = check_same(text, step)
    assert [f"in {bounds}:" in line for bounds, line in zip(shown, _heads(changed), strict=True)] == [True] * len(shown)


def _heads(kernel: Kernel) -> list[str]:
    return [line for line in print_kernel(kernel).splitlines() if line.startswith("    for")]


def test_what_only_the_second_loop_has_may_come_before() -> None:
    text = f"""{HEAD}
    for i in 2 .. n:
        a[i] = 3.0
    for j in 0 .. n + 1:
        b[j] = 2.0
"""
    assert [head.split(" in ")[1] for head in _heads(check_same(text, "fuse i j"))] == [
        "0 .. min(2, n + 1):", "2 .. n:", "max(n, 2) .. n + 1:"
    ]  # fmt: skip


def test_a_delay_makes_neighbours_of_sweeps_legal() -> None:
    assert "touch the same elements of 'a'" in refusal(AHEAD, "fuse i j")
    check_same(AHEAD, "fuse i j 1")
    check_same(AHEAD, "fuse i j 2")
    text = """
kernel jacobi(n: int64, a: float64[2] C, b: float64[2] C):
    for t in 0 .. 3:
        for i in 1 .. n - 1:
            for j in 1 .. n - 1:
                b[i, j] = a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j]
        for p in 1 .. n - 1:
            for q in 1 .. n - 1:
                a[p, q] = b[p, q - 1] + b[p, q + 1] + b[p - 1, q] + b[p + 1, q]
"""
    assert refusal(text, "fuse i p")
    changed = check_same(text, "fuse i p 1")
    assert list(loops(changed)) == ["t", "i.1", "j.1", "i", "j", "q", "p.1", "q.1"]


def test_bounds_that_the_first_loop_changes() -> None:
    text = """
kernel moving(n: int64, a: float64[1] C):
    var k: int64
    k = 3
    for i in 0 .. n:
        a[i] = 1.0
        k = k + 1
    for j in k .. k + n:
        a[j] = 2.0
"""
    assert "may differ in their trip counts" in refusal(text, "fuse i j")


def test_a_value_that_the_first_loop_leaves_behind() -> None:
    text = """
kernel sums(n: int64, a: float64[1] C, b: float64[1] C):
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = s + a[i]
    for j in 0 .. n:
        b[j] = s
"""
    assert "'s'" in refusal(text, "fuse i j", strict=False)


def test_sums_next_to_each_other() -> None:
    text = """
kernel sums(n: int64, a: float64[1] C, b: float64[1] C) -> tuple(python float64, python float64):
    var s: float64
    var t: float64
    s = 0.0
    t = 0.0
    for i in 0 .. n:
        s = s + a[i]
    for j in 0 .. n:
        t = t + b[j]
    return s, t
"""
    check_same(text, "fuse i j")


def test_locals_of_an_iteration_and_loops_inside() -> None:
    text = """
kernel inner(n: int64, a: float64[2] C, b: float64[2] C):
    var x: float64
    var y: int64
    for i in 0 .. n:
        allocate t: float64[n] = 0.0
        for p in 0 .. n:
            x = a[i, p]
            t[p] = x * x
        for p2 in 0 .. i:
            a[i, p2] = t[p2]
    for j in 1 .. n + 1:
        y = 3
        while y > 0 named w:
            b[j, y] = a[j - 1, 0]
            y = y - 1
"""
    changed = check_same(text, "fuse i j")
    assert set(loops(changed)) == {"i", "p", "p2", "w"}
    assert len(loops(check_same(text, "fuse i j 2"))) == 9


def test_a_promise_of_the_user_is_not_one_of_the_fused_loop() -> None:
    text = CHAIN.replace("0 .. n:", "0 .. n asserted:")
    assert not check_same(text, "fuse i j").body[0].asserted  # type: ignore[union-attr]


def test_inside_of_loops_and_branches() -> None:
    text = """
kernel deep(n: int64, a: float64[2] C):
    for i in 0 .. n:
        if i > 1:
            for j in 0 .. i:
                a[i, j] = 1.0
            for k in 1 .. i + 1:
                a[i, k] = a[i, k] + 2.0
"""
    # a branch is one statement of the loop 'i': what stands inside is not taken apart
    assert refusal(text, "fuse j k")
    plain = text.replace("        if i > 1:\n", "").replace("            for", "        for").replace("    a[", "a[")
    assert "would change places" in refusal(plain.replace("\n            a", "\n            a"), "fuse j k")


def test_instances() -> None:
    assert Fuse.instances(*known(CHAIN), strict=True) == (Fuse("i", "j"),)
    assert Fuse.instances(*known(AHEAD), strict=True) == (Fuse("i", "j", 1),)
    assert Fuse.instances(*known(ROWS), strict=True) == ()


def test_text() -> None:
    assert str(Fuse("i", "j")) == "fuse i j"
    assert Fuse.parse(("i", "j")) == Fuse("i", "j")
    assert Fuse.parse(("i", "j", "-2")) == Fuse("i", "j", -2) and str(Fuse("i", "j", -2)) == "fuse i j -2"
    for words in (("i",), ("i", "j", "x"), ("i", "j", "1", "2")):
        with pytest.raises(ValueError, match=r"LOOP|DELAY is a whole number"):
            Fuse.parse(words)
