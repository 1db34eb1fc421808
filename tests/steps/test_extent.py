"""How far loops run, as their bounds tell: constants, minima and maxima, remainders, and what never surely runs."""

from __future__ import annotations

from textwrap import indent

import pytest

from loopwright.ir.linear import apart, parted, plus
from loopwright.ir.nodes import Const, Dim, Expr, For, Kernel, Var
from loopwright.ir.printing import print_expr
from loopwright.ir.queries import names_assigned, names_read
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops, statements
from loopwright.steps.extent import (
    around,
    ends_needed,
    ends_of,
    extent_of,
    loops_around,
    marked,
    most_trips_within,
    never_above,
    never_below,
    residue,
    sizes_read,
    starts_of,
    stretch_of,
    surely_runs,
    trip_of,
    used_outside,
)

HEAD = "kernel k(n: int64, m: int64, q: int64, a: int64[1] C, b: int64[1] C):"
N, M = Var("n", INT64), Var("m", INT64)


def kernel_of(body: str) -> Kernel:
    return parse_kernel(f"{HEAD}\n{indent(body, '  ')}\n")


def loop_of(bounds: str) -> For:
    [loop] = kernel_of(f"for i in {bounds}:\n pass").body
    assert isinstance(loop, For)
    return loop


def expr_of(text: str) -> Expr:
    return loop_of(f"0 .. {text}").upper


def inner(body: str) -> tuple[For, dict[str, For]]:
    """The loop j, and the loops around it."""
    kernel = kernel_of(body)
    loop = loops(kernel)["j"]
    assert isinstance(loop, For)
    return loop, loops_around(kernel, loop)


@pytest.mark.parametrize(
    ("text", "base", "constant"),
    [
        ("7", None, 7),
        ("n", "n", 0),
        ("n + 3", "n", 3),
        ("n - 3 + 5", "n", 2),
        ("n + m - 1", "n + m", -1),
        ("3 - n", "3 - n", 0),
        ("1 + 2 - 4", None, -1),
    ],
)
def test_an_expression_without_its_constant(text: str, base: str | None, constant: int) -> None:
    found, rest = parted(expr_of(text))
    assert (None if found is None else print_expr(found), rest) == (base, constant)


@pytest.mark.parametrize(
    ("left", "right", "distance"), [("n + 3", "n - 1", 4), ("7", "3", 4), ("n", "m", None), ("n", "3", None)]
)
def test_a_constant_distance(left: str, right: str, distance: int | None) -> None:
    assert apart(expr_of(left), expr_of(right)) == distance


@pytest.mark.parametrize(
    ("bounds", "starts", "ends", "stretch", "extent", "trip"),
    [
        ("0 .. 10", ["0"], ["10"], None, 10, 10),
        ("3 .. 3", ["3"], ["3"], None, 0, 0),
        ("5 .. 3", ["5"], ["3"], None, 0, 0),
        ("0 .. 10 step 3", ["0"], ["10"], None, 10, 4),
        ("10 .. 0 step -3", ["10"], ["0"], None, 0, 4),
        ("0 .. n", ["0"], ["n"], None, None, None),
        ("n .. n + 8", ["n"], ["n + 8"], None, 8, 8),
        ("n .. min(n + 8, m)", ["n"], ["n + 8", "m"], ("n", "n + 8"), 8, None),
        ("n .. min(min(m, n + 8), n + 6)", ["n"], ["m", "n + 8", "n + 6"], ("n", "n + 8"), 6, None),
        ("max(n, 1) .. n + 8", ["n", "1"], ["n + 8"], ("n", "n + 8"), 8, None),
        ("n .. max(n - 8, m) step -1", ["n"], ["n - 8", "m"], ("n", "n - 8"), 0, None),
        ("min(n, 9) .. n - 8 step -1", ["n", "9"], ["n - 8"], ("n", "n - 8"), 0, None),
        ("9 .. 12 step -1", ["9"], ["12"], None, 0, 0),
        ("min(n, 1) .. n + 8", ["min(n, 1)"], ["n + 8"], None, None, None),
    ],
)
def test_what_bounds_tell(
    bounds: str,
    starts: list[str],
    ends: list[str],
    stretch: tuple[str, str] | None,
    extent: int | None,
    trip: int | None,
) -> None:
    loop = loop_of(bounds)
    assert [print_expr(one) for one in starts_of(loop)] == starts
    assert [print_expr(one) for one in ends_of(loop)] == ends
    whole = stretch_of(loop)
    assert (None if whole is None else (print_expr(whole[0]), print_expr(whole[1]))) == stretch
    assert (extent_of(loop), trip_of(loop)) == (extent, trip)


