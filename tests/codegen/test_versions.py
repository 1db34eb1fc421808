"""Loops in two versions, unchecked where a test at the entry allows it: results and errors as in the interpreter."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.errors import BoundsError
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.recipe.recipe import recipe

RANDOM = np.random.default_rng(7)
LEAST, MOST = -(2**63), 2**63 - 1


def outcome(call: Any, arguments: list[Any]) -> tuple[list[Any], Any]:
    own = copy.deepcopy(arguments)
    try:
        return own, call(own)
    except BoundsError as error:
        return own, (error.array, error.axis, error.index, error.size)


def agree(text: str, calls: list[list[Any]], cache: Path, strict: bool = False) -> str:
    """Every call does what the interpreter does, the state that an error leaves included. Gives the C text."""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled = recipe(kernel, facts, strict, None).kernel
    entry = compiled(scheduled, cache, facts, check_all=False, strict=strict)
    for arguments in calls:
        right = outcome(lambda a: interpret(kernel, a), arguments)
        got = outcome(lambda a: entry.run(tuple(a)), arguments)
        assert str(got[1]) == str(right[1])
        for mine, his in zip(got[0], right[0], strict=True):
            np.testing.assert_array_equal(mine, his)
    return entry.payload.program.text


def versions(c_text: str) -> tuple[str, str]:
    """The texts of the two versions of the first loop that has two."""
    lines = c_text.split("\n")
    start = next(k for k, line in enumerate(lines) if "if (!LW_SELDOM(!(" in line)
    margin = lines[start][: -len(lines[start].lstrip())]
    middle = lines.index(margin + "} else {", start)
    return "\n".join(lines[start:middle]), "\n".join(lines[middle : lines.index(margin + "}", middle)])


SPMV = """
kernel spmv(start: int64[1] C, col: int32[1] C, val: float64[1] C, x: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(start, 0) - 1:
        s = 0.0
        for k in start[i] .. start[i + 1]:
            s = s + val[k] * x[int64(col[k])]
        y[i] = s
"""


def test_rows_of_a_sparse_matrix(tmp_path: Path) -> None:
    start = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 40, 60))])
    entries = int(start[-1])
    col = RANDOM.integers(-30, 30, entries).astype("int32")
    val, x = RANDOM.integers(-9, 9, entries) * 1.0, RANDOM.integers(-9, 9, 30) * 1.0
    calls = [[start, col, val, x, np.zeros(60)]]
    for where, value in (
        (20, -3),
        (20, entries + 1),
        (60, entries + 1),
        (0, -5),
        (0, -entries - 1),
        (30, 0),
        (9, MOST),
    ):
        wrong = start.copy()
        wrong[where] = value
        calls.append([wrong, col, val, x, np.zeros(60)])
    for value in (30, -31, 2**31 - 1):
        wrong = col.copy()
        wrong[entries // 2] = value
        calls.append([start, wrong, val, x, np.zeros(60)])
    calls.append([start, col[:-7], val, x, np.zeros(60)])
    calls.append([start, col, val[:-7], x, np.zeros(60)])
    calls.append([start, col, val, x[:0], np.zeros(60)])
    fast, careful = versions(agree(SPMV, calls, tmp_path))
    assert "val_[k_]" in fast and "col_[k_]" in fast and "LW_INDEX" in fast
    assert careful.count("LW_INDEX") == 3


def test_a_loop_without_other_checks_goes_into_lanes(tmp_path: Path) -> None:
    text = """
kernel squares(start: int64[1] C, val: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(start, 0) - 1:
        s = 0.0
        for k in start[i] .. start[i + 1]:
            s = s + val[k] * val[k]
        y[i] = s
        for m in start[i] .. start[i + 1]:
            val[m] = val[m] + s
"""
    start = np.array([0, 50, 90, 90, 200])
    calls: list[list[Any]] = [[start, np.arange(200.0), np.zeros(4)]]
    calls += [[start + shift, np.arange(200.0), np.zeros(4)] for shift in (1, -1, -150, -200, -201, 5000)]
    c_text = agree(text, calls, tmp_path)
    assert (
        "omp simd reduction" in c_text and c_text.count("= LW_INDEX(") + c_text.count("[LW_INDEX(") == 10
    )  # with few or some iterations, too, and with too few for two threads


def test_elements_that_give_indices_and_stay_the_same_are_looked_up_once(tmp_path: Path) -> None:
    text = """
kernel distances(x: float64[2] C, p: int32[1] C, q: int64[1] C, y: float64[1] C):
    var d: float64
    for i in 0 .. size(y, 0):
        for k in 0 .. size(x, 1):
            d = x[int64(p[q[i]]), k] - x[int64(p[i]), k]
            y[i] = y[i] + d * d
"""
    x, p = RANDOM.integers(-9, 9, (5, 30)) * 1.0, np.array([0, 4, -5, 2, -1], np.int32)
    q = np.array([4, 3, -5, 0, 1])
    calls = [[x, p, q, np.zeros(5)], [x[:4].copy(), p, q, np.zeros(5)], [x, p, q + 1, np.zeros(5)]]
    c_text = agree(text, calls, tmp_path)
    fast, careful = versions(c_text)
    loops = fast[fast.index("int32_t lw_looked_up3") :]
    assert "p_[LW_INDEX(" in careful and loops.count("p_[") == 1 and "q_[" not in loops
    assert "int64_t lw_looked_up = q_[i_];" in fast


@pytest.mark.parametrize("bounds", ["lo .. hi", "lo .. hi step 3", "hi .. lo step -1", "hi .. lo step -2"])
@pytest.mark.parametrize("index", ["k + c[1]", "c[1] - k", "-(k) + c[1]", "c[c[2]] + (k - c[1])", "c[3]"])
def test_indices_that_climb_fall_or_stay(bounds: str, index: str, tmp_path: Path) -> None:
    text = f"""
kernel move(a: int64[1] C, c: int64[1] C, out: int64[1] C):
    var lo: int64
    var hi: int64
    lo = c[0]
    hi = c[4]
    for k in {bounds}:
        out[0] = out[0] * 3 + a[{index}]
        a[{index}] = out[0]
"""
    calls: list[list[Any]] = [
        [np.arange(12), np.array([lo, shift, at, 3, hi]), np.ones(2, "int64")]
        for lo, hi in (
            (0, 12),
            (0, 13),
            (1, 5),
            (-2, 3),
            (4, 4),
            (9, 2),
            (-1, 11),
            (MOST - 3, MOST),
            (LEAST, LEAST + 2),
        )
        for shift in (0, 11, -1, 2, MOST, LEAST, MOST - 2, LEAST + 1)
        for at in (1, 4, 5)
    ]
    agree(text, calls, tmp_path)


@pytest.mark.parametrize("index", ["2 * k + c[2]", "c[2] - 3 * k", "16 * k"])
def test_indices_that_move_by_several_elements(index: str, tmp_path: Path) -> None:
    text = f"""
kernel steep(a: int64[1] C, c: int64[1] C, out: int64[1] C):
    for k in c[0] .. c[1]:
        out[0] = out[0] * 3 + a[{index}]
        a[{index}] = out[0]
"""
    # (LEAST, 4): twice the first and the last one are inside, and what lies between them is not
    ranges = ((0, 4), (0, 7), (-3, 2), (3, 3), (5, 1), (LEAST, 4), (MOST - 2, MOST))
    calls: list[list[Any]] = [
        [np.arange(12), np.array([lo, hi, shift]), np.ones(2, "int64")]
        for lo, hi in ranges
        for shift in (0, 11, -1, 2, MOST, LEAST)
    ]
    assert "< UINT64_C(1) << 58 && lw_climbs(" in agree(text, calls, tmp_path)


def test_every_step_between_two_indices_inside_is_inside(tmp_path: Path) -> None:
    """The index wraps around in between: the first and the last one alone would not show it."""
    text = """
kernel around(a: int64[1] C, c: int64[1] C, out: int64[1] C):
    for k in c[0] .. c[1] step 9223372036854775807:
        out[k + c[2] & 1] = out[0] + a[k + c[2]]
"""
    calls: list[list[Any]] = [
        [np.arange(8), np.array([lo, MOST, shift]), np.zeros(2, "int64")]
        for lo in (LEAST, LEAST + 3, -2, 0)
        for shift in (LEAST, LEAST + 4, 0, 4, 1)
    ]
    agree(text, calls, tmp_path)


def test_an_index_from_an_array_that_the_loop_writes_is_not_known_before(tmp_path: Path) -> None:
    text = """
kernel chase(a: int64[1] C, p: int64[1] C):
    for k in p[0] .. p[1]:
        a[p[2]] = a[p[2]] + a[k]
        p[2] = p[2] + a[k]
"""
    values = [[np.arange(6), np.array([lo, hi, at])] for lo in (0, 2, -1) for hi in (4, 6, 7) for at in (0, 5, 6, -7)]
    fast, _ = versions(agree(text, values, tmp_path))
    assert "a_[k_]" in fast and "a_[(lw_at = LW_INDEX" in fast


def test_a_condition_in_the_loop_does_not_protect_what_is_read_at_its_entry(tmp_path: Path) -> None:
    text = """
kernel guarded(a: float64[1] C, p: int64[1] C, n: int64, lo: int64, hi: int64):
    for k in lo .. hi:
        if 0 <= n and n < size(p, 0):
            a[p[n] + k] = a[k + p[n]] + 1.0
"""
    calls = [
        [np.zeros(9), np.array([2, 3]), n, lo, hi] for n in (0, 1, 2, -1, 2**40, LEAST) for lo, hi in ((0, 4), (-3, 9))
    ]
    agree(text, calls, tmp_path)


def test_an_index_from_an_array_that_may_overlap_with_a_written_one(tmp_path: Path) -> None:
    text = """
kernel fields(p.low: int32[1] strided, p.all: int64[1] strided argument 0, a: float64[1] C argument 1,
              n: int64[1] C argument 2):
    overlap
    for k in n[0] .. n[0] + 3:
        a[int64(p.low[0]) + k] = 1.0
        p.all[0] = p.all[0] + 1
"""
    records = np.zeros(
        2, np.dtype({"names": ["low", "all"], "formats": ["i4", "i8"], "offsets": [0, 0], "itemsize": 8})
    )
    calls = [[records, np.zeros(6), np.array([n])] for n in (0, 1, 2, 3, 4)]
    agree(text, calls, tmp_path)
