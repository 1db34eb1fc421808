"""Which stores are kept apart from those beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


def filtered(sos: Any, x: Any, y: Any) -> None:
    z = np.zeros((sos.shape[0], 2))
    for t in range(len(x)):
        v = x[t]
        for s in range(sos.shape[0]):
            o = sos[s, 0] * v + z[s, 0]
            z[s, 0] = sos[s, 1] * v - sos[s, 4] * o + z[s, 1]
            z[s, 1] = sos[s, 2] * v - sos[s, 5] * o
            v = o
        y[t] = v


def in_registers(sos: Any, x: Any, y: Any) -> None:
    z = np.zeros(2)
    for t in range(len(x)):
        o = sos[0, 0] * x[t] + z[0]
        z[0] = sos[0, 1] * x[t] - sos[0, 4] * o + z[1]
        z[1] = sos[0, 2] * x[t] - sos[0, 5] * o
        y[t] = o


def one_by_one(sos: Any, x: Any, y: Any) -> None:
    z = np.zeros((sos.shape[0], 2))
    for t in range(len(x)):
        v = x[t]
        for s in range(sos.shape[0]):
            v = v * 0.5 + z[s, 0] - z[s, 1]
            z[s, 0] = z[s, 0] * 0.25 + v
            z[s, 1] = z[s, 1] * 0.5 - v
        y[t] = v


@pytest.mark.parametrize(("function", "apart"), [(filtered, 1), (in_registers, 0), (one_by_one, 0)])
def test_a_delay_line_is_stored_one_by_one(function: Any, apart: int) -> None:
    sos, x = np.random.default_rng(1).random((3, 6)) * 0.3, np.random.default_rng(2).random(50)
    kernel = lw.kernel(threads=1)(function)
    body = kernel.specialise(sos, x, x).c_text.partition("int lw_kernel")[2]
    assert min(body.count("LW_SEPARATE(z_["), 1) == apart
    mine, other = np.zeros(50), np.zeros(50)
    kernel(sos, x, mine)
    function(sos, x, other)
    np.testing.assert_allclose(mine, other, rtol=1e-12)
