"""What was found by random schedules and by reading the judge, each in its smallest form: the step must be refused, or
the call must give what it gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.on_gpu import agree
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Condition, SizeGuard
from loopwright.analysis.guard import both
from loopwright.errors import ScheduleError
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same, outcome

from .grids import on_emulated

BREAK = """
kernel f(a: float64[1] C, n: int64):
    for i in 0 .. n:
        if a[i] > 2.0:
            break i
        a[i] = 1.0
"""
DIAGONAL = """
kernel f(a: float64[2] C, n: int64):
    for i in 1 .. n:
        for j in 1 .. n:
            a[i, j] = a[i - 1, j - 1] + 1.0
"""
WRAPPED = """
kernel f(b: float64[1] C, c: float64[1] C, n: int64) -> python float64:
    allocate t: float64[8, 8] = 0.0
    for p in 0 .. n:
        c[p + size(b, 0) - 1] = 0.0
    for i in 0 .. 4:
        for j in 0 .. 7:
            t[i - size(b, 0), j] = t[7, j + 1] + 1.0
    return t[7, 3]
"""
FIELDS = """
kernel f(p.x: int64[1] strided unaligned argument 0, p.y: int64[1] strided unaligned argument 0 offset 4, n: int64):
    for i in 0 .. n:
        p.x[i] = 1
        p.y[i] = 2
"""
FAR = """
kernel f(a: float64[1] C):
    for i in 9223372036854775800 .. 9223372036854775807:
        a[i - 9223372036854775800] = 1.0
"""


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (BREAK, "split i 4"),
        (BREAK, "cut i 4"),
        (DIAGONAL, "parallelize j; reorder j i"),
        (DIAGONAL, "vectorize j; tile i 4 j 4"),
        (WRAPPED, "reorder j i"),
        (FIELDS, "reverse i"),
        (FAR, "shift i 100"),
    ],
)
def test_refused(text: str, schedule: str) -> None:
    kernel = parse_kernel(text)
    with pytest.raises(ScheduleError):
        apply_schedule(kernel, analyse(kernel), parse_schedule(schedule), strict=True)


def test_the_condition_under_which_a_step_was_judged_stays_in_the_guard() -> None:
    size, scalar = ("s0_0", ("size", 0, 0)), ("v1", ("scalar", 1, 0))
    near = Condition("v1 <= 9", (("v1",),))
    inside = Condition("(v1 <= s0_0 && (v1 >= 0 || s0_0 >= 1))", (("v1", "s0_0"), ("v1",), ("s0_0",)))
    before = SizeGuard((inside, near), "n <= len(a)", (size, scalar))  # type: ignore[arg-type]
    after = SizeGuard((near,), "n within 9", (scalar,))  # type: ignore[arg-type]
    joined = both(before, after)
    assert joined.c_text == "v1 <= 9 && (v1 <= s0_0 && (v1 >= 0 || s0_0 >= 1))"
    assert set(joined.parameters) == {size, scalar}
    assert both(after, before) is before
    assert both(SizeGuard((), "", ()), after) is after
    assert joined.text == "n within 9 and n <= len(a)"


@pytest.mark.parametrize(("start", "end"), [("l", "n"), ("0", "m"), ("0", "3")])
def test_an_element_that_a_loop_only_writes_is_promoted(start: str, end: str) -> None:
    """Nest 287: that the loop runs is known, but the verifier cannot see it."""
    text = f"""
kernel f(a: float64[1] C, n: int64, m: int64):
    for l in 1 .. n:
        for q in {start} .. {end}:
            a[l + 1] = float64(q)
"""
    check_same(text, "promote a q", [[np.arange(9.0), n, m] for n in (0, 1, 2, 7) for m in (0, 1, 4)])


HANDED_ON = """
kernel f(a: float64[2] C, b: float64[2] C, c: float64[2] C, n: int64, m: int64):
    for i in 0 .. n:
        allocate t: float64[8] = 0.0
        for j in 0 .. 8:
            b[i, j] = t[7 - j]
        for k in 0 .. m:
            for j.1 in 0 .. 8:
                t[j.1] = a[i, j.1] + float64(k)
            if k > 0:
                JUMP k
            for j.2 in 0 .. 8:
                b[i, j.2] = b[i, j.2] + t[7 - j.2]
        for j.3 in 0 .. 8:
            c[i, j.3] = t[7 - j.3]
"""
NO_KERNEL = """
kernel f(a: float64[1] C, n: int64) -> python int64:
    allocate t: float64[n] = 0.0
    return n
"""


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_a_jump_past_the_barrier_of_the_last_iteration(jump: str, tmp_path: Path) -> None:
    """The threads of `j.3` read what those of `j.1` wrote, and the barrier before `j.2` was not reached."""
    first = parse_kernel(HANDED_ON.replace("JUMP", jump))
    steps = "bind i block.x; " + "; ".join(f"bind {name} thread.x" for name in ("j", "j.1", "j.2", "j.3"))
    kernel, facts = apply_schedule(first, analyse(first), parse_schedule(steps), strict=True)
    entry = on_emulated(kernel, facts, True, tmp_path, seed=1)
    for m in (0, 1, 2, 3):
        given = [np.arange(24.0).reshape(3, 8), np.ones((3, 8)), np.ones((3, 8)), 3, m]
        assert outcome(lambda own: entry.run(tuple(own)), given) == outcome(lambda own: interpret(first, own), given)


def test_a_local_array_that_no_kernel_touches(tmp_path: Path) -> None:
    """Program 49: the host's text asked whether 32 bits are enough, and nobody had told it."""
    kernel = parse_kernel(NO_KERNEL)
    assert on_emulated(kernel, analyse(kernel), True, tmp_path).run((np.ones(3), 3)) == 3


def counted_below(a, counts):
    most = -1.0
    for i in range(len(a)):
        if a[i] > most:
            most = a[i]
        for j in range(i % len(counts)):
            counts[j] += 1.0
    return most


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("size", [1, 7, 33])
def test_on_a_gpu_a_loop_whose_end_is_kept_for_each_iteration_of_the_one_around_it(size: int, strict: bool) -> None:
    agree(counted_below, np.arange(40) % 13 / 4, np.zeros(size), strict=strict)
