"""Which loop neighbouring threads go along."""

from __future__ import annotations

import pytest

from loopwright.ir.nodes import For
from loopwright.ir.walk import loops
from loopwright.recipe.coalescing import along_x
from loopwright.recipe.partial_schedule import PartialSchedule
from steps.kernels import known


def chosen(text: str) -> str:
    kernel, facts = known(text)
    partial = PartialSchedule(kernel, facts, False, kernel)
    found = [loop for loop in loops(kernel).values() if isinstance(loop, For)]
    free = [loop for loop in found if facts.loops[loop.name].verdict == "parallel"]
    return along_x(partial, free[-1], free).name


@pytest.mark.parametrize(
    ("store", "wanted"),
    [
        ("b[i, j] = a[i, j]", "j"),
        ("b[j, i] = a[i, j]", "i"),  # a store is worth more than a load
        ("b[i, j] = a[j, i] + c[j, i] + d[j, i]", "i"),
        ("b[i, j] = c[0, j] + a[i, 0]", "j"),
        ("b[i, j] = c[0, j] * c[0, j] * c[0, j] * c[0, j] + a[j, 0]", "j"),  # what is loaded once is there
        ("b[j, i] = 0.0", "i"),
    ],
)
def test_most_neighbours(store: str, wanted: str) -> None:
    arrays = ", ".join(f"{name}: float64[2] C" for name in "abcd")
    text = f"""
kernel k({arrays}, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            {store}
"""
    assert chosen(text) == wanted


def test_what_is_done_again_and_again_counts_more_than_one_store() -> None:
    """Rows of `a` are read in a loop of each thread: neighbours along `j` read neighbouring elements, those along `i`
    would store neighbouring ones, once, and read rows of `d` that lie far apart."""
    text = """
kernel k(a: float64[2] C, b: float64[2] C, d: float64[2] C, n: int64, m: int64):
    var s: float64
    for j in 0 .. n:
        for i in 0 .. n:
            s = 0.0
            for k in 0 .. m:
                s = s + a[k, j] * d[i, k]
            b[j, i] = s
"""
    assert chosen(text) == "j"


def test_a_lane_begins_where_it_is() -> None:
    """`i` begins at the lane `l`: along lanes the rows of `a` lie far apart, along `j` side by side."""
    text = """
kernel k(a: float64[2] C, b: float64[2] C, n: int64, m: int64):
    var s: float64
    for j in 0 .. n:
        for l in 0 .. 64:
            s = 0.0
            for i in l .. m step 64:
                s = s + a[i, j]
            b[j, l] = s
"""
    assert chosen(text) == "j"


def test_parts_of_complex_numbers_lie_side_by_side() -> None:
    text = """
kernel k(a: float64[3] C tail 2:8, b: float64[3] C tail 2:8, w: float64[1] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            b[i, j, 0] = a[i, j, 0] * w[j]
            b[i, j, 1] = a[i, j, 1] * w[j]
"""
    assert chosen(text) == "j"
