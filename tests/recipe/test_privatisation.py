from __future__ import annotations

import pytest

from loopwright.recipe.privatisation import in_copies
from recipe.planning import JACOBI, MATMUL_BY_ELEMENTS, check_same, plan_of, reasons, steps

ROWS = """
kernel rows(n: int64, m: int64, l: int64, a: float64[3] C, c: float64[2] C):
    allocate t: float64[l]
    for r in 0 .. n:
        for q in 0 .. m:
            for p in 0 .. l:
                t[p] = 0.0
                for s in 0 .. l:
                    t[p] = t[p] + a[r, q, s] * c[s, p]
            for p.2 in 0 .. l:
                a[r, q, p.2] = t[p.2]
"""
SHAPES = {"a": "nml", "c": "ll"}
INSIDE = ROWS.replace("    allocate t: float64[l]\n", "")
AS_ARGUMENT = INSIDE.replace("c: float64[2] C", "c: float64[2] C, t: float64[1] C")
ANEW = INSIDE.replace("0 .. l", "0 .. size(c, 0)")
ANEW = ANEW.replace("            for p in", "            allocate t: float64[size(c, 0)]\n            for p in")
BETWEEN = ROWS.replace("        for q in", "        c[0, 0] = 2.0\n        for q in").replace("* c[s, p]", "* 3.0")
SMALL_RESULT = ROWS.replace("for p.2 in 0 .. l", "for p.2 in 0 .. min(3, l)").replace("a[r, q, s] *", "a[r, s, s] *")
CARRIED = ROWS.replace("t[p] = 0.0", "t[p] = t[p] + 1.0")


@pytest.mark.parametrize(
    ("text", "shapes", "schedule"),
    [
        (ROWS, SHAPES, "expand t r q"),
        (AS_ARGUMENT, {**SHAPES, "t": "l"}, "expand t r q"),
        (ANEW, SHAPES, "expand t r q"),
        (BETWEEN, SHAPES, "expand t q"),
    ],
)
def test_rows_get_copies(text: str, shapes: dict[str, str], schedule: str) -> None:
    partial = plan_of(text)
    kernel = partial.kernel
    in_copies(partial)
    assert steps(partial) == schedule and all("fills 't' anew" in why for why in reasons(partial))
    assert partial.written is partial.kernel  # what other parts of the recipe look at next
    check_same(kernel, partial.kernel, shapes, ((0, 0, 0), (1, 1, 1), (0, 3, 2), (2, 5, 3), (3, 2, 4)))


@pytest.mark.parametrize("text", [SMALL_RESULT, CARRIED, JACOBI, MATMUL_BY_ELEMENTS])
def test_what_gains_nothing_or_takes_much_memory_stays(text: str) -> None:
    """Where no array of the call has an element for each element of each copy, the copies could be of any size."""
    partial = plan_of(text)
    in_copies(partial)
    assert partial.decisions == []
