"""Loops of which nothing inside becomes a grid; results on the emulated GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from codegen.on_gpu import agree

DRAW = np.random.default_rng(5)


def widest(points, out):
    """What one loop finds decides how far the next one goes, three times."""
    for g in range(points.shape[0]):
        x, r = points[g, 0], 0.0
        for i in range(1, points.shape[1]):
            if abs(points[g, i] - x) > r:
                x, r = points[g, i], 0.0
                for j in range(i):
                    if abs(points[g, j] - x) > r:
                        x = (points[g, i] + points[g, j]) / 2
                        r = math.sqrt((points[g, i] - x) * (points[g, i] - x))
                        for k in range(j):
                            if abs(points[g, k] - x) > r:
                                r = abs(points[g, k] - x) - 0.125
        out[g, 0] = x
        out[g, 1] = r


def of_three(points, out):
    for g in range(3):
        x, r = points[g, 0], 0.0
        for i in range(1, points.shape[1]):
            if abs(points[g, i] - x) > r:
                x, r = points[g, i], 0.0
                for j in range(i):
                    if abs(points[g, j] - x) > r:
                        x = (points[g, i] + points[g, j]) / 2
                        for k in range(j):
                            if abs(points[g, k] - x) > r:
                                r = abs(points[g, k] - x) - 0.125
        out[g, 0] = x + r


def schedule(function: Callable[..., Any], *arguments: Any, why_not: str = "") -> str:
    found = agree(function, *arguments, why_not=why_not)
    return "; ".join(str(one.step) for one in found.analysed.recipe.decisions)


def test_iterations_whose_loops_need_their_order_are_each_a_threads() -> None:
    for count in (0, 1, 33, 100):
        taken = schedule(widest, DRAW.random((count, 7)), np.zeros((count, 2)))
        assert "bind g.o block.x; bind g thread.x 32" in taken
    x = DRAW.random((40, 9))
    x[::3, 2] = np.nan
    schedule(widest, x, np.zeros((40, 2)))


def test_a_few_are_not_worth_a_grid() -> None:
    assert "block.x" not in schedule(of_three, DRAW.random((3, 50)), np.zeros((3, 1)))
