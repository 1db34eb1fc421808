from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.nodes import Assign, Const, For, If, Load
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.types import FLOAT64, INT64
from loopwright.ir.walk import loops, statements
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from steps.before_after import after, check_same
from steps.kernels import MATMUL, PREFIX, ROWS, WHILE, known
from steps.pictures import check_picture

DOWN = """
kernel down(a: float64[1] C, n: int64):
    for i in n .. 0 step -3:
        a[i - 1] = a[i - 1] + 1.0
"""
SCALARS = """
kernel scalars(a: float64[1] C, n: int64, m: int32, x: float64):
    for i in 0 .. n:
        a[i] = a[i] + float64(n) + float64(m) * x
"""
JUMPS = """
kernel jumps(a: float64[1] C, n: int64) -> python int64:
    var found: int64
    found = -1
    for i in 0 .. n:
        if a[i] > 3.0:
            found = i
            break i
    while found > 7 named w:
        found = found - n
    return found
"""
LOCAL = """
kernel local(a: float64[1] C, n: int64):
    for i in 0 .. n:
        allocate t: float64[2] = 0.0
        t[0] = a[i]
        a[i] = t[0] + t[1] + 1.0
"""
TRIANGLE = """
kernel triangle(a: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in i .. n:
            a[i, j] = a[i, j] + 1.0
"""


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 9, shape).astype(float)


def square_calls(sizes: tuple[int, ...]) -> list[list[object]]:
    return [[numbers(n, k), numbers(k, m), numbers(n, m)] for n, k, m in product(sizes, repeat=3)]


def test_the_picture() -> None:
    check_picture(Specialize)


@pytest.mark.parametrize(
    ("text", "schedule", "step", "word"),
    [
        (WHILE, "", "specialize w full", "while"),
        (ROWS, "", "specialize k full", "no loop 'k'"),
        (ROWS, "", "specialize i full", "not the inner loop of a `split`"),
        (ROWS, "split i 4; split j 4", "specialize i i full", "named twice"),
        (ROWS, "split j 4", "specialize i j full", "'i' is not the inner loop of a `split`"),
        (TRIANGLE, "split j 4; split i 4", "specialize i j full", "depends on 'j.o'"),
        (ROWS, "split i 4; parallelize i", "specialize i full", "marked parallel"),
        (SCALARS, "", "specialize x 1", "no argument that is a whole number"),
        (SCALARS, "", "specialize a.1 1", "no size"),
        (SCALARS, "", "specialize m 3000000000", "can never be"),
        (ROWS, "", "specialize a.0 -1", "can never be"),
        (ROWS, "", "specialize b.0 8", "nothing in it depends on 'b.0'"),
        (SCALARS, "", "specialize n % 8", "nothing becomes simpler where 'n' is divisible by 8"),
        (SCALARS, "split i 8", "specialize n % 12", "nothing becomes simpler"),
        (SCALARS, "", "specialize n 8 in k", "no loop 'k'"),
        (ROWS, "", "specialize b.0 >= 8", "nothing in it depends on 'b.0'"),
        (SCALARS, "", "specialize m >= 3000000000", "can never be"),
    ],
)
def test_refusals_say_why(text: str, schedule: str, step: str, word: str) -> None:
    from loopwright.steps.schedule import apply_schedule, parse_schedule

    kernel, facts = apply_schedule(*known(text), parse_schedule(schedule), strict=False)
    rejection = Specialize.parse(tuple(step.split()[1:])).illegal(kernel, facts, strict=False)
    assert rejection is not None and word in rejection.reason


def test_full_tiles_of_a_nest_stand_apart_from_the_others() -> None:
    schedule = "reorder i k j; tile i 2 k 4 j 3; reorder k.o i.o j.o k i j; specialize i j full"
    changed = check_same(MATMUL, schedule, square_calls((0, 1, 3, 6)))
    (condition,) = (stmt for stmt in statements(changed.body) if isinstance(stmt, If))
    assert isinstance(condition.then[0], For) and condition.then[0].name == "k"  # around k, which needs none of it
    assert "for j in j.o .. j.o + 3:" in print_kernel(changed)
    assert {"k", "k.1", "i.1", "j.1"} <= set(loops(changed))


def test_compiled_full_tiles(tmp_path: Path) -> None:
    schedule = "tile k 4 i 4 j 4; specialize k i j full; parallelize i.o; vectorize j; vectorize j.1"
    check_same(MATMUL, schedule, square_calls((0, 1, 4, 9)), tmp_path)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 12, 13, 60])
def test_a_loop_that_counts_down(n: int) -> None:
    changed = check_same(DOWN, "split i 2; specialize i full", [[numbers(n), n]])
    assert "i.o - 6 >= 0" in print_kernel(changed)


def test_a_triangle() -> None:
    calls: list[list[object]] = [[numbers(n, n), n] for n in (0, 1, 4, 9)]
    check_same(TRIANGLE, "split j 4; specialize j full", calls)
    check_same(TRIANGLE, "split i 4; specialize i full", calls)


