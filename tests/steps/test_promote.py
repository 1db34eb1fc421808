from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.analysis.facts import Facts
from loopwright.codegen.openmp import generate
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Allocate, Kernel
from loopwright.ir.text import print_kernel
from loopwright.ir.walk import statements
from loopwright.steps.promote import Promote
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import numbers, square_calls

TILED = "reorder i k j; tile i 2 k 4 j 3; reorder k.o i.o j.o k i j; specialize i j full"
DOT = """
kernel dot(a: float64[2] C, b: float64[1] C, c: float64[1] C):
    for i in 0 .. size(a, 0):
        for k in 0 .. size(a, 1):
            c[i] = c[i] + a[i, k] * b[k]
"""
FRAME = "kernel some(a: float64[1] C, b: float64[1] C, x: int64[1] C, n: int64, m: int64):\n"
SOME = {
    "branch": """
    for k in 0 .. n:
        if a[k] > 0.0:
            b[0] = b[0] + a[k]
""",
    "branch and not": """
    for k in 0 .. n:
        b[0] = b[0] + 1.0
        if a[k] > 0.0:
            b[0] = b[0] * a[k]
""",
    "two": """
    for k in 0 .. n:
        b[0] = b[0] + b[m]
""",
    "two written": """
    for k in 0 .. n:
        b[0] = b[0] + a[k]
        b[1] = b[1] - a[k]
""",
    "any two written": """
    for i in 0 .. n:
        for k in 0 .. n:
            b[0] = b[0] + a[k]
            b[i] = b[i] - a[k]
""",
    "moving": """
    for k in 0 .. n:
        for j in k .. k + 4:
            b[j] = b[j] + a[k]
""",
    "long": """
    for k in 0 .. n:
        for j in 0 .. m:
            b[j] = b[j] + a[k]
""",
    "large": """
    for k in 0 .. n:
        for j in 0 .. 513:
            b[j] = b[j] + a[k]
""",
    "data": """
    for k in 0 .. n:
        b[x[0]] = b[x[0]] + a[k]
""",
    "checked": """
    for k in 0 .. n:
        b[0] = b[0] + a[x[k]]
""",
    "break": """
    for k in 0 .. n:
        b[0] = b[0] + 1.0
        if a[k] > 2.0:
            break k
""",
    "inner": """
    for k in 0 .. n:
        for j in 0 .. m:
            b[0] = b[0] + a[j]
""",
    "inner of unknown length": """
    for k in 0 .. n:
        for j in k .. m:
            b[0] = b[0] + a[j]
""",
    "written only": """
    for k in 0 .. n:
        for j in 0 .. 3:
            b[j] = a[k]
""",
    "read only": """
    for k in 0 .. n:
        for j in 0 .. 3:
            a[k] = a[k] + b[j + 1]
""",
    "diagonal": """
    for k in n .. 0 step -1:
        for j in 0 .. 4 step 2:
            b[j] = b[j] * 2.0 + a[k - 1]
""",
    "lazy": """
    for k in 0 .. n:
        a[k] = b[0] if a[k] > 0.0 else 0.0
""",
    "own": """
    for k in 0 .. n:
        allocate t: float64[1] = 0.0
        t[0] = t[0] + a[k]
        a[k] = t[0]
""",
    "local": """
    allocate t: float64[4] = 1.0
    for k in 0 .. n:
        for j in 0 .. 4:
            t[j] = t[j] + a[k]
    b[0] = t[1]
""",
}


def text_of(name: str) -> str:
    return FRAME + SOME[name].lstrip("\n")


def calls_of() -> list[list[object]]:
    return [[numbers(9), numbers(9), np.zeros(9, int), n, m] for n, m in product((-1, 0, 1, 6, 9), (0, 1, 5))]


def test_the_picture() -> None:
    check_picture(Promote)


@pytest.mark.parametrize(
    ("name", "array", "word"),
    [
        ("branch", "b", "without using any"),
        ("two", "b", "several elements of 'b' at a time, which may be the same"),
        ("any two written", "b", "which may be the same"),
        ("moving", "b", "change inside 'k'"),
        ("long", "b", "no constant number of iterations"),
        ("large", "b", "takes 4104 bytes; the limit is 4096"),
        ("data", "b", "depends on data"),
        ("checked", "b", "an error may end 'k' in the middle"),
        ("break", "b", "left in the middle"),
        ("inner of unknown length", "b", "without using any"),
        ("inner", "a", "no constant number of iterations"),
        ("lazy", "b", "without using any"),
        ("own", "t", "made anew inside"),
        ("inner", "x", "does not use 'x'"),
        ("inner", "y", "no array 'y'"),
        ("written only", "a", "other elements of 'a' in each iteration"),
    ],
)
def test_refusals_say_why(name: str, array: str, word: str) -> None:
    rejection = Promote(array, "k").illegal(*known(text_of(name)), strict=True)
    assert rejection is not None and word in rejection.reason


