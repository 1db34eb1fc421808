"""Totals beside rows that threads share, on the emulated GPU, beside CPython."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree

DRAW = np.random.default_rng(11)


def along_rows(start, column, value, x, y):
    along = 0.0
    for i in range(len(y)):
        s = 0.0
        for e in range(start[i], start[i + 1]):
            s += value[e] * x[column[e]]
        y[i] = s
        along += x[i] * s
    return along


def in_each_round(start, column, value, x, y, rounds):
    for _ in range(rounds):
        ts = 0.0
        tt = 0.0
        for i in range(len(y)):
            s = 0.0
            for e in range(start[i], start[i + 1]):
                s += value[e] * x[column[e]]
            y[i] = s
            ts += s * x[i]
            if s > 0.0:
                tt += s * s
        for i in range(len(y)):
            x[i] = y[i] - (ts // (tt + 1.0))


def centres(maps, wanted, gradient):
    loss = 0.0
    for b in range(maps.shape[0]):
        for k in range(maps.shape[1]):
            total = 0.0
            for i in range(maps.shape[2]):
                for j in range(maps.shape[3]):
                    total += maps[b, k, i, j]
            away = total - wanted[b, k]
            loss += away * away
            for i in range(maps.shape[2]):
                for j in range(maps.shape[3]):
                    gradient[b, k, i, j] = away * maps[b, k, i, j]
    return loss


def sparse(n: int) -> tuple[Any, ...]:
    start = np.concatenate([[0], np.cumsum(DRAW.integers(0, 5, n))])
    entries = int(start[-1])
    values = DRAW.integers(-3, 4, entries).astype(float)
    return start, DRAW.integers(0, max(n, 1), entries), values, DRAW.integers(-3, 4, n).astype(float), np.zeros(n)


def steps_of(found: Any) -> list[str]:
    return [str(one.step) for one in found.analysed.recipe.decisions]


@pytest.mark.parametrize("n", [0, 1, 70])
def test_rows_that_data_ends_are_rows_of_a_sparse_matrix(n: int) -> None:
    steps = steps_of(agree(along_rows, *sparse(n), strict=False))
    assert {"fission i 4 kept", "balance i e 2048"} <= set(steps)


def test_in_a_loop_over_time_nothing_is_kept_for_each_round() -> None:
    steps = steps_of(agree(in_each_round, *sparse(40), 3, strict=False))
    assert {"balance i e 2048"} <= set(steps) and not any(step.startswith("expand") for step in steps)


@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 3, 0, 4), (2, 3, 5, 40)])
def test_planes_of_a_loss_have_blocks(shape: tuple[int, ...]) -> None:
    maps, wanted = DRAW.integers(-3, 4, shape).astype(float), DRAW.integers(-9, 9, shape[:2]).astype(float)
    steps = steps_of(agree(centres, maps, wanted, np.zeros(shape), strict=False))
    assert {"distribute b loss", "bind i thread.y 16", "bind j thread.x 32"} <= set(steps)
