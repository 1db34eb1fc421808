"""Loops that hold others under conditions, by the default recipe on a grid; results on the emulated GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree

DRAW = np.random.default_rng(5)


def votes(seen, shift, found):
    for i in range(seen.shape[0]):
        for j in range(seen.shape[1]):
            if seen[i, j]:
                for t in range(len(shift)):
                    found[t, (i + j * shift[t]) % found.shape[1]] += 1


def around(x, first, count, out):
    for i in range(len(out)):
        s = 0.0
        for d in range(-1, 2):
            c = i % len(first) + d
            if 0 <= c < len(first):
                for k in range(first[c], first[c] + count[c]):
                    s += x[k] * d
        out[i] = s


def in_rows(x, first, count, out):
    for r in range(out.shape[0]):
        for i in range(out.shape[1]):
            s = 0.0
            for c in range(len(first)):
                if c != i:
                    for k in range(first[c], first[c] + count[c]):
                        s += x[k]
            out[r, i] = s * r


def check(function: Callable[..., object], *arguments: np.ndarray) -> str:
    """The schedule."""
    wanted = [one.copy() for one in arguments]
    function(*wanted)
    kernel = lw.kernel(device="emulated")(function)
    with lw.options(device="emulated"):
        given: Any = [lw.device_array(one) for one in arguments]
    kernel(*given)
    for mine, right in zip(given, wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), right, rtol=1e-12, atol=1e-12)
    found = kernel.explain(*given)
    assert "not on a GPU" not in str(found)
    return str(found.schedule)


def test_iterations_that_add_by_key_are_shared_along_both_axes() -> None:
    schedule = check(votes, DRAW.random((9, 31)) < 0.3, DRAW.integers(0, 9, 20), np.zeros((20, 17), np.int32))
    assert re.search(r"bind i\.o block\.x; bind i thread\.y; bind j thread\.x", schedule)


def test_lists_under_conditions_inside_of_loops_in_order() -> None:
    first, count = np.arange(0, 60, 6), DRAW.integers(0, 7, 10)
    schedule = check(around, DRAW.random(80), first, count, np.zeros(70))
    assert re.search(r"bind i\.o block\.x; bind i thread\.x", schedule) and "reduce" not in schedule
    schedule = check(in_rows, DRAW.random(80), first, count, np.zeros((3, 11)))
    assert "block.x" in schedule and "reduce" not in schedule


def chains(lower, diagonal, x):
    """Blocks of 3 are eliminated along each chain; but the first one has none before it."""
    for s in range(x.shape[0]):
        for i in range(x.shape[1]):
            if i > 0:
                for a in range(3):
                    for k in range(3):
                        x[s, i, a] -= lower[s, i, a, k] * x[s, i - 1, k]
            for p in range(3):
                scale = 1.0 / diagonal[s, i, p, p]
                for r in range(3):
                    if r != p:
                        factor = diagonal[s, i, r, p] * scale
                        for c in range(p, 3):
                            diagonal[s, i, r, c] -= factor * diagonal[s, i, p, c]
                        x[s, i, r] -= factor * x[s, i, p]


@pytest.mark.parametrize(("many", "length"), [(0, 4), (1, 1), (37, 5), (70, 0)])
def test_short_loops_under_conditions_are_those_of_a_thread(many: int, length: int) -> None:
    blocks = (many, length, 3, 3)
    schedule = check(chains, DRAW.random(blocks), DRAW.random(blocks) + 3 * np.eye(3), DRAW.random(blocks[:3]))
    assert schedule == "split s 32; bind s.o block.x; bind s thread.x 32"


def masked(p, mask, grad):
    loss, count = 0.0, 0
    for i in range(p.shape[0]):
        if mask[i] == 0:
            continue
        count += 1
        for c in range(p.shape[1]):
            loss += p[i, c]
            grad[i, c] = -p[i, c]
    return loss, count


def pairs(p, mask, grad):
    s = 0.0
    for i in range(p.shape[0]):
        for j in range(mask.shape[0]):
            if mask[j] != 0:
                for c in range(p.shape[1]):
                    s += p[i, c] * j
    return s


def largest(p, mask, grad):
    best, s = -1e9, 0.0
    for i in range(p.shape[0]):
        if mask[i] != 0:
            t = 0.0
            for c in range(p.shape[1]):
                for d in range(p.shape[1]):
                    t += p[i, c] * p[i, d]
            best = max(best, t)
            s += t
    return best, s


def with_more_between(p, mask, grad):
    s = 0.0
    for i in range(p.shape[0]):
        t = mask[i] * 0.5
        for j in range(mask.shape[0]):
            if mask[j] != 0:
                for c in range(p.shape[1]):
                    s += p[i, c] * t
        s -= t
    return s


def two_conditions(p, mask, grad):
    s = 0.0
    for i in range(p.shape[0]):
        for j in range(mask.shape[0]):
            if mask[j] == 1:
                for c in range(p.shape[1]):
                    s += p[i, c] * j
        for k in range(mask.shape[0]):
            if mask[k] == 2:
                for d in range(p.shape[1]):
                    s -= p[i, d]
    return s


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (masked, "bind c thread.x"),
        (pairs, "bind c thread.x"),
        (largest, ""),
        (with_more_between, ""),
        (two_conditions, ""),
    ],
)
def test_totals_under_conditions_are_no_launch_for_each_row(function: Callable[..., Any], word: str) -> None:
    kernel = lw.kernel(device="emulated")(function)
    for shape in ((90, 75), (90, 3), (5, 0), (0, 4)):
        p, mask = DRAW.random(shape), np.arange(shape[0]) % 3
        mine, right = np.zeros(shape), np.zeros(shape)
        np.testing.assert_allclose(kernel(p, mask, mine), function(p, mask, right), rtol=1e-12)
        np.testing.assert_array_equal(mine, right)
    schedule = str(kernel.explain(p, mask, mine).schedule)
    assert "reduce i 262144" in schedule.replace(".1", "") and word in schedule


def solved(a, mask, x):
    for i in range(x.shape[0]):
        s = 0.0
        for d in range(mask.shape[0]):
            if mask[d] != 0:
                for c in range(a.shape[1]):
                    s += a[i, c] * x[c] * mask[d]
        x[i] = 0.01 * s


def test_rows_that_need_their_order_are_no_launches_either() -> None:
    kernel = lw.kernel(device="emulated")(solved)
    a, mask, mine, right = DRAW.random((9, 9)), np.arange(9) % 2, np.ones(9), np.ones(9)
    kernel(a, mask, mine)
    solved(a, mask, right)
    np.testing.assert_allclose(mine, right, rtol=1e-12)
    assert "would be a launch" in str(kernel.explain(a, mask, mine))


def windows(x, k, v, first, size, out, norm):
    for h in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(i + 1):
                if j < first or j > i - size:
                    p = x[h, i] * k[j]
                    norm[h, i] += p
                    for c in range(v.shape[1]):
                        out[h, i, c] += p * v[j, c]


def test_what_a_condition_lets_through_is_no_launch() -> None:
    """Rows without order have blocks; what stands between them and the inner loop is theirs."""
    x, k, v = (DRAW.integers(-3, 4, shape).astype(float) for shape in ((2, 9), 9, (9, 5)))
    wanted, found = ([np.zeros((2, 9, 5)), np.zeros((2, 9))] for _ in range(2))
    windows(x, k, v, 2, 3, *wanted)
    kernel = lw.kernel(device="emulated")(windows)
    kernel(x, k, v, 2, 3, *found)
    assert all(np.array_equal(a, b) for a, b in zip(wanted, found, strict=True))
    schedule = str(kernel.explain(x, k, v, 2, 3, *found).schedule)
    assert "bind h block.y; bind i block.x; bind c thread.x 512" in schedule


def triples(at, near, cut, force, energy):
    for i in range(near.shape[0]):
        for p in range(near.shape[1]):
            j = near[i, p]
            d = at[j] - at[i]
            if abs(d) >= cut:
                continue
            energy[i] += d * d
            force[i] -= d
            force[j] += d
            for q in range(p + 1, near.shape[1]):
                k = near[i, q]
                e = at[k] - at[i]
                if abs(e) >= cut:
                    continue
                force[i] += d * e
                force[j] -= d * e
                force[k] -= e


@pytest.mark.parametrize("atoms", [0, 1, 9, 40])
def test_atoms_that_pull_at_others_and_at_themselves_have_a_thread_each(atoms: int) -> None:
    draw = np.random.default_rng(atoms)
    at, near = draw.integers(0, 9, atoms).astype(float), draw.integers(0, max(atoms, 1), (atoms, 5)).astype(np.int32)
    found = agree(triples, at, near, 4.0, np.zeros(atoms), np.zeros(atoms), strict=False)
    assert found.analysed.recipe.not_on_gpu == ""
    assert any(str(one.step).startswith("bind i thread.x") for one in found.analysed.recipe.decisions)
