"""Jumps that only go where control goes anyway."""

from __future__ import annotations

from textwrap import indent

import pytest

from loopwright.ir.jumps import without_needless_jumps
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel

HEAD = "kernel k(x: int64, p: bool, q: bool, a: int64[1] C):"


def jumped(body: str, returns_nothing: bool = True) -> str:
    kernel = parse_kernel(f"{HEAD}\n{indent(body, '  ')}\n")
    after = Kernel("k", kernel.params, without_needless_jumps(kernel.body, returns_nothing))
    return "\n".join(line[4:].replace("    ", " ") for line in print_kernel(after).split("\n")[1:-1])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # what can never be reached
        ("return\na[0] = 1", "pass"),
        ("for i in 0 .. 3:\n break i\n a[0] = 1", "for i in 0 .. 3:\n break i"),
        ("while True named w:\n a[0] = 1\na[1] = 2", "while True named w:\n a[0] = 1"),
        ("block b:\n return\na[1] = 2", "block b:\n pass"),
        # jumps to where control goes anyway
        ("for i in 0 .. 3:\n a[i] = 1\n continue i", "for i in 0 .. 3:\n a[i] = 1"),
        (
            "while p named w:\n if q:\n  continue w\n else:\n  a[0] = 1",
            "while p named w:\n if q:\n  pass\n else:\n  a[0] = 1",
        ),
        ("block b:\n block c:\n  leave b", "block b:\n block c:\n  pass"),
        ("block b:\n if p:\n  a[0] = 1\n  leave b\n a[0] = 2", "block b:\n if p:\n  a[0] = 1\n else:\n  a[0] = 2"),
        (
            "block b:\n if p:\n  leave b\n else:\n  a[0] = 1\n a[0] = 2",
            "block b:\n if p:\n  pass\n else:\n  a[0] = 1\n  a[0] = 2",
        ),
        (
            "if p:\n return\na[0] = 1\nif q:\n return\na[0] = 2",
            "if p:\n pass\nelse:\n a[0] = 1\n if q:\n  pass\n else:\n  a[0] = 2",
        ),
        (
            "for i in 0 .. 3:\n if p:\n  a[i] = 1\n else:\n  continue i\n a[i] = 2",
            "for i in 0 .. 3:\n if p:\n  a[i] = 1\n  a[i] = 2",
        ),
    ],
)
def test_needless_jumps_go(before: str, after: str) -> None:
    assert jumped(before) == after


@pytest.mark.parametrize(
    "text",
    [
        "for i in 0 .. 3:\n break i",
        "for i in 0 .. 3:\n return",
        "block b:\n for i in 0 .. 3:\n  leave b",
        "for i in 0 .. 3:\n if p:\n  if q:\n   continue i\n a[i] = 1",
        "for i in 0 .. 3:\n if p:\n  break i\n a[i] = 1",
        "while True named w:\n break w\na[0] = 1",
        "block b:\n for i in 0 .. 3:\n  leave b\n return\na[0] = 1",
        "while p named w:\n a[0] = 1\na[0] = 2",
    ],
)
def test_other_jumps_stay(text: str) -> None:
    assert jumped(text) == text


def test_a_return_of_values_stays() -> None:
    text = "if p:\n return\na[0] = 1\nreturn"
    assert jumped(text, returns_nothing=False) == text


def test_the_same_object_when_nothing_changes() -> None:
    kernel = parse_kernel(f"{HEAD}\n  for i in 0 .. x:\n    if p:\n      break i\n    a[i] = 1\n")
    assert without_needless_jumps(kernel.body, True) is kernel.body


def test_one_object_in_two_places_is_told_apart() -> None:
    branch = parse_kernel(f"{HEAD}\n  for i in 0 .. 3:\n    if p:\n      if q:\n        continue i\n").body[0]
    [inner] = branch.body  # type: ignore[union-attr]
    twice = type(branch)("i", branch.lower, branch.upper, branch.step, (inner, inner))  # type: ignore
    [after] = without_needless_jumps((twice,), True)
    assert after.body[0] is inner and after.body[1] is not inner  # type: ignore[union-attr]
