"""Each pass is one decision: without it, the text lacks what it decides, and results are the same."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import after, host_text, small
from loopwright.codegen import cpu_lowering, parallel
from loopwright.codegen.cpu_lowering import PASSES
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel

RANDOM = np.random.default_rng(5)
N = 997

SPMV = """
kernel spmv(start: int64[1] C, col: int64[1] C, x: float64[1] C, y: float64[1] C):
    var s: float64
    for i in 0 .. size(start, 0) - 1:
        s = 0.0
        for k in start[i] .. start[i + 1]:
            s = s + x[col[k]]
        y[i] = s
"""
TABLE = """
kernel table(a: int64[1] C, h: int64[1] C):
    for i in 0 .. size(a, 0):
        h[a[i]] = h[a[i]] + 1
"""
TOTAL = """
kernel total(b: float64[1] C) -> float64:
    var s: float64
    s = 0.0
    for i in 0 .. size(b, 0):
        s = s + b[i]
    return s
"""
ADD = """
kernel add(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = a[i, j] + 1.0
"""
LAYERS = """
kernel layers(a: float64[3] C, b: float64[3] C):
    for c in 0 .. size(a, 0):
        for i in 0 .. size(a, 1):
            for j in 0 .. size(a, 2):
                b[c, i, j] = a[c, i, j] + 1.0
"""
HALVES = """
kernel halves(b: float64[1] C):
    var s: float64
    for i in 0 .. size(b, 0):
        s = b[i]
        while s > 0.125 named w:
            s = s * 0.5
        b[i] = s
"""
BEGUN_AGAIN = """
kernel again(b: float64[1] C):
    var s: float64
    s = 0.0
    for i in 0 .. size(b, 0):
        s = max(0.0, s + b[i] - 0.5)
        b[i] = s
"""
SWAPS = """
kernel swaps(b: float64[1] C):
    var t: float64
    for k in 0 .. 3:
        for j in 0 .. size(b, 0) - 1:
            if b[j] > b[j + 1]:
                t = b[j]
                b[j] = b[j + 1]
                b[j + 1] = t
"""
SUMS = """
kernel sums(b: float64[1] C, a: float64[1] C):
    var s: float64
    s = 0.0
    for i in 0 .. size(b, 0):
        if b[i] > 1.0:
            s = s + (b[i] - 1.0)
        a[i] = s
"""
FITS = """
kernel fits(b: float64[1] C, h: int64[1] C):
    for i in 0 .. size(b, 0):
        if b[i] > 2.0:
            h[i] = checked(int64(b[i]), b[i] < 100.0, not_finite)
"""
LENGTHS = """
kernel lengths(b: float64[1] C):
    for i in 0 .. size(b, 0):
        b[i] = hypot(b[i], 0.0) if b[i] > 1.0 else 0.0
"""
CHOSEN = """
kernel chosen(b: float64[1] C) -> tuple(python int64, float64):
    var k: int64
    allocate c: float64[size(b, 0)]
    k = 0
    for i in 0 .. size(b, 0):
        if b[i] > 1.0:
            c[k] = b[i]
            k = k + 1
    return k, c[k - 1]
"""
FOUND = """
kernel found(c: int8[1] C) -> python int64:
    for i in 0 .. size(c, 0):
        if c[i] == int8(-127):
            return i
    return -1
"""
COUNTED = """
kernel counted(c: int8[1] C) -> python int64:
    var s: int64
    s = 0
    for i in 0 .. size(c, 0):
        s = s + int64(c[i])
    return s
"""
TURNS = """
kernel turns(a: float64[1] C, b: float64[1] C):
    for i in 1 .. size(a, 0):
        b[i] = a[i] * a[i] - b[i - 1]
"""

DRAWN = """
kernel drawn(h: int64[1] C) -> python int64:
    var s: int64
    s = 7
    for i in 0 .. size(h, 0):
        s = (16807 * s) % 2147483647
        h[i] = s
    return s
"""
WRAPPED = """
kernel wrapped(d: int64[1] C, h: int64[1] C, k: int64):
    for i in 0 .. size(d, 0):
        d[i] = d[i] * (i % k) + i // k
        h[i] = i % k
"""

SPIKES = """
kernel spikes(v: float64[1] C, n: int64[1] C):
    for i in 0 .. size(v, 0):
        if v[i] > 2.0:
            v[i] = 0.0
            n[i] = n[i] + 1
"""
ABOVE = """
kernel above(p: float64[2] C, n: int64[2] C):
    for i in 0 .. size(p, 0):
        for j in 0 .. size(p, 1):
            if p[i, j] > 0.5:
                if p[i, j] > p[i, 0]:
                    n[i, j] = 1
"""
OLDEST = """
kernel oldest(a: float64[2] C, b: float64[2] C):
    var k: int64
    var v: float64
    for i in 0 .. size(a, 0):
        k = 0
        v = 1000.0
        for j in 0 .. size(a, 1):
            if a[i, j] < v:
                v = a[i, j]
                k = j
        b[i, 0] = v + float64(k)
"""
ROWS = """
kernel rows(a: float64[2] C, s: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s[i] = s[i] + a[i, j]
"""
BYTES = """
kernel bytes(a: uint8[2] C, b: uint8[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = a[i, j] + uint8(1)
"""
LARGE = "kernel large(h: int64[1] C):\n" + "".join(
    f"    for i{k} in 1 .. size(h, 0):\n" + f"        h[i{k}] = h[i{k} - 1] * 3 - h[i{k}]\n" * 15 for k in range(6)
)


@dataclass(frozen=True)
class Case:
    """A kernel with a schedule, and what of its text is one pass's doing."""

    kernel: str
    steps: str
    marks: str
    deterministic: bool = False

    def arguments(self) -> list[Any]:
        """Such that any order of sums gives the same bits."""
        start = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 40, N))])
        calls: dict[str, list[Any]] = {
            SPMV: [start, RANDOM.integers(0, N, start[-1]), small(N), np.zeros(N)],
            TABLE: [RANDOM.integers(0, 99, N), np.zeros(99, "int64")],
            TOTAL: [small(N)],
            SWAPS: [small(N)],
            BEGUN_AGAIN: [small(N)],
            HALVES: [small(N)],
            ADD: [small(N, 7), np.zeros((N, 7))],
            LAYERS: [small(3, N, 7), np.zeros((3, N, 7))],
            FITS: [small(N), np.zeros(N, "int64")],
            CHOSEN: [small(N)],
            FOUND: [np.arange(N).astype("int8")],
            COUNTED: [np.full(N, -128, "int8")],
            SUMS: [small(N), np.zeros(N)],
            LENGTHS: [small(N)],
            TURNS: [small(N), np.zeros(N)],
            ABOVE: [small(N, 7), np.zeros((N, 7), "int64")],
            SPIKES: [small(N), np.zeros(N, "int64")],
            BYTES: [RANDOM.integers(0, 256, (9, 215)).astype("uint8"), np.zeros((9, 215), "uint8")],
            ROWS: [small(N, 21), np.zeros(N)],
            OLDEST: [small(N, 21), np.zeros((N, 1))],
            DRAWN: [np.zeros(N, "int64")],
            LARGE: [np.arange(N)],
            WRAPPED: [np.arange(N), np.zeros(N, "int64"), 37],
        }
        return calls[self.kernel]