@pytest.mark.parametrize(
    ("around", "bounds", "most"),
    [
        ("0 .. 3", "p .. 3", 3),
        ("1 .. 3", "p .. 3", 2),
        ("2 .. 8", "0 .. p", 7),
        ("8 .. 2 step -2", "0 .. p", 8),
        ("0 .. 4", "p .. 2 * p + 1", 4),
        ("0 .. 4", "3 - p .. 5 step 2", 3),
        ("0 .. 4", "p .. 0 - 1 step -1", 4),
        ("3 .. 3", "0 .. p", 0),
        ("0 .. n", "p .. 3", None),
        ("0 .. 3", "p .. n", None),
        ("0 .. n", "max(0, p - 1) .. min(n, p + 2)", 3),
        ("0 .. n", "max(p, m) .. min(p, m) + 9", 9),
        ("0 .. n", "min(p, m) .. max(p, m)", None),
        ("0 .. n", "p .. p + 7", 7),
    ],
)
def test_how_often_loops_run_at_most_inside_of_others(around: str, bounds: str, most: int | None) -> None:
    [outer] = kernel_of(f"for p in {around}:\n for i in {bounds}:\n  pass").body
    assert isinstance(outer, For)
    [inner] = outer.body
    assert isinstance(inner, For)
    assert most_trips_within(inner, (outer,)) == most


def test_steps_that_are_no_constants_tell_nothing() -> None:
    assert extent_of(loop_of("0 .. 10 step n")) is trip_of(loop_of("0 .. 10 step n")) is None


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("for j in 0 .. 1:\n pass", True),
        ("for j in 1 .. 1:\n pass", False),
        ("for j in 0 .. n:\n pass", False),
        ("for i in 0 .. n step 8:\n for j in i .. min(i + 8, n):\n  pass", True),
        ("for i in 0 .. n step 8:\n for j in i .. n:\n  pass", True),
        ("for i in 0 .. n step 8:\n for j in i .. m:\n  pass", False),
        ("for i in 0 .. n step 8:\n for j in i .. min(i + 8, m):\n  pass", False),
        ("for i in 0 .. n step 8:\n for j in i .. min(i - 1, n):\n  pass", False),
        ("for i in 0 .. n step 8:\n for j in i + 1 .. min(i + 8, n):\n  pass", False),
        ("for i in n .. 0 step -8:\n for j in i .. max(i - 8, 0) step -1:\n  pass", True),
        ("for i in n .. 0 step -8:\n for j in i .. min(i + 8, n):\n  pass", False),
        ("for i in n .. 0 step -8:\n for j in i .. 0:\n  pass", False),
        ("for i in 0 .. n step q:\n for j in i .. min(i + 8, n):\n  pass", False),
    ],
)
def test_which_loops_surely_have_an_iteration(body: str, runs: bool) -> None:
    assert surely_runs(*inner(body)) == runs


# ---- where things stand -------------------------------------------------------------------------------------------

NESTED = "x = 0\nfor i in 0 .. n:\n if n > 3:\n  for j in 0 .. m:\n   a[j] = q\n else:\n  x = i\nb[0] = size(a, 0)"


def test_what_stands_around_a_statement() -> None:
    kernel = kernel_of(NESTED)
    store = next(one for one in statements(kernel.body) if getattr(one, "array", "") == "a")
    assert [type(one).__name__ for one in around(kernel, store)] == ["For", "If", "For"]
    assert list(loops_around(kernel, store)) == ["i", "j"]
    assert around(kernel, kernel.body[0]) == ()
    assert around(kernel, kernel_of("x = 0").body[0]) == ()  # of another kernel


