"""Elements that are the same in all iterations in lanes are read before the loop, where conditions say nothing of
indices; results are CPython's, and so are errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw

F = Callable[..., Any]


def pairs(t, p, seen):
    count, half, total = 0, 0, 0.0
    for i in range(len(t)):
        for j in range(len(t)):
            if t[j] > t[i] or (t[j] == t[i] and not seen[j]):
                count += 1
                if p[j] > p[i]:
                    total += 1.0
                elif p[j] == p[i]:
                    total += 0.5
                    half += 1
    return count, half, total


def scalars(t, p, seen):
    total = 0.0
    for i in range(len(t)):
        for j in range(len(t)):
            d = t[j] * 2.0 - 1.0
            if d > 0.0:
                total += d * p[i] if seen[j] else d - p[i]
    return total, 0


FIXED: list[F] = [pairs, scalars]


def behind_a_size(t, p, seen):
    total = 0.0
    for j in range(len(t)):
        if len(p) > 3 and t[j] > 0.0:
            total += p[3] * t[j]
    return total


def behind_an_index(t, p, seen):
    total = 0.0
    for j in range(len(t)):
        if j > 200:
            total += p[200]
        elif t[j] > 0.2:
            total += t[j]
    return total


def written(t, p, seen):
    for j in range(len(t) - 1):
        if t[j] > 0.2:
            t[j + 1] = t[0]


WAITING: list[F] = [behind_a_size, behind_an_index, written]


def outcome(function: F, size: int) -> tuple[Any, Any, str]:
    random = np.random.default_rng(size)
    given = random.integers(0, 5, size) / 4, random.integers(0, 4, max(size, 3)) / 4, random.random(max(size, 1)) > 0.4
    mine, right = [one.copy() for one in given], [one.copy() for one in given]
    kernel = lw.kernel(function)
    results = kernel(*mine), function(*right)
    text = Path(kernel.explain(*mine).generated.source_path).read_text()
    return (
        (np.array(results[0]).tolist(), *(one.tolist() for one in mine)),
        (np.array(results[1]).tolist(), *(one.tolist() for one in right)),
        text,
    )


@pytest.mark.parametrize("function", [*FIXED, *WAITING], ids=lambda one: one.__name__)
def test_results_are_pythons(function: F) -> None:
    for size in (0, 1, 3, 40, 300):
        mine, right, _ = outcome(function, size)
        assert mine == right


@pytest.mark.parametrize("function", FIXED, ids=lambda one: one.__name__)
def test_they_are_read_before_the_loop(function: F) -> None:
    assert "lw_fixed" in outcome(function, 9)[2]


@pytest.mark.parametrize("function", WAITING, ids=lambda one: one.__name__)
def test_what_may_not_be_there_or_changes_is_read_where_it_stands(function: F) -> None:
    assert "lw_fixed" not in outcome(function, 9)[2]
