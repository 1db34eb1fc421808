from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from loopwright.codegen.openmp import generate
from loopwright.ir.text import print_kernel
from loopwright.steps.pack import Pack
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.stage import Stage
from steps.before_after import check_same
from steps.kernels import MATMUL, ROWS, WHILE, known
from steps.pictures import check_picture
from steps.test_specialize import numbers, square_calls

TILED = "reorder i k j; tile i 2 k 4 j 3; reorder k.o j.o i.o k i j"
FRAME = "kernel some(a: float64[2] C, b: float64[2] F, x: int64[1] C, n: int64, m: int64):\n"
SOME = {
    "written": """
    for i in 0 .. n:
        for j in 0 .. 4:
            b[j, 0] = b[j, 0] + a[i, j]
""",
    "two": """
    for i in 0 .. n:
        for j in 0 .. 4:
            a[i, j] = b[j, 0] + b[j, 1]
""",
    "large": """
    for i in 0 .. n:
        for j in 0 .. 257:
            for k in 0 .. 256:
                a[i, 0] = a[i, 0] + b[j, k]
""",
    "one": """
    for i in 0 .. n:
        a[i, 0] = b[0, 1]
""",
    "data": """
    for i in 0 .. n:
        for j in 0 .. 4:
            a[i, j] = b[x[j], 0]
""",
    "branch": """
    for i in 0 .. n:
        for j in 0 .. 4:
            if a[i, j] > 0.0:
                a[i, j] = b[j, 0]
""",
    "moved": """
    for i in 0 .. n:
        for j in 1 .. 6 step 2:
            for k in 0 .. 3:
                a[i, k] = a[i, k] + b[j - 1, k + 1]
""",
    "diagonal": """
    for i in 0 .. n:
        for j in 0 .. 4:
            a[i, j] = b[j, j]
""",
    "beyond": """
    for i in 0 .. n:
        for k in 0 .. 6 step 4:
            for j in k .. k + 4:
                a[i, j] = a[i, j] + b[j, 0]
""",
    "unlike": """
    for i in 0 .. n:
        for j in i .. i + 4:
            a[0, j] = a[0, j] + b[j, 0]
""",
}


def text_of(name: str) -> str:
    return FRAME + SOME[name].lstrip("\n")


def test_the_picture() -> None:
    check_picture(Pack)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("written", "writes to 'b'"),
        ("two", "several elements"),
        ("large", "takes 526336 bytes; the limit is 524288"),
        ("one", "only one element"),
        ("data", "depends on data"),
        ("branch", "without using any"),
        ("unlike", "change inside 'i'"),
        ("beyond", "change inside 'i'"),
    ],
)
def test_refusals_say_why(name: str, word: str) -> None:
    rejection = Pack("b", "i").illegal(*known(text_of(name)), strict=True)
    assert rejection is not None and word in rejection.reason


def test_refusals_of_whole_kernels() -> None:
    marked = apply_schedule(*known(text_of("diagonal")), parse_schedule("vectorize j"), strict=True)
    for kernel, step, word in (
        (known(WHILE), Pack("a", "w"), "while"),
        (known(ROWS), Pack("a", "k"), "no loop 'k'"),
        (known(ROWS), Pack("z", "i"), "no array 'z'"),
        (known(ROWS), Pack("a", "i"), "no constant number"),
        (known(MATMUL), Pack("b", "i"), "no constant number"),
        (marked, Pack("b", "i"), "marked vector"),
    ):
        rejection = step.illegal(*kernel, strict=True)
        assert rejection is not None and word in rejection.reason


@pytest.mark.parametrize("name", ["moved", "diagonal"])
@pytest.mark.parametrize("word", ["", " transposed"])
def test_the_copy_changes_nothing(name: str, word: str, tmp_path: Path) -> None:
    b = np.asfortranarray(numbers(6, 6))
    calls: list[list[object]] = [[numbers(6, 6), b, np.zeros(6, int), n, 0] for n in (-1, 0, 1, 6)]
    check_same(text_of(name), f"pack b i{word}", calls, tmp_path)
    nothing: list[object] = [numbers(0, 0), np.asfortranarray(numbers(0, 0)), np.zeros(0, int), 0, 0]
    check_same(text_of(name), f"pack b i{word}", [nothing])  # where the loop does not run, nothing is copied


def test_what_is_not_there_is_filled_with_zeros(tmp_path: Path) -> None:
    """Or garbage would be computed with, which may be denormal numbers: those take a hundred times as long."""
    text = print_kernel(check_same(MATMUL, TILED + "; pack b i.o fill j", square_calls((0, 1, 5)), tmp_path))
    assert "b.p[k.p.1 - k.o, j.p.1 - j.o] = b[k.p.1, j.p.1] if j.p.1 < size(b, 1) else 0.0" in text
    assert "for k.p.1 in k.o .. min(k.o + 4, size(a, 1)):" in text and "for j.p.1 in j.o .. j.o + 3:" in text
    kernel, facts = known(MATMUL)
    kernel, facts = apply_schedule(kernel, facts, parse_schedule(TILED), strict=True)
    rejection = Pack("b", "i.o", fill="i").illegal(kernel, facts, strict=True)
    assert rejection is not None and rejection.reason == "'i' is no loop over what 'i.o' reads of 'b'"


