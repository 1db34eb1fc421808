"""The irregular programs at small sizes: compiled code, as iterations stand and in another order, against CPython."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.irregular.__main__ import divergence, host, measured
from benchmarks.irregular.programs import PROGRAMS

import loopwright as lw

N = 256


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_python(name: str) -> None:
    program = PROGRAMS[name]
    expected = program.make(N)
    with np.errstate(all="ignore"):
        program.function(*expected)
    for options in ({"device": "cpu", "remap": program.forced[0]}, {"device": "cpu", "remap": "off"}):
        given: Any = program.make(N)
        kernel = lw.kernel(**options, threads=2)(program.function)  # type: ignore[arg-type]
        try:
            kernel(*given)
        except lw.ScheduleError:
            continue  # it is a row of the table, with the reason
        for mine, right in zip(host(given), host(expected), strict=True):
            np.testing.assert_allclose(mine, right, rtol=1e-9, atol=1e-12)


def test_a_row_has_all_that_the_table_needs() -> None:
    row = measured("ray marching", 300, "cpu", settle_s=0.0, rounds=1)
    assert row.agrees and set(row.seconds) == {"off", "auto", "forced", "off again"} and not row.refused
    assert row.diverging is not None and row.diverging[0] == 1.0 and row.cost is not None and row.cost < 0.6
    assert "speed auto" in row.told()
    assert divergence(PROGRAMS["Black-Scholes"].function, PROGRAMS["Black-Scholes"].make(64)) == (None, None)
