"""Loops of a row that need their order, apart from those that threads share."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def drawn(p, chance, word):
    """A search that is left, behind a sum."""
    for i in range(p.shape[0]):
        total = 0
        for v in range(p.shape[1]):
            total += p[i, v]
        run = 0
        for v in range(p.shape[1]):
            run += p[i, v]
            if run > chance[i] * total:
                word[i] = v
                break


def both_ways(x, out):
    """A search first, and another one last."""
    for i in range(x.shape[0]):
        first = -1
        for j in range(x.shape[1]):
            if x[i, j] > 4:
                first = j
                break
        most = 0
        for j in range(x.shape[1]):
            most = max(most, x[i, j] * first)
        out[i, 0] = most
        for j in range(x.shape[1]):
            if x[i, j] * first == most:
                out[i, 1] = j
                break


def columns(x, out):
    """What lies side by side goes along rows: neighbours that have a thread each read side by side."""
    for i in range(x.shape[1]):
        most = 0
        for j in range(x.shape[0]):
            most = max(most, x[j, i])
        a = 1
        for j in range(x.shape[0]):
            a = (a * 5 + x[j, i] * most) % 1000
        out[0, i] = a


def carried_on(x, out):
    """The next row needs what the row before has left."""
    a = 0
    for i in range(x.shape[0]):
        most = 0
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        for j in range(x.shape[1]):
            a = (a * 5 + x[i, j] * most) % 1000
        out[i, 0] = a


def schedule_of(function: Any, *args: Any) -> str:
    """The schedule, after a call on the emulated GPU that gives what CPython does."""
    wanted = copy.deepcopy(args)
    function(*wanted)
    kernel = lw.kernel(device="emulated")(function)
    kernel(*args)
    for mine, theirs in zip(args, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    return str(kernel.explain(*args).schedule)


SHAPES = [(3, 200), (5, 1), (1, 131), (0, 7), (4, 0), (33, 129)]


def numbers(*shape: int) -> Any:
    return np.random.default_rng(shape[0]).integers(0, 9, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_search_behind_a_sum(shape: tuple[int, int]) -> None:
    for chance in (0, 0.3, 1):
        schedule = schedule_of(drawn, numbers(*shape), np.full(shape[0], chance), np.full(shape[0], -1))
        assert "specialize p.1 >= 128 in i; fission i 3 kept" in schedule
        assert "bind v thread.x 512" in schedule


@pytest.mark.parametrize("shape", SHAPES)
def test_before_and_behind(shape: tuple[int, int]) -> None:
    out = np.zeros((shape[0], 2), np.int64)
    assert "fission i 5 kept; fission i 3 kept" in schedule_of(both_ways, numbers(*shape), out)


@pytest.mark.parametrize("function", [columns, carried_on])
def test_what_stays_together(function: Any) -> None:
    assert "kept" not in schedule_of(function, numbers(70, 140), np.zeros((70, 140), np.int64))
