"""Few long sums: which nests get a version for them, and what comes out, on the emulated device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree

RANDOM = np.random.default_rng(11)


def whole(*shape: int) -> Any:
    return RANDOM.integers(-9, 10, shape).astype(float)


def gram(a, c):
    for i in range(a.shape[1]):
        for j in range(a.shape[1]):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[k, i] * a[k, j]
            c[i, j] = s


def moments(a, c):
    for j in range(a.shape[1]):
        s = 0.0
        q = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
            q += a[i, j] * a[i, j]
        c[0, j] = s
        c[1, j] = q


def added(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[0, j] += a[i, j]


def extremes(a, c):
    for j in range(a.shape[1]):
        least = np.inf
        for i in range(a.shape[0]):
            least = min(least, a[i, j])
        c[0, j] = least


def running(a, c):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
            c[i, j] = s


def running_down(a, c):
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            c[i, j] = c[i - 1, j] + a[i, j]


def three(a, c):
    for j in range(3):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
        c[0, j] = s


def a_thousand(a, c):
    for j in range(1000):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j % 3]
        c[0, j % 3] = s


def steps_of(kernel: Any, *arguments: Any, strict: bool = False) -> list[str]:
    found = agree(kernel, *arguments, strict=strict)
    return [str(decision.step) for decision in found.analysed.recipe.decisions]


@pytest.mark.parametrize(("rows", "columns"), [(300, 5), (5, 300), (1, 1), (0, 3), (3, 0), (700, 64), (30, 257)])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (moments, ["specialize a.1 >= 256 in j", "reduce i.1 8192", "expand s.1.x j.1", "expand q.1.x j.1"]),
        (added, ["specialize a.1 >= 256 in j", "reduce i.1 8192", "expand c.e.x j.1"]),
        (extremes, ["specialize a.1 >= 256 in j", "reduce i.1 8192", "expand least.1.x j.1"]),
        (running, ["specialize a.0 >= 256 in i", "scan j.1 512"]),
    ],
)
def test_few_sums_are_made_of_partial_ones(kernel: Any, wanted: list[str], rows: int, columns: int) -> None:
    steps = steps_of(kernel, whole(rows, columns), whole(max(2, rows), columns))
    assert [step for step in steps if step in wanted] == wanted


@pytest.mark.parametrize("columns", [0, 1, 3, 63, 64, 70])
def test_products_have_versions_for_how_many_sums_there_are(columns: int) -> None:
    steps = steps_of(gram, whole(40, columns), np.zeros((columns, columns)))
    assert [step for step in steps if step.startswith(("specialize a", "reduce"))] == [
        "specialize a.1 >= 512 in i",
        "specialize a.1*a.1 >= 65536 in i.1",
        "specialize a.1*a.1 >= 4096 in i.1.1",
        "reduce k.1.1 64",
        "reduce k.1.1.1 1024",
    ]
    assert sum(step.startswith("stage") for step in steps) == 2, "tiles are for the first version only"


def test_a_known_number_of_sums_needs_no_version() -> None:
    a = whole(40, 3)
    few = steps_of(three, a, np.zeros((1, 3)))
    assert "reduce i 8192" in few and not any(step.startswith("specialize") for step in few)


def test_many_sums_stay_as_they_are() -> None:
    steps = steps_of(a_thousand, whole(40, 3), np.zeros((1, 3)))
    assert not any(step.startswith("reduce i") and step.endswith("8192") for step in steps)


def test_strict_adds_in_order() -> None:
    assert not any(
        step.startswith(("reduce", "scan")) for step in steps_of(moments, whole(9, 4), whole(2, 4), strict=True)
    )


def test_a_running_sum_down_columns_is_one_grid() -> None:
    steps = steps_of(running_down, whole(30, 40), whole(30, 40))
    assert "reorder j i" in steps and "bind j.o block.x" in steps
