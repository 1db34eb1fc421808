"""Rows that are gone through in stages, on the emulated GPU, beside CPython."""

from __future__ import annotations

import math

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text
from loopwright.recipe import grid_stages

DRAW = np.random.default_rng(41)


def hadamard(x):
    for r in range(x.shape[0]):
        half = 1
        while half < x.shape[1]:
            for i in range(0, x.shape[1], 2 * half):
                for j in range(i, i + half):
                    a, b = x[r, j], x[r, j + half]
                    x[r, j] = a + b
                    x[r, j + half] = a - b
            half *= 2


def fourier(re, im):
    rows, n = re.shape
    for r in range(rows):
        j = 0
        for i in range(1, n):
            bit = n >> 1
            while j & bit:
                j ^= bit
                bit >>= 1
            j |= bit
            if i < j:
                re[r, i], re[r, j] = re[r, j], re[r, i]
                im[r, i], im[r, j] = im[r, j], im[r, i]
        size = 2
        while size <= n:
            half = size // 2
            for start in range(0, n, size):
                for k in range(half):
                    angle = -2 * math.pi * k / size
                    wr, wi = math.cos(angle), math.sin(angle)
                    p, q = start + k, start + k + half
                    tr = wr * re[r, q] - wi * im[r, q]
                    ti = wr * im[r, q] + wi * re[r, q]
                    re[r, q] = re[r, p] - tr
                    im[r, q] = im[r, p] - ti
                    re[r, p] += tr
                    im[r, p] += ti
            size *= 2


def bitonic(x):
    for r in range(x.shape[0]):
        k = 2
        while k <= x.shape[1]:
            j = k // 2
            while j > 0:
                for i in range(x.shape[1]):
                    other = i ^ j
                    if other > i:
                        a, b = x[r, i], x[r, other]
                        if (a > b) == ((i & k) == 0):
                            x[r, i] = b
                            x[r, other] = a
                j //= 2
            k *= 2


def relaxed(x, rounds):
    for r in range(x.shape[0]):
        change = 1.0
        while change > 0.01 and rounds[r] < 30:
            change = 0.0
            y = np.zeros(x.shape[1])
            for i in range(1, x.shape[1] - 1):
                y[i] = 0.5 * (x[r, i - 1] + x[r, i + 1])
            for i in range(1, x.shape[1] - 1):
                change = max(change, abs(y[i] - x[r, i]))
                x[r, i] = y[i]
            rounds[r] += 1


def until_found(x, steps):
    for r in range(x.shape[0]):
        while x[r, 0] < 40.0:
            for i in range(x.shape[1]):
                x[r, i] = x[r, i] * 1.5 + 1.0
            if x[r, x.shape[1] - 1] > 30.0:
                break
            steps[r] += 1


def down_columns(x):
    for c in range(x.shape[1]):
        half = 1
        while half < x.shape[0]:
            for i in range(0, x.shape[0], 2 * half):
                for j in range(i, i + half):
                    a, b = x[j, c], x[j + half, c]
                    x[j, c] = a + b
                    x[j + half, c] = a - b
            half *= 2


def steps_of(found) -> str:
    return "; ".join(str(one.step) for one in found.analysed.recipe.decisions)


@pytest.mark.parametrize("length", [1, 4, 64, 256, 2048])
def test_threads_share_the_stages_of_a_transform(length: int) -> None:
    found = agree(hadamard, DRAW.integers(-9, 10, (3, length)).astype(float), strict=False)
    assert "collapse i.n j.n" in steps_of(found) and "bind i.n.j.n thread.x 512" in steps_of(found)


@pytest.mark.parametrize("length", [2, 8, 128])
def test_one_thread_does_what_needs_its_order_before_the_stages_of_few_rows(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_stages, "BUSY", 3)
    for rows in (2, 5):
        found = agree(fourier, *DRAW.normal(size=(2, rows, length)), strict=False)
    assert "bind r thread.x" in steps_of(found) and "bind start.n.1.k.1 thread.x 512" in steps_of(found)


@pytest.mark.parametrize(("rows", "length"), [(0, 8), (5, 4), (5, 32), (2, 256)])
def test_sorting_networks(rows: int, length: int) -> None:
    found = agree(bitonic, DRAW.normal(size=(rows, length)), strict=False)
    assert "bind i thread.x 512" in steps_of(found)


@pytest.mark.parametrize("length", [1, 2, 5, 40, 200])
def test_what_all_find_together_ends_the_stages(length: int) -> None:
    x = DRAW.normal(size=(4, length))
    x[0] = math.nan
    found = agree(relaxed, x, np.zeros(4, int), strict=False)
    assert "bind i thread.x 512" in steps_of(found)


@pytest.mark.parametrize("length", [1, 7, 150])
def test_an_element_ends_the_stages(length: int) -> None:
    x = DRAW.random((6, length))
    x[:, -1] *= 30.0
    agree(until_found, x, np.zeros(6, int), strict=False)


def test_columns_have_a_thread_each() -> None:
    found = agree(down_columns, DRAW.normal(size=(16, 40)), strict=False)
    assert "thread.x 512" not in steps_of(found)


def counted_by(x, y, places, rounds):
    for r in range(x.shape[0]):
        while rounds[r] < 3:
            for i in range(x.shape[1]):
                x[r, i] += 1.0
            rounds[r] += y[places[r]]


def test_an_error_of_the_one_thread_that_ends_the_stages_ends_all() -> None:
    arguments = np.zeros((5, 300)), np.ones(4, int), np.array([0, 1, 9, 2, 3]), np.zeros(5, int)
    kernel = lw.kernel(counted_by)
    with lw.options(device="emulated"):
        with pytest.raises(lw.BoundsError, match="index 9"):
            kernel(*arguments)
        assert "bind i thread.x 512" in str(kernel.explain(*arguments).schedule)
        text = device_text(kernel.specialisations()[0])
    assert "if (__syncthreads_count(1) != 512) lw_stop();" in text  # where nobody asks either
