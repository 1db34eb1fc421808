"""What certainly has a value where it is read, along every path, and which kernels come to their end."""

from __future__ import annotations

from dataclasses import replace
from textwrap import indent

import pytest

from loopwright.ir.assigned import Unassigned, falls_through
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_stmt
from loopwright.ir.verify import verify

HEAD = "kernel k(n: int64, f: bool, a: float64[1] C)"
LOCALS = "  var x: int64\n  var s: bool\n"
CERTAIN = [
    "x = 1\nx = x + 1",
    "if f:\n x = 1\nelse:\n x = 2\nx = x",
    "if f:\n return\nelse:\n x = 2\nx = x",
    "for i in 0 .. 3:\n x = i\nx = x",
    "for i in 3 .. 0 step -1:\n x = i\n if f:\n  break i\nx = x",
    "while True named w:\n x = 1\n if f:\n  break w\nx = x",
    "while True named w:\n if f:\n  continue w\nx = x",
    "block b:\n if f:\n  x = 1\n  leave b\n x = 2\nx = x",
    "return\nx = x",
    "for i in 0 .. n:\n if f:\n  break i\n  x = x\n x = 1\n x = x",
    "allocate t: int64[n] = 0\nt[0] = t[0] + size(t, 0)",
    "s = False\nfor i in 0 .. n:\n x = 1\n s = True\nn2 = checked(x, s, unassigned)",
    "n2 = checked(x, False, unassigned)",
]
UNCERTAIN = [
    ("x = x", "x"),
    ("if f:\n x = 1\nx = x", "x"),
    ("for i in 0 .. n:\n x = 1\nx = x", "x"),
    ("for i in 3 .. 3:\n x = 1\nx = x", "x"),
    ("for i in 0 .. 3:\n if f:\n  continue i\n x = 1\nx = x", "x"),
    ("for i in 0 .. 3:\n if f:\n  break i\n x = 1\nx = x", "x"),
    ("for i in 0 .. n:\n x = x\n x = 1", "x"),
    ("while f named w:\n x = 1\nx = x", "x"),
    ("while True named w:\n if f:\n  break w\n x = 1\nx = x", "x"),
    ("block b:\n if f:\n  leave b\n x = 2\nx = x", "x"),
    ("for i in 0 .. n:\n pass\nx = i", "i"),
    ("for i in 0 .. 3:\n pass\nx = i", "i"),
    ("block b:\n for i in 0 .. 3:\n  leave b\n return\nx = i", "i"),
    ("for i in 0 .. n:\n x = j\n for j in 0 .. n:\n  pass", "j"),
    ("if f:\n allocate t: int64[n]\nx = t[0]", "t"),
    ("if f:\n allocate t: int64[n]\nt[0] = 1", "t"),
    ("if f:\n allocate t: int64[n]\nx = size(t, 0)", "t"),
    ("if f:\n s = False\nn2 = checked(x, s, unassigned)", "s"),
    ("s = False\nn2 = checked(x, s, unassigned)\nif f:\n x = 1\ns = True", "x"),
    ("s = False\nn2 = checked(x, s, unassigned)\ns = f", "x"),
    ("if f:\n x = 1\ns = True\nn2 = checked(x, s, overflow)", "x"),
    ("n2 = checked(x, True, unassigned)", "x"),
    ("s = False\nn2 = checked(x, s, overflow)", "x"),
]


def with_locals(body: str) -> Kernel:
    """A body over locals that have no value yet; the loop's `j` and the array `t` are locals of it as well."""
    kernel = parse_kernel(f"{HEAD}:\n  var j: int64\n{LOCALS}  allocate t: int64[1]\n{indent(body, '  ')}\n")
    return replace(kernel, body=kernel.body[1:])


@pytest.mark.parametrize("body", CERTAIN)
def test_what_is_certainly_assigned_may_be_read(body: str) -> None:
    falls_through(with_locals(body))
    verify(with_locals(body))


@pytest.mark.parametrize(("body", "name"), UNCERTAIN)
def test_what_may_be_unassigned_may_not_be_read(body: str, name: str) -> None:
    with pytest.raises(Unassigned) as found:
        falls_through(with_locals(body))
    assert found.value.name == name


def test_the_statement_that_reads_is_named() -> None:
    with pytest.raises(Unassigned) as found:
        falls_through(with_locals("x = 1\nif f:\n for i in 0 .. n:\n  a[0] = float64(j)"))
    assert (found.value.name, print_stmt(found.value.stmt)) == ("j", "a[0] = float64(j)")


def test_parameters_and_results_have_a_value_from_the_start() -> None:
    text = "kernel k(n: int64) -> array r:\n  result r: int64[n] = 0\n  r[0] = size(r, 0) + r[n - 1] + n\n"
    assert falls_through(parse_kernel(text))


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("pass", True),
        ("return", False),
        ("if f:\n return", True),
        ("if f:\n return\nelse:\n return", False),
        ("for i in 0 .. n:\n return", True),  # which may never begin
        ("for i in 0 .. 3:\n return", False),
        ("for i in 3 .. 3:\n return", True),
        ("for i in 0 .. 3 step -1:\n return", True),
        ("for i in 0 .. 3:\n if f:\n  break i\n return", True),
        ("while f named w:\n return", True),
        ("while True named w:\n pass", False),
        ("while True named w:\n return", False),
        ("while True named w:\n if f:\n  break w", True),
        ("block b:\n leave b\nx = 1", True),
        ("block b:\n return", False),
        ("block b:\n if f:\n  leave b\n return", True),
    ],
)
def test_whether_the_end_can_be_reached(body: str, ends: bool) -> None:
    assert falls_through(with_locals(body)) == ends
