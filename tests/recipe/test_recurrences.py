from __future__ import annotations

import pytest

from loopwright.recipe.interchange import along_rows, in_order
from loopwright.recipe.recurrences import side_by_side
from recipe.planning import SIZES, check_same, planned, reasons, steps

SWEEP = """
kernel sweep(p: float64[2] C, q: float64[2] C):
    for i in 0 .. size(p, 0):
        p[i, 0] = 1.0
        for j in 1 .. size(p, 1):
            p[i, j] = 1.0 / (p[i, j - 1] + 1.0)
        q[i, 0] = p[i, 0]
        for k in 1 .. size(p, 1):
            q[i, k] = p[i, k] / (q[i, k - 1] + 2.0)
"""
FILTER = """
kernel filter(p: float64[2] C):
    var s: float64
    for i in 0 .. size(p, 0):
        s = 0.0
        for j in 0 .. size(p, 1):
            s = p[i, j] / (s + 2.0)
            p[i, j] = s
"""
SUMS = """
kernel sums(p: float64[2] C):
    var s: float64
    for i in 0 .. size(p, 0):
        s = 0.0
        for j in 0 .. size(p, 1):
            s = p[i, j] - 2.0 * s
            p[i, j] = s
"""
TRAJECTORY = """
kernel trajectory(p: float64[2] C, n: int64):
    var a: float64
    var b: float64
    var c: float64
    var d: float64
    var e: float64
    for i in 0 .. size(p, 0):
        a = p[i, 0]
        b = p[i, 1]
        for s in 0 .. n:
            c = 2.0 * (b - a)
            d = a * (3.0 - b)
            e = c + d
            a = a + 0.5 * e
            if a > 9.0:
                a = a - 9.0
            b = b + d
        p[i, 0] = a
        p[i, 1] = b
"""
PATHS = """
kernel paths(p: float64[1] C, n: int64):
    var a: float64
    for i in 0 .. size(p, 0):
        a = p[i]
        for s in 0 .. n:
            if a > 2.0:
                if a > 3.0:
                    a = a * 0.5
                else:
                    a = a * 0.25
            else:
                a = a * 3.0
        p[i] = a
"""
FREE = """
kernel free(p: float64[2] C):
    for i in 0 .. size(p, 0):
        for j in 0 .. size(p, 1):
            p[i, j] = 1.0
"""
TIED = """
kernel tied(p: float64[2] C):
    for i in 1 .. size(p, 0):
        for j in 1 .. size(p, 1):
            p[i, j] = p[i - 1, j] + p[i, j - 1]
"""
LU = """
kernel lu(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. i:
            for k in 0 .. j:
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
            a[i, j] = a[i, j] / a[j, j]
        for m in i .. n:
            for l in 0 .. i:
                a[i, m] = a[i, m] - a[i, l] * a[l, m]
"""


CHECKSUMS = """
kernel checksums(p: float64[2] C, q: float64[2] C):
    var c: int64
    for i in 0 .. size(p, 0):
        c = 7
        for k in 0 .. size(p, 1):
            c = c ^ int64(p[i, k])
            for b in 0 .. 4:
                if c & 1 != 0:
                    c = c >> 1 ^ 21
                else:
                    c = c >> 1
        q[i, 0] = float64(c)
"""
LEAST = """
kernel least(p: float64[2] C, q: float64[2] C, r: float64[1] C):
    var s: int64
    var v: float64
    var least: float64
    var n: float64
    least = 9.0
    for i in 0 .. size(p, 0):
        n = 0.0
        for k in 0 .. size(p, 1):
            v = r[int64(p[i, k])]
            n = (n * 0.5 + v) * 0.5 + 1.0
            if n > 2.0:
                n = n + 1.0
            else:
                if n > 1.5:
                    n = n - 1.0
        least = min(least, n)
    q[0, 0] = least
"""
FEW = """
kernel few(p: float64[2] C, q: float64[2] C):
    var n: float64
    var s: float64
    s = 0.0
    for i in 0 .. size(p, 0):
        n = 0.0
        for k in 0 .. 3:
            n = (n + 1.0) * 2.0 + 1.0
        s = s + n
    q[0, 0] = s
"""
SIDE = """
kernel side(p: float64[2] C, q: float64[2] C):
    var n: int64
    var m: int64
    for i in 0 .. size(p, 0):
        n = 0
        for k in 1 .. size(p, 1):
            m = 0
            for b in 0 .. 8:
                m = m ^ k >> b
            n = (n ^ 5) + (n >> 1) + m
        q[i, 0] = float64(n)
"""
LOOKED_UP = """
kernel looked(p: float64[2] C, q: float64[2] C):
    var n: int64
    for i in 0 .. size(p, 0):
        n = 0
        for k in 0 .. size(p, 1):
            if p[i, n & 3] > 2.0:
                n = ((n ^ 5) + (n >> 1) ^ 3) + (n & 7) + k
        q[i, 0] = float64(n)
"""