def test_refusals_of_whole_kernels() -> None:
    for text, step, word in (
        (WHILE, Promote("a", "w"), "while"),
        (PREFIX, Promote("a", "i"), "other elements of 'a' in each iteration"),
        (COUNT, Promote("h", "i"), "data"),
        (ROWS, Promote("b", "i"), "other elements of 'b' in each iteration"),
    ):
        rejection = step.illegal(*known(text), strict=True)
        assert rejection is not None and word in rejection.reason
    kernel, facts = known(DOT)
    rejection = Promote("c", "k").illegal(replace(kernel, overlap=True), facts, strict=True)
    assert rejection is not None and "overlap" in rejection.reason
    kernel, facts = apply_schedule(kernel, facts, parse_schedule("parallelize i"), strict=True)
    assert Promote("c", "i").illegal(kernel, facts, strict=True) is not None
    assert Promote("c", "k").illegal(kernel, facts, strict=True) is None  # the loop around it may be marked


LU = """
kernel lu(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. i:
            for k in 0 .. j:
                a[i, j] = a[i, j] - a[i, k] * a[k, j]
"""


def test_elements_that_others_of_the_array_never_meet(tmp_path: Path) -> None:
    """In a factorisation the sum for one element reads others of the same array, never the element itself."""
    calls = [[numbers(n + 1, n + 1), n] for n in (0, 1, 2, 6)]
    changed = check_same(LU, "promote a k", calls, tmp_path)
    assert "a.r = a.r - a[i, k] * a[k, j]" in print_kernel(changed)
    meeting = LU.replace("0 .. j:", "0 .. j + 1:")
    rejection = Promote("a", "k").illegal(*known(meeting), strict=True)
    assert rejection is not None and "which may be the same" in rejection.reason


@pytest.mark.parametrize(
    "name", ["branch and not", "inner", "written only", "read only", "diagonal", "local", "two written"]
)
def test_the_copies_change_nothing(name: str, tmp_path: Path) -> None:
    array = "t" if name == "local" else "b"
    changed = check_same(text_of(name), f"promote {array} k", calls_of(), tmp_path)
    text = print_kernel(changed)
    assert ("b.r[j.r]" not in text) if name == "written only" else f"{array}.r" in text
    assert ("= b.r[" not in text) if name == "read only" else True


def test_each_of_several_elements_is_kept_in_a_scalar_of_its_own(tmp_path: Path) -> None:
    changed = check_same(text_of("two written"), "promote b k; promote b k", calls_of(), tmp_path)
    inside = print_kernel(changed).split("for k")[1]
    assert "b.r = b.r + a[k]" in inside and "b.r.1 = b.r.1 - a[k]" in inside


IN_SOME_ITERATIONS = """
kernel counted(a: float64[2] C, b: float64[1] C):
    allocate c: float64[size(a, 0)] = 0.0
    for i in 0 .. size(a, 0):
        for k in 0 .. size(a, 1):
            if a[i, k] > 1.0:
                c[i] = c[i] + 1.0
    for i.1 in 0 .. size(a, 0):
        b[i.1] = c[i.1]
"""


def test_an_element_of_what_the_call_makes_may_be_stored_unchanged(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(n, m), numbers(n)] for n, m in product((0, 1, 5), (0, 1, 4))]
    changed = check_same(IN_SOME_ITERATIONS, "promote c k", calls, tmp_path)
    assert "c.r = c.r + 1.0" in print_kernel(changed)
    longer = IN_SOME_ITERATIONS.replace("c: float64[size(a, 0)]", "c: float64[size(a, 0) + 1]")
    given = IN_SOME_ITERATIONS.replace("c[i]", "b[i]")
    for text, array in ((longer, "c"), (given, "b")):
        rejection = Promote(array, "k").illegal(*known(text), strict=True)
        assert rejection is not None and "may run without using any element" in rejection.reason


def test_a_size_that_changes_is_no_size() -> None:
    text = """
kernel counted(a: float64[1] C, b: float64[1] C, n: int64):
    var m: int64
    m = n
    allocate c: float64[m] = 0.0
    m = n + 5
    for i in 0 .. m:
        for k in 0 .. size(a, 0):
            if i < n:
                if a[k] > 1.0:
                    c[i] = c[i] + a[k]
    b[0] = c[0]
"""
    rejection = Promote("c", "k").illegal(*known(text), strict=True)
    assert rejection is not None and "may run without using any element" in rejection.reason


