"""Loops that the host goes through: which are, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree
from loopwright.recipe import loops_in_turns

RANDOM = np.random.default_rng(21)


def compared(x, out):
    for b in range(x.shape[0]):
        for c in range(x.shape[3]):
            mean = 0.0
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    mean += x[b, i, j, c]
            for i in range(x.shape[1]):
                for j in range(x.shape[2]):
                    out[b, i, j, c] = x[b, i, j, c] * 2.0
            for i in range(1, x.shape[1]):
                for j in range(x.shape[2]):
                    out[b, i, j, c] += x[b, i - 1, j, c] - mean


def one_nest(x, out):
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[2]):
                out[b, i, j, 0] = x[b, i, j, 0] * 2.0


def steps_of(kernel: Any, shape: tuple[int, ...]) -> list[str]:
    found = agree(kernel, RANDOM.integers(-9, 9, shape).astype(float), np.zeros(shape), strict=False)
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize("shape", [(0, 9, 9, 3), (2, 7, 9, 3), (2, 9, 8, 1), (3, 9, 9, 2)])
def test_few_images_of_large_planes_are_gone_through_by_the_host(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops_in_turns, "SIDE", 8)
    monkeypatch.setattr(loops_in_turns, "ENOUGH", 6)
    steps = steps_of(compared, shape)
    assert {"specialize x.0*x.3 >= 6 in b", "specialize x.1 x.2 >= 8 in b.1"} <= set(steps)


def test_one_nest_has_all_the_threads_it_needs() -> None:
    assert not any(step.startswith("specialize x.1 x.2 >=") for step in steps_of(one_nest, (2, 9, 9, 1)))


def orthogonal(g, rounds):
    many, rows, columns = g.shape
    x = np.zeros((rows, columns))
    a = np.zeros((rows, rows))
    new = np.zeros((rows, columns))
    for m in range(many):
        for i in range(rows):
            for j in range(columns):
                x[i, j] = g[m, i, j] / 8.0
        for _ in range(rounds):
            for i in range(rows):
                for j in range(rows):
                    s = 0.0
                    for k in range(columns):
                        s += x[i, k] * x[j, k]
                    a[i, j] = s
            for i in range(rows):
                for j in range(columns):
                    s = x[i, j]
                    for k in range(rows):
                        s -= a[i, k] * x[k, j]
                    new[i, j] = s
            for i in range(rows):
                for j in range(columns):
                    x[i, j] = new[i, j]
        for i in range(rows):
            for j in range(columns):
                g[m, i, j] = x[i, j]


@pytest.mark.parametrize("shape", [(0, 9, 9), (2, 9, 11), (7, 8, 8), (3, 7, 9)])
def test_few_matrices_that_take_rounds_of_products_share_their_arrays(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops_in_turns, "SIDE", 8)
    monkeypatch.setattr(loops_in_turns, "ENOUGH", 6)
    found = agree(orthogonal, RANDOM.integers(-2, 3, shape).astype(float), 2, strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert {"specialize g.0 >= 6 in m", "specialize g.1 g.2 >= 8 in m.1"} <= set(steps)
    assert any(step.startswith("promote a k") for step in steps), steps  # the products are products of a whole grid