STRETCHES = """
kernel stretches(p: int64[2] C, at: float64[1] C, q: int64[1] C, least: float64):
    var begun: int64
    var found: int64
    for i in 0 .. size(p, 0):
        begun = 0
        found = 0
        for k in 0 .. size(p, 1):
            if p[i, k] != p[0, k]:
                if k > begun and at[k] - at[begun] >= least:
                    found = found + 1
                begun = k + 1
        q[i] = found
"""


@pytest.mark.parametrize("strict", [False, True])
def test_recurrences_go_side_by_side(strict: bool) -> None:
    partial = planned(side_by_side, SWEEP, strict)
    assert steps(partial).startswith("split i 16; ") and steps(partial).count("reorder ") == 2
    assert set(reasons(partial)) == {
        "each step of 'j' and 'k' waits for the one before: 16 iterations of 'i' go through them side by side"
    }
    check_same(partial.written, partial.kernel, {"p": "nm", "q": "nm"})


@pytest.mark.parametrize("strict", [False, True])
def test_a_recurrence_in_a_scalar(strict: bool) -> None:
    partial = planned(side_by_side, FILTER, strict)
    assert steps(partial) == "split i 16; expand s i; fission i 2; reorder j i.1"
    check_same(partial.written, partial.kernel, {"p": "nm"}, (*SIZES, (37, 5, 1)))


@pytest.mark.parametrize("strict", [False, True])
def test_what_a_step_sets_for_itself_stays_a_scalar(strict: bool) -> None:
    partial = planned(side_by_side, TRAJECTORY, strict)
    assert steps(partial).startswith("split i 16; expand a i; expand b i; fission ")
    assert steps(partial).count("expand") == 2 and "reorder s i" in steps(partial)
    check_same(partial.written, partial.kernel, {"p": "nl"}, ((0, 0, 2), (3, 4, 2), (17, 5, 3)))


@pytest.mark.parametrize("strict", [False, True])
def test_short_loops_in_a_recurrence_are_written_out(strict: bool) -> None:
    partial = planned(side_by_side, CHECKSUMS, strict)
    assert steps(partial).startswith("unroll b; split i 16; expand c i; fission ")
    assert "'i' can then fill vector lanes" in reasons(partial)
    check_same(partial.written, partial.kernel, {"p": "nm", "q": "nm"}, (*SIZES, (37, 5, 1)))


@pytest.mark.parametrize("strict", [False, True])
def test_results_may_be_the_least_of_all(strict: bool) -> None:
    """What is looked up is there before the lanes go on, whose inner branches only count."""
    partial = planned(side_by_side, LEAST, strict)
    assert "fission i.1.1 2 kept" in steps(partial) and "expand least" not in steps(partial)
    check_same(partial.written, partial.kernel, {"p": "nm", "q": "nm", "r": "l"}, ((2, 1, 9), (3, 2, 9), (37, 5, 9)))


@pytest.mark.parametrize("text", [FREE, TIED, SUMS, PATHS, FEW, SIDE, LOOKED_UP, STRETCHES])
def test_what_stays(text: str) -> None:
    """Loops without a recurrence, an outer loop that needs its order, steps that wait less than it costs to load along
    them, paths of which each lane would go through all, few steps whose results are added up in order, short loops of
    which nothing waits, and elements that each lane would look up behind a condition of its own, also where a result
    waits for a long time, but no later one for it."""
    assert steps(planned(side_by_side, text)) == ""


def test_a_new_order_where_interchange_leaves_columns() -> None:
    found: list[bool] = []
    partial = planned(lambda partial: found.append(in_order(partial)), LU)
    assert steps(partial) == "reschedule smart tile 16 32 wavefront"
    assert "a[k, j]" in reasons(partial)[0] and reasons(partial)[0].endswith("and tiles on a diagonal run at once")
    other = planned(lambda partial: found.append(in_order(partial)), SWEEP)
    assert steps(other) == steps(planned(along_rows, SWEEP))
    assert found == [True, False]
