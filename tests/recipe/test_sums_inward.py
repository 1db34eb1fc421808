"""Sums over several loops around those that need no order: which go inside, and what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(20)


def kronecker(a, b, x, y):
    for k in range(a.shape[1]):
        for m in range(b.shape[1]):
            for i in range(a.shape[0]):
                for j in range(b.shape[0]):
                    for v in range(x.shape[0]):
                        y[v, i * b.shape[0] + j] += a[i, k] * b[j, m] * x[v, k * b.shape[1] + m]


def window_outside(w, x, y):
    for c in range(w.shape[0]):
        for a in range(w.shape[1]):
            for b in range(w.shape[2]):
                for i in range(y.shape[0]):
                    for j in range(y.shape[1]):
                        y[i, j] += w[c, a, b] * x[c, i + a, j + b]


def of_few(x, y):
    for p in range(x.shape[0]):
        for q in range(x.shape[1]):
            for i in range(3):
                for j in range(3):
                    y[i, j] += x[p, q] * i * j


def whole(*shape: int) -> Any:
    return RANDOM.integers(-4, 5, shape).astype(np.float64)


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (kronecker, (whole(3, 4), whole(2, 5), whole(6, 20), whole(6, 6)), ["reorder i j v k m", "promote y k"]),
        (window_outside, (whole(2, 3, 2), whole(2, 9, 21), whole(7, 20)), ["reorder i j c a b", "promote y c"]),
        (of_few, (whole(9, 9), whole(3, 3)), []),
    ],
)
def test_which_go_inside_and_keep_what_they_add_to_in_a_scalar(
    function: Any, arguments: tuple[Any, ...], expected: list[str]
) -> None:
    found = agree(function, *arguments, strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert [step for step in steps if step in ("reorder i j p q", *expected)] == expected