def test_names_and_sizes_in_a_body() -> None:
    body = kernel_of(NESTED).body
    assert names_read(body) == {"n", "m", "i", "j", "q"} and names_assigned(body) == {"x"}
    assert sizes_read(body) == {Dim("a", 0)} and sizes_read(()) == set()


def test_loops_that_are_marked_cannot_be_changed_any_more() -> None:
    assert marked(kernel_of(NESTED).body) is None
    rejection = marked(kernel_of(NESTED.replace("0 .. m", "0 .. m vector")).body)
    assert rejection is not None
    assert rejection.reason == "'j' is marked vector already: such marks come last in a schedule"


def test_arrays_that_others_use() -> None:
    kernel = kernel_of(NESTED)
    loop = kernel.body[1:2]
    assert used_outside(kernel, loop, frozenset("ab")) == "a"  # its size
    assert used_outside(kernel, loop, frozenset("b")) == "b"
    assert used_outside(kernel, kernel.body, frozenset("ab")) is None
    assert used_outside(kernel, loop, frozenset()) is None


# ---- remainders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "modulus", "left"),
    [
        ("n", 8, 3),
        ("m", 8, None),
        ("11", 8, 3),
        ("-1", 8, 7),
        ("n + 6", 8, 1),
        ("2 - n", 8, 7),
        ("n * n", 8, 1),
        ("m * 16", 8, 0),
        ("m * 3", 8, None),
        ("n + m", 8, None),
        ("n + 6", 6, None),  # sums wrap at 2**64
        ("n", 6, 1),  # what is known is known
        ("n // 2", 8, None),
    ],
)
def test_what_a_division_leaves(text: str, modulus: int, left: int | None) -> None:
    assert residue(expr_of(text), modulus, {N: 3 if modulus == 8 else 7}) == left


TILE = "for i in {start} .. n step {step}:\n for j in i .. min(i + 8, n):\n  pass"


@pytest.mark.parametrize(
    ("start", "step", "modulus", "needed"),
    [
        ("0", 8, 8, ["i + 8"]),
        ("0", 8, 16, ["i + 8"]),
        ("0", 8, 4, ["i + 8", "n"]),
        ("0", 8, 0, ["i + 8", "n"]),
        ("1", 8, 8, ["i + 8", "n"]),
        ("m", 8, 8, ["i + 8", "n"]),
        ("0", 16, 16, ["i + 8", "n"]),  # another stretch than the tile's
    ],
)
def test_ends_that_count_where_a_size_is_divisible(start: str, step: int, modulus: int, needed: list[str]) -> None:
    loop, outer = inner(TILE.format(start=start, step=step))
    assert [print_expr(one) for one in ends_needed(loop, outer, N, modulus)] == needed


def test_all_ends_count_of_a_loop_that_is_no_stretch() -> None:
    loop, outer = inner("for i in 0 .. n step 8:\n for j in 0 .. min(8, n):\n  pass")
    assert ends_needed(loop, outer, N, 8) == ends_of(loop)
    assert ends_needed(loop, outer, M, 8) == (Const(8, INT64), N)


@pytest.mark.parametrize(
    ("bounds", "least", "most"),
    [("n .. min(n + 8, m)", 0, 7), ("n .. max(n - 8, m) step -1", -7, 0), ("n .. n - 9 step -3", -8, 0)],
)
def test_between_which_points_a_loop_stays_up_or_down(bounds: str, least: int, most: int) -> None:
    loop = loop_of(bounds)
    known, index = {loop.name: loop}, Var(loop.name, INT64)
    assert never_above(plus(index, 2), plus(N, most + 2), known)
    assert not never_above(plus(index, 3), plus(N, most + 2), known)
    assert never_below(plus(index, 2), plus(N, least + 2), known)
    assert not never_below(plus(index, 1), plus(N, least + 2), known)
    assert not never_above(N, plus(N, 9), known)
