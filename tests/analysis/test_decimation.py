"""Loops that write to one element in so many iterations: which of them need no order, and what comes out where many
threads run them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.analysis.facts import LoopFacts

RANDOM = np.random.default_rng(7)


def every(x, r, out):
    for i in range(x.shape[0]):
        if i % r == r - 1:
            out[i // r] = x[i]


def from_one_on(x, r, out):
    for i in range(x.shape[0]):
        if (i + 1) % r != 0:
            continue
        out[(i + 1) // r - 1] = x[i]


def third(x, r, out):
    for i in range(3, x.shape[0]):
        if x[i] > 0 and i % r == 3:
            out[i // r] += x[i]


def rows(x, r, out):
    for i in range(x.shape[0]):
        if i % r == 1:
            for j in range(x.shape[1]):
                out[i // r, j] = x[i, j]


def each_time(x, r, out):
    for i in range(x.shape[0]):
        out[i // r] = x[i]


def another_remainder(x, r, out):
    for i in range(x.shape[0]):
        if i % r == i // 3:
            out[i // r] = x[i]


def another_number(x, r, out):
    for i in range(x.shape[0]):
        if i % (r + 1) == r:
            out[i // r] = x[i]


def both_ways(x, r, out):
    for i in range(x.shape[0]):
        if i % r == 1:
            out[i // r] = x[i]
        if i % r == 2:
            out[i // r] = -x[i]


def the_first(x, r, out):
    for i in range(x.shape[0]):
        if i % r == 0:
            out[i // r] = x[i]


def verdict(function: Callable[..., Any], *arguments: Any) -> str:
    """What is proven of the outermost loop."""
    found: LoopFacts = agree(function, *arguments).facts.loops["i"]
    return found.verdict


@pytest.mark.parametrize("function", [every, third])
def test_one_element_in_so_many_iterations(function: Callable[..., Any]) -> None:
    for size, r in ((0, 3), (1, 1), (7, 3), (50, 4), (2000, 7), (50, 100)):
        assert verdict(function, RANDOM.random(size) - 0.5, r, np.zeros(size // r + 2)) == "parallel"


def test_rows_go_along() -> None:
    assert verdict(rows, RANDOM.random((50, 33)), 4, np.zeros((30, 33))) == "parallel"


@pytest.mark.parametrize("function", [each_time, another_remainder, another_number, both_ways, from_one_on, the_first])
def test_others_may_meet(function: Callable[..., Any]) -> None:
    """Where a negative number divides, quotients count from the end: 0 and -n are the same element."""
    assert verdict(function, RANDOM.random(50), 4, np.zeros(60)) != "parallel"


def test_numbers_that_divide_nothing_fail_as_in_python() -> None:
    x, out = RANDOM.random(20), np.zeros(6)
    with pytest.raises(ZeroDivisionError):
        lw.kernel(every)(x, 0, out)
    agree(every, x, -4, np.zeros(6))
    agree(the_first, x, -4, np.zeros(5))
    with pytest.raises(IndexError):
        lw.kernel(every)(x, 2, out)
