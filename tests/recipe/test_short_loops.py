"""Short loops with branches are written out where the loop around them can then fill lanes, and nowhere else."""

from __future__ import annotations

import pytest

from loopwright.recipe.short_loops import in_full
from recipe.planning import check_same, planned, reasons, steps

HEAD = """kernel k(a: float64[2] C, o: float64[2] C, z: int64[1] C):
    var s: float64
    for i in 1 .. size(a, 0) - 1:
        for j in 1 .. size(a, 1) - 1:
            s = a[i, j]
"""
INNER = "            for p in -1 .. 2:\n                for q in -1 .. 2:\n                    "
END = "            o[i, j] = s\n"
SHAPES = {"a": "nm", "o": "nm", "z": "m"}

TAKEN = {
    "data decide": INNER + "if a[i + p, j + q] > s:\n                        s = a[i + p, j + q]\n",
    "the loops decide": INNER + "if p != 0 or q != 0:\n                        s = s + a[i + p, j + q]\n",
    "one loop": "            for p in -1 .. 2:\n                if a[i + p, j] > s:\n                    s = s + 1.0\n",
}
WINDOW = INNER.replace("-1 .. 2", "-1 .. {0}") + "s = s + a[i + p, j + q]\n"
LEFT = {
    "no branch": INNER + "s = s + a[i + p, j + q]\n",
    "columns": INNER + "if a[j + q, i + p] > s:\n                        s = a[j + q, i + p]\n",
    "places that data tell": INNER + "if a[i + p, z[j]] > s:\n                        s = a[i + p, z[j]]\n",
    "a long loop": "            for p in 0 .. 40:\n                if a[i, j] > s:\n                    s = s + 1.0\n",
    "a loop of any length": INNER.replace("-1 .. 2", "0 .. size(z, 0)")
    + "if z[q] > 3:\n                        s = 2.0\n",
    "an order": INNER + "if a[i + p, j + q] > o[i, j - 1]:\n                        s = 2.0\n",
}


@pytest.mark.parametrize("name", TAKEN)
def test_branches_are_decided_or_in_lanes(name: str) -> None:
    partial = planned(in_full, HEAD + TAKEN[name] + END)
    assert steps(partial) == ("unroll p" if name == "one loop" else "unroll q; unroll p")
    assert set(reasons(partial)) == {"'j' can then fill vector lanes, branches and all"}
    check_same(partial.written, partial.kernel, SHAPES)


@pytest.mark.parametrize(("end", "wanted"), [(4, "unroll q; unroll p"), (2, ""), (8, "")])
def test_windows_that_the_c_compiler_would_not_write_out(end: int, wanted: str) -> None:
    """5 x 5, but neither 3 x 3, which it does, nor 9 x 9, of which there would be too much."""
    head = HEAD.replace("size(a, 0) - 1", "size(a, 0) - 8").replace("size(a, 1) - 1", "size(a, 1) - 8")
    partial = planned(in_full, head + WINDOW.format(end) + END)
    assert steps(partial) == wanted
    if wanted:
        check_same(partial.written, partial.kernel, SHAPES)


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left_as_they_are(name: str) -> None:
    assert steps(planned(in_full, HEAD + LEFT[name] + END)) == ""
