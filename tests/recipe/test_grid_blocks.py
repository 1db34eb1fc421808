"""Blocks of plain nests: which steps cut loops for which numbers, what is bound, and that it computes the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loopwright.recipe.grid_blocks import COLUMNS, LINE, LINE_EACH, ROWS, TOGETHER, in_blocks, in_boxes, inner_loops
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.tunable import Choices, UnfitError
from loopwright.steps.schedule import print_schedule
from recipe.planning import COLUMN_SHAPES, check_same, plan_of, planned, reasons, steps

LINE_TEXT = "kernel line(a: float64[1] C, b: float64[1] C):\n  for i in 0 .. size(a, 0):\n    b[i] = 2.0 * a[i]\n"
LINE_SHAPES = {"a": "n", "b": "n"}
PLANE = """
kernel plane(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = 2.0 * a[i, j]
"""
SUMS = """
kernel sums(a: float64[2] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        for k in 0 .. size(a, 1):
            b[i] = b[i] + a[i, k]
"""
POINTS = """
kernel points(p: float64[1] C, b: float64[2] C):
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            for k in 0 .. size(p, 0):
                b[i, j] = b[i, j] + p[k]
"""
CUBE = """
kernel cube(a: float64[4] C, b: float64[4] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            for k in 0 .. size(a, 2):
                for m in 0 .. size(a, 3):
                    b[i, j, k, m] = 2.0 * a[i, j, k, m]
"""


def cut(
    text: str,
    names: list[str],
    make: Callable[[PartialSchedule, list[str], str], list[Bound]] = in_blocks,
    **wanted: int,
) -> tuple[PartialSchedule, str]:
    """The plan, and what is to be bound, as text. wanted: values of tunables, with _ for blanks."""
    bound: list[Bound] = []
    numbers = {name.replace("_", " "): value for name, value in wanted.items()}

    def decide(partial: PartialSchedule) -> None:
        bound.extend(make(partial, names, "why"))

    partial = planned(decide, text, choices=Choices(numbers) if wanted else None)
    assert all(why.startswith("why") for _, why in bound)
    return partial, print_schedule(tuple(step for step, _ in bound))


# ---- one loop -----------------------------------------------------------------------------------------------------


def test_a_line_by_default() -> None:
    partial, bound = cut(LINE_TEXT, ["i"])
    assert steps(partial) == f"split i {LINE.default * LINE_EACH.default}"
    assert bound == f"bind i.o block.x; bind i thread.x {LINE.default}"
    assert reasons(partial) == ["why"]


def test_iterations_that_hold_loops_have_small_blocks_and_one_element_each() -> None:
    partial, bound = cut(SUMS, ["i"])
    assert (steps(partial), bound) == ("split i 32", "bind i.o block.x; bind i thread.x 32")


def test_numbers_that_are_wanted() -> None:
    partial, bound = cut(LINE_TEXT, ["i"], threads_of_a_block=64, elements_of_a_thread=4)
    assert (steps(partial), bound) == ("split i 256", "bind i.o block.x; bind i thread.x 64")


def test_elements_side_by_side_leave_edges_a_loop_of_their_own() -> None:
    wanted = {"threads_of_a_block": 32, "elements_of_a_thread": 2, "elements_of_a_thread_side_by_side": 1}
    partial, bound = cut(LINE_TEXT, ["i"], **wanted)
    text = steps(partial)
    assert text.startswith("split i 64; specialize i") and "unroll" in text
    assert bound.count("thread.x") == 2 and bound.count("block.x") == 1
    sizes = ((0, 0, 0), (1, 0, 0), (63, 0, 0), (64, 0, 0), (130, 0, 0))
    check_same(partial.written, partial.kernel, LINE_SHAPES, sizes)


@pytest.mark.parametrize(
    ("each", "together", "fits"), [(1, 0, True), (1, 1, False), (2, 1, True), (8, 1, True), (8, 0, True)]
)
def test_elements_side_by_side_are_several(each: int, together: int, fits: bool) -> None:
    wanted = {LINE_EACH.name: each, TOGETHER.name: together}
    partial = plan_of(LINE_TEXT, choices=Choices(wanted))
    if fits:
        in_blocks(partial, ["i"], "why")
        return
    with pytest.raises(UnfitError, match="'elements of a thread' is at most 8, and more than 1 where"):
        in_blocks(partial, ["i"], "why")


# ---- planes -------------------------------------------------------------------------------------------------------


def test_a_plane_by_default() -> None:
    partial, bound = cut(PLANE, ["i", "j"])
    assert steps(partial) == f"tile i {ROWS.default} j {COLUMNS.default}"
    assert bound == "bind i.o block.y; bind j.o block.x; bind i thread.y; bind j thread.x"
    check_same(partial.written, partial.kernel, COLUMN_SHAPES)


def test_several_rows_and_columns_of_a_thread() -> None:
    partial, bound = cut(PLANE, ["i", "j"], rows_of_a_thread=2, columns_of_a_thread=4)
    assert steps(partial) == "tile i 16 j 128"
    assert bound.endswith("bind i thread.y 8; bind j thread.x 32")


def test_rows_of_one_thread_are_a_line() -> None:
    partial, bound = cut(PLANE, ["i", "j"], rows_of_threads=1)
    assert (steps(partial), bound) == ("split j 32", "bind i block.y; bind j.o block.x; bind j thread.x 32")


@pytest.mark.parametrize(("rows", "columns"), [(16, 128), (8, 256)])
def test_a_block_has_a_thousand_threads_at_most(rows: int, columns: int) -> None:
    with pytest.raises(UnfitError, match="1024"):
        cut(PLANE, ["i", "j"], rows_of_threads=rows, columns_of_threads=columns)


def test_a_thread_has_eight_elements_at_most() -> None:
    with pytest.raises(UnfitError, match=r"'rows of a thread' x 'columns of a thread' is at most 8"):
        cut(PLANE, ["i", "j"], rows_of_a_thread=4, columns_of_a_thread=4)


def test_points_that_look_at_the_same_list_share_their_loads() -> None:
    partial, bound = cut(POINTS, ["i", "j"])
    assert "unroll_and_jam" in steps(partial)
    assert any("what is loaded for one element serves those beside it" in why for why in reasons(partial))
    assert bound.count("thread.y") == bound.count("thread.x") == 2
    check_same(partial.written, partial.kernel, {"p": "l", "b": "nm"}, ((0, 0, 0), (3, 5, 2), (17, 70, 3)))


def test_points_whose_loads_differ_do_not() -> None:
    other = POINTS.replace("p: float64[1]", "p: float64[3]").replace("p[k]", "p[i, j, k]").replace("(p, 0)", "(p, 2)")
    partial, _ = cut(other, ["i", "j"])
    assert steps(partial) == "tile i 8 j 32"


# ---- boxes --------------------------------------------------------------------------------------------------------


def test_four_loops() -> None:
    partial, bound = cut(CUBE, ["i", "j", "k", "m"], in_boxes)
    assert steps(partial) == "reorder i j m k; split m 32"
    assert bound == "bind i block.z; bind j block.y; bind m.o block.x; bind m thread.x 32; bind k thread.y 8"
    shapes = {"a": "nmnl", "b": "nmnl"}
    check_same(partial.written, partial.kernel, shapes, ((0, 1, 1), (2, 3, 5), (1, 2, 40)))


@pytest.mark.parametrize(("place", "row"), [(1, "j"), (2, "i")])
def test_which_loop_goes_along_y(place: int, row: str) -> None:
    _, bound = cut(CUBE, ["i", "j", "k", "m"], in_boxes, loop_along_y=place)
    assert bound.endswith(f"bind {row} thread.y 8")


# ---- loops inside -------------------------------------------------------------------------------------------------


def test_loops_inside_a_thread_stay_as_they_are_by_themselves() -> None:
    for choices in (None, Choices(), Choices({"unrolled": 4})):
        partial = plan_of(SUMS, choices=choices)
        inner_loops(partial, "k")  # there is none inside
        if choices is None or not choices.wanted:
            inner_loops(partial, "i")
        assert partial.decisions == []


def test_loops_inside_are_unrolled_where_that_is_asked_for() -> None:
    partial, _ = cut(SUMS, ["i"], unrolled=4)
    assert steps(partial) == "split i 32; unroll k 4"
    few = SUMS.replace("0 .. size(a, 1)", "0 .. 3")
    assert steps(cut(few, ["i"], unrolled=4)[0]) == "split i 512"  # it is short
    assert steps(cut(few, ["i"], short_inner_loops=1)[0]) == "split i 512; unroll k"
