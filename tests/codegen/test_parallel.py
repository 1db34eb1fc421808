"""Parallel loops: the same results on any number of threads, and what their text shares, copies and adds up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from codegen.scheduled import RANDOM, N, check, host_text, small
from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule, print_schedule
from steps.kernels import COUNT, ROWS, TOTAL


def test_a_parallel_nest(tmp_path: Path) -> None:
    text = """
kernel rows(a: float64[2] C, b: float64[2] strided):
    for i in 0 .. size(a, 0):
        for j in 1 .. size(a, 1) - 1:
            b[i, j] = a[i, j - 1] + a[i, j + 1]
"""
    a, b = small(211, 199), small(199, 422).T[::2]
    c_text = check(text, [a, b], tmp_path, "parallelize i; vectorize j")
    assert "#pragma omp parallel" in c_text and "#pragma GCC ivdep" in c_text


def test_scalar_sums_and_a_last_value(tmp_path: Path) -> None:
    text = """
kernel total(a: float64[1] C, b: int64[1] C) -> tuple(python float64, int64, python float64, float64):
    var s: float64
    var n: int64
    var last: float64
    var top: float64
    s = 0.5
    n = 3
    last = -1.0
    top = a[0]
    for i in 0 .. size(a, 0):
        last = a[i] * 2.0
        s = s + last
        n = n ^ b[i]
        top = max(top, a[i])
    return s, n, last, top
"""
    check(text, [small(N), small(N, dtype="int64")], tmp_path, "parallelize i")
    check(text, [small(1), small(1, dtype="int64")], tmp_path, "parallelize i")


@pytest.mark.parametrize("layout", ["C", "strided"])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_scatter_sums(layout: str, dtype: str, tmp_path: Path) -> None:
    one = "1" if dtype == "int64" else "1.0f32"
    text = f"""
kernel histogram(b: int64[2] C, h: {dtype}[1] {layout}):
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            h[b[i, j]] = h[b[i, j]] + {one}
"""
    bins = np.zeros(26, dtype)[::2] if layout == "strided" else np.zeros(13, dtype)
    b = RANDOM.integers(-13, 13, (N // 4, 4))
    c_text = check(text, [b, bins], tmp_path, "parallelize i")
    assert "lw_copy_h_" in c_text


@pytest.mark.parametrize("layout", ["C", "F", "last", "first", "strided"])
def test_scatter_sums_into_a_table_of_any_layout(layout: str, tmp_path: Path) -> None:
    text = f"""
kernel table(b: int64[2] C, h: int64[2] {layout}):
    for i in 0 .. size(b, 0):
        h[b[i, 0], b[i, 1]] = h[b[i, 0], b[i, 1]] + 1
"""
    table = {
        "C": np.zeros((7, 5), int),
        "F": np.zeros((5, 7), int).T,
        "last": np.zeros((7, 8), int)[:, :5],
        "first": np.zeros((5, 9), int).T[:7],
        "strided": np.zeros((14, 10), int)[::2, ::2],
    }[layout]
    keys = np.stack([RANDOM.integers(-7, 7, N), RANDOM.integers(-5, 5, N)], axis=1)
    c_text = check(text, [keys, table], tmp_path, "parallelize i")
    assert "lw_copy_h_" in c_text


def test_sums_into_elements_and_rows(tmp_path: Path) -> None:
    text = """
kernel atax(a: float64[2] C, x: float64[1] C, y: float64[1] C, t: float64[1] C):
    for i in 0 .. size(a, 0):
        t[i] = 0.0
        for j in 0 .. size(a, 1):
            t[i] = t[i] + a[i, j] * x[j]
        for k in 0 .. size(a, 1):
            y[k] = y[k] + a[i, k] * t[i]
"""
    n, m = 301, 203
    c_text = check(
        text, [small(n, m), small(m), small(m), small(n)], tmp_path, "parallelize i; vectorize j; vectorize k"
    )
    assert "omp simd reduction(+" in c_text


def test_a_private_local_array_and_uneven_rows(tmp_path: Path) -> None:
    text = """
kernel rows(start: int64[1] C, b: float64[1] C, m: int64):
    allocate t: float64[m] = 0.0
    for i in 0 .. size(start, 0) - 1:
        for k in 0 .. m:
            t[k] = 0.0
        for e in start[i] .. start[i + 1]:
            t[e % m] = t[e % m] + 1.0
        b[i] = t[0] * 3.0 + t[m - 1]
