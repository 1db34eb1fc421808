"""Loops that need no order, with scalars between them, on a grid: against CPython, with the steps that were taken."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import loopwright as lw

SIDE = 21


def lines(o):
    for i in range(o.shape[0]):
        y = i * 0.5
        if y > 3.0:
            y = 3.0
        for j in range(o.shape[1]):
            x = y + j
            o[i, j] = x * y


def rows_told_by_data(p, w, o):
    for i in range(o.shape[0]):
        y = w[p[i]]
        for j in range(o.shape[1]):
            o[i, j] = y * j


def costly(w, o):
    for i in range(o.shape[0]):
        y = math.exp(w[i]) + math.sin(w[i])
        for j in range(o.shape[1]):
            o[i, j] = y * j


def pixels(w, o):
    for i in range(o.shape[0]):
        w[i] = 2.0 * w[i]
        y = 0.5 * i
        for j in range(o.shape[1]):
            z = y + j
            for c in range(3):
                o[i, j, c] = z * c


def sums(w, o):
    for i in range(o.shape[0]):
        y = 0.5 * i
        for j in range(o.shape[1]):
            s = 0.0
            for k in range(len(w)):
                s += w[k] * (y + j)
            o[i, j] = s


def sparse(p, w, o):
    for i in range(o.shape[0]):
        for k in range(p[i], p[i + 1]):
            for j in range(o.shape[1]):
                o[i, j] += w[k] * w[j]


NUMBERS = np.linspace(0.0, 2.0, SIDE)
CASES: list[tuple[Callable[..., None], tuple[np.ndarray, ...], tuple[int, ...], str]] = [
    (lines, (), (), "sink j; split i 4; split j 256"),
    (rows_told_by_data, (np.arange(SIDE)[::-1].copy(), NUMBERS), (), "expand y i; fission i 2; tile i.1.1 8 j 32"),
    (costly, (NUMBERS,), (), "expand y i; fission i 2; tile i.1.1 8 j 32"),
    (pixels, (NUMBERS,), (3,), "sink j; fission i 2; tile i.1.1 8 j 32; split i 512"),
    (sums, (NUMBERS,), (), "sink j; tile i 8 j 32"),
    (sparse, (np.arange(SIDE + 1), NUMBERS), (), "reorder i j k; tile i 8 j 32"),
]


@pytest.mark.parametrize(("function", "arguments", "inside", "steps"), CASES)
def test_both_loops_are_shared_out_where_rows_are_not_short(
    function: Callable[..., None], arguments: tuple[np.ndarray, ...], inside: tuple[int, ...], steps: str
) -> None:
    kernel = lw.kernel(function)
    for width in (SIDE, 3, 0):
        mine, right = ([*(one.copy() for one in arguments), np.zeros((SIDE, width, *inside))] for _ in range(2))
        with lw.options(device="emulated"):
            kernel(*mine)
            schedule = str(kernel.explain(*mine).schedule)
        function(*right)
        versions = r"specialize o.1 >= (16|64) in i; |specialize o.0 >= 4096 in i; flatten i.1 k.1; "
        own_steps = re.sub(versions, "", schedule)  # for short rows, and few
        assert own_steps.startswith(steps) and "bind j" in schedule
        assert ("split i.1 32" in schedule) == ("specialize o.1" in schedule)
        for one, other in zip(mine, right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)


def test_a_failure_is_the_users_one_where_the_inner_loop_has_no_iterations() -> None:
    kernel = lw.kernel(rows_told_by_data)
    places = np.arange(SIDE)
    places[7] = SIDE
    with lw.options(device="emulated"), pytest.raises(IndexError):
        kernel(places, NUMBERS, np.zeros((SIDE, 0)))
