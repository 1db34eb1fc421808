"""Loops that ask whether to stop: however often they do, results are those of the interpreter."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import host_text
from loopwright.analysis.analyse import analyse
from loopwright.codegen import openmp
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.recipe.recipe import recipe

RANDOM = np.random.default_rng(5)
LOOPS = """
kernel loops(a: float64[1] C, b: float64[2] C, out: float64[1] C, n: int64):
    var s: float64
    var k: int64
    for i in 0 .. n:
        out[i] = a[i] * 2.0
    for j in n - 1 .. -1 step -1:
        out[j] = out[j] + a[j]
    for m in 0 .. n step 3:
        out[m] = out[m] - 1.0
    s = 0.0
    for p in 0 .. size(b, 0):
        for q in 0 .. size(b, 1):
            s = s + b[p, q]
        for r in size(b, 1) - 1 .. -1 step -1:
            b[p, r] = b[p, r] + s
        for t in 0 .. size(b, 1):
            if b[p, t] > 40.0:
                break t
            b[p, t] = b[p, t] + 1.0
        block found:
            for x in size(b, 1) - 1 .. -1 step -1:
                if b[p, x] > 39.0:
                    leave found
                b[p, x] = b[p, x] - 1.0
            s = s + 1.0
    k = n
    while k > 0 named w:
        s = s + 1.0
        k = k // 2
    k = n
    while k != 1 named v:
        if k % 2 == 0:
            k = k // 2
        else:
            k = 3 * k + 1
        s = s + 1.0
        if s > 1010.0:
            break v
    while k > n named u:
        k = k - n if k % 3 == 0 else k - 1
    out[0] = s + float64(k)
"""


@pytest.mark.parametrize("patience", [None, 1, 9, 100])
@pytest.mark.parametrize("check_all", [False, True])
def test_strips_of_any_length(
    patience: int | None, check_all: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if patience is not None:
        monkeypatch.setattr(openmp, "HEADER", f"#define LW_PATIENCE INT64_C({patience})\n{openmp.HEADER}")
    kernel = parse_kernel(LOOPS)
    facts = analyse(kernel)
    scheduled = kernel if check_all else recipe(kernel, facts, False, None).kernel
    entry = compiled(scheduled, tmp_path, facts, check_all=check_all, strict=False, threads=2)
    for n, rows, columns in ((40, 5, 30), (1, 1, 1), (17, 3, 0), (40, 0, 7)):
        values: list[Any] = [
            RANDOM.integers(-9, 9, 40) * 1.0, RANDOM.integers(-9, 9, (rows, columns)) * 1.0, np.zeros(40), n,
        ]  # fmt: skip
        expected, got = copy.deepcopy(values), copy.deepcopy(values)
        interpret(kernel, expected)
        entry.run(tuple(got))
        for one, other in zip(expected[:3], got[:3], strict=True):
            np.testing.assert_array_equal(one, other)


def test_short_loops_do_not_ask() -> None:
    text = """
kernel short(a: float64[1] C):
    for i in 0 .. 8:
        for j in 0 .. 8:
            a[i] = a[i] + 1.0
"""
    kernel = parse_kernel(text)
    program = openmp.generate(kernel, analyse(kernel), False, False)
    assert "LW_SPEND" not in program.text.removeprefix(openmp.HEADER)


SEARCHES = """
kernel searches(a: int64[1] C, out: int64[1] C):
    for i in 0 .. size(a, 0):
        for j in {}:
            if a[j] == a[i]:
                {}
            out[j] = out[j] + 1
"""


@pytest.mark.parametrize(
    ("iterations", "rest"), [("0 .. i", "lw_upper - j_ - 1"), ("i - 1 .. -1 step -1", "j_ - lw_upper - 1")]
)
def test_searches_give_back_what_they_have_not_done(iterations: str, rest: str) -> None:
    for end in ("break j", "out[0] = 7"):
        text = host_text(SEARCHES.format(iterations, end))
        assert (f"lw_due += ({rest}) *" in text) == (end == "break j")
        assert ("lw_asked_between(watch)" in text) == (end != "break j")  # searches of many mostly end before the first
        assert ("+ lw_if_few(lw_trip(" in text) == (end == "break j")


WALKS = """
kernel walks(a: int64[1] C, out: int64[1] C):
    var n: int64
    for i in 0 .. size(a, 0):
        for d in 0 .. {}:
            n = a[i] + d
            while {} named w:
                n = n - a[0]
