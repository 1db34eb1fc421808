"""Functions under a condition are computed before it in loops in lanes, and the results stay Python's."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.codegen.openmp import NOT_SUNK
from loopwright.toolchain.cc import ONLY_GCC

F = Callable[..., Any]


def chosen(x, y, out):
    for i in range(x.shape[0]):
        out[i] = np.arctan2(x[i], y[i]) if x[i] > 0.5 else 0.0


def chosen_later(x, y, out):
    for i in range(x.shape[0]):
        angle = np.arctan2(x[i], y[i])
        out[i] = angle if x[i] > 0.5 else 0.0


def where(x, y, out):
    out[:] = np.where((x > 0.5) & (y < 0.9), np.exp(np.sin(x) * y), np.log(x + 2.0))


def branches(x, y, out):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            out[i] = np.exp(y[i]) + np.log(y[i])
        elif y[i] > 0.2:
            out[i] = np.sqrt(y[i]) * np.exp(-x[i])


def in_sums(x, y, out):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.exp(-y[i]) if x[i] < 0.7 else 1.0
    out[0] = total


def powers(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] ** 1.7 if y[i] > 0.5 else y[i] ** 3


EARLY: list[F] = [powers, chosen, chosen_later, where, branches, in_sums]


def only_inside(x, y, out):
    for i in range(x.shape[0]):
        out[i] = np.exp(y[i + 1]) if i + 1 < y.shape[0] else 0.0


def changed_before(x, y, out):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            out[i] = 2.0 * y[i]
            out[i] = np.exp(out[i])


def mostly_not(x, y, out):
    for i in range(x.shape[0]):
        out[i] = np.exp(y[i]) if x[i] == 0.5 else 0.0


def mixed(x, y, out):
    for i in range(x.shape[0]):
        k = int(x[i] * 10)
        out[i] = np.exp(y[k % y.shape[0]]) if x[i] > 0.5 else 0.0


LATE: list[F] = [only_inside, changed_before, mostly_not, mixed]


def outcomes(function: F, kind: str, size: int, **options: Any) -> tuple[Any, Any, str]:
    random = np.random.default_rng(size)
    x, y = (random.random(size).astype(kind) for _ in range(2))
    if size > 4:
        x[1], y[2], x[3], y[3] = np.nan, np.nan, np.inf, 0.0
        if function is mixed:
            x[[1, 3]] = 0.75
    mine, right = np.zeros(max(size, 1), kind), np.zeros(max(size, 1), kind)
    given = (mine, right) if function is in_sums else (mine[:size], right[:size])
    kernel = lw.kernel(function, **options)
    kernel(x, y, given[0])
    with np.errstate(all="ignore"):
        function(x, y, given[1])
    return mine, right, Path(kernel.explain(x, y, given[0]).generated.source_path).read_text()


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("function", [*EARLY, *LATE], ids=lambda one: one.__name__)
def test_results_are_pythons(function: F, kind: str) -> None:
    for size in (0, 1, 5, 64, 1001):
        mine, right, _ = outcomes(function, kind, size)
        np.testing.assert_allclose(
            mine, right, rtol=2e-6 if kind == "float32" else 1e-14, atol=1e-15 if kind == "float64" else 1e-6
        )


@pytest.mark.parametrize("function", EARLY, ids=lambda one: one.__name__)
def test_all_lanes_compute_them(function: F) -> None:
    text = outcomes(function, "float64", 8)[2]
    assert ("LW_EARLY(lw_early" in text) == (function is not chosen_later)


@pytest.mark.parametrize("function", EARLY, ids=lambda one: one.__name__)
def test_the_compiler_has_lanes_for_them(function: F) -> None:
    """Which calls functions of whole registers: their names begin so (the vector ABI of x86)."""
    name, version = platform.libc_ver()
    if platform.machine() != "x86_64" or name != "glibc" or tuple(map(int, version.split("."))) < (2, 35):
        pytest.skip("no functions of whole registers here")
    x, y, out = np.ones((3, 9))
    generated = lw.kernel(function)
    generated(x, y, out)
    library = Path(generated.explain(x, y, out).generated.source_path).with_suffix(".so")
    assert b"_ZGV" in library.read_bytes()


def test_what_only_gcc_knows_other_compilers_are_not_told() -> None:
    assert set(NOT_SUNK) <= ONLY_GCC


@pytest.mark.parametrize("function", LATE, ids=lambda one: one.__name__)
def test_what_may_not_be_there_or_is_rare_waits_for_its_condition(function: F) -> None:
    assert "LW_EARLY(lw_early" not in outcomes(function, "float64", 8)[2]


def test_not_where_the_last_bit_counts() -> None:
    mine, right, text = outcomes(chosen, "float64", 1000, strict=True)
    np.testing.assert_allclose(mine, right, rtol=1e-14)
    assert "LW_EARLY(lw_early" not in text
