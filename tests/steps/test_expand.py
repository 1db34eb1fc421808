from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.text import print_kernel
from loopwright.steps.expand import Expand
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same
from steps.kernels import MATMUL, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import numbers

SUMS = """
kernel sums(a: float64[2] C, b: float64[2] C, c: float64[2] C, n: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. n:
            s = 0.0
            for k in 0 .. n:
                s = s + a[i, k] * b[k, j]
            c[i, j] = 2.0 * s + c[i, j]
"""
TRIANGLE = """
kernel triangle(a: float64[2] C, b: float64[2] C, c: float64[2] C, n: int64):
    var s: float64
    for i in 0 .. n:
        for j in 0 .. i:
            s = a[i, j]
            c[i, j] = s + b[j, i]
"""
LAST = """
kernel last(a: float64[1] C, b: float64[1] C, n: int64):
    var s: float64
    s = 1.0
    for i in 0 .. n:
        {body}
    b[0] = s
"""
SIGNS = """
kernel signs(a: float64[1] C, b: float64[1] C, n: int64, m: int64):
    var s: float64
    var t: int64
    for i in m .. n:
        s = a[i]
        t = i * m
        if s > 2.0:
            s = -s
            t = t + 1
        b[i] = s + float64(t)
"""


def calls(*sizes: int) -> list[list[object]]:
    return [[numbers(n, n), numbers(n, n), numbers(n, n), n] for n in sizes]


def test_the_picture() -> None:
    check_picture(Expand)


@pytest.mark.parametrize(
    ("text", "schedule", "step", "word"),
    [
        (TRIANGLE, "", "expand s i j", "'j' has a length that is not known before it"),
        (SUMS, "split j 4", "expand t j", "no scalar 't'"),
        (SUMS, "split j 4", "expand s q", "no loop 'q'"),
        (SUMS, "split j 4; split k 4", "expand s k", "used outside of 'k'"),
        (SUMS, "tile i 4 j 4", "expand s j i", "'i' is not inside 'j'"),
        (SUMS, "tile i 512 j 512", "expand s i j", "takes 2097152 bytes"),
        (SUMS, "split j 4; parallelize j", "expand s j", "marked parallel"),
        (LAST.format(body="s = a[i]"), "split i 4", "expand s i", "used outside of 'i'"),
        (LAST.format(body="a[i] = 2.0"), "split i 4", "expand s i", "used outside of 'i'"),
        (WHILE, "", "expand x w", "while"),
        (MATMUL, "split i 4", "expand s i", "no scalar 's'"),
    ],
)  # fmt: skip
def test_refusals_say_why(text: str, schedule: str, step: str, word: str) -> None:
    kernel, facts = apply_schedule(*known(text), parse_schedule(schedule), strict=False)
    rejection = Expand.parse(tuple(step.split()[1:])).illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason.replace("would take", "takes"), rejection


def test_a_sum_for_each_element_can_be_interchanged(tmp_path: Path) -> None:
    schedule = "split j 4; expand s j; fission j 3; fission j 2; reorder k j.1.1; parallelize i; vectorize j.1.1"
    changed = check_same(SUMS, schedule, calls(0, 1, 4, 9), tmp_path)
    text = print_kernel(changed)
    assert "allocate s.x: float64[4]" in text and "s.x[j.1.1 - j.o] + a[i, k] * b[k, j.1.1]" in text


def test_over_two_loops_sums_become_a_block(tmp_path: Path) -> None:
    schedule = "tile i 4 j 6; expand s i j; fission j 3; fission j 2; fission i 3; fission i 2; reorder k i.1.1 j.1.1"
    schedule += "; tile k 3 i.1.1 2 j.1.1 3; specialize i.1.1 j.1.1 full; promote s.x k; parallelize i.o"
    changed = check_same(SUMS, schedule, calls(0, 1, 4, 13), tmp_path)
    assert "allocate s.x: float64[4, 6]" in print_kernel(changed)
    assert "allocate s.x.r: float64[2, 3]" in print_kernel(changed)


def test_without_stretches_the_array_is_as_long_as_the_loops(tmp_path: Path) -> None:
    schedule = "expand s i j; fission j 3; fission j 2; fission i 3; fission i 2; reorder k i.1.1 j.1.1"
    changed = check_same(SUMS, schedule, [*calls(0, 1, 4, 13), [*calls(0)[0][:3], -3]], tmp_path)
    assert "allocate s.x: float64[max(0, n), max(0, n)]" in print_kernel(changed)
    _, facts = apply_schedule(*known(SUMS), parse_schedule(schedule), strict=True)
    assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)
    assert facts.loops["i.1.1"].verdict == facts.loops["j.1.1"].verdict == "parallel"


def test_several_scalars_in_a_branch_and_a_start_that_is_not_zero(tmp_path: Path) -> None:
    given: list[list[object]] = [[np.arange(9.0), np.zeros(9), n, m] for n, m in ((9, 0), (9, 3), (2, 5), (8, 7))]
    changed = check_same(SIGNS, "split i 4; expand s i; expand t i; fission i 2; parallelize i.o", given, tmp_path)
    assert "t.x: int64[4]" in print_kernel(changed)


def test_a_start_that_the_call_tells(tmp_path: Path) -> None:
    given: list[list[object]] = [[np.arange(9.0), np.zeros(9), n, m] for n, m in ((9, 0), (9, 3), (2, 5), (8, 7))]
    changed = check_same(SIGNS, "expand s i; expand t i; fission i 2; parallelize i", given, tmp_path)
    assert "s.x: float64[max(0, n - m)]" in print_kernel(changed)
    _, facts = apply_schedule(*known(SIGNS), parse_schedule("expand s i"), strict=True)
    assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)


def test_everything_stays_proven() -> None:
    _, facts = apply_schedule(*known(SUMS), parse_schedule("tile i 4 j 6; expand s i j"), strict=True)
    assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)
    assert facts.loops["i.o"].verdict == facts.loops["i"].verdict == "parallel"


def test_instances_and_text() -> None:
    kernel, facts = apply_schedule(*known(SUMS), parse_schedule("split j 4"), strict=True)
    assert Expand.instances(kernel, facts, strict=True) == (Expand("s", ("j",)),)
    assert Expand.instances(*known(SUMS), strict=True) == ()
    for text in ("expand s j", "expand s i j", "expand s in j"):
        assert str(Expand.parse(tuple(text.split()[1:]))) == text
    with pytest.raises(ValueError, match="expand SCALAR_OR_ARRAY"):
        Expand.parse(("s",))


def test_what_is_kept_under_a_condition_is_stored_without_one(tmp_path: Path) -> None:
    text = SUMS.replace("s = s + a[i, k] * b[k, j]", "if a[i, k] > s:\n                    s = a[i, k]")
    calls = [[numbers(n + 1, n + 1), numbers(n + 1, n + 1), numbers(n + 1, n + 1), n] for n in (0, 1, 9)]
    changed = print_kernel(check_same(text, "split j 8; expand s j", calls, tmp_path))
    assert "s.x[j - j.o] = a[i, k] if a[i, k] > s.x[j - j.o] else s.x[j - j.o]" in changed
