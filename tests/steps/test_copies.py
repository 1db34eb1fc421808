"""Copies of an array for each iteration: `expand` of arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from loopwright.analysis.facts import Facts
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import print_kernel
from loopwright.steps.expand import Expand
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same
from steps.kernels import known
from steps.test_specialize import numbers

BODY = """
    for r in 0 .. nr:
        for q in 0 .. nq:
            for p in 0 .. ns:
                t[p] = 0.0
                for s in 0 .. ns:
                    t[p] = t[p] + a[r, q, s] * c[s, p]
            for p.2 in 0 .. ns:
                a[r, q, p.2] = t[p.2]
"""
HEAD = "\nkernel rows(nr: int64, nq: int64, ns: int64, a: float64[3] C, c: float64[2] C"
LOCAL = f"{HEAD}):\n    allocate t: float64[ns]{BODY}"
USED_AFTER = f"{LOCAL}    if 0 < ns:\n        c[0, 0] = t[0]\n"
ARGUMENT = f"{HEAD}, t: float64[1] C):{BODY}"
ANEW = LOCAL.replace("    allocate t: float64[ns]\n", "").replace(
    "            for p in", "            allocate t: float64[size(c, 0)] = 0.0\n            for p in"
).replace("                t[p] = 0.0\n", "")  # fmt: skip
FROM_END = (
    LOCAL.replace("[ns]", "[ns + 2]")
    .replace("            for p in", "            t[-1] = 5.0\n            for p in")
    .replace("a[r, q, p.2] = t[p.2]", "a[r, q, p.2] = t[p.2] + t[-1]")
)
ROW = """
kernel row(a: float64[2] C, t: float64[1] C, x: int64[1] C, n: int64, m: int64):
    for i in 0 .. n:
        {body}
