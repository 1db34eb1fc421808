"""Loops as C: how they count, what is done in lanes, and what is written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from codegen.execution import compiled
from codegen.scheduled import RANDOM, N, after, check, host_text, small


def test_negative_and_long_steps(tmp_path: Path) -> None:
    text = """
kernel backwards(a: float64[1] C, b: float64[1] C):
    for i in size(a, 0) - 1 .. -1 step -1:
        b[i] = a[i] + 1.0
    for j in 0 .. size(a, 0) step 3:
        b[j] = a[j] + 2.0
    for k in size(a, 0) - 1 .. 5 step -7:
        b[k] = b[k] * 2.0
"""
    check(text, [small(N), small(N)], tmp_path, "parallelize i; parallelize j; parallelize k")


COUNTED = """
kernel counted(a: float64[1] C, b: float64[1] C):
    var low: int64
    for i in 3 .. size(a, 0) step 5:
        b[(i - 3) // 5] = a[i] + 1.0
    for j in size(a, 0) - 1 .. -1 step -2:
        for k in 0 .. 7 step 3:
            b[k // 3] = b[k // 3] + a[(j - (size(a, 0) - 1)) // -2]
    low = 4
    for l in low .. size(a, 0) step 4:
        b[(l - low) // 4] = b[(l - low) // 4] + 2.0
        low = low + l - l
        b[(l - low) // 4] = b[(l - low) // 4] * 2.0
"""


def test_how_many_iterations_were_before_is_no_division(tmp_path: Path) -> None:
    steps = "parallelize i; parallelize j; vectorize k"
    for schedule in ("", steps):
        written = host_text(COUNTED, schedule).split("LW_PART int", 1)[1]
        assert "b_[lw_passed] = (a_[i_] + 1.0);" in written and "(i_ - 3L)" not in written
        assert "lw_floordiv_int64((j_" not in written and "lw_floordiv_int64(k_" not in written
        assert written.count("((l_ - low_) >> 2)") == 2  # its lower bound may be another
    check(COUNTED, [small(999), small(999)], tmp_path, steps)


# ---- text -----------------------------------------------------------------------------------------------------------


def loop(bounds: str, steps: str = "", body: str = "a[i] = 1.0") -> str:
    """The C of one loop."""
    text = host_text(f"kernel k(a: float64[1] C, n: int64):\n    for i in {bounds}:\n        {body}\n", steps)
    return text[text.index("lw_status = 1;") :]


def test_a_loop_by_ones_counts_with_its_own_variable() -> None:
    assert "for (int64_t i_ = lw_strip; i_ < lw_upper; ++i_) { a_[i_] = 1.0; }" in loop("0 .. n")
    assert "for (int64_t i_ = lw_strip; i_ > lw_upper; --i_) { a_[i_] = 1.0; }" in loop("n .. 0 step -1")


def test_any_other_step_counts_iterations_so_that_nothing_wraps() -> None:
    for step in ("3", "n"):
        text = loop(f"0 .. n step {step}")
        assert "lw_count = lw_trip(lw_lower, n_, lw_step);" in text
        assert "const int64_t i_ = lw_lower + lw_k * lw_step;" in text


def test_bounds_are_evaluated_once() -> None:
    text = loop("0 .. n * 7")
    assert text.count("7L") == 1


def test_a_short_loop_is_not_cut_into_strips() -> None:
    text = loop("0 .. 4")
    assert "LW_STRIP" not in text and "const int64_t lw_upper = 4L; for (int64_t i_ = 0L; i_ < lw_upper; ++i_)" in text


def test_lanes_are_promised_to_the_compiler_where_iterations_need_no_order() -> None:
    assert "#pragma GCC ivdep for (int64_t i_" in loop("0 .. n", "vectorize i")
    assert "ivdep" not in loop("0 .. n")


def test_a_sum_in_lanes_is_a_reduction_and_none_under_strict() -> None:
    text = "kernel s(b: float64[1] C) -> python float64:\n    var s: float64\n    s = 0.0\n"
    text += "    for i in 0 .. size(b, 0):\n        s = s + b[i]\n    return s\n"
    assert "#pragma omp simd reduction(+" in host_text(text, "vectorize i")
    assert "#pragma omp simd" not in host_text(text, strict=True)


def test_short_sums_get_the_registers() -> None:
    text = "kernel s(a: float64[2] C, b: float64[1] C):\n    var s: float64\n    for i in 0 .. size(a, 0):\n"
    text += "        s = 0.0\n        for j in 0 .. size(a, 1):\n            s = s + a[i, j]\n        b[i] = s\n"
    assert "if (LW_SELDOM(lw_trip(0L, a_n1_, 1L) >= 16)) {" in host_text(text, "vectorize j")


def test_the_length_of_a_vector_in_lanes(tmp_path: Path) -> None:
    """Within 2 units in the last place for all exponents; infinities and NaN as in C."""
    n = 20_000
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308, 1e-308, 1.0])
    for dtype, least, most in (("float64", -320, 308), ("float32", -44, 38)):
        with np.errstate(all="ignore"):
            size = 10.0 ** RANDOM.uniform(least, most, n)
            x, y = ((RANDOM.normal(size=n) * size * 10.0 ** RANDOM.uniform(-9, 0, n)).astype(dtype) for _ in range(2))
            x[:81], y[:81] = np.repeat(special, 9).astype(dtype), np.tile(special, 9).astype(dtype)
            right = np.hypot(x, y)
        text = f"kernel k(x: {dtype}[1] C, y: {dtype}[1] C, z: {dtype}[1] C):\n"
        text += "    for i in 0 .. size(x, 0):\n        z[i] = hypot(x[i], y[i])\n"
        kernel, facts = after(text, "vectorize i", strict=False)
        assert "LW_VECTOR(hypot" in host_text(text, "vectorize i")
        z = np.zeros(n, dtype)
        compiled(kernel, tmp_path, facts, check_all=False, strict=False).run((x, y, z))
        known = np.isfinite(right)
        np.testing.assert_array_equal(z[~known], right[~known])
        assert (np.abs(z[known] - right[known]) <= 2 * np.spacing(right[known])).all()
