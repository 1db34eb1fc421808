"""The loops of benchmarks/field as CPython runs them, and under strict to the last bit where they add up; and the
programs."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import numpy as np
import pytest
from benchmarks.field import LOOPS, PROGRAMS, FieldLoop, FieldProgram

import loopwright as lw

STRICT = ("reductions", "recurrences")
"""The categories whose results depend on the order of additions and products."""
BY_NAME = {one.name: one for one in LOOPS}


def run(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What it returns, and its arguments afterwards."""
    given = copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        return function(*given), *given


@pytest.mark.parametrize("one", LOOPS, ids=[one.name for one in LOOPS])
def test_as_cpython(one: FieldLoop) -> None:
    arguments = one.arguments()
    strict = one.category in STRICT
    with lw.options(strict=True) if strict else contextlib.nullcontext():
        found = run(lw.kernel(one.function), arguments)
    for expected, actual in zip(run(one.function, arguments), found, strict=True):
        if strict or expected is None:
            np.testing.assert_array_equal(actual, expected)
        else:
            np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["s111", "s2275", "s442"])
def test_as_cpython_on_a_gpu(name: str) -> None:
    one = BY_NAME[name]
    with lw.options(device="emulated"):
        found = run(lw.kernel(one.function), one.arguments())
    for expected, actual in zip(run(one.function, one.arguments()), found, strict=True):
        if expected is not None:
            np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12)


def test_the_suite_is_complete() -> None:
    assert len(BY_NAME) == len(LOOPS) == 151
    assert len({one.name for one in PROGRAMS}) == len(PROGRAMS) == 145


@pytest.mark.parametrize("one", PROGRAMS, ids=[one.name for one in PROGRAMS])
def test_programs_as_cpython(one: FieldProgram) -> None:
    arguments = one.arguments()
    expected, found = run(one.function, arguments), run(lw.kernel(one.function), arguments)
    for right, mine in zip(expected, found, strict=True):
        if right is not None:
            np.testing.assert_allclose(mine, right, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["lj_half_pairs", "pagerank", "conv_nhwc", "ising"])
def test_programs_as_cpython_on_a_gpu(name: str) -> None:
    one = next(program for program in PROGRAMS if program.name == name)
    with lw.options(device="emulated"):
        found = run(lw.kernel(one.function), one.arguments())
    for right, mine in zip(run(one.function, one.arguments()), found, strict=True):
        if right is not None:
            np.testing.assert_allclose(mine, right, rtol=1e-9, atol=1e-11)
