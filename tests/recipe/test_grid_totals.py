"""Totals of whole nests: which loops blocks and threads share, and what comes out on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(6)
SHAPES = [(0, 3), (3, 0), (1, 1), (5, 63), (5, 64), (1030, 3), (3, 300)]


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def extremes(a):
    low = 100.0
    high = -100.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            low = min(low, a[i, j])
            high = max(high, a[i, j])
    return low, high


def short(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(3):
            s += a[i, 0] * j
    return s


def triangle(a):
    s = 0.0
    for i in range(min(a.shape[0], a.shape[1])):
        for j in range(i):
            s += a[i, j]
    return s


def deep(a):
    s = 0.0
    for i in range(a.shape[0]):
        for k in range(2):
            for j in range(a.shape[1]):
                s += a[i, j] * k
    return s


def steps_of(found: Any) -> list[str]:
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", [total, extremes])
def test_blocks_go_along_long_rows_and_threads_along_short_ones(kernel: Any, shape: tuple[int, int]) -> None:
    steps = steps_of(agree(kernel, RANDOM.integers(-9, 9, shape).astype(float), strict=False))
    assert steps[0] == "specialize a.1 >= 64 in i"
    assert {"reduce i 1024", "bind i.l block.x", "bind j thread.x 256", "reduce i.1 262144"} <= set(steps)


@pytest.mark.parametrize("shape", [(1, 1), (3, 300)])
def test_three_loops(shape: tuple[int, int]) -> None:
    steps = steps_of(agree(deep, RANDOM.integers(-9, 9, shape).astype(float), strict=False))
    assert {"bind k thread.y 8", "bind j thread.x 32"} <= set(steps)


@pytest.mark.parametrize("shape", [(1, 1), (70, 80)])
@pytest.mark.parametrize("kernel", [short, triangle])
def test_other_totals(kernel: Any, shape: tuple[int, int]) -> None:
    steps = steps_of(agree(kernel, RANDOM.integers(-9, 9, shape).astype(float), strict=False))
    assert any(step.startswith("reduce i ") for step in steps)


def test_strict_sums_are_for_the_cpu() -> None:
    agree(total, np.ones((4, 70)), why_not="one thread would run 'j', whose iterations need their order")


def walks(counts, n):
    left = 0
    for k in range(n):
        state = k
        while state > 3:
            state //= 2
            counts[state % 5] += 1
        left += state
    return left


@pytest.mark.parametrize("n", [0, 1, 700])
def test_walks_that_count_by_key_and_have_a_total(n: int) -> None:
    steps = steps_of(agree(walks, np.zeros(5, np.int64), n, strict=False))
    assert steps[0].startswith("reduce k ") and any(step.startswith("bind k.l thread.x") for step in steps)


def relaxed(p, column, x):
    for i in range(len(p) - 1):
        best = x[i]
        for k in range(p[i], p[i + 1]):
            best = min(best, x[column[k]] + 1.0)
        x[i] = best


def test_short_rows_in_order_are_for_the_cpu() -> None:
    p, column = np.array([0, 2, 2, 5, 6]), np.array([1, 3, 0, 2, 3, 2])
    why = "one thread would run 'k', whose iterations need their order"
    agree(relaxed, p, column, np.array([0.0, 9.0, 9.0, 9.0]), why_not=why)


def weighted(p, m):
    s = 0.0
    for i in range(p.shape[0]):
        for j in range(m.shape[0]):
            t = m[j] * 2.0
            for c in range(p.shape[1]):
                s += p[i, c] * t
    return s


def added_between(p, m):
    s = 0.0
    for i in range(p.shape[0]):
        for j in range(m.shape[0]):
            s += m[j]
            for c in range(p.shape[1]):
                s += p[i, c] * m[j]
    return s


@pytest.mark.parametrize("function", [weighted, added_between])
def test_what_stands_between_the_rows_of_a_total_is_not_lost(function: Any) -> None:
    """Where rows are long, the threads of a block share their elements; the rows too only with nothing between."""
    p, m = np.random.default_rng(3).random((9, 75)), np.arange(20) % 3
    kernel = lw.kernel(device="emulated")(function)
    np.testing.assert_allclose(kernel(p, m), function(p, m), rtol=1e-12)
    np.testing.assert_allclose(kernel(p[:, :5].copy(), m), function(p[:, :5], m), rtol=1e-12)


def spread_labels(label):
    rounds = 0
    changed = True
    while changed:
        changed = False
        rounds += 1
        new = label.copy()
        for i in range(label.shape[0]):
            for j in range(label.shape[1]):
                best = label[i, j]
                if i > 0:
                    best = max(best, label[i - 1, j])
                if j > 0:
                    best = max(best, label[i, j - 1])
                if best != label[i, j]:
                    new[i, j] = best
                    changed = True
        label[:] = new
    return rounds


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 9), (3, 70), (70, 64)])
def test_whether_anything_has_changed_is_a_total(shape: tuple[int, int]) -> None:
    found = agree(spread_labels, RANDOM.integers(0, 9, shape))
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert any(step.startswith("reduce i") for step in steps)


def losses(x, label, out):
    total = 0.0
    seen = 0
    for i in range(x.shape[0]):
        if label[i] < 0:
            continue
        top = x[i, 0]
        for j in range(1, x.shape[1]):
            top = max(top, x[i, j])
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] - top
        total += s - x[i, label[i]]
        seen += 1
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] - s
        out[i, label[i]] -= 1.0
    return total, seen


@pytest.mark.parametrize("shape", [(0, 70), (1, 1), (9, 63), (9, 64), (1100, 70)])
def test_blocks_go_along_all_loops_of_a_row_that_is_under_a_condition(shape: tuple[int, int]) -> None:
    x, label = RANDOM.integers(-9, 9, shape).astype(float), RANDOM.integers(-1, shape[1], shape[0])
    found = agree(losses, x, label, np.zeros(shape), strict=False)
    steps = [str(decision.step) for decision in found.analysed.recipe.decisions]
    assert {"reduce i 1024", "bind i.l block.x", *(f"bind j{k} thread.x 256" for k in ("", ".2", ".3"))} <= set(steps)


def windows(a, width):
    s = 0.0
    for i in range(a.shape[0] - width + 1):
        for j in range(a.shape[1] - width + 1):
            t = 0.0
            for u in range(width):
                for v in range(width):
                    t += a[i + u, j + v]
            s += t * t
    return s


def peaks(a):
    found = 0
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            if a[i, j] > 0 and a[i, j] == a[i - 1 : i + 2, j - 1 : j + 2].max():
                found += 1
    return found


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 70), (40, 9)])
def test_each_term_of_a_total_may_have_a_window(shape: tuple[int, int]) -> None:
    a = RANDOM.integers(-9, 9, shape).astype(float)
    steps = steps_of(agree(windows, a, 2, strict=False))
    assert {"reduce i 1024", "bind i.l block.x", "bind j thread.x 256"} <= set(steps)
    steps = steps_of(agree(peaks, a, strict=False))
    assert {"reduce i 1024", "bind i.l block.x", "bind j thread.x 256"} <= set(steps)
