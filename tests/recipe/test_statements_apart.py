"""Sums into several arrays in one nest, on the emulated GPU, beside CPython."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.on_gpu import agree

DRAW = np.random.default_rng(14)


def both_ways(x, w, dy, dx, dw):
    for b in range(x.shape[0]):
        for o in range(w.shape[0]):
            for t in range(dy.shape[2]):
                for c in range(x.shape[1]):
                    for k in range(w.shape[2]):
                        dw[o, c, k] += dy[b, o, t] * x[b, c, 2 * t + k]
                        dx[b, c, 2 * t + k] += dy[b, o, t] * w[o, c, k]


def whole(*shape: int) -> np.ndarray:
    return DRAW.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("taps", [0, 1, 3])
def test_gradients_have_loops_of_their_own(taps: int) -> None:
    x, w, dy = whole(3, 5, 12 + taps), whole(4, 5, taps), whole(3, 4, 6)
    found = agree(both_ways, x, w, dy, np.zeros_like(x), np.zeros_like(w), strict=False)
    assert "distribute b" in [str(one.step) for one in found.analysed.recipe.decisions]
