"""Few iterations that hold several loops, on the emulated GPU, beside CPython."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.on_gpu import agree

DRAW = np.random.default_rng(13)


def tried(state, noise, cost, least, change):
    for r in range(state.shape[0]):
        for k in range(noise.shape[1]):
            x = state[r]
            total = 0.0
            for t in range(noise.shape[2]):
                x += noise[r, k, t]
                total += x * x
                if total > 90.0:
                    break
            cost[r, k] = total
        least[r] = cost[r, 0]
        for k in range(1, cost.shape[1]):
            if cost[r, k] < least[r]:
                least[r] = cost[r, k]
        whole = 0.0
        for k in range(cost.shape[1]):
            weight = cost[r, k] - least[r] + 1.0
            whole += weight
            for t in range(noise.shape[2]):
                change[r, t] += weight * noise[r, k, t]
        for t in range(noise.shape[2]):
            change[r, t] = change[r, t] // whole


@pytest.mark.parametrize("shape", [(3, 7, 5), (1, 1, 1), (2, 1, 40), (0, 3, 3)])
def test_each_loop_has_a_nest_of_its_own(shape: tuple[int, ...]) -> None:
    noise = DRAW.integers(-3, 4, shape).astype(float)
    state = DRAW.integers(-2, 3, shape[0]).astype(float)
    found = agree(
        tried, state, noise, np.zeros(shape[:2]), np.zeros(shape[0]), np.zeros((shape[0], shape[2])), strict=False
    )
    steps = [str(one.step) for one in found.analysed.recipe.decisions]
    assert {"specialize state.0 >= 16384 in r", "fission r.1 2 kept"} <= set(steps)
