from __future__ import annotations

import pytest

from analysis.mesh_programs import mesh_program
from analysis.small import kernel as small
from loopwright.analysis.index_space import IndexSpace, NoSpace, index_space, neighbours
from loopwright.ir.linear import variable
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops

MESH = """
kernel mesh(x: float64[1] C, z: float64[2] C, y: float64[1] C, p: int32[2] C, q: int64[1] C, b: int64[1] C,
            n: int64, m: int64):
    var s: float64
    var j: int64
    for t in 0 .. m:
        for i in 0 .. n:
            s = 0.0
            for k in 0 .. size(p, 1):
                s = s + x[int64(p[i, k])]
            y[i] = s
        for e in 0 .. n:
            j = q[e]
            z[1, e] = z[0, j] + x[j]
        for c in 0 .. n:
            x[c] = y[c]
"""


def space_of(kernel: Kernel, table: str, in_order: tuple[str, ...] = ()) -> IndexSpace:
    """The space of a table in the loop `t`."""
    ranks = {one.name: one.rank for one in kernel.arrays}
    return index_space((loops(kernel)["t"],), table, ranks, lambda loop: loop.name not in in_order)


def test_what_stands_where_a_number_stands_is_one() -> None:
    found = space_of(parse_kernel(MESH), "p")
    assert found.tables == {"p", "q"}
    assert found.axes == {"x": 0, "y": 0, "z": 1, "p": 0, "q": 0}
    assert found.loops == {"i", "e", "c"}
    assert found.scalars == {"j"}
    assert found.count == variable("n")


def test_it_is_the_same_from_either_table() -> None:
    kernel = parse_kernel(MESH)
    assert space_of(kernel, "q") == space_of(kernel, "p")


def test_loops_in_order_are_none_of_it() -> None:
    found = space_of(parse_kernel(MESH), "p", in_order=("c",))
    assert found.loops == {"i", "e"}
    assert "x" in found.axes


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("x[int64(p[i, k])]", "x[i]", "its elements are no subscripts there"),
        ("x[c] = y[c]", "p[c, 0] = 1i32", "'p' is written there"),
        ("s = s + x[int64(p[i, k])]", "s = s + z[int64(p[i, k]), int64(p[i, k])]", "'z' has two axes that it counts"),
    ],
)
def test_what_has_no_space(old: str, new: str, why: str) -> None:
    with pytest.raises(NoSpace, match=why):
        space_of(parse_kernel(MESH.replace(old, new)), "p")


def test_numbers_that_are_cut_to_fewer_bits_are_others() -> None:
    with pytest.raises(NoSpace, match="no subscripts"):
        space_of(parse_kernel(MESH.replace("x[int64(p[i, k])]", "x[int64(int8(p[i, k]))]")), "p")


def test_who_neighbours_whom() -> None:
    kernel = parse_kernel(MESH)
    found = neighbours((loops(kernel)["t"],), space_of(kernel, "p"))
    assert found is not None
    assert (found.loop.name, [loop.name for loop in found.loops], found.found.array) == ("i", ["k"], "p")


def test_what_changes_while_the_loop_runs_tells_no_neighbours() -> None:
    kernel = parse_kernel(MESH.replace("size(p, 1)", "b[i]").replace("= y[c]", "= y[c]\n            b[c] = 1"))
    found = neighbours((loops(kernel)["t"],), space_of(kernel, "p"))
    assert found is not None and found.found.array == "q"


def test_random_programs_have_spaces_or_none() -> None:
    found = 0
    for seed in range(80):
        kernel = small(mesh_program(seed))
        try:
            space = space_of(kernel, "q")
        except NoSpace:
            continue
        assert space.loops and space.axes and "q" in space.tables
        found += 1
    assert found > 10


def test_numbers_that_each_round_has_of_its_own_tell_no_neighbours() -> None:
    """A table with a row for each iteration of the loop around."""
    text = MESH.replace("x[int64(p[i, k])]", "x[int64(p[t, i])]").replace("x[j]", "x[e]").replace("z[0, j]", "z[0, e]")
    kernel = parse_kernel(text)
    found = space_of(kernel, "p")
    assert found.tables == {"p"} and neighbours((loops(kernel)["t"],), found) is None
