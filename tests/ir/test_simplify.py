"""Whole kernels made simpler: dead branches, loops and jumps, and what must stay."""

from __future__ import annotations

from textwrap import indent

import pytest

from ir.sample_texts import SMOOTH
from loopwright.ir.simplify import simplify
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements

HEAD = "kernel k(x: int64, p: bool, q: bool, a: int64[1] C):"


def simplified(body: str, head: str = HEAD) -> str:
    """The body afterwards, without the declarations of locals."""
    kernel = simplify(parse_kernel(f"{head}\n{indent(body, '  ')}\n"))
    verify(kernel)
    assert simplify(kernel) is kernel
    lines = print_kernel(kernel).split("\n")[1:-1]
    return "\n".join(line[4:].replace("    ", " ") for line in lines if not line.startswith("    var "))


def test_the_same_object_when_nothing_changes() -> None:
    kernel = parse_kernel(SMOOTH)
    assert simplify(kernel) is kernel


def test_what_is_unchanged_stays_the_same_object() -> None:
    kernel = parse_kernel(f"{HEAD}\n  a[0] = x + 0\n  a[1] = a[0]\n")
    simple = simplify(kernel)
    assert simple is not kernel and simple.body[1] is kernel.body[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if 1 < 2:\n a[0] = 1\nelse:\n a[0] = 2", "a[0] = 1"),
        ("if False:\n a[0] = 1", "pass"),
        ("if p:\n pass\nelse:\n a[0] = 1", "if not p:\n a[0] = 1"),
        ("if p:\n pass", "pass"),
        ("if a[0] > 0:\n pass", "if a[0] > 0:\n pass"),  # it may fail
        ("while False named w:\n a[0] = 1", "pass"),
        ("while p named w:\n pass", "while p named w:\n pass"),
        ("for i in 3 .. 3:\n a[i] = 1", "pass"),
        ("for i in 3 .. 0 step -1:\n a[i] = 1", "for i in 3 .. 0 step -1:\n a[i] = 1"),
        ("for i in 0 .. x:\n pass", "pass"),
        ("for i in 0 .. a[0]:\n pass", "for i in 0 .. a[0]:\n pass"),
        ("for i in 0 .. 3 step x:\n pass", "for i in 0 .. 3 step x:\n pass"),  # x may be 0
        ("block b:\n a[0] = 1", "a[0] = 1"),
        ("block b:\n a[0] = 1\n leave b", "a[0] = 1"),
        ("a[0 + 1] = x * 1 + 0", "a[1] = x"),
        ("allocate t: int8[1 + 1]", "allocate t: int8[2]"),
        ("for i in 0 .. x:\n if x > 0 and False:\n  a[i] = 1", "pass"),
    ],
)
def test_dead_statements(before: str, after: str) -> None:
    assert simplified(before) == after


def test_an_assignment_of_a_variable_to_itself() -> None:
    assert simplified("v = 1\nv = v + 0\na[0] = v", f"{HEAD}\n  var v: int64") == "v = 1\na[0] = v"


def test_shapes_of_results() -> None:
    text = "kernel k(n: int64) -> array r:\n    result r: int64[{}] = 0\n    pass\n"
    assert print_kernel(simplify(parse_kernel(text.format("n * 1 + 0")))) == text.format("n")


def test_locations_and_the_way_loops_run_stay() -> None:
    kernel = parse_kernel(f"{HEAD}\n  for i in 0 .. x + 0 asserted parallel:\n    a[i] = 1\n")
    [loop] = simplify(kernel).body
    assert "asserted parallel" in print_kernel(simplify(kernel)) and loop.at is kernel.body[0].at
    assert len(list(statements((loop,)))) == 2
