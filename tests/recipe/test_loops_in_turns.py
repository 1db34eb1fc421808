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
