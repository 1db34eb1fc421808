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


def with_bias(x, dy, stride, dw, db):
    for o in range(dw.shape[0]):
        for b in range(x.shape[0]):
            for t in range(dy.shape[2]):
                db[o] += dy[b, o, t]
                for c in range(x.shape[1]):
                    for k in range(dw.shape[2]):
                        at = t * stride - k
                        if at >= 0:
                            dw[o, c, k] += dy[b, o, t] * x[b, c, at]


def particles(x, near, force, torque):
    for i in range(x.shape[0]):
        for k in range(near.shape[1]):
            d = x[near[i, k]] - x[i]
            force[i] += d
            for axis in range(torque.shape[1]):
                torque[i, axis] += d * axis


@pytest.mark.parametrize("taps", [0, 1, 4])
def test_a_sum_beside_a_nest_of_others_has_loops_of_its_own(taps: int) -> None:
    x, dy, dw = whole(3, 5, 37), whole(3, 4, 12), whole(4, 5, taps)
    found = agree(with_bias, x, dy, 3, dw, np.zeros(4, np.float32), strict=False)
    steps = [str(one.step) for one in found.analysed.recipe.decisions]
    assert steps[0] == "distribute o" and "promote dw b.1 seldom" in steps
    assert "bind t.1 thread.x 32" in steps  # a block shares the terms of each element


def test_a_sum_beside_a_short_loop_stays_there() -> None:
    near = DRAW.integers(0, 9, (9, 6))
    found = agree(particles, whole(9), near, whole(9), whole(9, 3), strict=False)
    assert not any(str(one.step).startswith("distribute") for one in found.analysed.recipe.decisions)
