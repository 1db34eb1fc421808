"""Extremes that are kept in elements, with what goes along: scalars with a flag, and rows that all threads share."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def best_cuts(gradient, hessian, gain, feature, cut):
    for leaf in range(gradient.shape[0]):
        for f in range(gradient.shape[1]):
            g = 0.0
            h = 0.0
            for b in range(gradient.shape[2]):
                g += gradient[leaf, f, b]
                h += hessian[leaf, f, b]
                score = g * g - h
                if score > gain[leaf]:
                    gain[leaf] = score
                    feature[leaf] = f
                    cut[leaf] = b


def last_of_the_least(x, best, place):
    """Of equal values the last one is kept, in arrays that may be shorter than there are rows."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = 0.0
            for k in range(x.shape[2]):
                s += x[i, j, k] * x[i, 0, k]
            if s <= best[i]:
                best[i] = s
                place[i] = j


def elsewhere(x, best, place):
    """Which element it is, data tells."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                if x[i, j, k] > best[place[0]]:
                    best[place[0]] = x[i, j, k]
                    place[1] = j


def read_meanwhile(x, best, place):
    """What goes along is read, too."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                if x[i, j, k] + place[i] > best[i]:
                    best[i] = x[i, j, k]
                    place[i] = j


def ends_alike(function: Any, *args: Any) -> str:
    """The schedule, after a call on the emulated GPU that ends as CPython's does."""
    wanted, found, kernel = copy.deepcopy(args), copy.deepcopy(args), lw.kernel(device="emulated")(function)
    outcomes = []
    for run, given in ((function, wanted), (kernel, found)):
        try:
            run(*given)
            outcomes.append("")
        except IndexError as error:
            outcomes.append(type(error).__name__)
    assert outcomes[0] == outcomes[1]
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    return str(kernel.explain(*found).schedule)


def whole(seed: int, *shape: int) -> Any:
    """Small whole numbers, of which many are equal."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float64)


SHAPES = [(3, 100, 5), (70, 9, 4), (1, 1, 1), (2, 65, 1), (0, 3, 3), (3, 0, 3), (3, 70, 0), (5, 131, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_are_scalars_while_the_loop_runs(shape: tuple[int, int, int]) -> None:
    for start in (0.0, 1e9, -1e9, np.nan):
        n = shape[0]
        args = whole(1, *shape), whole(2, *shape), np.full(n, start), np.full(n, -7), np.full(n, -8)
        schedule = ends_alike(best_cuts, *args)
        assert "promote gain f seldom; promote feature f seldom; promote cut f seldom" in schedule
        assert "reduce f.1.1 4096" in schedule  # few rows of many terms


@pytest.mark.parametrize("shape", SHAPES)
def test_the_last_of_equal_values(shape: tuple[int, int, int]) -> None:
    x = whole(3, *shape)
    if x.size > 6:
        x.reshape(-1)[5] = np.nan
    schedule = ends_alike(last_of_the_least, x, np.full(shape[0], 2.0), np.zeros(shape[0], np.int64))
    assert "promote best j seldom" in schedule


def test_what_is_never_set_need_not_be_there() -> None:
    x = whole(4, 5, 80, 3)
    short = np.zeros(3, np.int64)
    ends_alike(last_of_the_least, x + 100, np.full(5, -1e9), short)
    ends_alike(last_of_the_least, x[:3], np.full(3, 1e9), short)
    with pytest.raises(IndexError):
        lw.kernel(device="emulated")(last_of_the_least)(x, np.full(5, 1e9), short)


def test_one_array_for_both() -> None:
    x, both = whole(5, 4, 70, 2), np.full(4, 0.5)
    wanted = both.copy()
    last_of_the_least(x, wanted, wanted)
    lw.kernel(device="emulated")(last_of_the_least)(x, both, both)
    np.testing.assert_array_equal(both, wanted)


@pytest.mark.parametrize("function", [elsewhere, read_meanwhile])
def test_others_stay_in_memory(function: Any) -> None:
    x = whole(6, 4, 70, 3)
    assert "promote" not in ends_alike(function, x, np.zeros(4), np.zeros(4, np.int64))
