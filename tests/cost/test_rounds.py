"""Parts of a loop whose tiles arrive ahead, counted by hand: before it, in its steady part, and in the rest."""

from __future__ import annotations

from typing import cast

import pytest

from loopwright.analysis.frequency import Frequencies, frequencies
from loopwright.cost.rounds import Parts, parts_of
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

GROUPS = 2
TILES = """
kernel tiles(a: float64[1] C, b: float64[1] C, c: float64[1] C):
    for g in 0 .. size(b, 0) step 4 block.x:
        for k.o in 0 .. size(a, 0) step 8:
            allocate p: float64[8] double
            if {copied}:
                for x in 0 .. 8 thread.x:
                    p[x] = a[k.o + x]
            else:
                for y in 0 .. 8 thread.x:
                    p[y] = a[k.o + y] if k.o + y < size(a, 0) else 0.0
            if k.o + 8 <= size(a, 0):
                for k in k.o .. k.o + 8:
                    c[g] = c[g] + p[k - k.o]
            else:
                for m in k.o .. min(k.o + 8, size(a, 0)):
                    c[g] = c[g] + p[m - k.o]
"""
ALONG = "k.o + 8 <= size(a, 0)"
BOTH = "g + 4 <= size(b, 0) and k.o + 8 <= size(a, 0)"


def parts(length: int, copied: str = ALONG, texts: int = 1, width: int = 4 * GROUPS, text: str = TILES) -> Parts | None:
    kernel = parse_kernel(text.format(copied=copied))
    found = frequencies(kernel, {"s0_0": length, "s1_0": width, "s2_0": 100})
    return parts_of(cast(For, loops(kernel)["k.o"]), found, texts)


def times(part: Frequencies, *names: str, groups: int = GROUPS) -> list[float]:
    """How often each loop is come to, for each block."""
    return [part.entries[name] / groups for name in names]


@pytest.mark.parametrize("tiles", [1, 2, 3, 9])
@pytest.mark.parametrize("texts", [1, 2])
def test_tiles_that_are_all_whole(tiles: int, texts: int) -> None:
    """The steady part stops before the last one: its copies are the first and those that the steady part makes."""
    found = parts(8 * tiles, texts=texts)
    assert found is not None and found.whole == 1
    assert times(found.found["prologue"], "x", "y") == [1, 0]
    assert times(found.found["steady"], "x", "y") == [tiles - 1, 0]
    assert times(found.found["epilogue"], "x", "y") == [0, 0]
    assert [
        part.iterations["k.o"] / GROUPS
        for part in (found.found["prologue"], found.found["steady"], found.found["epilogue"])
    ] == [1, tiles - 1, 1]
    assert times(found.found["steady"], "k", "m") == pytest.approx([tiles - 1, 0])
    # Where there are two texts, the rest has one for any tile.
    assert times(found.found["epilogue"], "k", "m") == pytest.approx([1, 0] if texts == 1 else [0, 1])


def test_a_last_tile_that_is_short() -> None:
    found = parts(8 * 3 + 5)
    assert found is not None
    assert times(found.found["prologue"], "x", "y") == [1, 0]
    assert times(found.found["steady"], "k", "m") == [2, 0]
    assert times(found.found["epilogue"], "x", "y", "k", "m") == pytest.approx([0, 1, 1, 1])
    assert found.found["epilogue"].iterations["m"] / GROUPS == pytest.approx(5)
    assert (
        found.found["steady"].iterations["k.o"] / GROUPS == 2
        and found.found["epilogue"].iterations["k.o"] / GROUPS == 2
    )


def test_no_tile_is_whole() -> None:
    found = parts(5)
    assert found is not None
    assert times(found.found["steady"], "x", "y", "k", "m") == [0, 0, 0, 0]
    assert times(found.found["epilogue"], "k", "m") == [0, 1]


def test_nothing_is_known() -> None:
    assert parts(80, width=0) is None  # it is never come to
    assert parts(80, text=TILES.replace("step 8", "step size(b, 0)")) is None


@pytest.mark.parametrize(("width", "whole"), [(16, 1.0), (15, 0.75), (4, 1.0), (3, 0.0)])
def test_blocks_that_are_whole_across_the_loop(width: int, whole: float) -> None:
    found = parts(80, BOTH, width=width)
    assert found is not None and found.whole == pytest.approx(whole)


def test_with_one_text_blocks_that_are_not_whole_take_the_rest() -> None:
    one, two = parts(80, BOTH, 1, 15), parts(80, BOTH, 2, 15)
    assert one is not None and two is not None
    assert one.found["epilogue"].iterations["k.o"] / 4 == pytest.approx(10 - 9 * 0.75)
    assert two.found["epilogue"].iterations["k.o"] / 4 == pytest.approx(1)
    for part in (one, two):
        assert part.found["prologue"].entries["x"] / 4 == pytest.approx(0.75) and part.found["prologue"].entries[
            "y"
        ] / 4 == pytest.approx(0.25)


def test_copies_without_a_branch_are_made_in_each_round() -> None:
    copies, rest = TILES.index("            if {copied}"), TILES.index("            if k.o + 8")
    always = "            for x in 0 .. 8 thread.x:\n                p[x] = a[k.o + x]\n"
    found = parts(8 * 4, text=TILES[:copies] + always + TILES[rest:])
    assert found is not None and found.whole == 1
    assert times(found.found["prologue"], "x") + times(found.found["steady"], "x") + times(
        found.found["epilogue"], "x"
    ) == [1, 3, 0]


def test_a_loop_that_does_not_ask_whether_a_tile_is_whole() -> None:
    start = TILES.index("            if k.o + 8")
    plain = TILES[:start] + "            for k in 0 .. 8:\n                c[g] = c[g] + p[k]\n"
    found = parts(8 * 4, text=plain)
    assert found is not None
    assert times(found.found["steady"], "k") + times(found.found["epilogue"], "k") == [3, 1]