"""
    start = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 40, 2000))])
    check(text, [start, np.zeros(2000), 7], tmp_path, "parallelize i; vectorize k")


EXTREME = """
kernel extreme(a: float64[1] C, s: float64, k: int64) -> tuple(float64, int64, bool):
    var best: float64
    var where: int64
    var seen: bool
    best = s
    where = k
    seen = False
    for i in {counts}:
        if a[i] {sign} best:
            best = a[i]
            where = i
            seen = True
    return best, where, seen
"""


@pytest.mark.parametrize("counts", ["0 .. size(a, 0)", "size(a, 0) - 1 .. -1 step -1"])
@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
def test_what_goes_along_with_an_extreme(counts: str, sign: str, tmp_path: Path) -> None:
    """To the last bit of the sign of a zero, wherever the first or last one of equal values is."""
    kernel = parse_kernel(EXTREME.format(counts=counts, sign=sign))
    facts = analyse(kernel)
    steps = marks(kernel, facts, strict=True)
    assert print_schedule(steps) == "parallelize i"
    scheduled, _ = apply_schedule(kernel, facts, steps, strict=True)
    entry = compiled(scheduled, tmp_path, facts, check_all=False, threads=4)
    random, inf, nan = np.random.default_rng(1), np.inf, np.nan
    for size in (0, 3, N):
        for values in ([-1.0, 0.0, 1.0], [0.0, -0.0], [nan, 2.0, -2.0], [-inf], [inf], [nan]):
            a = random.choice(values, size)
            for start in (0.0, -0.0, inf, -inf, nan, -9.0, 9.0):
                expected = str(_extreme(a, sign, start, "-1" in counts))
                got: Any = entry.run((a, start, -7))
                assert str(tuple(one.item() for one in got)) == expected, (size, values, start)


def _extreme(a: Any, sign: str, start: float, back: bool) -> tuple[float, int, bool]:
    """The same from NumPy, as the interpreter would take long."""
    places = np.arange(len(a))[::-1] if back else np.arange(len(a))
    better = a > start if sign == ">" else a >= start if sign == ">=" else a < start if sign == "<" else a <= start
    taken = [int(place) for place in places if better[place]]
    if not taken:
        return start, -7, False
    most = np.nanmax(a[taken]) if ">" in sign else np.nanmin(a[taken])
    equal = [place for place in taken if a[place] == most]
    place = equal[-1 if "=" in sign else 0]
    return float(a[place]), place, True


def test_places_decide_between_equal_values_on_several_threads(tmp_path: Path) -> None:
    for sign in "<>":
        text = f"""
kernel placed(a: float64[1] C, p: int64[1] C, s: float64, k: int64) -> tuple(float64, int64, int64):
    var best: float64
    var at: int64
    var where: int64
    best = s
    at = k
    where = -1
    for i in 0 .. size(a, 0):
        if a[i] > best or a[i] == best and p[i] {sign} at:
            best = a[i]
            at = p[i]
            where = i
    return best, at, where
"""
        a, p = small(N), RANDOM.permutation(N)
        for start, place in ((-100.0, 0), (9.0, 50), (9.0, N), (9.0, -5), (20.0, 7)):
            check(text, [a, p, start, place], tmp_path, "parallelize i", strict=True)


def test_the_first_of_equal_values_where_rows_have_different_lengths(tmp_path: Path) -> None:
    """Threads would have several stretches each, but of extremes they must be put together in order."""
    text = """
kernel triangle(a: float64[1] C) -> tuple(float64, int64, int64):
    var best: float64
    var row: int64
    var column: int64
    best = -1.0
    row = -1
    column = -1
    for i in 0 .. size(a, 0):
        for j in 0 .. i:
            if a[i] * a[j] > best:
                best = a[i] * a[j]
                row = i
                column = j
    return best, row, column
"""
    for first in (20, 150, 300, 420):
        a = np.zeros(450)
        a[first:] = 1.0
        check(text, [a], tmp_path, "parallelize i", strict=True)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_sign_of_zero_is_that_of_the_first_under_strict(threads: int, tmp_path: Path) -> None:
    """Vector lanes would compare elements in another order, and -0.0 and 0.0 are equal."""
    text = """
kernel extremes(a: float32[1] C) -> tuple(float32, float32):
    var most: float32
    var least: float32
    most = -1.0f32
    least = 1.0f32
    for i in 0 .. size(a, 0):
        most = max(most, a[i])
        least = min(least, a[i])
    return most, least
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled, _ = apply_schedule(kernel, facts, marks(kernel, facts, True), True)
    entry = compiled(scheduled, tmp_path, facts, check_all=False, strict=True, threads=threads)
    for first in range(33):
        for zero in (0.0, -0.0):
            a = np.where(np.arange(3 * N) < first, 0.5 if first else 0.0, -zero).astype("float32")
            a[:first] = np.nan
            a[first] = zero
            assert [np.signbit(one) for one in entry.run((a,))] == [np.signbit(zero)] * 2


