"""Whole programs: facts, schedule and C against the interpreter, on one thread and on several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.execution import compiled
from codegen.scheduled import N, small
from loopwright.analysis.analyse import analyse
from loopwright.errors import BoundsError
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule


def test_bounds_errors_name_the_place_in_parallel_code_too(tmp_path: Path) -> None:
    text = """
kernel gather(a: float64[1] C, k: int64[1] C, b: float64[1] C):
    for i in 0 .. size(k, 0):
        b[i] = a[k[i]]
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    scheduled, _ = apply_schedule(kernel, facts, marks(kernel, facts, False), False)
    entry = compiled(scheduled, tmp_path, facts, check_all=False, strict=False, threads=4)
    k = np.zeros(N, np.int64)
    k[N // 2] = 10
    with pytest.raises(BoundsError) as caught:
        entry.run((small(10), k, np.zeros(N)))
    assert (caught.value.array, caught.value.axis, caught.value.index, caught.value.size) == ("a", 0, 10, 10)
    k[N // 2] = -10
    entry.run((small(10), k, np.zeros(N)))


def test_the_guard_stands_for_every_size(tmp_path: Path) -> None:
    text = """
kernel shift(a: float64[1] C, b: float64[1] C, n: int64):
    for i in 0 .. n:
        b[i] = a[i + 1]
"""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    entry = compiled(kernel, tmp_path, facts, check_all=False)
    assert entry.run((small(6), small(5), 5)) is None
    assert entry.run((small(0), small(0), 0)) is None
    for a, b, n in ((5, 5, 5), (6, 4, 5), (100, 100, 2**62), (100, 100, 2**63 - 1)):
        assert entry.run((small(a), small(b), n)) == "guard failed"