def test_what_runs_zero_times_touches_nothing() -> None:
    """No element is copied that the loop does not use, so that no call fails that did not fail before."""
    short: list[list[object]] = [[numbers(0), numbers(0), np.zeros(0, int), n, m] for n, m in ((0, 1), (1, 0), (-3, 5))]
    check_same(text_of("inner"), "promote b k", short)
    calls: list[list[object]] = [[numbers(3, 0), numbers(0), numbers(0)], [numbers(0, 3), numbers(3), numbers(0)]]
    check_same(DOT, "promote c k", calls)


@pytest.mark.parametrize(
    ("text", "before", "step"),
    [
        (text_of("inner"), "", "promote b k"),
        (text_of("read only"), "", "promote b k"),
        (DOT, "", "promote c k"),
        (MATMUL, TILED, "promote c k; promote c k.1"),
    ],
)
def test_the_guard_asks_for_no_more(text: str, before: str, step: str) -> None:
    kernel, facts = apply_schedule(*known(text), parse_schedule(before), strict=True)
    _, found = apply_schedule(kernel, facts, parse_schedule(step), strict=True)
    assert all(bounds.kind == "proven" for some in found.bounds.values() for bounds in some)
    assert facts.guard.text in found.guard.text  # what comes with it lets more calls pass


def test_one_element_is_kept_in_a_scalar(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(n, k), numbers(k), numbers(n)] for n, k in product((0, 1, 5), repeat=2)]
    changed = check_same(DOT, "promote c k; parallelize i; vectorize k", calls, tmp_path)
    assert not any(isinstance(stmt, Allocate) for stmt in statements(changed.body))
    assert "c.r = c.r + a[i, k] * b[k]" in print_kernel(changed)


def test_a_tile_of_a_product(tmp_path: Path) -> None:
    schedule = TILED + "; promote c k; promote c k.1; parallelize i.o; vectorize j; vectorize j.1"
    changed = check_same(MATMUL, schedule, square_calls((0, 1, 4, 7)), tmp_path)
    text = print_kernel(changed)
    assert "allocate c.r: float64[2, 3]" in text and "allocate c.r.1: float64[2, 3]" in text
    assert "c.r[i - i.o, j - j.o] = c.r[i - i.o, j - j.o] + a[i, k] * b[k, j]" in text


def test_lanes_and_constant_trips_reach_the_code() -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(TILED + "; promote c k; vectorize j"), strict=False)
    text = generate(kernel, facts, check_all=False, strict=False).text
    start = text.index("#pragma GCC ivdep")
    assert "lw_k < 3;" in text[start : start + 90] and "#pragma GCC unroll 2" in text[:start]
    assert "* 3 + (j_ - j_o_)]" in text[start:]
    text = generate(kernel, facts, check_all=True, strict=False).text  # no guard: ends may wrap
    assert "lw_k < 3;" not in text and "GCC unroll 2" not in text


def test_names_that_are_taken_get_a_number() -> None:
    twice = after(DOT.replace("c[i] = c[i]", "c[i] = b[0] + c[i]"), "promote c k")
    text = print_kernel(twice).replace("c.r", "c.x")
    assert "var c.x: float64" in text


def test_instances() -> None:
    def found(kernel: Kernel, facts: Facts) -> set[str]:
        return {str(step) for step in Promote.instances(kernel, facts, strict=True)}

    assert found(*known(DOT)) == {"promote c k"}
    assert found(*known(ROWS)) == set()
    tiled = apply_schedule(*known(MATMUL), parse_schedule(TILED), strict=False)
    assert {"promote c k", "promote c k.1"} <= found(*tiled)


def test_text() -> None:
    assert str(Promote("c", "k")) == "promote c k"
    assert Promote.parse(("c", "k")) == Promote("c", "k")
    with pytest.raises(ValueError, match="ARRAY LOOP"):
        Promote.parse(("c",))


def test_a_trip_from_a_place_that_data_names_is_not_taken_for_constant() -> None:
    text = FRAME + "    for i in x[0] .. x[0] + 8:\n        for j in i .. i + 3:\n            a[j] = 1.0\n"
    text += "    for k in n .. n + 5:\n        a[k] = 2.0\n"
    found = generate(*known(text), check_all=False, strict=True).text
    assert "lw_k < 8;" not in found and "lw_k < 3;" not in found  # the end may wrap
    assert "lw_k < 5;" in found