def test_tiles_with_ends_that_are_not_full(tmp_path: Path) -> None:
    text = print_kernel(check_same(MATMUL, TILED + "; pack b i.o; parallelize i.o", square_calls((0, 1, 5)), tmp_path))
    assert "allocate b.p: float64[4, 3]" in text and "* b.p[k - k.o, j - j.o]" in text
    assert "for k.p in k.o .. min(k.o + 4, size(a, 1)):" in text
    text = print_kernel(check_same(MATMUL, TILED + "; pack a i", square_calls((0, 1, 5))))
    assert "a.p[i - i.o]" in text  # k is around i: the tile is a stretch of one column
    text = print_kernel(check_same(MATMUL, TILED + "; pack a k", square_calls((0, 1, 5))))
    assert "allocate a.p: float64[4, 2]" in text and "a.p[k - k.o, i - i.o]" in text
    text = print_kernel(check_same(MATMUL, TILED + "; pack a k transposed", square_calls((0, 1, 5))))
    assert "allocate a.p: float64[2, 4]" in text and "a.p[i - i.o, k - k.o]" in text


def test_all_stretches_inside_the_loop_are_one_tile(tmp_path: Path) -> None:
    schedule = "reorder i k j; tile i 2 k 4 j 3; split j.o 2; reorder k.o j.o.o i.o j.o k i j; pack b i.o; pack a j.o"
    schedule += "; specialize i j full; promote c k; parallelize i.o; vectorize j"
    changed = check_same(MATMUL, schedule, square_calls((0, 1, 5, 13)), tmp_path)
    text = print_kernel(changed)
    assert "allocate b.p: float64[4, 6]" in text and "b.p[k - k.o, j - j.o.o]" in text
    assert "for j.p in j.o.o .. min(j.o.o + 6, size(b, 1)):" in text
    assert "a.p[k - k.o, i - i.o]" in text


SQUARE = """
kernel square(a: float64[2] C, c: float64[2] C, n: int64, m: int64):
    for i in 0 .. n:
        for j in 0 .. i + 1:
            for k in 0 .. m:
                c[i, j] = c[i, j] + a[i, k] * a[j, k]
"""


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (4, 3), (13, 9)])
def test_of_two_indices_the_one_that_stays_is_copied(size: tuple[int, int], tmp_path: Path) -> None:
    """In a triangle, where the last iteration around reads all of the stretch."""
    n, m = size
    schedule = "reorder k j i; tile k 4 j 5 i 2; reorder i j; pack a i.o; specialize i j full; promote c k"
    changed = check_same(SQUARE, schedule + "; parallelize j.o", [[numbers(n, m), numbers(n, n), n, m]], tmp_path)
    text = print_kernel(changed)
    assert "a.p[k.p - k.o, j.p - j.o] = a[j.p, k.p]" in text and "* a.p[k - k.o, j - j.o]" in text
    assert "for j.p in j.o .. min(n, j.o + 5):" in text or "for j.p in j.o .. min(j.o + 5, n):" in text


def test_where_two_indices_could_be_copied_neither_is() -> None:
    twice = "c[i, j] = c[i, j] + a[i, k] * a[j, k]"
    text = SQUARE.replace("i + 1", "4").replace("0 .. m", "0 .. 3").replace(twice, "c[0, i] = a[j, k] + a[k, j]")
    rejection = Pack("a", "i").illegal(*known(text), strict=True)
    assert rejection is not None and "several elements" in rejection.reason


SCALED = """
kernel scaled(a: float32[2] C, b: float64[2] C, c: float64[2] C, s: float64):
    for k in 0 .. size(a, 1):
        for i in 0 .. size(a, 0):
            for j in 0 .. size(b, 1):
                c[i, j] = c[i, j] + s * float64(a[i, k]) * b[k, j]
"""
PANELS = "reorder i k j; tile i 2 k 4 j 3; split i.o 2; reorder k.o i.o.o j.o i.o k i j"


@pytest.mark.parametrize("computed", ["", " computed"])
def test_each_block_lies_in_one_piece(computed: str, tmp_path: Path) -> None:
    """Also where the last one is short, where none is there, and where the loop around does not run."""
    calls = [
        [numbers(n, k).astype(np.float32), numbers(k, m), numbers(n, m), 3.0]
        for n, k, m in product((0, 1, 4, 7, 9), (1, 5), (0, 3, 7))
    ]
    schedule = PANELS + f"; pack a j.o fill i blocks i.o{computed}; pack b i.o fill j; specialize i j full; promote c k"
    text = print_kernel(check_same(SCALED, schedule + "; parallelize i.o.p; parallelize j.o", calls, tmp_path))
    kept = "s * float64(a[i.p, k.p])" if computed else "a[i.p, k.p]"
    assert f"allocate a.p: {'float64' if computed else 'float32'}[2, 4, 2]" in text
    assert f"a.p[(i.o.p - i.o.o) // 2, k.p - k.o, i.p - i.o.p] = {kept}" in text
    assert "if size(b, 1)" in text or "if 0 < size(b, 1):" in text  # or else nothing of a would be read
    assert ("s * " in text.partition("for i in i.o")[2]) != bool(computed)


