from __future__ import annotations

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.ir.text import print_kernel
from loopwright.ir.verify import verify
from loopwright.steps.reduce import MOST, Reduce
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.kernels import PREFIX, ROWS, TOTAL, known
from steps.pictures import check_picture

OPERATIONS = """
kernel all(a: float64[1] C, b: int64[1] C, lower: int64) -> tuple(float64, float64, float64, int64, int64):
    var s: float64
    var least: float64
    var most: float64
    var product: int64
    var bits: int64
    var t: float64
    s = 2.0
    least = 1.0e9
    most = -1.0e9
    product = 1
    bits = 5
    for i in lower .. size(a, 0) step 3:
        t = 2.0 * a[i]
        s = s + t
        least = min(least, a[i])
        most = maximum(most, t)
        product = product * b[i]
        bits = bits ^ b[i]
    return s, least, most, product, bits
"""


def test_the_picture() -> None:
    check_picture(Reduce)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64, 65, 200])
@pytest.mark.parametrize("lower", [0, 1, 5])
def test_every_operation_gives_the_same(size: int, lower: int) -> None:
    kernel, facts = known(OPERATIONS)
    assert Reduce("i", 4).illegal(kernel, facts, strict=False) is None
    after = Reduce("i", 4).apply(kernel)
    verify(after)
    random = np.random.default_rng(size)
    a, b = random.integers(-9, 9, size).astype(float), random.integers(-9, 9, size)
    assert interpret(kernel, [a, b, lower]) == interpret(after, [a, b, lower])


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 64, 65])
def test_chunks_give_the_same_one_after_the_other(size: int) -> None:
    kernel, facts = known(OPERATIONS.replace("lower .. size(a, 0) step 3", "0 .. size(a, 0)"))
    step = Reduce("i", 4, chunks=True)
    assert step.illegal(kernel, facts, strict=False) is None and str(step) == "reduce i 4 chunks"
    after = step.apply(kernel)
    verify(after)
    assert "for i in i.l * 4 .. min(i.l * 4 + 4, size(a, 0)):" in print_kernel(after)
    random = np.random.default_rng(size)
    a, b = random.integers(-9, 9, size).astype(float), random.integers(-9, 9, size)
    assert interpret(kernel, [a, b, 0]) == interpret(after, [a, b, 0])


@pytest.mark.parametrize("bounds", ["lower .. size(a, 0)", "0 .. size(a, 0) step 2", "2 .. size(a, 0)"])
def test_chunks_begin_at_zero(bounds: str) -> None:
    kernel, facts = known(OPERATIONS.replace("lower .. size(a, 0) step 3", bounds))
    rejection = Reduce("i", 4, chunks=True).illegal(kernel, facts, strict=False)
    assert rejection is not None and "chunks" in rejection.reason


def test_a_nan_is_carried_or_dropped_as_before() -> None:
    kernel, _ = known(OPERATIONS)
    after = Reduce("i", 4).apply(kernel)
    a, b = np.array([1.0, 0, 0, np.nan, 0, 0, 3.0] * 3), np.arange(21)
    before, now = interpret(kernel, [a, b, 0]), interpret(after, [a, b, 0])
    assert str(before) == str(now)


EXTREME = """
kernel extreme(a: float64[1] C, s: float64, k: int64) -> tuple(float64, int64, bool):
    var best: float64
    var where: int64
    var seen: bool
    best = s
    where = k
    seen = False
    for i in {range}:
        if a[i] {sign} best:
            best = a[i]
            where = i
            seen = True
    return best, where, seen
"""
UP, DOWN = "1 .. size(a, 0) step 2", "size(a, 0) - 1 .. -1 step -1"
TESTS = [(UP, ">"), (UP, ">="), (UP, "<"), (UP, "<="), (DOWN, ">"), (DOWN, "<")]


