from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.unroll_and_jam import UnrollAndJam
from steps.before_after import check_same
from steps.kernels import MATMUL, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import TRIANGLE, numbers, square_calls

DOTS = """
kernel dots(a: float64[2] C, b: float64[1] C):
    var s: float64
    for i in 0 .. size(b, 0):
        s = 0.0
        for k in 0 .. size(a, 1):
            s = s + a[i, k]
        b[i] = s
"""
WAVE = """
kernel wave(a: float64[2] C, n: int64):
    for i in 1 .. n:
        for j in 0 .. n - 1:
            a[i, j] = a[i - 1, j + 1] + 1.0
"""
FRAME = "kernel some(a: float64[2] C, b: float64[1] C, n: int64, m: int64):\n"
SOME = {
    "sums": """
    var s: float64
    var t: float64
    for i in 0 .. n:
        s = b[i]
        for j in 0 .. m:
            t = a[i, j]
            s = s + t * t
        b[i] = s
""",
    "down": """
    var s: float64
    for i in n - 1 .. 0 step -2:
        s = 2.0
        for j in m - 1 .. 0 step -1:
            s = s * 3.0 + a[i, j]
        b[i] = s
""",
    "last": """
    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = b[i]
        for j in 0 .. m:
            a[i, j] = s
    b[0] = s
""",
    "carried": """
    var s: float64
    s = 1.0
    for i in 0 .. n:
        s = s + b[i]
        for j in 0 .. m:
            a[i, j] = s
""",
    "array": """
    for i in 0 .. n:
        allocate t: float64[1] = 0.0
        for j in 0 .. m:
            t[0] = t[0] + a[i, j]
        b[i] = t[0]
""",
    "two": """
    for i in 0 .. n:
        for j in 0 .. m:
            a[i, j] = 1.0
        for k in 0 .. m:
            a[i, k] = 1.0
""",
    "break": """
    for i in 0 .. n:
        for j in 0 .. m:
            if a[i, j] > 3.0:
                break j
""",
    "between": """
    for i in 0 .. n:
        for j in 0 .. m:
            a[i, j] = a[i, j] + b[i]
        b[i + 1] = a[i, 0]
""",
}


def text_of(name: str) -> str:
    return FRAME + SOME[name].lstrip("\n")


def calls_of(least: int = 0) -> list[list[object]]:
    pairs = product((least, 1, 2, 5, 6), (least, 1, 4))
    return [[numbers(8, 6), numbers(8), n, m] for n, m in pairs]


def test_the_picture() -> None:
    check_picture(UnrollAndJam)


@pytest.mark.parametrize(
    ("text", "loop", "word"),
    [
        (WHILE, "w", "while"),
        (ROWS, "k", "no loop 'k'"),
        (ROWS, "j", "does not hold just one loop"),
        (PREFIX, "i", "does not hold just one loop"),
        (text_of("two"), "i", "does not hold just one loop"),
        (TRIANGLE, "i", "bounds of 'j' depend on 'i'"),
        (WAVE, "i", "touch the same elements of 'a'"),
        (text_of("between"), "i", "touch the same elements"),
        (text_of("carried"), "i", "'s'"),
        (text_of("array"), "i", "makes an array around 'j'"),
        (text_of("break"), "i", "'j' can be left in the middle"),
    ],
)
def test_refusals_say_why(text: str, loop: str, word: str) -> None:
    rejection = UnrollAndJam(loop, 2).illegal(*known(text), strict=True)
    assert rejection is not None and word in rejection.reason


def test_code_grows_only_so_far() -> None:
    rejection = UnrollAndJam("i", 100000).illegal(*known(ROWS), strict=True)
    assert rejection is not None and "the limit is 20000" in rejection.reason
    schedule = "tile k 4 i 4 j 4; specialize k i j full"
    inside = apply_schedule(*known(MATMUL), parse_schedule(schedule), strict=True)
    rejection = UnrollAndJam("k", 2).illegal(*inside, strict=True)
    assert rejection is not None and "stands in a branch" in rejection.reason
    marked = apply_schedule(*known(ROWS), parse_schedule("vectorize j"), strict=True)
    assert UnrollAndJam("i", 2).illegal(*marked, strict=True) is not None


def test_in_a_branch_iterations_that_need_no_order_are_joined() -> None:
    inside = apply_schedule(*known(DOTS), parse_schedule("split i 4; specialize i full"), strict=True)
    assert UnrollAndJam("i", 4).illegal(*inside, strict=True) is None
    joined = UnrollAndJam("i", 4).apply(inside[0])
    assert print_kernel(joined).count("s.1.2 = s.1.2 + a[") == 1
    for rows in (0, 3, 4, 11):
        a = np.arange(rows * 3.0).reshape(rows, 3)
        results = [np.zeros(rows), np.zeros(rows)]
        for kernel, result in zip((inside[0], joined), results, strict=True):
            interpret(kernel, [a, result])
        assert results[0].tobytes() == results[1].tobytes()


