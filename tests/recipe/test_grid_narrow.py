"""Versions for narrow inner loops: which nests get them, and what comes out, on the emulated device."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(18)


def halvings(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            n = a[i, j]
            for _ in range(40):
                if n % 2 == 0:
                    n = n // 2 + 3
                else:
                    n = n * 3 - 1
                    if n > 1000:
                        break
            o[i, j] = n


def plain(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            o[i, j] = a[i, j] * 2


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (70, 1), (70, 8), (9, 15), (9, 16), (3, 70)])
def test_a_narrow_loop_has_more_rows_of_threads(shape: tuple[int, int]) -> None:
    found = agree(halvings, RANDOM.integers(0, 99, shape), np.zeros(shape, np.int64), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[:3] == ["specialize a.1 >= 16 in i", "tile i 8 j 32", "tile i.1 32 j.1 8"]


def test_what_holds_no_loops_has_none() -> None:
    found = agree(plain, RANDOM.integers(0, 99, (9, 9)), np.zeros((9, 9), np.int64), strict=False)
    assert not any("tile i.1 32 j.1 8" in str(decision.step) for decision in found.analysed.recipe.decisions)


def from_far_on(a, o):
    for i in range(a.shape[0]):
        for j in range(20, a.shape[1]):
            n = a[i, j]
            while n > 3:
                n = n // 2 - a[i, j - 20]
            o[i, j] = n


@pytest.mark.parametrize("shape", [(3, 19), (3, 20), (5, 70)])
def test_a_loop_that_has_no_iterations_where_it_would_be_narrow_has_none(shape: tuple[int, int]) -> None:
    agree(from_far_on, RANDOM.integers(0, 99, shape), np.zeros(shape, np.int64), strict=False)


def until_it_is_small(a, o):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t = 0
            for k in range(a.shape[0]):
                n = a[k, j]
                while n > 3:
                    n = n // 2 - a[i, j]
                    t += 1
                if t > 9:
                    break
            o[i, j] = t


@pytest.mark.parametrize("shape", [(3, 5), (3, 20)])
def test_what_holds_a_while_has_versions_and_both_loops_are_threads(shape: tuple[int, int]) -> None:
    found = agree(until_it_is_small, RANDOM.integers(0, 99, shape), np.zeros(shape, np.int64), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert steps[:3] == ["specialize a.1 >= 16 in i", "tile i 8 j 32", "tile i.1 32 j.1 8"]


def of_boxes(x, n, y):
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            for c in range(x.shape[2]):
                z = x[a, b, c]
                for k in range(len(n)):
                    z = z * 0.5 + n[k]
                    if z > 10.0:
                        z = z - 10.0
                y[a, b, c] = z


@pytest.mark.parametrize("shape", [(4, 5, 3), (2, 9, 40)])
def test_so_has_the_last_one_of_three(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(3).normal(size=shape)
    found = agree(of_boxes, x, np.arange(7), np.zeros(shape), strict=False)
    steps = [str(one.step) for one in found.analysed.recipe.decisions]
    assert "specialize x.2 >= 16 in a" in steps and "tile b.1 32 c.1 8" in steps
