"""Checks that an earlier one, or a branch, has made already are left out; the others stay, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.interp import interpret
from loopwright.ir.repeated_checks import without_repeated_checks
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

HEAD = "kernel k(a: int64[1] C, n: int64, d: int64):\n    var s: int64\n    var e: int64\n    s = 0\n    e = d\n"


def quotient(of: str, by: str) -> str:
    return f"checked({of} // {by}, {by} != 0, zero_division)"


BY_D, BY_E, SUM = quotient("n", "d"), quotient("n", "e"), f"s = s + {quotient('n', 'd')}\n"

FEWER = {  # how many checks are left
    "one after the other": (SUM * 3, 1),
    "in a loop whose bound is one": (f"for i in 0 .. {BY_D}:\n    for j in 0 .. {BY_D}:\n        s = s + 1\n", 1),
    "in a branch that asks": (f"if d != 0:\n    {SUM}else:\n    s = 7\n", 0),
    "in a branch for positive ones": (f"if d > 0 and n > 2:\n    {SUM}", 0),
    "in the other branch": (f"if d == 0:\n    s = 7\nelse:\n    {SUM}", 0),
    "after a branch that goes": (f"for i in 0 .. n:\n    if d == 0:\n        continue i\n    {SUM}", 0),
    "where the first part of a condition asks": (f"if d != 0 and {BY_D} > 1:\n    s = 1\n", 0),
    "where one of two asks for the opposite": (f"if d == 0 or {BY_D} > 1:\n    s = 1\n", 0),
    "in a chosen value": (f"s = {BY_D} if d >= 1 else 4\n", 0),
    "after both branches": (f"if n > 3:\n    s = {BY_D}\nelse:\n    s = 1 + {BY_D}\n{SUM}", 2),
    "in a while": (f"{SUM}while s < 9 and s > -9 named w:\n    s = s + 5 + {BY_D}\n", 1),
}


@pytest.mark.parametrize("case", FEWER)
def test_left_out(case: str) -> None:
    body, left = FEWER[case]
    assert checks_left(body) == left


KEPT = {
    "in one statement, which stays the same in both places": f"s = {BY_D} + {BY_D}\n",
    "of another number": f"s = {BY_D} + {BY_E}\n",
    "of a number that has changed": f"s = {BY_E}\ne = e - 1\ns = s + {BY_E}\n",
    "of a number that the loop changes": f"s = {BY_E}\nfor i in 0 .. n:\n    s = s + {BY_E}\n    e = e - 1\n",
    "after a branch that may not run": f"if n > 3:\n    {SUM}{SUM}",
    "after a loop that may not run": f"for i in 0 .. n:\n    {SUM}{SUM}",
    "after a part that may not be computed": f"if n > 3 and {BY_D} > 1:\n    s = 1\n{SUM}",
    "in a branch that asks for less": f"if d >= 0:\n    {SUM}s = {BY_D}\n",
    "in a branch for either": f"if d != 0 or n > 3:\n    {SUM}s = {BY_D}\n",
    "of elements": "".join(f"s = s + {quotient('n', 'a[0]')}\na[0] = a[0] - 1\n" for _ in range(2)),
}


@pytest.mark.parametrize("case", KEPT)
def test_kept(case: str) -> None:
    body = KEPT[case]
    least = 1 if case == "in a branch that asks for less" or case == "in a branch for either" else 2
    assert checks_left(body) >= least


def checks_left(body: str) -> int:
    """How many are left. What is left computes the same, and fails in the same way."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    kernel = parse_kernel(HEAD + lines + "    a[1] = s\n")
    changed = without_repeated_checks(kernel)
    verify(changed)
    for n in (0, 1, 5):
        for d in (-2, 0, 1, 3):
            outcomes = []
            for one in (kernel, changed):
                a = np.array([2, 0])
                try:
                    interpret(one, [a, n, d])
                    outcomes.append((a.tolist(), ""))
                except ZeroDivisionError as error:
                    outcomes.append((a.tolist(), str(error)))
            assert outcomes[0] == outcomes[1]
    return print_kernel(changed).count("checked(")


@lw.kernel
def tiles(image, tile, out):
    for i in range(image.shape[0] // tile):
        for j in range(image.shape[1] // tile):
            for u in range(tile):
                for v in range(tile):
                    out[i, j] += image[i * tile + u, j * tile + v]


def test_loops_over_tiles_are_one_grid() -> None:
    image, mine, right = np.arange(90.0).reshape(9, 10), np.zeros((4, 5)), np.zeros((4, 5))
    with lw.options(device="emulated"):
        tiles(image, 2, mine)
        schedule = str(tiles.explain(image, 2, mine).schedule)
        with pytest.raises(ZeroDivisionError):
            tiles(image, 0, mine)
    tiles.py_func(image, 2, right)
    np.testing.assert_array_equal(mine, right)
    assert "bind j thread.x" in schedule and "thread.y" in schedule
