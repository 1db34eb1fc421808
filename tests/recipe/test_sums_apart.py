"""Sums over a long loop that stand beside other work: which are cut off, and what comes out, on the emulated device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

RANDOM = np.random.default_rng(12)


def whole(*shape: int) -> Any:
    return RANDOM.integers(1, 9, shape).astype(float)


def steps_of(kernel: Any, *arguments: Any, strict: bool = False) -> list[str]:
    found = agree(kernel, *arguments, strict=strict)
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


def mixture(x, mu, counts, sums, share):
    total = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for c in range(mu.shape[0]):
            s = 0.0
            for j in range(x.shape[1]):
                s += x[i, j] * mu[c, j]
            share[i, c] = s
            z += s
        total += z
        for c in range(mu.shape[0]):
            r = share[i, c] - z
            share[i, c] = r
            counts[c] += r
            for j in range(x.shape[1]):
                sums[c, j] += r * x[i, j]
    return total


def layer(x, dy, dx, dg, db):
    for i in range(x.shape[0]):
        m = 0.0
        for j in range(x.shape[1]):
            m += x[i, j]
        b = 0.0
        for j in range(x.shape[1]):
            h = x[i, j] - m
            b += dy[i, j] * h
            dg[j] += dy[i, j] * h
            db[j] += dy[i, j]
        for j in range(x.shape[1]):
            dx[i, j] = dy[i, j] - b


def normal_equations(x, y, xtx, xty):
    for i in range(x.shape[0]):
        for a in range(3):
            xty[a] += x[i, a] * y[i]
            for b in range(3):
                xtx[a, b] += x[i, a] * x[i, b]


def of_eight(x, xtx):
    for i in range(x.shape[0]):
        for a in range(8):
            for b in range(8):
                xtx[a, b] += x[i, a] * x[i, b]


def triangle(x, c):
    for i in range(x.shape[0]):
        for a in range(x.shape[1]):
            for b in range(a + 1):
                c[a, b] += x[i, a] * x[i, b]


@pytest.mark.parametrize("n", [0, 1, 7, 300])
@pytest.mark.parametrize("k", [1, 4])
def test_sums_of_classes_that_have_shares(n: int, k: int) -> None:
    steps = steps_of(mixture, whole(n, 3), whole(k, 3), np.zeros(k), np.zeros((k, 3)), np.zeros((n, k)))
    assert any(step.startswith(("expand r c", "expand r i c")) for step in steps)
    assert any(step.startswith("reduce i.1") for step in steps)


def test_the_calls_of_a_version_are_all_calls() -> None:
    """What each of the versions needs of sizes is known from the kernel as it was written."""
    n, k, given = 40, 6, lw.kernel(mixture)
    arguments = whole(n, 3), whole(k, 3), np.zeros(k), np.zeros((k, 3)), np.zeros((n, k))
    with lw.options(device="emulated"):
        given(*arguments)
        assert "every access checked" not in str(given.explain(*arguments))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (40, 5), (7, 130)])
def test_the_gradients_of_a_layer(shape: tuple[int, int]) -> None:
    arguments = whole(*shape), whole(*shape), np.zeros(shape), np.zeros(shape[1]), np.zeros(shape[1])
    steps = steps_of(layer, *arguments)
    assert "forward h" in steps  # as cheap as to keep it
    assert sum(step.startswith("reduce i") for step in steps) == 4  # for each sum, versions for few columns and some
    assert not any(step.startswith(("fission", "reduce")) for step in steps_of(layer, *arguments, strict=True))


@pytest.mark.parametrize("n", [0, 1, 5, 1000])
def test_few_sums_of_known_number_over_a_long_loop(n: int) -> None:
    steps = steps_of(normal_equations, whole(n, 3), whole(n), np.zeros((3, 3)), np.zeros(3))
    assert [step.split()[2] for step in steps if step.startswith("reduce i")] == ["8192", "4096"]


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_a_block_has_all_of_a_small_matrix(n: int) -> None:
    steps = steps_of(of_eight, whole(n, 8), np.zeros((8, 8)))
    assert "tile a 8 b 8" in steps and "bind i.l block.z" in steps


@pytest.mark.parametrize(("n", "k"), [(0, 3), (3, 0), (1, 1), (300, 5), (600, 70)])
def test_a_triangle_of_sums_over_a_long_loop(n: int, k: int) -> None:
    steps = steps_of(triangle, whole(n, k), np.ones((k, k)))
    assert "guard b a" in steps and any(step.startswith("reduce i") for step in steps)


def group_norm_backward(x, dy, groups, dx):
    size = x.shape[2] // groups
    dgamma = np.zeros(x.shape[2])
    for b in range(x.shape[0]):
        for g in range(groups):
            total = 0.0
            for i in range(x.shape[1]):
                for c in range(g * size, (g + 1) * size):
                    total += x[b, i, c]
            mean = total / 4
            back = 0.0
            for i in range(x.shape[1]):
                for c in range(g * size, (g + 1) * size):
                    norm = x[b, i, c] - mean
                    back += dy[b, i, c] * norm
                    dgamma[c] += dy[b, i, c] * norm
            for i in range(x.shape[1]):
                for c in range(g * size, (g + 1) * size):
                    dx[b, i, c] = dy[b, i, c] - back
    return dgamma


@pytest.mark.parametrize("shape", [(0, 3, 4), (1, 1, 2), (3, 5, 8)])
def test_what_groups_keep_in_between_is_kept_for_each_loop_around(shape: tuple[int, int, int]) -> None:
    x, dy = RANDOM.integers(-9, 9, (2, *shape)).astype(float)
    steps = [
        str(one.step)
        for one in agree(group_norm_backward, x, dy, 2, np.zeros(shape), strict=False).analysed.recipe.decisions
    ]
    assert "expand mean b g" in steps and not any(step.startswith("expand total") for step in steps)
    assert {"bind b block.y", "bind g block.x", "bind i thread.y 16"} <= set(steps)


def pairs(x, y, dx, dy):
    loss = np.float64(0.0)
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                s += x[i, k] * y[j, k]
            sign = 1.0 if i == j else -1.0
            loss += max(1.0 - sign * s, 0.0)
            d = -sign / (1.0 + math.exp(sign * s))
            for k in range(x.shape[1]):
                dx[i, k] += d * y[j, k]
                dy[j, k] += d * x[i, k]
    return loss


@pytest.mark.parametrize("size", [0, 1, 6])
def test_sums_are_apart_in_the_version_for_few_whose_products_are(size: int) -> None:
    x, y = RANDOM.integers(-2, 3, (2, size, 5)) / 4.0
    found = agree(pairs, x, y, np.zeros_like(x), np.zeros_like(y), strict=False)
    steps = [str(one.step) for one in found.analysed.recipe.decisions]
    assert "expand d.1 i.1.2 j.1.2" in steps and "expand d i j" not in steps  # of many there is no room for all


def gated(x, dy, groups, dw):
    size = x.shape[1] // groups
    for r in range(x.shape[0]):
        for g in range(groups):
            for i in range(g * size, (g + 1) * size):
                dw[i] += dy[r, i] * x[r, i]


@pytest.mark.parametrize("shape", [(0, 4), (3, 6), (40, 66)])
def test_sums_over_rows_of_groups_are_no_launch_for_each_row(shape: tuple[int, int]) -> None:
    x, dy = RANDOM.integers(-9, 9, (2, *shape)).astype(float)
    found = agree(gated, x, dy, 2, np.zeros(shape[1]), strict=False)
    text = "; ".join(str(one.step) for one in found.analysed.recipe.decisions)
    assert "reorder g i.n r" in text or "reorder g i r" in text, text