"""
FILLED = "for j in 0 .. m:\n            t[j] = a[i, j]\n        for k in 0 .. m:\n            a[i, k] = t[m - 1 - k]"


def calls(extra: int = -1) -> list[list[object]]:
    """nr, nq, ns and arrays of these sizes; t has so many elements more, where it is an argument."""
    found: list[list[object]] = []
    for nr, nq, ns in ((0, 0, 0), (1, 2, 3), (2, 0, 3), (0, 2, 3), (3, 2, 0), (3, 4, 5), (-1, 2, 3), (2, 2, -1)):
        shape = [max(0, size) for size in (nr, nq, ns)]
        arrays: list[object] = [numbers(*shape), numbers(shape[2], shape[2])]
        found.append([nr, nq, ns, *arrays, *([numbers(shape[2] + extra)] if extra >= 0 else [])])
    return found


@pytest.mark.parametrize("schedule", ["expand t r q", "expand t q", "split q 2; expand t q", "split r 2; expand t r q"])
@pytest.mark.parametrize(
    ("text", "extra"), [(LOCAL, -1), (USED_AFTER, -1), (ARGUMENT, 0), (ARGUMENT, 2), (ANEW, -1), (FROM_END, -1)]
)
def test_every_iteration_has_a_copy(text: str, extra: int, schedule: str) -> None:
    changed = check_same(text, schedule, calls(extra))
    assert "t.x[" in print_kernel(changed)


def test_rows_of_a_triangle_have_copies() -> None:
    """The copies are as many as those of a square: where a row begins only the loop around it tells."""
    text = ANEW.replace("q in 0", "q in r")
    assert text != ANEW
    changed = check_same(text, "expand t r q", calls())
    assert "t.x: float64[" in print_kernel(changed)


def test_then_the_loops_can_be_taken_apart_and_shared(tmp_path: Path) -> None:
    schedule = "expand t r q; fission q 2; fission r 2; fission p 2; fission q 2; fission r 2; parallelize r.1.1"
    changed = check_same(LOCAL, schedule, calls(), tmp_path)
    assert "allocate t.x: float64[max(0, nr), max(0, nq), ns]" in print_kernel(changed)
    assert "allocate t:" not in print_kernel(changed)


def test_what_is_proven_stays_proven() -> None:
    for text in (LOCAL, ARGUMENT, ANEW):
        _, facts = expanded(text, "expand t r q")
        assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)
        assert facts.loops["r"].verdict == facts.loops["q"].verdict == "parallel"


def test_the_last_copy_is_put_back() -> None:
    changed, _ = expanded(ARGUMENT, "expand t r q")
    end = "    if 0 < nr and 0 < nq:\n        for p.w in 0 .. ns:\n            t[p.w] = t.x[nr - 1, nq - 1, p.w]\n"
    text = print_kernel(changed)
    assert text.endswith(end)
    assert "allocate t.x: float64[max(0, nr), max(0, nq), max(0, ns)]" in text  # not the whole argument


def test_an_array_that_others_use_stays() -> None:
    changed, _ = expanded(USED_AFTER, "expand t r q")
    text = print_kernel(changed)
    assert "allocate t: float64[ns]" in text and "t[p.w] = t.x[nr - 1, nq - 1, p.w]" in text


def test_nan_and_what_is_not_written_come_back_as_they_were() -> None:
    for nr, nq in ((2, 0), (0, 3), (2, 3)):
        outcomes = []
        for kernel in (known(ARGUMENT)[0], expanded(ARGUMENT, "expand t r q")[0]):
            t, a = np.array([np.nan, -0.0, np.inf, np.nan, -0.0]), numbers(nr, nq, 3)
            a[-1:, -1:] = np.nan
            interpret(kernel, [nr, nq, 3, a, numbers(3, 3), t])
            outcomes.append((t.tobytes(), a.tobytes()))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("for j in 0 .. m:\n            a[i, j] = t[j]\n            t[j] = 1.0", "that it has not written itself"),
        ("for j in 0 .. m:\n            t[j] = t[j] + a[i, j]", "that it has not written itself"),
        ("for j in 0 .. i:\n            t[j] = a[i, j]", "not all written by one statement"),
        ("for j in i .. m:\n            t[j] = a[i, j]", "not all written by one statement"),
        ("if a[i, 0] > 0.0:\n            t[0] = a[i, 0]", "not all written by one statement"),
        ("t[i] = a[i, 0]", "not all written by one statement"),
        ("t[0] = a[i, 0]\n        t[1] = 2.0", "not all written by one statement"),
        ("t[x[i]] = a[i, 0]", "an error may end 'i' in the middle"),
        (f"{FILLED}\n        if a[i, 0] > 0.0:\n            break i", "'i' can be left in the middle"),
        (FILLED.replace("m", "x[0]"), "'i'"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    kernel, facts = known(ROW.format(body=body))
    rejection = Expand("t", ("i",)).illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason, rejection
    assert Expand("t", ("i",)).illegal(*known(ROW.format(body=FILLED)), strict=False) is None


LATER = LOCAL.replace("        for q in", "        t[0] = 1.0\n        for q in")
SCALAR_SIZE = ANEW.replace("size(c, 0)] =", "ns] =")
IN_A_LOOP = ANEW.replace("            allocate t", "            for z in 0 .. 2:\n                allocate t").replace(
    "            for p in", "                for p in"
).replace("                for s", "                    for s")  # fmt: skip
TOO_LARGE = "\nkernel large(n: int64):\n    for i.o in 0 .. n step 4096:\n        for i in i.o .. i.o + 4096:\n" + (
    "            allocate t: float64[1000]\n            t[0] = 1.0\n"
)


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (LATER, "expand t r q", "'t' is also used outside of 'q'"),
        (ANEW.replace("size(c, 0)] =", "r + size(c, 0)] ="), "expand t r q", "not known before 'r'"),
        (TOO_LARGE, "expand t i", "would take 32768000 bytes"),
        (LOCAL, "expand t s", "an iteration of 's' may read elements of 't'"),
        (LOCAL.replace("q in 0", "q in r - 1"), "expand t r q", "'q' has a length that is not known before it"),
    ],
)
def test_other_refusals(text: str, step: str, word: str) -> None:
    (one,) = parse_schedule(step)
    rejection = one.illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason, rejection


def test_a_size_that_is_negative_is_an_error_where_the_array_was_made() -> None:
    kernel, facts = known(SCALAR_SIZE)
    for one in (kernel, apply_schedule(kernel, facts, parse_schedule("expand t r q"), strict=True)[0]):
        with pytest.raises(ValueError, match="negative"):
            interpret(one, [2, 2, -1, np.zeros((9, 9, 9)), np.zeros((9, 9))])
        assert interpret(one, [2, 0, -1, np.zeros((9, 9, 9)), np.zeros((9, 9))]) is None


def test_arguments_that_overlap_are_left_alone() -> None:
    kernel, facts = known(ARGUMENT)
    rejection = Expand("t", ("r", "q")).illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "overlap in memory" in rejection.reason


def expanded(text: str, schedule: str) -> tuple[Kernel, Facts]:
    return apply_schedule(*known(text), parse_schedule(schedule), strict=True)


IN_ROUNDS = """
kernel rounds(n: int64, m: int64, o: float64[2] C):
    for b in 0 .. n:
        for t in 0 .. 3:
            for r in 0 .. m:
                allocate mine: float64[m] = 0.0
                for k in 0 .. m:
                    mine[k] = mine[k] + 1.0
                for k.2 in 0 .. m:
                    o[b, r] = o[b, r] + mine[k.2]
"""


def test_what_loops_between_fill_anew_has_no_copy_for_all_of_them() -> None:
    """It would be filled once only, and still have what the round before left in it."""
    kernel, facts = known(IN_ROUNDS)
    rejection = Expand("mine", ("b", "r")).illegal(kernel, facts, strict=False)
    assert rejection is not None and "filled anew by loops between" in rejection.reason
    for loops in (("b", "t", "r"), ("t", "r"), ("r",)):
        assert Expand("mine", loops).illegal(kernel, facts, strict=False) is None
        changed = Expand("mine", loops).apply(kernel)
        for n, m in ((0, 2), (2, 3), (3, 1)):
            mine, right = np.zeros((n, m)), np.zeros((n, m))
            interpret(kernel, [n, m, right])
            interpret(changed, [n, m, mine])
            np.testing.assert_array_equal(mine, right)
