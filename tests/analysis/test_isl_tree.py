"""isl's syntax trees as loops: names of loops, bounds, what the user's variables are worth, and what cannot be said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopwright.analysis import isl
from loopwright.analysis.effort import LOCK
from loopwright.analysis.isl_tree import NotInOurWords, arguments_of, body_of
from loopwright.analysis.order import Scene, scene_of
from loopwright.ir.nodes import Body
from loopwright.ir.printing import print_expr, print_stmt
from loopwright.ir.text import parse_kernel

LINE = """
kernel line(a: float64[1] C, n: int64, m: uint8):
    for i in 0 .. n:
        a[i] = 1.0
"""
PLANE = """
kernel plane(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = a[i, j]
"""
TWO = """
kernel two(a: float64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        a[i] = 1.0
    for k in 0 .. n:
        b[k] = 2.0
"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """isl is asked by one thread at a time."""
    with LOCK:
        yield


def scene(text: str) -> Scene:
    return scene_of(parse_kernel(text), strict=True)


def tree(one: Scene, *rows: str, mark: str = "") -> isl.AstNode:
    """The syntax tree of a schedule: for each statement what isl calls its place, in terms of x0, x1 ..."""
    domain = one.order.domain()
    parts = [f"{leaf.space} -> [{row}]" for leaf, row in zip(one.leaves, rows, strict=True)]
    band = isl.MultiUnionPwAff.from_union_map(isl.UnionMap("{ " + "; ".join(parts) + " }"))
    node = isl.Schedule.from_domain(domain).get_root().child(0).insert_partial_schedule(band)
    if mark:
        node = node.insert_mark(isl.Id(mark))
    return isl.AstBuild.from_context(isl.Set("{ : }")).node_from_schedule(node.get_schedule())


def text(body: Body) -> list[str]:
    return "\n".join(print_stmt(one) for one in body).split("\n")


def loops_of(kernel: str, *rows: str, mark: str = "", taken: frozenset[str] = frozenset()) -> list[str]:
    one = scene(kernel)
    return text(body_of(tree(one, *rows, mark=mark), one, set(taken)))


def test_a_loop_that_is_the_users_keeps_its_name() -> None:
    assert loops_of(LINE, "x0", mark="i") == ["for i in 0 .. n:", "    a[i] = 1.0"]


def test_a_loop_that_is_another_has_a_name_made_of_it() -> None:
    assert loops_of(LINE, "x0 + 3", mark="i") == ["for i.s in 3 .. n + 3:", "    i = i.s - 3", "    a[i] = 1.0"]
    assert loops_of(LINE, "-x0", mark="i")[1] == "    i = -i.s"
    assert loops_of(LINE, "9 - x0", mark="i")[1] == "    i = 9 - i.s"
    assert loops_of(LINE, "x0 + 3", mark="i", taken=frozenset({"i.s", "i.s.1"}))[0] == "for i.s.2 in 3 .. n + 3:"


def test_a_loop_that_nobody_has_marked_has_a_free_name() -> None:
    assert loops_of(LINE, "x0")[0] == "for r in 0 .. n:"
    assert loops_of(LINE, "x0", taken=frozenset("r"))[0] == "for r.1 in 0 .. n:"


def test_tiles_have_their_marks_name() -> None:
    found = loops_of(LINE, "floor(x0/8), x0", mark="i.o")
    assert found[0].startswith("for i.o in 0 .. ") and found[-1].strip() == "a[i] = 1.0"
    assert any(line.strip().startswith("i = ") for line in found)


def test_loops_of_one_iteration_are_none() -> None:
    assert loops_of(LINE, "0, x0", mark="i") == ["for i in 0 .. n:", "    a[i] = 1.0"]


def test_interchanged() -> None:
    found = loops_of(PLANE, "x1, x0")
    assert [line.strip() for line in found if line.strip().startswith("for")] == [
        "for r in 0 .. size(a, 1):", "for r.1 in 0 .. size(a, 0):",
    ]  # fmt: skip
    assert [line.strip() for line in found[2:]] == ["i = r.1", "j = r", "b[i, j] = a[i, j]"]


def test_a_name_is_the_users_for_one_loop_only() -> None:
    """Of two loops under one mark the first one has it."""
    found = loops_of(TWO, "x0", "x0 + 5", mark="i")
    names = [line.split()[1] for line in found if line.strip().startswith("for")]
    assert names and len(set(names)) == len(names)


def test_conditions_and_bounds_of_several() -> None:
    one = scene(TWO)
    found = text(body_of(tree(one, "x0", "x0 + 5"), one, set()))
    assert any("a[i] = 1.0" in line for line in found) and any("b[k] = 2.0" in line for line in found)
    assert any("min(" in line or "if " in line for line in found)


def test_sizes_and_scalars_are_what_they_are_in_the_kernel() -> None:
    found = arguments_of(scene(LINE))
    assert {print_expr(value) for value in found.values()} >= {"size(a, 0)", "n"}
    narrow = LINE.replace("0 .. n", "0 .. int64(m)")
    assert "int64(m)" in {print_expr(value) for value in arguments_of(scene(narrow)).values()}


def test_what_our_loops_cannot_say() -> None:
    """A parameter that is neither a size nor a scalar."""
    one = scene(LINE)
    strange = isl.AstBuild.from_context(isl.Set("[zz] -> { : zz > 0 }"))
    band = isl.MultiUnionPwAff.from_union_map(isl.UnionMap(f"[zz] -> {{ {one.leaves[0].space} -> [x0 + zz] }}"))
    node = isl.Schedule.from_domain(one.order.domain()).get_root().child(0).insert_partial_schedule(band)
    with pytest.raises(NotInOurWords):
        body_of(strange.node_from_schedule(node.get_schedule()), one, set())
