"""Whole programs: facts, schedule and C against the interpreter, on one thread and on several."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.errors import BoundsError, NegativeSizeError
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule, print_schedule

N = 20011  # enough work for several threads, and a prime: no stretch divides it
RANDOM = np.random.default_rng(20)


def small(*shape: int, dtype: str = "float64") -> Any:
    """Small whole numbers: sums of them are exact in any order."""
    return RANDOM.integers(-9, 10, shape).astype(dtype)


def check(text: str, arguments: list[Any], cache: Path, schedule: str, strict: bool = False) -> str:
    """Run on 1 and 4 threads, compare with the interpreter, and give the C text."""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    steps = marks(kernel, facts, strict)
    assert print_schedule(steps) == schedule
    scheduled, _ = apply_schedule(kernel, facts, steps, strict)
    expected = copy.deepcopy(arguments)
    result = interpret(kernel, expected)
    for threads in (1, 4):
        own = copy.deepcopy(arguments)
        entry = compiled(scheduled, cache, facts, check_all=False, strict=strict, threads=threads)
        got = entry.run(tuple(own))
        np.testing.assert_array_equal(np.array(got, dtype=object), np.array(result, dtype=object))
        for mine, right in zip(own, expected, strict=True):
            np.testing.assert_array_equal(mine, right)
    return entry.payload.program.text


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


@pytest.mark.parametrize("layout", ["C", "F", "last", "first", "strided"])
def test_layouts(layout: str, tmp_path: Path) -> None:
    text = f"""
kernel shift(a: int32[3] {layout}, b: int32[3] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            for k in 0 .. size(a, 2):
                b[i, j, k] = a[i, j, k] + a[i, 0, k]
"""
    whole = small(30, 31, 64, dtype="int32")
    array = {
        "C": np.ascontiguousarray(whole[:, :, :32]),
        "F": np.asfortranarray(whole[:, :, :32]),
        "last": whole[:, :, :32],
        "first": np.asfortranarray(whole)[:, ::2][:, :15],
        "strided": whole[::-1, :, ::2],
    }[layout]
    check(text, [array, np.zeros(array.shape, "int32")], tmp_path, "parallelize i; vectorize k")


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


def test_while_break_continue_and_blocks(tmp_path: Path) -> None:
    text = """
kernel steps(a: int64[1] C, out: int64[1] C):
    for i in 0 .. size(a, 0):
        var n: int64
        var count: int64
        n = a[i]
        count = 0
        while n != 1 named w:
            if n < 1:
                break w
            count = count + 1
            if n % 2 == 0:
                n = n // 2
                continue w
            n = 3 * n + 1
        block found:
            if count > 100:
                out[i] = -1
                leave found
            out[i] = count
"""
    text = text.replace("        var n: int64\n        var count: int64\n", "").replace(
        "):\n    for", "):\n    var n: int64\n    var count: int64\n    for", 1
    )
    a = RANDOM.integers(-3, 1000, 5000)
    check(text, [a, np.zeros_like(a)], tmp_path, "parallelize i")


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


def test_bounds_errors_name_the_place_in_parallel_code_too(tmp_path: Path) -> None:
    text = """
kernel gather(a: float64[1] C, k: int64[1] C, b: float64[1] C):
    for i in 0 .. size(k, 0):
        b[i] = a[k[i]]
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled, _ = apply_schedule(kernel, facts, marks(kernel, facts, False), False)
    entry = compiled(scheduled, tmp_path, facts, check_all=False, strict=False, threads=4)
    k = np.zeros(N, np.int64)
    k[N // 2] = 10
    with pytest.raises(BoundsError) as caught:
        entry.run((small(10), k, np.zeros(N)))
    assert (caught.value.array, caught.value.axis, caught.value.index, caught.value.size) == ("a", 0, 10, 10)
    k[N // 2] = -10
    entry.run((small(10), k, np.zeros(N)))


def test_the_guard_stands_for_every_size(tmp_path: Path) -> None:
    text = """
kernel shift(a: float64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        b[i] = a[i + 1]
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    entry = compiled(kernel, tmp_path, facts, check_all=False)
    assert entry.run((small(6), small(5), 5)) is None
    assert entry.run((small(0), small(0), 0)) is None
    for a, b, n in ((5, 5, 5), (6, 4, 5), (100, 100, 2**62), (100, 100, 2**63 - 1)):
        assert entry.run((small(a), small(b), n)) == "guard failed"


def test_a_negative_size_is_an_error(tmp_path: Path) -> None:
    text = """
kernel local(n: int64) -> float64:
    allocate t: float64[n, n] = 1.0
    return t[0, 0]
"""
    kernel = parse_kernel(text)
    entry = compiled(kernel, tmp_path)
    assert entry.run((3,)) == 1.0
    with pytest.raises(NegativeSizeError):
        entry.run((-3,))
    with pytest.raises(MemoryError):
        entry.run((2**40,))
    with pytest.raises(BoundsError):
        entry.run((0,))


def test_a_field_at_the_start_of_a_record_beside_a_smaller_one(tmp_path: Path) -> None:
    text = """
kernel move(p.x: float64[1] strided, p.n: int32[1] strided argument 0 offset 8):
    for i in 0 .. size(p.x, 0):
        p.x[i] = p.x[i] + 1.0
        p.n[i] = p.n[i] + 2i32
"""
    records = np.zeros(N, dtype=[("x", "f8"), ("n", "i4"), ("pad", "i4")])
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled, _ = apply_schedule(kernel, facts, marks(kernel, facts, False), False)
    compiled(scheduled, tmp_path, facts, check_all=False, strict=False, threads=4).run((records,))
    assert (records["x"] == 1).all() and (records["n"] == 2).all() and (records["pad"] == 0).all()


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
