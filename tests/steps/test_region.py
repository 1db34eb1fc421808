"""Regions of arrays: what a loop uses of one, why there is none, and copies around the loop that change nothing. Which
steps take them is in test_promote.py and test_pack.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.ir.nodes import Const, For, If, Kernel, Load, ResultArray
from loopwright.ir.printing import print_expr, print_stmt
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import FLOAT64, INT64
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, loops
from loopwright.steps.catalogue import STEPS
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.region import Region, kept_around, may_fail, region_of
from loopwright.steps.step import Rejection
from recipe.planning import check_same

HEAD = "kernel k(a: float64[2] C, b: float64[2] C, p: int64[1] C, n: int64):\n"
SHAPES = {"a": "nm", "b": "nm", "p": "l"}
LIMIT = 1 << 20


def kernel_of(body: str) -> Kernel:
    lines = body.split("\n")
    return parse_kernel(HEAD + "".join(f"    {line}\n" for line in lines))


def region(body: str, loop: str, array: str = "a", limit: int = LIMIT, whole: bool = False) -> Region | Rejection:
    kernel = kernel_of(body)
    found = loops(kernel)[loop]
    assert isinstance(found, For)
    return region_of(kernel, found, array, limit, whole)


def rejected(body: str, loop: str, array: str = "a", limit: int = LIMIT) -> str:
    found = region(body, loop, array, limit)
    assert isinstance(found, Rejection)
    return found.reason


ELEMENT = "for i in 0 .. n:\n    for j in 0 .. 4:\n        a[i, 0] = a[i, 0] + b[i, j]"
ROW = "for t in 0 .. n:\n    for i in 0 .. n:\n        for j in 0 .. 4:\n            a[t, j] = a[t, j] + b[i, j]"
TILE = """for i.o in 0 .. size(a, 0) step 4:
    for t in 0 .. 3:
        for i in i.o .. min(i.o + 4, size(a, 0)):
            a[i, 0] = a[i, 0] + b[i, t]"""


def test_one_element_is_a_scalar() -> None:
    found = region(ELEMENT, "j")
    assert isinstance(found, Region)
    assert (found.shape, found.local, found.inner) == ((), (), ())
    assert (found.is_read, found.is_written, found.again, found.is_part) == (True, True, True, False)
    assert found.runs == () and [print_expr(one) for one in found.index] == ["i", "0"]


def test_a_row_is_a_local_array() -> None:
    found = region(ROW, "i")
    assert isinstance(found, Region)
    assert found.shape == (4,) and [loop.name for loop in found.inner] == ["j"]
    assert [print_expr(one) for one in found.local] == ["j"]
    assert [print_expr(one) for one in found.runs] == ["0 < n"]  # else nothing of it may be touched
    assert found.again
    once = region(ROW, "j", "b", whole=True)
    assert isinstance(once, Region) and once.shape == (4,) and not once.again


def test_a_stretch_has_limits() -> None:
    found = region(TILE, "t")
    assert isinstance(found, Region)
    assert found.shape == (4,) and [print_expr(one) for one in found.local] == ["i - i.o"]
    assert [print_expr(limit.end) for limit in found.limits] == []  # the loop over i itself has it


def test_only_read_or_only_written() -> None:
    found = region("for i in 0 .. 4:\n    for j in 0 .. 4:\n        b[i, j] = a[i, 0]", "j")
    assert isinstance(found, Region) and (found.is_read, found.is_written) == (True, False)
    found = region("for i in 0 .. 4:\n    for j in 0 .. 4:\n        a[i, 0] = b[i, j]", "j")
    assert isinstance(found, Region) and (found.is_read, found.is_written) == (False, True)


@pytest.mark.parametrize(
    ("body", "loop", "array", "reason"),
    [
        (ELEMENT, "j", "z", "there is no array 'z' (there are: a, b, p)"),
        (ELEMENT, "j", "p", "'j' does not use 'p'"),
        (ELEMENT, "i", "a", "'i' uses other elements of 'a' in each iteration"),
        ("for i in 0 .. 4:\n    a[i, 0] = a[0, 0]", "i", "a", "'i' uses several elements of 'a' at a time"),
        (
            "for i in 0 .. 4:\n    for j in 0 .. 4:\n        a[p[i], 0] = 1.0",
            "j", "a", "which elements of 'a' are used depends on data",
        ),
        (
            "for i in 0 .. 4:\n    for j in 0 .. n:\n        a[i, j] = 1.0",
            "i", "a", "'i' uses other elements of 'a' in each iteration",
        ),
        (
            "for t in 0 .. 4:\n    for j in 0 .. n:\n        a[0, j] = 1.0",
            "t", "a", "'j' has no constant number of iterations",
        ),
        (
            "for t in 0 .. 4:\n    for j in t .. t + 3:\n        a[0, j] = 1.0",
            "t", "a", "the bounds of 'j' change inside 't'",
        ),
        (
            "for t in 0 .. 4:\n    allocate w: float64[2]\n    w[0] = 1.0",
            "t", "w", "'w' is made anew inside 't'",
        ),
        (
            "for t in 0 .. 4:\n    if n > t:\n        a[0, 0] = a[0, 0] + 1.0",
            "t", "a", "'t' may run without using any element there, so that none may be copied",
        ),
    ],
)  # fmt: skip
def test_why_there_is_no_region(body: str, loop: str, array: str, reason: str) -> None:
    assert rejected(body, loop, array) == reason


def test_a_region_that_is_too_large() -> None:
    assert rejected(ROW, "i", limit=31) == "the part of 'a' takes 32 bytes; the limit is 31"
    assert isinstance(region(ROW, "i", limit=32), Region)


def test_all_stretches_together() -> None:
    body = """for j.o in 0 .. 8 step 4:
    for i in 0 .. n:
        for t in 0 .. 8 step 2:
            for k in t .. t + 2:
                b[i, k] = a[0, k] + 1.0"""
    found = region(body, "i", "a", whole=True)
    assert isinstance(found, Region) and found.shape == (8,)
    assert [print_expr(bound) for bound in (found.inner[0].lower, found.inner[0].upper)] == ["0", "8"]
    alone = region(body, "i", "a")
    assert isinstance(alone, Rejection) and alone.reason == "the bounds of 'k' change inside 'i'"


# ---- copies around the loop -----------------------------------------------------------------------------------------


def around(body: str, loop: str, array: str = "a") -> tuple[Kernel, Kernel, str]:
    kernel = kernel_of(body)
    found = loops(kernel)[loop]
    assert isinstance(found, For)
    use = region_of(kernel, found, array, LIMIT)
    assert isinstance(use, Region)
    kept = kept_around(kernel, found, use, "r")
    after = finished(with_statement(kernel, found, kept), kernel)
    verify(after)
    return kernel, after, "\n".join(print_stmt(one) for one in kept)


SIZES = ((0, 4, 0), (1, 4, 0), (3, 4, 0), (7, 5, 0), (9, 8, 0))


@pytest.mark.parametrize(
    ("body", "loop"),
    [
        (ELEMENT, "j"),
        (ROW, "i"),
        (TILE, "t"),
        (ROW.replace("a[t, j] = a[t, j] + b[i, j]", "a[t, j] = b[i, j]"), "i"),
        (ROW.replace("a[t, j] = a[t, j] + b[i, j]", "b[i, j] = a[t, j]"), "i"),
        ("for i in 0 .. n:\n    for j in 3 .. -1 step -1:\n        a[i, 0] = a[i, 0] - b[i, j]", "j"),
    ],
)
def test_copies_change_nothing(body: str, loop: str) -> None:
    before, after, _ = around(body, loop)
    check_same(before, after, SHAPES, SIZES)


def test_what_is_copied_in_and_out() -> None:
    _, _, text = around(ELEMENT, "j")
    assert text.startswith("a.r = a[i, 0]\n") and text.endswith("\na[i, 0] = a.r")
    _, _, read = around(ROW.replace("a[t, j] = a[t, j] + b[i, j]", "b[i, j] = a[t, j]"), "i")
    assert "allocate a.r: float64[4]" in read and "a.r[j.r] = a[t, j.r]" in read and "a[t, j.w]" not in read
    _, _, written = around(ROW.replace("a[t, j] = a[t, j] + b[i, j]", "a[t, j] = b[i, j]"), "i")
    assert "a[t, j.w] = a.r[j.w]" in written and "= a[t, " not in written


def test_nothing_is_copied_where_the_loop_does_not_run() -> None:
    kernel = kernel_of(ROW)
    loop = loops(kernel)["i"]
    assert isinstance(loop, For)
    use = region_of(kernel, loop, "a", LIMIT)
    assert isinstance(use, Region)
    [guarded] = kept_around(kernel, loop, use, "r")
    assert isinstance(guarded, If) and print_expr(guarded.condition) == "0 < n" and guarded.otherwise == ()


def test_what_the_loop_does_besides_is_done_anyway() -> None:
    body = """for t in 0 .. n:
    b[t, 0] = 1.0
    for k in 0 .. size(p, 0):
        a[0, 0] = a[0, 0] + 1.0"""
    found = region(body, "t")
    assert isinstance(found, Region) and found.is_part
    before, after, _ = around(body, "t")
    check_same(before, after, SHAPES, ((0, 4, 0), (3, 4, 0), (3, 4, 2)))


def test_reads_of_other_elements_are_left_alone() -> None:
    kernel = kernel_of("for i in 0 .. n:\n    for j in 0 .. 3:\n        a[i, 0] = a[i, 0] + a[i, j + 1]")
    loop = loops(kernel)["j"]
    assert isinstance(loop, For)
    assert isinstance(region_of(kernel, loop, "a", LIMIT), Rejection)
    others = [id(part) for part in expressions(loop.body) if isinstance(part, Load) and "1" in print_expr(part)]
    found = region_of(kernel, loop, "a", LIMIT, others=others)
    assert isinstance(found, Region)
    after = finished(with_statement(kernel, loop, kept_around(kernel, loop, found, "r")), kernel)
    check_same(kernel, after, SHAPES, SIZES)


def test_an_error_in_the_middle_would_be_seen() -> None:
    checked = "for i in 0 .. n:\n    for j in 0 .. 4:\n        a[i, 0] = a[i, 0] + b[p[j], j]"
    read = "for i in 0 .. n:\n    for j in 0 .. 4:\n        b[p[j], j] = a[i, 0]"
    for body, fails in ((ELEMENT, False), (checked, True), (read, False)):
        kernel = kernel_of(body)
        loop = loops(kernel)["j"]
        assert isinstance(loop, For)
        use = region_of(kernel, loop, "a", LIMIT)
        assert isinstance(use, Region)
        found = may_fail(kernel, loop, use, analyse(kernel))
        assert (found is not None) == fails
        if found is not None:
            assert found.reason == "an error may end 'j' in the middle, before 'a' is up to date"


def test_nobody_sees_an_error_in_the_middle_of_an_array_of_the_kernels_own() -> None:
    body = "allocate t: float64[4] = 0.0\nfor j in 0 .. 4:\n    t[0] = t[0] + b[p[j], j]\na[0, 0] = t[0]"
    for returned in (False, True):
        kernel = kernel_of(body)
        loop = loops(kernel)["j"]
        assert isinstance(loop, For)
        use = region_of(kernel, loop, "t", LIMIT)
        assert isinstance(use, Region)
        facts = analyse(kernel)
        seen = replace(kernel, results=(ResultArray("t", FLOAT64, (Const(4, INT64),), None),)) if returned else kernel
        assert (may_fail(seen, loop, use, facts) is not None) == returned


def test_in_a_version_for_loops_that_are_not_empty_no_condition_is_left() -> None:
    inner = "for j in 0 .. n:\n    for i in 0 .. size(b, 0):\n        a[j, 0] = a[j, 0] + b[i, 0]"
    for condition, is_told in (("size(b, 0) >= 1", True), ("size(b, 0) >= 0", False), ("size(b, 1) >= 1", False)):
        indented = inner.replace("\n", "\n    ")
        kernel = kernel_of(f"if {condition}:\n    {indented}")
        loop = loops(kernel)["i"]
        assert isinstance(loop, For)
        use = region_of(kernel, loop, "a", LIMIT)
        assert isinstance(use, Region) and (use.runs == ()) == is_told


def test_no_step_fails_where_only_a_call_tells_how_far_a_loop_goes_each_time() -> None:
    text = """
kernel strided(a: float64[1] C, b: float64[1] C, n: int64, m: int64):
    for k in 0 .. n:
        for i in 1 .. n step checked(m, m != 0, zero_step):
            b[k] = b[k] + a[i]
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    found = {step.name: list(step.instances(kernel, facts, True)) for step in STEPS}
    assert found["pack"] == found["stage"] == [] and found["parallelize"]