"""


@pytest.mark.parametrize(("directions", "at_once"), [("4", True), ("size(out, 0)", False), ("9999", False)])
def test_few_iterations_are_counted_before_the_first(directions: str, at_once: bool) -> None:
    text = host_text(WALKS.format(directions, "n > 0"))
    assert ("++d_) { n_ = " in text) == at_once
    assert ("++d_) { LW_SPEND(" in text) == (not at_once)


BEST = """
kernel best(a: int64[1] C, kept: int64[1] C):
    var p: int64
    for i in 0 .. size(a, 0):
        if a[i] > kept[7]:
            p = 7
            while {} named w:
                kept[p] = kept[p - 1]
                p = p - 1
            kept[p] = a[i]
"""


@pytest.mark.parametrize(("more", "in_strips"), [("", True), (" and p < 99 or p == 77 or p == 99", False)])
def test_iterations_that_rarely_search_are_counted_in_strips(more: str, in_strips: bool) -> None:
    text = host_text(BEST.format(f"p > 0 and kept[p - 1] < a[i]{more}"))
    assert ("int64_t lw_strip = 0L" in text) == in_strips


@pytest.mark.parametrize(
    ("more", "times"), [("", 4), (" and n < 99 or n == 200", 4), (" and n < 99 or n == 7 or n == 9", 1)]
)
def test_conditions_of_many_jumps_stand_once(more: str, times: int) -> None:
    assert host_text(WALKS.format("4", f"n > 0{more}")).count("n_ = (n_ - a_[0L])") == times


WINDOWS = """
kernel windows(a: float64[2] C, k: float64[1] C, out: float64[2] C):
    var s: float64
    for i in 0 .. size(out, 0):
        for j in 0 .. size(out, 1):
            s = 0.0
            for p in 0 .. {}:
                s = s + a[i, j + p] * k[p]
            out[i, j] = s
"""


@pytest.mark.parametrize(("taps", "times"), [(2, 2), (16, 1)])
def test_what_is_heavy_stands_there_once(taps: int, times: int) -> None:
    text = host_text(WINDOWS.format(taps))
    assert text.count("s_ = 0.0;") == times
    assert text.count("lw_strip = lw_then") == 1
    assert text.count("LW_SPEND(lw_due, watch,") == 3 - times  # the loop around counts, or the strip


WHILE = """
kernel rounds(a: int64[1] C, k: int64):
    var x: int64
    for i in 0 .. size(a, 0):
        x = a[i]
        while x > k named w:
{}
        a[i] = x
"""


@pytest.mark.parametrize(
    ("body", "times"),
    [
        (["x = x - 3"], 4),
        (["x = x - 3", "if x == 7:", "    break w"], 4),
        (["x = x - 3", "if x == 7:", "    continue w", "x = x - 2"], 1),  # nothing would be counted
        (["x = x - k * k * k * k * k", "x = x - k * k * k * k"] * 2, 1),
        (["for p in 0 .. 3:", "    x = x - 1"], 1),
        (["x = x - x // (k + 2)"], 1),  # which takes longer than to count
    ],
)
def test_short_iterations_are_written_out_and_count_once(body: list[str], times: int) -> None:
    text = host_text(WHILE.format("\n".join(f"            {line}" for line in body)))
    loop = text[text.index("((x_ > k_))") : text.index("a_[i_] = ")]
    assert ("if ((x_ > k_)) {" in text) == (times > 1)  # what the first iteration starts with is known there
    assert loop.count("x_ = (x_ - ") == times * sum("x = x -" in line for line in body)
    assert loop.count("LW_SPEND(") == 1