def test_of_two_indices_the_blocks_tell_which_is_copied() -> None:
    both = MATMUL.replace("b[k, j]", "a[j, k]").replace("size(b, 1)", "size(a, 0)").replace("b: float64[2] C, ", "")
    text = print_kernel(check_same(both, PANELS + "; pack a j.o blocks i.o", [[numbers(7, 5), numbers(7, 7)]]))
    assert "a.p[(i.o - i.o.o) // 2, k - k.o, i - i.o] * a[j, k]" in text


def test_refusals_of_blocks_and_of_what_is_computed() -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(PANELS), strict=True)
    moved = MATMUL.replace("a[i, k] * b", "float64(j) * a[i, k] * b")
    other = apply_schedule(*known(moved), parse_schedule(PANELS), strict=True)
    for at, step, word in (
        ((kernel, facts), Pack("a", "j.o", blocks="q"), "'q' is no loop inside 'j.o'"),
        ((kernel, facts), Pack("a", "j.o", blocks="k"), "'k' gives 'a' no pieces in 'j.o'"),
        ((kernel, facts), Pack("a", "j.o", blocks="i.o", computed=True), "computes nothing from 'a'"),
        (other, Pack("a", "j.o", blocks="i.o", computed=True), "computes nothing from 'a'"),
    ):
        rejection = step.illegal(*at, strict=True)
        assert rejection is not None and word in rejection.reason, rejection


def test_everything_stays_proven_and_parallel() -> None:
    kernel, facts = known(MATMUL)
    kernel, facts = apply_schedule(kernel, facts, parse_schedule(TILED + "; pack b i.o"), strict=True)
    assert all(bounds.kind == "proven" for some in facts.bounds.values() for bounds in some)
    assert facts.loops["i.o"].verdict == facts.loops["k.p"].verdict == "parallel"


def test_large_tiles_lie_on_the_heap(tmp_path: Path) -> None:
    schedule = "reorder i k j; tile i 2 k 32 j 32; reorder k.o j.o i.o k i j; pack b i.o"
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(schedule), strict=True)
    text = generate(kernel, facts, check_all=False, strict=True).text
    assert "b_p_ = lw_room(" in text and "* 32 +" in text
    calls: list[list[object]] = [
        [numbers(n, k), numbers(k, m), numbers(n, m)] for n, k, m in product((3,), (33, 40), (33,))
    ]
    check_same(MATMUL, schedule, calls, tmp_path)


def test_instances() -> None:
    kernel, facts = apply_schedule(*known(MATMUL), parse_schedule(TILED), strict=True)
    assert {"pack b i.o", "pack a k", "pack a i", "pack b k"} <= {
        str(step) for step in Pack.instances(kernel, facts, strict=True)
    }
    assert Pack.instances(*known(ROWS), strict=True) == ()


def test_text() -> None:
    for text in ("b i", "b i transposed", "b i fill j", "b i transposed pad 2 fill j", "b i fill j blocks k computed"):
        assert str(Pack.parse(tuple(text.split()))) == f"pack {text}"
    for words in (("b",), ("b", "i", "j")):
        with pytest.raises(ValueError, match="ARRAY LOOP"):
            Pack.parse(words)


OWN = (
    FRAME
    + """    for i in m .. m + 3:
        for k in 0 .. 2:
            for j in 0 .. 4:
                a[i, j] = a[i, j] + a[k, j] * b[i, k]
"""
)


def test_a_part_of_an_array_that_the_loop_writes_elsewhere(tmp_path: Path) -> None:
    """Rows 0 and 1 are copied where the rows that are written are others for sure."""
    kernel, facts = known(OWN.replace("m .. m + 3", "2 .. n"))
    step, x = Pack("a", "i"), np.zeros(1, np.int64)
    assert step.illegal(kernel, facts, strict=True) is None
    text = print_kernel(step.apply(kernel))
    assert "a[i, j] = a[i, j] + a.p[k, j] * b[i, k]" in text
    for some in ("m .. m + 3", "1 .. n", "0 .. n"):
        rejection = step.illegal(*known(OWN.replace("m .. m + 3", some)), strict=True)
        assert rejection is not None and "writes elements of 'a' that may be among those it reads" in rejection.reason
    random = np.random.default_rng(3)
    calls = [(random.random((7, 6)), np.asfortranarray(random.random((7, 6))), x, n, 0) for n in (0, 2, 5)]
    check_same(OWN.replace("m .. m + 3", "2 .. n"), "pack a i", calls, tmp_path)
    rejection = Stage("a", "i", 2).illegal(kernel, facts, strict=True)  # other threads may be ahead
    assert rejection is not None and "writes to 'a'" in rejection.reason
