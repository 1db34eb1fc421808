"""Loops over the entries of rows: which they are, and what of an entry can be read ahead of the rest."""

from __future__ import annotations

import pytest

from loopwright.analysis.row_pointers import NotRows, row_nest, stages
from loopwright.ir.nodes import Assign, For, If
from loopwright.ir.text import parse_kernel, print_expr, print_stmt
from loopwright.ir.walk import loops

HEAD = """
kernel rows(n: int64, p: int64[1] C, q: int32[1] C, v: float64[1] C, x: float64[2] C, c: int64[1] C, y: float64[1] C):
    var s: float64
    var t: float64
    var e: int64
    var f: int64
    for i in 1 .. n:
"""


def found(body: str) -> tuple[For, For]:
    kernel = parse_kernel(HEAD + "\n".join(f"        {line}" for line in body.strip().split("\n")) + "\n")
    row, entry = loops(kernel)["i"], loops(kernel)["k"]
    assert isinstance(row, For) and isinstance(entry, For)
    return row, entry


@pytest.mark.parametrize(
    ("first", "bounds", "wanted"),
    [
        ("t = 1.0", "p[i] .. p[i + 1]", ("p[i]", "p[i + 1]")),
        ("t = 1.0", "p[n + i - 1] .. p[i + n]", ("p[n + i - 1]", "p[i + n]")),
        ("t = 1.0", "int64(q[i - 1]) .. int64(q[i])", ("int64(q[i - 1])", "int64(q[i])")),
        ("e = p[i]", "e .. p[i + 1]", ("p[i]", "p[i + 1]")),
        ("e = p[i]\nf = e", "f .. p[i + 1]", ("p[i]", "p[i + 1]")),
    ],
)
def test_where_rows_begin_and_end(first: str, bounds: str, wanted: tuple[str, str]) -> None:
    nest = row_nest(*found(f"{first}\ns = 0.0\nfor k in {bounds}:\n    s = s + x[n, k] * v[c[k]]\ny[i] = s"))
    assert (print_expr(nest.lower), print_expr(nest.upper)) == wanted
    assert print_expr(nest.each) == "size(x, 1)"
    assert [print_stmt(stmt) for stmt in nest.after] == ["y[i] = s"]
    assert print_stmt(nest.before[-1]) == "s = 0.0"


@pytest.mark.parametrize(
    ("first", "bounds"),
    [
        ("t = 1.0", "p[i] .. p[i + 2]"),
        ("t = 1.0", "p[i] .. p[i - 1]"),
        ("t = 1.0", "p[i] .. int64(q[i + 1])"),
        ("t = 1.0", "p[2 * i] .. p[2 * i + 1]"),
        ("t = 1.0", "p[n] .. p[n + 1]"),
        ("t = 1.0", "p[i] .. p[i + 1] + 1"),
        ("t = 1.0", "max(p[i], 0) .. p[i + 1]"),
        ("e = p[i]\ne = e + 1", "e .. p[i + 1]"),
        ("if n > 3:\n    e = p[i]", "e .. p[i + 1]"),
        ("e = p[i]\nf = i + 1", "e .. p[f]"),
    ],
)
def test_rows_that_do_not_meet(first: str, bounds: str) -> None:
    with pytest.raises(NotRows, match="do not begin where those of the row before end"):
        row_nest(*found(f"{first}\ns = 0.0\nfor k in {bounds}:\n    s = s + v[k]\ny[i] = s"))


def staged(body: str) -> tuple[list[list[str]], list[str]]:
    """Scalars and elements by the stage in which they are known, and the rest."""
    lines = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    _, entry = found(f"s = 0.0\nfor k in p[i] .. p[i + 1]:\n{lines}\ny[i] = s")
    made, rest = stages(entry.body, frozenset({"s"}))
    names = [
        [*(print_stmt(one) for one in stage.scalars), *(print_expr(load) for load in stage.loads)] for stage in made
    ]
    assert all(isinstance(stmt, Assign | If) for stmt in rest)
    return names, [print_stmt(stmt) for stmt in rest]


def test_an_index_is_read_before_what_it_leads_to() -> None:
    assert staged("s = s + v[k] * y[c[k]]") == ([["v[k]", "c[k]"], ["y[c[k]]"]], ["s = s + v[k] * y[c[k]]"])
    assert staged("s = s + v[c[c[k]]]") == ([["c[k]"], ["c[c[k]]"], ["v[c[c[k]]]"]], ["s = s + v[c[c[k]]]"])


def test_scalars_that_are_set_once_are_known_with_what_they_are_made_of() -> None:
    assert staged("e = c[k]\nf = e + 1\ns = s + y[f]") == (
        [["c[k]"], ["e = c[k]", "f = e + 1", "y[f]"]],
        ["s = s + y[f]"],
    )
    assert staged("e = k + 1\ns = s + v[e]") == ([["e = k + 1", "v[e]"]], ["s = s + v[e]"])


def test_scalars_that_are_set_again_wait() -> None:
    rest = ["e = c[k]", "e = e + 1", "s = s + y[e] * v[k]"]
    assert staged("\n".join(rest)) == ([["c[k]", "v[k]"]], rest)


def test_what_may_not_be_read_waits() -> None:
    rest = ["s = s + (y[c[k]] if c[k] < n else v[c[k]])"]
    assert staged(rest[0]) == ([["c[k]"]], rest)
    rest = ["if v[k] > 0.0 and y[k] > 0.0:\n    s = s + y[c[k]]"]
    assert staged("if v[k] > 0.0 and y[k] > 0.0:\n    s = s + y[c[k]]") == ([["v[k]"]], rest)


def test_an_element_is_read_once() -> None:
    assert staged("s = s + v[k] * v[k]\ns = s + v[k]")[0] == [["v[k]"]]


def test_elements_that_may_change_are_left_and_what_rests_on_them() -> None:
    _, entry = found("s = 0.0\nfor k in p[i] .. p[i + 1]:\n    s = s + v[k] * y[c[k]]\ny[i] = s")
    read = [[load.array for load in stage.loads] for stage in stages(entry.body, frozenset({"s"}))[0]]
    left = [[load.array for load in stage.loads] for stage in stages(entry.body, frozenset({"s"}), frozenset({"c"}))[0]]
    assert (sorted(read[0]), read[1:]) == (["c", "v"], [["y"]])
    assert left == [["v"]]