CASES = {
    "parallel regions": Case(ADD, "parallelize i; vectorize j", "lw_part_i_("),
    "loop versioning": Case(SPMV, "parallelize i", "if (!LW_SELDOM(!("),
    "owner computes": Case(TABLE, "parallelize i", "lw_own_i_("),
    "row pointers": Case(SPMV, "parallelize i", "lw_rows"),
    "collapsed loops": Case(LAYERS, "parallelize c", "lw_outside"),
    "pieces": Case(SPMV, "parallelize i", "lw_handed("),
    "blocks": Case(TOTAL, "parallelize i", "lw_blocks", deterministic=True),
    "inspection": Case(FITS, "parallelize i", "lw_fails"),
    "lanes": Case(ADD, "parallelize i; vectorize j", "#pragma GCC ivdep"),
    "lockstep": Case(HALVES, "lockstep i 2", "LW_LOCKSTEP && "),
    "narrow sums": Case(COUNTED, "parallelize i", "int16_t s_part = 0;"),
    "held elements": Case(SPIKES, "vectorize i", "double lw_held2 = v_[i_];"),
    "fixed elements": Case(ABOVE, "vectorize j", "const double lw_fixed = "),
    "if-conversion": Case(SUMS, "", "= s_ - lw_selected_float64("),
    "contraction": Case(TURNS, "", "lw_apart_float64("),
    "late remainders": Case(DRAWN, "", "lw_late_mod_int64((16807L"),
    "late extremes": Case(BEGUN_AGAIN, "", "lw_late_max_float64("),
    "store forwarding": Case(SWAPS, "", "LW_SEPARATE(b_[j_]);"),
    "compaction": Case(CHOSEN, "", "lw_often"),
    "strips": Case(ADD, "parallelize i; vectorize j", "LW_STRIP("),
    "short loops": Case(ADD, "parallelize i; vectorize j", "lw_from_here"),
    "loops alone": Case(ADD, "parallelize j", "lw_count < 16"),
    "counting ahead": Case(ADD, "parallelize i", "+ lw_trip(0L, a_n1_, 1L) *"),
    "vector code": Case(ADD, "tile i 4 j 8; specialize i j full; vectorize j", "LW_ROW("),
    "accumulators": Case(TOTAL, "parallelize i", "lw_piece"),
    "tail masking": Case(ROWS, "vectorize j", "lw_masked_float64("),
    "skipped blocks": Case(FOUND, "", "lw_block"),
    "few candidates": Case(OLDEST, "", "lw_chosen_lt_float64("),
    "overlapped tails": Case(BYTES, "vectorize j", "lw_register"),
    "early functions": Case(LENGTHS, "vectorize i", "LW_EARLY(lw_early"),
    "shared divisions": Case(WRAPPED, "", "const int64_t lw_quotient ="),
    "outlining": Case(LARGE, "", "lw_nest_1("),
    "shared checks": Case(TABLE, "", "h_[lw_at] = lw_value;"),
    "unrolling": Case(ADD, "tile i 4 j 8; specialize i j full", "#pragma GCC unroll"),
}


def test_every_pass_has_a_case() -> None:
    assert list(CASES) == [one.name for one in PASSES]


@pytest.mark.parametrize("name", CASES)
def test_without_a_pass(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "GRAIN", 1e-9)
    case, arguments = CASES[name], CASES[name].arguments()
    expected = copy.deepcopy(arguments)
    right = interpret(parse_kernel(case.kernel), expected)
    kernel, facts = after(case.kernel, case.steps, strict=False)
    for passes in (PASSES, tuple(one for one in PASSES if one.name != name)):
        monkeypatch.setattr(cpu_lowering, "PASSES", passes)
        text = host_text(case.kernel, case.steps, deterministic=case.deterministic)
        assert (case.marks in text) == (passes is PASSES)
        own = copy.deepcopy(arguments)
        code = compiled(
            kernel, tmp_path, facts, check_all=False, strict=False, threads=3, deterministic=case.deterministic
        )
        np.testing.assert_array_equal(np.array(code.run(tuple(own)), dtype=object), np.array(right, dtype=object))
        for mine, his in zip(own, expected, strict=True):
            np.testing.assert_array_equal(mine, his)
