"""Running sums in nests of their own: which are, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(19)


def integral(x, out):
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            row = 0
            squares = 0
            for j in range(x.shape[2]):
                row += x[b, i, j]
                squares += x[b, i, j] * x[b, i, j]
                out[b, i + 1, j + 1, 0] = out[b, i, j + 1, 0] + row
                out[b, i + 1, j + 1, 1] = out[b, i, j + 1, 1] + squares


def read_between(x, out):
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            row = 0
            for j in range(x.shape[2]):
                out[b, i + 1, j + 1, 0] = out[b, i, j + 1, 0] + row
                row += out[b, i, j, 1] + x[b, i, j]


def steps_of(kernel: Any, shape: tuple[int, int, int]) -> list[str]:
    b, n, m = shape
    found = agree(kernel, RANDOM.integers(0, 99, shape), np.zeros((b, n + 1, m + 1, 2), np.int64))
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 3), (2, 3, 0), (1, 1, 1), (3, 5, 7), (2, 3, 300)])
def test_rows_and_columns_are_summed_one_after_the_other(shape: tuple[int, int, int]) -> None:
    assert {"fission j 3 kept handed", "fission i 4", "reorder b.1 j.1 i.1"} <= set(steps_of(integral, shape))


def test_what_is_read_before_it_is_summed_stays() -> None:
    assert not any("kept" in step for step in steps_of(read_between, (2, 3, 4)))
