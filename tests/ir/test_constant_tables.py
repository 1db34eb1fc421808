"""Short loops over tables of constants are written out, and mean the same: CPython and the interpreter judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.constant_tables import loops_over_tables_written_out
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, statements

HEAD = (
    "kernel k(h: float64[1] C, n: int64):\n    var t: float64\n    allocate d: int64[2]\n    d[0] = 1\n    d[1] = -1\n"
)
LOOP = """    for i in 1 .. n:
        t = 0.0
        for k in 0 .. 2:
            t = t + h[i + d[k]]
        h[i] = t
"""


def test_what_is_looked_up_is_a_constant() -> None:
    changed = loops_over_tables_written_out(parse_kernel(HEAD + LOOP))
    verify(changed)
    assert "t = t + h[i + 1]\n        t = t + h[i + -1]\n        h[i] = t" in print_kernel(changed)
    nodes = [id(one) for one in (*statements(changed.body), *expressions(changed.body))]
    assert len(nodes) == len(set(nodes))  # what is known of nodes is kept by their identity


STAYS = [
    LOOP.replace("0 .. 2", "0 .. n"),
    LOOP.replace("0 .. 2", "0 .. 17"),
    LOOP.replace("d[k]", "d[i]"),
    LOOP.replace("h[i] = t", "h[i] = t\n        d[0] = i"),
    LOOP.replace("t = t +", "if t > 9.0:\n                break k\n            t = t +"),
    LOOP.replace("t = t +", "if t > 9.0:\n                continue k\n            t = t +"),
    LOOP.replace("t = t +", "for q in 0 .. n:\n                t = t + 1.0\n            t = t +"),
]


@pytest.mark.parametrize("loop", STAYS)
def test_others_stay(loop: str) -> None:
    kernel = parse_kernel(HEAD + loop)
    assert loops_over_tables_written_out(kernel) is kernel


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace("    d[1] = -1\n", ""),  # not all of it is known
        HEAD.replace("d[1] = -1", "d[1] = n"),
        HEAD.replace("    d[1] = -1\n", "    h[0] = h[d[0]]\n    d[1] = -1\n"),
        HEAD.replace("d[1] = -1", "d[0] = -1"),
    ],
)
def test_so_do_those_over_other_tables(head: str) -> None:
    kernel = parse_kernel(head + LOOP)
    assert loops_over_tables_written_out(kernel) is kernel


def knights(n: int) -> int:
    dx, dy = (1, 2, 2, 1, -1, -2, -2, -1), (2, 1, -1, -2, -2, -1, 1, 2)
    total = 0
    for i in range(n):
        for j in range(n):
            for k in range(8):
                x = i + dx[k]
                y = j + dy[k]
                if 0 <= x < n and 0 <= y < n:
                    total += 1
    return total


def steepest(z: Any, out: Any) -> None:
    dy, dx = (-1, -1, -1, 0, 0, 1, 1, 1), (-1, 0, 1, -1, 1, -1, 0, 1)
    far = (1.5, 1.0, 1.5, 1.0, 1.0, 1.5, 1.0, 1.5)
    for i in range(1, z.shape[0] - 1):
        for j in range(1, z.shape[1] - 1):
            best, at = 0.0, -1
            for k in range(8):
                slope = (z[i, j] - z[i + dy[k], j + dx[k]]) / far[k]
                if slope > best:
                    best, at = slope, k
            out[i, j] = at


def backwards(z: Any, out: Any) -> None:
    w = (0.25, 0.5, 0.25)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            s = 0.0
            for k in range(2, -1, -1):
                s += w[k] * w[-k] * z[i - k, j]  # counts from the end where it is negative
            out[i, j] = int(s)


def far(z: Any, out: Any) -> None:
    d = (0, 40)
    for i in range(z.shape[0]):
        out[i, 0] = 1
        for k in range(2):
            out[i, 1] = int(z[i, d[k]])


@pytest.mark.parametrize("function", [steepest, backwards, far])
@pytest.mark.parametrize("shape", [(0, 4), (3, 3), (9, 12)])
def test_as_in_python(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    z = np.random.default_rng(2).integers(0, 5, shape).astype(float)
    for device in ("cpu", "interpreter"):
        outs = [np.full(shape, 7), np.full(shape, 7)]
        errors = [
            _error(run, z, out) for run, out in zip((function, lw.kernel(function, device=device)), outs, strict=True)
        ]
        assert errors[0] is errors[1]
        np.testing.assert_array_equal(*outs)


def test_branches_of_copies_are_told_apart() -> None:
    kernel = lw.kernel(knights)
    assert [kernel(n) for n in (0, 1, 3, 8)] == [knights(n) for n in (0, 1, 3, 8)]


def _error(run: Callable[..., Any], *arguments: Any) -> type[Exception] | None:
    try:
        run(*arguments)
    except IndexError:
        return IndexError
    return None