@pytest.mark.parametrize(("start", "end"), [("0", "i + 1"), ("0", "i - 2"), ("i", "n"), ("i + 3", "n")])
def test_full_blocks_of_a_triangle(start: str, end: str) -> None:
    text = TRIANGLE.replace("j in i .. n", f"j in {start} .. {end}")
    tile = "reorder j i; tile j 3 i 2; reorder i j"
    calls: list[list[object]] = [[numbers(n, n), n] for n in (0, 1, 4, 9, 14)]
    changed = check_same(text, tile + "; specialize i j full", calls)
    assert "for j in j.o .. j.o + 3:" in print_kernel(changed) and "for i in i.o .. i.o + 2:" in print_kernel(changed)
    ran = [stmt for stmt in statements(changed.body) if isinstance(stmt, If)]
    assert len(ran) == 1


def test_large_sizes_have_a_copy_that_may_run_otherwise(tmp_path: Path) -> None:
    rows: list[list[object]] = [[numbers(n, m), numbers(n, m)] for n, m in product((0, 1, 3, 4, 5), repeat=2)]
    schedule = "specialize a.1 >= 4 in i; reorder j i; parallelize i.1"
    text = print_kernel(check_same(ROWS, schedule, rows, tmp_path))
    assert "if size(a, 1) >= 4:" in text and "for i.1 in 0 .. size(a, 0) parallel:" in text
    assert str(Specialize.parse(("a.1", ">=", "4", "in", "i"))) == "specialize a.1 >= 4 in i"


def test_all_sizes_or_their_product_are_large(tmp_path: Path) -> None:
    rows: list[list[object]] = [[numbers(n, m), numbers(n, m)] for n, m in product((0, 1, 3, 4, 5, 20), repeat=2)]
    schedule = "specialize a.0 a.1 >= 4 in i; specialize a.0*a.1 >= 20 in i.1; reorder j i; parallelize i.1"
    text = print_kernel(check_same(ROWS, schedule, rows, tmp_path))
    assert "if size(a, 0) >= 4 and size(a, 1) >= 4:" in text and "if size(a, 0) * size(a, 1) >= 20:" in text
    for words in ("a.0 a.1 >= 4 in i", "a.0*a.1 >= 20"):
        assert str(Specialize.parse(tuple(words.split()))) == f"specialize {words}"


TURNS = """
kernel turns(a: float64[2] C, b: float64[2] C, n: int64):
    for t in 0 .. n:
        for i in t .. size(a, 0):
            for j in {lower} .. {upper}:
                a[i, j] = a[i, j] + b[i, j] * 2.0
"""


def test_loops_with_many_iterations_have_a_copy(tmp_path: Path) -> None:
    text = TURNS.format(lower="1", upper="size(b, 1)")
    calls: list[list[object]] = [[numbers(n, m), numbers(n, m), 3] for n, m in product((0, 1, 4, 7), repeat=2)]
    changed = print_kernel(check_same(text, "specialize i*j >= 6 in i; reorder j i", calls, tmp_path))
    assert "if (size(a, 0) - t) * (size(b, 1) - 1) >= 6:" in changed and "for j.1 in 1 .. size(b, 1):" in changed
    words = ("i*j*j", ">=", "6", "in", "i")
    step = Specialize.parse(words)
    assert str(step) == f"specialize {' '.join(words)}"
    many = print_kernel(step.apply(parse_kernel(text)))  # of large arrays the product of three would not fit
    assert "if float64(size(a, 0) - t) * float64(size(b, 1) - 1) * float64(size(b, 1) - 1) >= 6.0:" in many


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ("t*i >= 6 in i", "'t' is no loop in 'i'"),
        ("i >= 6 in t", "not known before 't'"),
        ("j >= 6 in j", ""),
        ("j >= 6", "no argument"),
        ("i*j >= 6 in i", "not known before 'i'"),
    ],
)
def test_iterations_that_are_not_known_there(step: str, word: str) -> None:
    upper = "i" if step.startswith("i*j") else "size(b, 1)"
    kernel, facts = known(TURNS.format(lower="0", upper=upper))
    rejection = Specialize.parse(tuple(step.split())).illegal(kernel, facts, strict=True)
    assert (rejection is not None and word in rejection.reason) if word else rejection is None


def test_numbers_of_a_product_are_wide() -> None:
    narrow = """
kernel f(a: float64[2] C, n: int32, m: int32):
    for i in 0 .. int64(n):
        for j in 0 .. int64(m):
            a[i, j] = 0.0
"""
    kernel = parse_kernel(narrow)
    assert "if int64(n) * int64(m) >= 4:" in print_kernel(Specialize(("n*m",), ">=", 4, "i").apply(kernel))


def test_versions_for_sizes_have_scalars_of_their_own() -> None:
    """So that steps may treat a scalar of one of them alone."""
    text = """
kernel f(a: float64[2] C, b: float64[1] C) -> float64:
    var s: float64
    var last: float64
    last = 0.0
    for i in 0 .. size(b, 0):
        s = 0.0
        for j in 0 .. size(a, 1):
            s = s + a[i, j]
        b[i] = s
        last = s
    return last
"""
    changed = print_kernel(Specialize(("a.1",), ">=", 4, "i").apply(parse_kernel(text)))
    assert "s.1 = s.1 + a[i.1, j.1]" in changed and "last = s.1" in changed and "last.1" not in changed