LIMITED = """
kernel limited(a: float64[2] C, c: float64[1] C, n: int64, m: int64):
    for i.o in 0 .. n step 4:
        for k.o in 0 .. m step 3:
            for i in i.o .. i.o + 4:
                for k in k.o .. k.o + 3:
                    if i < n and k < m:
                        c[i] = c[i] + a[i, k]
"""


def test_up_to_where_a_loop_uses_it() -> None:
    """Where a stretch ends early, elements beyond are neither read nor written; whole ones need no tests."""
    calls: list[list[object]] = [[numbers(n, m), numbers(n), n, m] for n, m in product((0, 1, 4, 7), (0, 1, 5))]
    text = print_kernel(check_same(LIMITED, "promote c k.o whole", calls))
    assert "if i.o + 4 <= n:" in text
    assert "c.r[i.r.1 - i.o] = c[i.r.1] if i.r.1 < n else 0.0" in text
    assert "if i.w.1 < n:" in text and "if 0 < m:" in text


def test_a_limit_on_a_loop_that_stays_the_same_is_asked_before() -> None:
    """Nothing is copied where no iteration keeps to the limit."""
    text = LIMITED.replace("for k.o in 0 .. m step 3", "for k.o in 0 .. m + 5 step 3")
    calls: list[list[object]] = [[numbers(n, m), numbers(n), n, m] for n, m in product((0, 1, 4, 7), (0, 1, 5))]
    assert "if k.o < m:" in print_kernel(check_same(text, "promote c i whole", calls))


BELOW = ["k < i + 1", "k < i", "k < i - 2", "k < i + 9"]


@pytest.mark.parametrize(
    ("loop", "end"),
    [*(("k.o", end) for end in BELOW), *(("i", end) for end in (*BELOW, "i < k", "k >= i", "k >= i + 2"))],
)
def test_an_end_that_moves_with_another_loop(loop: str, end: str) -> None:
    text = LIMITED.replace("k < m", f"k < m and {end}")
    calls: list[list[object]] = [[numbers(n, m), numbers(n), n, m] for n, m in product((0, 1, 4, 7), (0, 1, 5, 9))]
    assert "else 0.0" in print_kernel(check_same(text, f"promote c {loop} whole", calls))


TRIANGLE = """
kernel triangle(a: float64[2] C, c: float64[2] C, n: int64, m: int64):
    for i.o in 0 .. n step 4:
        for j.o in 0 .. n step 3:
            for k in 0 .. m:
                for i in i.o .. i.o + 4:
                    for j in j.o .. j.o + 3:
                        if i < n and j < n and j < i + 1:
                            c[i, j] = c[i, j] + a[i, k] * a[j, k]
"""


@pytest.mark.parametrize("end", ["j < i + 1", "j < i - 2", "j < i + 5", "j >= i + 1", "i < j - 1"])
def test_a_triangle_is_kept_as_a_square_with_an_end(end: str) -> None:
    """Squares that lie outside of it do nothing at all."""
    sizes = product((0, 1, 4, 7, 9), (0, 1, 2))
    calls: list[list[object]] = [[numbers(n, m), numbers(n, n), n, m] for n, m in sizes]
    text = TRIANGLE.replace("j < i + 1", end)
    found = print_kernel(check_same(text, "promote c k whole; pack a i; pack a i", calls))
    assert "allocate a.p: float64[4]" in found and "allocate a.p.1: float64[3]" in found
    if end == "j < i + 1":
        assert "if j.o < i.o + 4 and 0 < m:" in found


def test_what_else_a_loop_does_is_done_without_the_elements_too() -> None:
    text = """
kernel both(c: float64[1] C, d: float64[1] C, n: int64, m: int64):
    for i in 0 .. n:
        for k in 0 .. m:
            c[0] = c[0] + 1.0
        d[i] = 1.0
"""
    calls: list[list[object]] = [[numbers(1), numbers(n), n, m] for n, m in product((0, 3), (0, 2))]
    assert "else:" in print_kernel(check_same(text, "promote c i", calls))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i < n and k < m", "i < n and k < i and i < k + 3"),
        ("i < n and k < m", "i < n and k < n - i"),
        ("i < n and k < m", "i < n and k >= n - i"),
        ("i < n and k < m", "i < n or k < m"),
        ("i < n and k < m", "i < n and k > 0"),
        ("i < n and k < m", "i < n and a[0, k] < 1.0"),
        ("for k in k.o .. k.o + 3", "for k in i - k.o .. i - k.o + 3"),
        ("for k in k.o .. k.o + 3", "for k in i + k.o .. i + k.o + 3"),
        ("for k in k.o .. k.o + 3", "for k in k.o + 2 .. k.o - 1 step -1"),
        (
            "c[i] = c[i] + a[i, k]",
            "c[i] = c[i] + a[i, k]\n                    if i < m:\n                        c[i] = 0.0",
        ),
    ],
)
def test_where_other_elements_may_be_used(old: str, new: str) -> None:
    rejection = Promote("c", "i", True).illegal(*known(LIMITED.replace(old, new)), strict=True)
    assert rejection is not None and "may run without using any element" in rejection.reason, rejection


