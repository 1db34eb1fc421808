from __future__ import annotations

import pytest

from loopwright.ir.text import print_kernel
from loopwright.ir.walk import loops
from loopwright.steps.tile import Tile
from steps.kernels import MATMUL, ROWS, known
from steps.pictures import check_picture
from steps.same import check_same
from steps.test_reorder import TRIANGLE, WAVE
from steps.test_skew import SWEEPS


def test_the_picture() -> None:
    check_picture(Tile)


@pytest.mark.parametrize(
    ("text", "sizes", "word"),
    [
        (WAVE, (("i", 4), ("j", 4)), "touch the same elements of 'a'"),
        (TRIANGLE.replace("0 .. i", "i .. n step 2"), (("i", 4), ("j", 4)), "its step is not 1"),
        (TRIANGLE.replace("0 .. i:", "0 .. i vector:"), (("i", 4), ("j", 4)), "marked to run vector"),
        (TRIANGLE.replace("a[i, j] = 1.0", "return"), (("i", 4), ("j", 4)), "holds a return"),
        (SWEEPS, (("t", 8), ("i", 32)), "touch the same elements of 'a'"),
        (MATMUL, (("k", 4), ("j", 4)), "no perfect nest"),
        (ROWS, (("j", 4), ("i", 4)), "the nest is i j"),
    ],
)
def test_refusals_say_why(text: str, sizes: tuple[tuple[str, int], ...], word: str) -> None:
    rejection = Tile(sizes).illegal(*known(text), strict=False)
    assert rejection is not None and word in rejection.reason


def test_sums_in_blocks_keep_their_order() -> None:
    kernel, facts = known(MATMUL)
    assert Tile((("k", 8), ("i", 8), ("j", 8))).illegal(kernel, facts, strict=True) is None


@pytest.mark.parametrize(
    ("outer", "inner", "shown"),
    [
        ("0 .. n", "0 .. i", "for i in max(i.o, j.o + 1) .. min(i.o + 3, n):"),
        ("0 .. n", "i .. n", "for j in max(i, j.o) .. min(j.o + 4, n):"),
        (
            "0 .. n",
            "i * 2 .. i * 2 + m",
            "for i in max((j.o - m + 2) // 2, i.o) .. min(min((j.o + 5) // 2, i.o + 3), n):",
        ),
        ("0 .. n", "0 .. i * 3", "for i in max((j.o + 3) // 3, i.o) .. min(i.o + 3, n):"),
        ("n .. 0 step -1", "i .. 0 step -1", "for j.o in i.o .. 0 step -4:"),
        ("0 .. n", "n .. i step -1", None),
        ("n .. m step -1", "0 .. i", None),
        ("max(0, m - 1) .. min(n, m + 3)", "max(0, i - m) .. min(i + m, n)", None),
        ("0 .. n step 2", "m .. n + 1", "for i in i.o .. min(i.o + 6, n) step 2:"),
    ],
)
def test_tiles_of_any_shape(outer: str, inner: str, shown: str | None) -> None:
    text = TRIANGLE.replace("n: int64", "n: int64, m: int64").replace("0 .. i", inner).replace("0 .. n", outer, 1)
    text = text.replace("a[i, j] = 1.0", "a[i, j] = a[i, j] + 1.0")
    changed = print_kernel(check_same(text, "tile i 3 j 4"))
    assert shown is None or shown in changed


def test_sweeps_over_one_array() -> None:
    tiled = check_same(SWEEPS, "skew t i 1; tile t 2 i.s 4", extra=(5,))
    assert set(loops(tiled)) == {"t.o", "i.s.o", "t", "i.s"}
    check_same(SWEEPS, "skew t i 2; tile t 8 i.s 32", scalars=(0, 1, 2, 8, 40), extra=(11,))
    check_same(SWEEPS, "skew t i 2; tile t 2 i.s 3; reorder i.s t", extra=(5,))
    check_same(SWEEPS, "skew t i 2; reorder i.s t", extra=(5,))


def test_tiles_in_tiles() -> None:
    text = TRIANGLE.replace("= 1.0", "= a[i, j] + 1.0")
    check_same(text, "tile i 4 j 4; tile i 2 j 2", scalars=(0, 1, 5, 11))
    check_same(text, "tile i 4 j 4; reorder j i", scalars=(0, 1, 5, 11))
    check_same(text, "split i 4; reorder i.o j i", scalars=(0, 1, 5, 11))


def test_a_nest_of_three_with_two_slanted_sides() -> None:
    text = """
kernel waves(n: int64, m: int64, a: float64[2] C):
    for t in 0 .. m:
        for i in 1 .. n:
            for j in 1 .. n:
                a[i, j] = a[i - 1, j] + a[i, j - 1] + a[i + 1, j] + a[i, j + 1]
"""
    check_same(text, "skew t i 1; skew t j 1; tile t 2 i.s 3 j.s 2", scalars=(0, 1, 2, 4), extra=(3,))


def test_what_the_user_promised_of_iterations_holds_where_the_loops_around_are_the_same() -> None:
    text = TRIANGLE.replace("0 .. i:", "0 .. i asserted:").replace("0 .. n:", "0 .. n asserted:")
    asserted = {name: loop.asserted for name, loop in loops(check_same(text, "tile i 3 j 4")).items()}  # type: ignore[union-attr]
    assert asserted == {"i.o": True, "j.o": False, "i": True, "j": True}


def test_instances() -> None:
    assert Tile.instances(*known(WAVE), strict=True) == ()
    assert Tile((("i", 16), ("j", 16))) in Tile.instances(*known(ROWS), strict=True)


def test_text() -> None:
    assert str(Tile((("i", 32), ("j", 8)))) == "tile i 32 j 8"
    assert Tile.parse(("i", "32", "j", "8")) == Tile((("i", 32), ("j", 8)))
    for words in (("i",), ("i", "4", "j"), ("i", "0")):
        with pytest.raises(ValueError, match="SIZE"):
            Tile.parse(words)