def test_a_size_has_a_value(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(9), n, np.int32(-2), 3.0] for n in (-1, 0, 7, 8, 9)]
    changed = check_same(SCALARS, "specialize n 8; specialize m -2 in i", calls, tmp_path)
    assert "for i in 0 .. 8:" in print_kernel(changed) and "if m == -2i32:" in print_kernel(changed)
    rows: list[list[object]] = [[numbers(n, m), numbers(n, m)] for n, m in product((0, 4, 6), repeat=2)]
    assert "for i in 0 .. 4:" in print_kernel(check_same(ROWS, "specialize a.0 4", rows, tmp_path))


def test_ends_of_stretches_vanish_where_a_size_is_divisible(tmp_path: Path) -> None:
    calls: list[list[object]] = [[numbers(40), n, np.int32(1), 3.0] for n in (0, 1, 7, 8, 16, 24, 40)]
    changed = check_same(SCALARS, "split i 8; split i.o 2; specialize n % 16", calls, tmp_path)
    text = print_kernel(changed)
    assert "for i.o in i.o.o .. i.o.o + 16 step 8:" in text and "for i in i.o .. i.o + 8:" in text
    text = print_kernel(check_same(SCALARS, "split i 8; specialize n % 8 in i.o", calls))
    assert "for i in i.o .. i.o + 8:" in text
    text = print_kernel(check_same(SCALARS, "split i 6; specialize n % 12", calls))
    assert "for i in i.o .. i.o + 6:" in text
    text = print_kernel(check_same(SCALARS, "split i 8; specialize n 24", calls))
    assert "for i in i.o .. i.o + 8:" in text


def test_what_a_copy_holds_is_renamed() -> None:
    calls: list[list[object]] = [[numbers(9), n] for n in (0, 5, 9)]
    check_same(JUMPS, "specialize n 5", calls)
    changed = check_same(LOCAL, "split i 4; specialize i full", calls)
    assert "t.1[0] = a[i.1]" in print_kernel(changed)


def test_an_array_that_is_used_outside_is_not_copied() -> None:
    text = """
kernel made(a: float64[1] C, n: int64):
    for i in 0 .. 1:
        allocate t: float64[8] = 0.0
        t[0] = float64(n)
        a[i] = t[0]
    a[0] = a[0] + 1.0
"""
    kernel, facts = known(text)
    step = Specialize(("n",), "", 8, "i")
    assert step.illegal(kernel, facts, strict=True) is None
    after_it = Assign("x", Load("t", (Const(0, INT64),), FLOAT64))
    rejection = step.illegal(replace(kernel, body=(*kernel.body, after_it)), facts, strict=True)
    assert rejection is not None and "'t' is made inside the loops that would be copied" in rejection.reason


def test_a_copy_that_would_be_too_large() -> None:
    lines = "\n".join(f"        a[i] = a[i] + {k}.0" for k in range(2000))
    text = f"kernel long(a: float64[1] C, n: int64):\n    for i in 0 .. n:\n{lines}\n"
    rejection = Specialize(("n",), "", 8).illegal(*known(text), strict=True)
    assert rejection is not None and "limit" in rejection.reason


def test_both_versions_are_analysed_anew() -> None:
    from loopwright.steps.schedule import apply_schedule, parse_schedule

    kernel, facts = apply_schedule(*known(ROWS), parse_schedule("split i 4; specialize i full"), strict=True)
    assert {facts.loops[name].verdict for name in ("i.o", "i", "j", "i.1", "j.1")} == {"parallel"}
    assert all(bounds.kind == "proven" for found in facts.bounds.values() for bounds in found)
    kernel, facts = apply_schedule(*known(PREFIX), parse_schedule("split i 4; specialize i full"), strict=True)
    assert Parallelize("i").illegal(kernel, facts, strict=True) is not None


def test_instances() -> None:
    kernel, facts = known(ROWS)
    assert Specialize.instances(kernel, facts, strict=True) == ()
    tiled = after(ROWS, "tile i 4 j 4")
    found = {str(step) for step in Specialize.instances(tiled, facts, strict=True)}
    assert found == {
        "specialize i full", "specialize j full", "specialize i j full", "specialize a.0 % 4", "specialize a.1 % 4"
    }  # fmt: skip
    assert Split("i", 4).illegal(tiled, facts, strict=True) is None


def test_text() -> None:
    for text in ("i j full", "n 8", "n -8", "a.0 % 4", "n % 8 in i.o", "n 0 in i"):
        step = Specialize.parse(tuple(text.split()))
        assert str(step) == f"specialize {text}" and Specialize.parse(tuple(str(step).split()[1:])) == step
    for words in (("i",), ("full",), ("n", "x"), ("n", "%", "1"), ("n", "8", "in"), ()):
        with pytest.raises(ValueError, match="NUMBER"):
            Specialize.parse(words)
