"""The programs of benchmarks/unseen at small sizes, compiled for a CPU, against CPython."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.unseen.__main__ import different, on_gpu, own, results
from benchmarks.unseen.program import PROGRAMS

import loopwright as lw

SLOW = {"k-mer counts"}
"""65536 counters are no small case for CPython."""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in SLOW])
def test_results_are_those_of_python(name: str) -> None:
    program = PROGRAMS[name]
    arguments = program.make(program.small)
    mine, right = own(arguments), own(arguments)
    with np.errstate(all="ignore"):
        expected = results(right, program.function(*right))
    found = results(mine, lw.kernel(program.function, threads=2)(*mine))
    assert [different(a, b) for a, b in zip(expected, found, strict=True)] == [0.0] * len(expected)


def test_a_row_of_a_gpu() -> None:
    row = on_gpu(PROGRAMS["edges relaxed"], "emulated")
    assert row["differs"] == 0.0 and "block.x" in row["schedule"]