@pytest.mark.parametrize(("counts", "sign"), TESTS)
@pytest.mark.parametrize("size", [0, 1, 2, 9, 40])
def test_what_goes_along_with_an_extreme_is_that_of_the_same_iteration(counts: str, sign: str, size: int) -> None:
    kernel, facts = known(EXTREME.replace("{range}", counts).replace("{sign}", sign))
    once, proven = apply_schedule(kernel, facts, parse_schedule("reduce i 4"), strict=True)
    twice, _ = apply_schedule(once, proven, parse_schedule("reduce i.m 3"), strict=True)
    random = np.random.default_rng(size)
    inf, nan = np.inf, np.nan
    for values in ([-1.0, 0.0, 1.0], [0.0, -0.0], [inf, -inf, 0.0], [nan, 2.0, -2.0], [-inf], [inf], [nan]):
        a = random.choice(values, size)
        for start in (0.0, -0.0, inf, -inf, nan, 1.0, -9.0):
            expected = str(interpret(kernel, [a, start, -7]))
            assert str(interpret(once, [a, start, -7])) == str(interpret(twice, [a, start, -7])) == expected


def test_whole_numbers_may_be_the_least_that_there_are() -> None:
    text = EXTREME.replace("{range}", "0 .. size(a, 0)").replace("float64", "int64")
    for sign in (">", ">="):
        kernel, facts = known(text.replace("{sign}", sign))
        once, proven = apply_schedule(kernel, facts, parse_schedule("reduce i 3"), strict=True)
        twice, _ = apply_schedule(once, proven, parse_schedule("reduce i.m 2"), strict=True)
        least = -(2**63)
        for start in (least, 0):
            given = [np.array([least, least, 5, least, 5, least] * 2), start, -7]
            expected = interpret(kernel, given)
            assert interpret(once, given) == interpret(twice, given) == expected


def test_of_equal_values_the_last_one_must_be_told_from_what_was_there_before() -> None:
    for counts in (DOWN, "k .. size(a, 0)"):
        rejection = Reduce("i", 4).illegal(*known(EXTREME.format(range=counts, sign=">=")), strict=True)
        assert rejection is not None and "does not count up from a constant" in rejection.reason


@pytest.mark.parametrize(
    ("text", "step", "word"),
    [
        (PREFIX, Reduce("i", 4), "a[i - 1]"),
        (ROWS, Reduce("j", 4), "no reduction"),
        (ROWS, Reduce("k", 4), "no loop"),
        (TOTAL, Reduce("i", MOST + 1), "limit"),
    ],
)
def test_refusals_say_why(text: str, step: Reduce, word: str) -> None:
    rejection = step.illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_strict_keeps_the_order_of_float_sums_only() -> None:
    rejection = Reduce("i", 4).illegal(*known(TOTAL), strict=True)
    assert rejection is not None and "'s'" in rejection.reason
    exact = TOTAL.replace("float64", "int64").replace("0.0", "0")
    assert Reduce("i", 4).illegal(*known(exact), strict=True) is None


ROW = """
kernel row(p: int64[1] C, a: float64[1] C, b: float64[1] C):
    var s: float64
    for i in 0 .. size(b, 0):
        s = 0.0
        for k in p[i] .. p[i + 1]:
            s = s + a[k]
        b[i] = s
"""


def test_bounds_may_be_read_from_an_array_that_the_loop_leaves_alone() -> None:
    kernel, facts = known(ROW)
    assert Reduce("k", 4).illegal(kernel, facts, strict=False) is None
    after = Reduce("k", 4).apply(kernel)
    verify(after)
    results = []
    for one in (kernel, after):
        b = np.zeros(4)
        interpret(one, [np.array([0, 3, 3, 20, 21]), np.arange(21.0), b])
        results.append(b.tolist())
    assert results[0] == results[1]
    rejection = Reduce("k", 4).illegal(*known(ROW.replace("s = s + a[k]", "s = s + 1.0\n            p[k] = 0")), False)
    assert rejection is not None


ELEMENT = """
kernel into(a: float64[2] C, b: float64[1] C, n: int64):
    for j in 0 .. size(b, 0):
        for i in 0 .. n:
            b[j] = b[j] + a[i, j]
"""


