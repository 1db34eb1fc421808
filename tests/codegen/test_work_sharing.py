"""How iterations of parallel loops are shared out: each is run exactly once, whatever a row pointer holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.codegen import parallel
from loopwright.ir.text import parse_kernel
from loopwright.recipe.recipe import recipe

RANDOM = np.random.default_rng(11)
HEAD = "kernel f(p: int64[1] C, q: int32[1] C, a: float64[1] C, out: int64[1] C, n: int64):\n"


@pytest.fixture(autouse=True)
def _threads_for_short_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "GRAIN", 1e-9)


def entry(text: str, cache: Path, threads: int) -> Any:
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled = recipe(kernel, facts, False, None).kernel
    return compiled(scheduled, cache, facts, check_all=False, strict=False, threads=threads)


def pointers() -> list[Any]:
    """Row pointers as they should be, and as nobody should make them."""
    even = np.arange(0, 303, 3)
    heavy = np.concatenate([[0, 9000], 9000 + np.arange(99)])
    shuffled = RANDOM.integers(-50, 50, 101)
    huge = RANDOM.integers(-(2**63), 2**63 - 1, 101)
    falling = even[::-1].copy()
    most = np.full(101, 2**63 - 1)
    most[0] = -(2**63)
    rising = np.sort(huge)
    return [even, heavy, even - 7, np.zeros(101, "int64"), shuffled, huge, falling, most, most[::-1].copy(), rising]


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("summed", [False, True])
def test_every_iteration_runs_once(threads: int, summed: bool, tmp_path: Path) -> None:
    """Both kinds of pieces: handed out, and fixed because of the sum."""
    total = "        total = total + 1\n" if summed else ""
    text = f"""
kernel once(p: int64[1] C, out: int64[1] C) -> int64:
    var total: int64
    total = 0
    for i in 0 .. size(p, 0) - 1:
        out[i] = out[i] + 1
{total}        for k in p[i] .. p[i + 1]:
            out[i] = out[i] + 1000
            break k
    return total
"""
    run = entry(text, tmp_path, threads)
    for pointer in pointers():
        for count in (101, 2, 9):
            p = pointer[:count].copy()
            out = np.zeros(count - 1, "int64")
            assert run.run((p, out)) == (count - 1 if summed else 0)
            np.testing.assert_array_equal(out, 1 + 1000 * (p[1:] > p[:-1]))


def test_sums_over_uneven_rows_have_the_same_bits_in_every_run(tmp_path: Path) -> None:
    text = """
kernel total(p: int64[1] C, a: float64[1] C) -> float64:
    var s: float64
    s = 0.0
    for i in 0 .. size(p, 0) - 1:
        for k in p[i] .. p[i + 1]:
            s = s + a[k]
        for j in 0 .. i:
            s = s + a[j]
    return s
"""
    p = np.concatenate([[0], np.cumsum(RANDOM.integers(0, 90, 100))])
    a = RANDOM.random(p[-1])
    run = entry(text, tmp_path, 3)
    assert len({run.run((p, a)).hex() for _ in range(20)}) == 1
