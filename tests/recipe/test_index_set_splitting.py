from __future__ import annotations

import pytest

from loopwright.recipe.index_set_splitting import apart_at_points
from recipe.planning import JACOBI, PATHS, PATHS_SHAPES, Sizes, check_same, planned, reasons, steps
from steps.kernels import COUNT, MATMUL, PREFIX, ROWS, WHILE

SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (2, 3, 1), (7, 5, 3))
LINE = """
kernel line(p: float64[1] C):
    for k in 0 .. size(p, 0):
        for j in 0 .. size(p, 0):
            p[j] = p[j] + p[k]
"""

CHAIN = LINE.replace("p[j] = p[j] + p[k]", "p[k] = p[k] * 0.5 + p[j]")


def nest(*statements: str, around: str = "", upper: str = "size(p, 0)") -> str:
    """A point k, loops i and j inside, and statements in j on two matrices."""
    lines = ["kernel k(p: float64[2] C, q: float64[2] C):", *([f"    for {around} in 0 .. 3:"] if around else [])]
    for depth, loop in enumerate((f"k in 1 .. {upper}", "i in 1 .. size(p, 0)", "j in 1 .. size(p, 1)"), start=1):
        lines.append("    " * (depth + bool(around)) + f"for {loop}:")
    return "\n".join([*lines, *("    " * (4 + bool(around)) + line for line in statements)]) + "\n"


MEETS = "p[i, j] = p[i, j - 1] + p[k, j]"
NEST_SHAPES = {"p": "nm", "q": "nm"}


def because(loop: str, point: str) -> str:
    return f"'{loop}' has dependences only at {point}: before and after it iterations are independent"


@pytest.mark.parametrize(
    ("text", "shapes", "expected", "why", "free"),
    [
        (LINE, {"p": "n"}, "cut j k; cut j.1 k+1", [because("j", "k")], {"j", "j.1.1"}),
        (PATHS, PATHS_SHAPES, "cut j k; cut j.1 k+1; cut i k; cut i.1 k+1", [because("j", "k"), because("i", "k")],
         {"i", "i.1.1", "j", "j.1.1"}),
        (nest(MEETS), NEST_SHAPES, "cut i k; cut i.1 k+1", [because("i", "k")], {"i", "i.1.1"}),
        (nest(MEETS.replace("k,", "k + 1,"), upper="size(p, 0) - 1"), NEST_SHAPES, "cut i k+1; cut i.1 k+2",
         [because("i", "k+1")], {"i", "i.1.1"}),
        (nest(MEETS.replace("k,", "k - 1,")), NEST_SHAPES, "cut i k-1; cut i.1 k", [because("i", "k-1")],
         {"i", "i.1.1"}),
        (nest(MEETS + " + q[i, j] + q[k - 1, j]"), NEST_SHAPES, "cut i k; cut i.1 k+1", [because("i", "k")],
         {"i", "i.1.1"}),
    ],
    ids=["line", "paths", "nest", "above", "below", "read-only"],
)  # fmt: skip
def test_loops_are_cut_at_the_point(
    text: str, shapes: dict[str, str], expected: str, why: list[str], free: set[str]
) -> None:
    partial = planned(apart_at_points, text)
    assert (steps(partial), reasons(partial)) == (expected, why)
    assert free <= {name for name, fact in partial.present_facts().loops.items() if fact.verdict == "parallel"}
    check_same(partial.written, partial.kernel, shapes, SIZES)


def test_a_loop_around_two_nests_is_cut_once() -> None:
    second = MEETS.replace("p[", "q[").replace("j", "j.2")
    text = nest(MEETS) + "            for j.2 in 1 .. size(p, 1):\n                " + second + "\n"
    partial = planned(apart_at_points, text)
    assert (steps(partial), reasons(partial)) == ("cut i k; cut i.1 k+1", [because("i", "k")])
    check_same(partial.written, partial.kernel, NEST_SHAPES, SIZES)


NOT_TAKEN = {
    "one loop": PREFIX,
    "no loop with bounds": WHILE,
    "places from data": COUNT,
    "needs no order": ROWS,
    "needs no order inside": MATMUL,
    "needs no order outside": LINE.replace("1] C", "2] C").replace("p[k]", "p[k, k]").replace("p[j]", "p[k, j]"),
    "no point": JACOBI,
    "a neighbour is no point": nest("p[i, j] = p[i - 1, j] + p[i, j - 1]"),
    "the array is only read": nest("p[i, j] = p[i, j - 1] + p[i - 1, j] + q[i, j] + q[k, j]"),
    "the loop ends before the point": CHAIN.replace("j in 0 .. size(p, 0)", "j in 0 .. k"),
    "the loop begins behind the point": CHAIN.replace("j in 0 ..", "j in k + 1 .."),
    "two points": nest("p[i, j] = p[i, j - 1] + p[k, j] + p[k - 1, j]"),
    "the point is no place of one iteration": nest("p[i, j] = p[i, j - 1] + p[2 * k, j]"),
    # The point, one iteration, needs no order in any case: that alone is no gain.
    "nothing becomes free": nest("p[i, j] = p[i - 1, j] + p[i, j - 1] + p[k, j]"),
    "four loops": nest(
        "p[i, j] = min(p[i, j], p[i, k] + p[k, j])", "q[i, j] = min(q[i, j], p[i, k] + p[k, j])"
    )
    + "    for k.2 in 0 .. size(q, 0):\n        for i.2 in 0 .. size(q, 0):\n            for j.2 in 0 .. size(q, 0):\n"
    + "                q[i.2, j.2] = min(q[i.2, j.2], q[i.2, k.2] + q[k.2, j.2])\n",
}  # fmt: skip


@pytest.mark.parametrize("text", NOT_TAKEN.values(), ids=NOT_TAKEN.keys())
def test_no_cuts(text: str) -> None:
    assert steps(planned(apart_at_points, text)) == ""


def test_all_cuts_are_taken_back_where_one_is_not_legal() -> None:
    text = PATHS.replace("i in 0 .. size(p, 0)", "i in 0 .. size(p, 0) step 2")
    assert steps(planned(apart_at_points, text)) == ""