def test_an_element_that_is_always_the_same_gets_partial_results() -> None:
    kernel, facts = known(ELEMENT)
    text = print_kernel(Reduce("i", 4).apply(kernel))
    assert Reduce("i", 4).illegal(kernel, facts, strict=False) is None
    assert "b.e.x[i.l] = b.e.l" in text and "for i.m in 0 .. min(4, max(0, n)):" in text
    assert "b[j] = b[j] + b.e.x[i.m]" in text


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 30])
def test_partial_results_of_elements_are_right(n: int) -> None:
    kernel, _ = known(ELEMENT)
    a, b = np.arange(1.0, 31.0 * 3 + 1).reshape(31, 3), np.array([1.0, -0.0, 5.0])
    wanted = b + a[:n].sum(axis=0) if n else b.copy()
    interpret(Reduce("i", 4).apply(kernel), [a, b, n])
    np.testing.assert_array_equal(b, wanted)
    assert np.signbit(b[1]) == np.signbit(wanted[1])


@pytest.mark.parametrize("index", ["i % 2", "c[j]", "j + i"])
def test_elements_that_change_are_not_summed_up_in_parts(index: str) -> None:
    text = f"""
kernel into(a: float64[2] C, b: float64[1] C, c: int64[1] C, n: int64):
    for j in 0 .. size(c, 0):
        for i in 0 .. n:
            b[{index}] = b[{index}] + a[i, j]
"""
    assert Reduce("i", 4).illegal(*known(text), strict=False) is not None


KEYED = """
kernel keyed(n: int64, p: int64[1] C, a: float64[1] C, counts: int64[1] C) -> tuple(float64):
    var s: float64
    s = 1.0
    for i in 0 .. n:
        s = s + a[i]
        counts[p[i]] = counts[p[i]] + 1
    return s
"""


@pytest.mark.parametrize("size", [0, 1, 5, 30])
def test_a_loop_that_has_a_total_may_add_by_key_too(size: int) -> None:
    kernel, facts = known(KEYED)
    assert Reduce("i", 4).illegal(kernel, facts, strict=False) is None
    after = Reduce("i", 4).apply(kernel)
    verify(after)
    found = []
    for one in (kernel, after):
        counts = np.zeros(5, np.int64)
        found.append((interpret(one, [size, np.arange(size) * 3 % 5, np.arange(float(size)), counts]), counts.tolist()))
    assert found[0] == found[1]
    alone, facts = known(KEYED.replace("        s = s + a[i]\n", ""))
    rejection = Reduce("i", 4).illegal(alone, facts, strict=False)
    assert rejection is not None and "adds to elements of 'counts'" in rejection.reason


def test_parse_reads_what_str_writes() -> None:
    assert Reduce.parse(("i", "64")) == Reduce("i", 64) and str(Reduce("i", 64)) == "reduce i 64"
    with pytest.raises(ValueError, match="reduce LOOP LANES"):
        Reduce.parse(("i",))
    with pytest.raises(ValueError, match="LANES"):
        Reduce.parse(("i", "1"))


FLAGS = """
kernel flags(a: float64[1] C, b: float64[1] C) -> tuple(bool, bool, int64, int64, float64):
    var some: bool
    var all: bool
    var seen: int64
    var none: int64
    var best: float64
    some = False
    all = True
    seen = 0
    none = 3
    best = 1.0
    for i in 0 .. size(a, 0):
        if a[i] > 5.0:
            b[i] = a[i] * 2.0
            some = True
            seen = 1
        if a[i] < -5.0:
            all = False
            none = -2
        best = max(best, a[i])
    return some, all, seen, none, best
"""


@pytest.mark.parametrize("values", [[], [0.0] * 9, [6.0], [-6.0], [0.0, 7.0, 0.0, -9.0, 1.0, 8.0, -7.0]])
def test_each_lane_has_flags_of_its_own(values: list[float]) -> None:
    kernel, facts = known(FLAGS)
    assert Reduce("i", 4).illegal(kernel, facts, strict=False) is None
    after = Reduce("i", 4).apply(kernel)
    verify(after)
    assert {f"allocate {name}.x" for name in ("some", "all", "seen", "none", "best")} <= {
        line.strip().split(":")[0] for line in print_kernel(after).splitlines()
    }
    a, mine, theirs = np.array(values), np.zeros(len(values)), np.zeros(len(values))
    assert interpret(kernel, [a, mine]) == interpret(after, [a, theirs])
    assert np.array_equal(mine, theirs)