# ---- text -----------------------------------------------------------------------------------------------------------


def test_a_body_becomes_a_function_of_a_stretch() -> None:
    text = host_text(ROWS, "parallelize i")
    assert "LW_PART int lw_part_i_(int64_t lw_first, int64_t lw_bound, " in text
    assert "double *restrict a_" in text and "double *restrict b_" in text
    assert text.count("lw_part_i_(") == 3  # what it is, one thread, and several
    assert "#pragma omp parallel num_threads(lw_crew) if(lw_crew > 1)" in text


def test_a_loop_with_little_to_do_runs_on_one_thread() -> None:
    text = host_text(ROWS, "parallelize i")
    assert "lw_threads = lw_team(threads, lw_count, lw_work, " in text
    assert "const double lw_work = (double)lw_count * (2.0 + (double)lw_trip(0L, a_n1_, 1L) * (4.0));" in text
    assert text.index("if (lw_threads == 1)") < text.index("#pragma omp parallel")


def test_no_iterations_start_nothing() -> None:
    text = host_text(ROWS, "parallelize i")
    assert text.index("if (lw_count > 0) {") < text.index("lw_team(")


def test_a_failure_in_one_thread_ends_the_call() -> None:
    text = host_text(ROWS, "parallelize i")
    assert "__atomic_store_n(&lw_bad, 1, __ATOMIC_RELAXED);" in text
    assert text.index("#pragma omp parallel") < text.index("if (lw_bad) goto lw_leave;")


def test_partial_sums_lie_apart_and_are_added_in_the_order_of_threads() -> None:
    text = host_text(TOTAL, "parallelize i")
    assert "lw_slot lw_partials[lw_threads * 16];" in text  # no two in one line of memory
    assert "lw_partials[lw_t * 16 + 0].d = (-0.0);" in text  # which changes no sum, whatever its sign
    added = text.index("s_ = ((double)(s_ + lw_partials[lw_t * 16 + 0].d));")
    assert text.rindex("for (int64_t lw_t = 0; lw_t < lw_threads; ++lw_t)", 0, added) > text.index("#pragma omp")


def test_the_same_bits_on_any_number_of_threads_where_that_is_asked_for() -> None:
    """Partial sums are those of blocks of iterations, not of threads."""
    usual, fixed = (host_text(TOTAL, "parallelize i", deterministic=one) for one in (False, True))
    assert usual != fixed
    assert "lw_partials[lw_threads * 16]" not in fixed
    assert host_text(ROWS, "parallelize i") == host_text(ROWS, "parallelize i", deterministic=True)


def test_a_table_is_owned_or_copied_and_never_shared_by_chance() -> None:
    text = host_text(COUNT, "parallelize i")
    assert "lw_own_i_(" in text and "lw_owner(lw_x >> 6, lw_team_size) == lw_thread" in text
    assert "lw_part_i_(" in text


def orthogonal(a: Any, q: Any, norms: Any) -> None:
    for i in range(a.shape[0]):
        for c in range(a.shape[1]):
            q[i, c] = a[i, c]
        for j in range(i):
            dot = 0.0
            for c in range(a.shape[1]):
                dot += a[i, c] * q[j, c]
            for c in range(a.shape[1]):
                q[i, c] -= dot * q[j, c]
        norms[i] = 0.0
        for c in range(a.shape[1]):
            norms[i] += q[i, c] * q[i, c]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 40, 127, 128, 5000])
def test_short_loops_inside_of_others_stand_there_without_a_function(size: int) -> None:
    random = np.random.default_rng(size)
    a = random.integers(-1, 2, (3, size)) * 1.0
    for threads in (1, 3):
        mine, right = (np.zeros((3, size)), np.zeros(3)), (np.zeros((3, size)), np.zeros(3))
        kernel = lw.kernel(orthogonal, threads=threads)
        kernel(a, *mine)
        orthogonal(a, *right)
        for one, other in zip(mine, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


def test_which_loops_inside_of_others_stand_there_without_a_function() -> None:
    for lines, is_short in (("b[i, j] = a[i, j] + 1.0", True), ("b[i, j] = " + " + ".join(["a[i, j]"] * 30), False)):
        text = host_text(f"kernel add(a: float64[2] C, b: float64[2] C):\n    for i in 0 .. size(a, 0):\n"
                         f"        for j in 0 .. size(a, 1):\n            {lines}\n", "parallelize j")  # fmt: skip
        assert ("(lw_count < 128)" in text) == is_short and "lw_part_j_(" in text