LARGEST = """
kernel largest(a: float64[2] C, b: float64[1] C, x: int64[1] C):
    for i in 0 .. size(a, 0):
        for k in 0 .. size(a, 1):
            for j in 0 .. size(b, 0) - 1:
                if a[i, k] > b[i]:
                    b[i] = a[i, k]
                    x[i] = k
"""


def test_what_the_loop_may_never_come_to_is_put_back_where_it_was_set(tmp_path: Path) -> None:
    calls = []
    for rows, columns, length in ((3, 5, 3), (3, 0, 3), (0, 2, 1), (1, 4, 1), (2, 3, 2)):
        a = np.random.default_rng(columns).integers(-2, 3, (rows, columns)).astype(float)
        for start in (-9.0, 0.0, 9.0):
            calls.append([a, np.full(length, start), np.full(length, -1)])
    changed = check_same(LARGEST, "promote b k seldom; promote x k seldom", calls, tmp_path)
    text = print_kernel(changed)
    assert "if x.set:" in text and "x[i] = x.r" in text
    assert "x.r = x[i]" not in text  # nothing reads it
    assert known(text)[1].loops["k"].verdict == "reduction"


@pytest.mark.parametrize("step", ["promote b j seldom", "promote a k seldom", "promote x k whole seldom"])
def test_only_one_element_that_is_set_has_a_flag(step: str) -> None:
    text = LARGEST.replace("x[i] = k", "x[j] = k").replace("b[i] = a[i, k]", "b[j] = a[i, k]")
    (one,) = parse_schedule(step)
    assert one.illegal(*known(text), strict=False) is not None


ADDED = """
kernel added(a: float64[2] C, b: float64[1] C):
    for i in 0 .. size(b, 0):
        for k in 0 .. size(a, 0):
            for j in 0 .. size(a, 1):
                if a[k, j] > 0.0:
                    b[i] = b[i] + a[k, j]
"""


@pytest.mark.parametrize("op", ["b[i] + a[k, j]", "b[i] * a[k, j]", "b[i] - a[k, j] * 3.0", "b[i] * 2.0"])
def test_an_element_that_may_never_be_added_to_keeps_its_sign(op: str, tmp_path: Path) -> None:
    text = ADDED.replace("b[i] + a[k, j]", op)
    calls = []
    for rows, columns in ((3, 5), (0, 5), (2, 0), (1, 4)):
        a = np.random.default_rng(columns).integers(-3, 3, (rows, columns)).astype(float)
        calls += [[a, np.array([-0.0, 0.0, 2.0, math.inf])], [-abs(a), np.array([-0.0])], [a, np.zeros(0)]]
    changed = check_same(text, "promote b k seldom", calls, tmp_path)
    assert "if b.set:" in print_kernel(changed)
    assert known(print_kernel(changed))[1].loops["k"].verdict == "reduction"  # threads can share it
    nothing = np.array([-0.0])
    interpret(changed, [np.array([[-1.0]]), nothing])
    assert math.copysign(1.0, nothing[0]) == -1.0


def test_sums_that_are_put_together_elsewhere_may_round_otherwise() -> None:
    (step,) = parse_schedule("promote b k seldom")
    rejection = step.illegal(*known(ADDED), strict=True)
    assert rejection is not None and "rounded in another order" in rejection.reason
    integers = ADDED.replace("float64", "int64").replace("0.0", "0")
    assert step.illegal(*known(integers), strict=True) is None


@pytest.mark.parametrize("op", ["b[i] + b[i]", "b[i] + b[0]", "2.0 - b[i]", "b[i] + a[k, j] * b[i]"])
def test_what_is_also_read_or_set_is_no_sum(op: str) -> None:
    (step,) = parse_schedule("promote b k seldom")
    assert step.illegal(*known(ADDED.replace("b[i] + a[k, j]", op)), strict=False) is not None