def test_the_order_of_a_sum_matters_only_under_strict() -> None:
    assert UnrollAndJam("i", 2).illegal(*known(TOTAL), strict=False) is None
    assert UnrollAndJam("i", 2).illegal(*known(TOTAL), strict=True) is not None
    assert UnrollAndJam("k", 2).illegal(*known(MATMUL), strict=True) is None


@pytest.mark.parametrize("factor", [2, 3, 5])
def test_products_of_any_size(factor: int) -> None:
    calls = square_calls((0, 1, 2, 5))
    check_same(MATMUL, f"reorder i k j; unroll_and_jam i {factor}", calls)
    check_same(MATMUL, f"unroll_and_jam k {factor}", calls)


@pytest.mark.parametrize("name", ["sums", "down", "last"])
def test_scalars_of_an_iteration_are_copied(name: str, tmp_path: Path) -> None:
    text = print_kernel(check_same(text_of(name), "unroll_and_jam i 3", calls_of(), tmp_path))
    assert "s.1.1" in text  # two copies, and `s` itself for the last iteration of a group
    if name == "sums":
        assert "t.1" not in text  # it is needed only between two neighbouring statements


UNDER = (
    FRAME
    + """
    for i in 0 .. n:
        if {test}:
            b[i] = 2.0 * b[i]
            for j in 0 .. m:
                b[i] = b[i] + a[i, j]
"""
)


def test_a_condition_that_is_the_same_for_all_is_tested_once(tmp_path: Path) -> None:
    text = print_kernel(check_same(UNDER.format(test="m < 3"), "unroll_and_jam i 2", calls_of(), tmp_path))
    assert text.count("if m < 3:") == 2 and text.index("if m < 3:") < text.index("for j in")
    for test in ("i < 3", "b[0] > 1.0"):
        rejection = UnrollAndJam("i", 2).illegal(*known(UNDER.format(test=test)), strict=True)
        assert rejection is not None and "condition that differs from one iteration to the next" in rejection.reason


def test_a_sum_over_iterations_stays_one_sum(tmp_path: Path) -> None:
    text = (
        FRAME
        + """    var s: float64
    s = 0.0
    for i in 0 .. n:
        s = s + b[i]
        for j in 0 .. m:
            a[i, j] = 2.0 * a[i, j]
    b[0] = s
"""
    )
    assert "s.1" not in print_kernel(check_same(text, "unroll_and_jam i 2", calls_of(), tmp_path))


def test_compiled(tmp_path: Path) -> None:
    schedule = "reorder i k j; tile i 4 k 4 j 3; reorder k.o i.o j.o k i j; unroll_and_jam i 2"
    check_same(MATMUL, schedule + "; parallelize i.o; vectorize j; vectorize j.1", square_calls((0, 1, 4, 9)), tmp_path)
    changed = check_same(ROWS, "unroll_and_jam i 4", [[np.ones((n, 3)), np.ones((n, 3))] for n in range(6)], tmp_path)
    assert "b[i.u + 3, j] = 2.0 * a[i.u + 3, j]" in print_kernel(changed)


def test_everything_stays_proven() -> None:
    for text, schedule in ((text_of("sums"), "unroll_and_jam i 4"), (MATMUL, "reorder i k j; unroll_and_jam i 4")):
        _, facts = apply_schedule(*known(text), parse_schedule(schedule), strict=True)
        assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)


def test_instances() -> None:
    found = {str(step) for step in UnrollAndJam.instances(*known(MATMUL), strict=True)}
    assert found == {f"unroll_and_jam {loop} {factor}" for loop in "ki" for factor in (2, 4)}
    assert UnrollAndJam.instances(*known(WAVE), strict=True) == ()


def test_text() -> None:
    assert str(UnrollAndJam("i", 4)) == "unroll_and_jam i 4"
    assert UnrollAndJam.parse(("i", "4")) == UnrollAndJam("i", 4)
    for words in (("i",), ("i", "1"), ("i", "2", "3")):
        with pytest.raises(ValueError, match="NUMBER"):
            UnrollAndJam.parse(words)


TESTED = """
    var s: float64
    for i in 0 .. n:
        for k in 0 .. m:
            if k < m - 1:
                s = b[i]
                for j in 0 .. m:
                    s = s + a[i, j]
                b[i] = s
"""


def test_a_condition_inside_a_joined_loop_is_a_part_of_each_copy(tmp_path: Path) -> None:
    """The scalar under it was shared by all copies: windows over a batch added one of its members to all others."""
    text = print_kernel(check_same(FRAME + TESTED.lstrip("\n"), "unroll_and_jam i 2", calls_of(), tmp_path))
    assert text.count("if k < m - 1") == 2 and text.count("for k") == 2
