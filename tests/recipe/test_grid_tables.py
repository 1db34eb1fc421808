"""Tables of which each thread has a row are kept turned: which are, and what comes out, on the emulated device."""

from __future__ import annotations

import math

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(17)


def spectra(x, out):
    window = np.zeros(256) + 2.0
    for f in range(out.shape[0]):
        part = x[8 * f : 8 * f + 256] * window
        for k in range(65):
            s = 0.0
            for t in range(256):
                s += part[t] * math.cos(math.pi * (k * t % 2))
            out[f, k] = s


@pytest.mark.parametrize("count", [0, 1, 40])
def test_rows_of_threads_are_turned(count: int) -> None:
    x = RANDOM.integers(-9, 9, 8 * count + 248).astype(float)
    found = agree(spectra, x, np.zeros((count, 65)), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert "relayout cos.1.x order 1 0" in steps
