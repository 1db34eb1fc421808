"""Sums of terms that are sums over two rows: which loops have a nest for their terms, and what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree
from loopwright.recipe import terms_apart
from loopwright.recipe.terms_apart import LeastShape


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Few rows are many here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms_apart, "MANY", LeastShape(8, 8, 2, 4))
        patch.setattr(terms_apart, "FEW", LeastShape(16, 2, 2, 8))
        yield


def density(x, width, y):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - x[j, k]) ** 2
            s += min(d, width)
        y[i] = s


def nearest(x, z, which, far):
    for i in range(x.shape[0]):
        best = 1e9
        place = -1
        for j in range(z.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += x[i, k] * z[j, k]
            if d < best:
                best = d
                place = j
        which[i] = place
        far[i] = best


def nearest_of_five(x, z, far):
    for i in range(x.shape[0]):
        best = 1e9
        for j in range(5):
            d = 0.0
            for k in range(x.shape[1]):
                d += x[i, k] * z[j, k]
            best = min(best, d)
        far[i] = best


def furthest(x, label):
    total = 0.0
    for i in range(x.shape[0]):
        far = 0.0
        for j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - x[j, k]) ** 2
            far = max(far, d + label[j])
        if far > 2.0:
            part = far - 2.0
            total += part
    return total


def of_rows_alone(x, width, y):
    for i in range(x.shape[0]):
        s = 0.0
        for _j in range(x.shape[0]):
            d = 0.0
            for k in range(x.shape[1]):
                d += x[i, k] * width
            s += d
        y[i] = s


def steps_of(found: Any) -> str:
    return "; ".join(str(decision.step) for decision in found.analysed.recipe.decisions)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (9, 1), (8, 2), (13, 5)])
def test_terms_have_a_nest_of_their_own_where_there_are_many(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).integers(-5, 5, shape).astype(float)
    steps = steps_of(agree(density, x, 2.0, np.zeros(shape[0]), strict=False))
    assert steps.startswith("specialize x.0 4*x.1 >= 8 in i; specialize x.0 >= 131072 in i; split i.")
    z = np.random.default_rng(2).integers(-5, 5, (shape[0] + 3, shape[1])).astype(float)
    steps = steps_of(agree(nearest, x, z, np.zeros(shape[0], np.int64), np.zeros(shape[0]), strict=False))
    assert steps.startswith("specialize x.0 z.0 4*x.1 >= 8 in i;")


@pytest.mark.parametrize(("rows", "terms", "elements"), [(0, 3, 2), (15, 3, 2), (16, 2, 2), (37, 5, 3), (37, 1, 3)])
def test_few_terms_have_one_where_there_are_many_rows(rows: int, terms: int, elements: int) -> None:
    draw = np.random.default_rng(5)
    x, z = (draw.integers(-5, 5, (count, elements)).astype(float) for count in (rows, terms))
    steps = steps_of(agree(nearest, x, z, np.zeros(rows, np.int64), np.zeros(rows), strict=False))
    assert "specialize x.0 8*z.0 8*x.1 >= 16 in i.1; split i.1 8" in steps
    few = z[:5].copy()
    steps = steps_of(agree(nearest_of_five, x, few if terms >= 5 else np.ones((5, elements)), np.zeros(rows)))
    assert steps.startswith("specialize x.0 8*x.1 >= 16 in i; split i 8")


def test_as_many_terms_as_rows_have_no_second_version() -> None:
    x = np.random.default_rng(1).integers(-5, 5, (9, 3)).astype(float)
    assert "8*x.0" not in steps_of(agree(density, x, 2.0, np.zeros(9), strict=False))


@pytest.mark.parametrize("rows", [0, 5, 13])
def test_what_rows_add_up_comes_after_them(rows: int) -> None:
    x = np.random.default_rng(3).integers(-5, 5, (rows, 4)).astype(float)
    steps = steps_of(agree(furthest, x, np.arange(float(rows)), strict=False))
    assert steps.startswith("fission i") and "specialize x.0 4*x.1 >= 8" in steps


def test_terms_of_one_row_have_none() -> None:
    x = np.random.default_rng(4).integers(-5, 5, (9, 4)).astype(float)
    assert "4*x.1" not in steps_of(agree(of_rows_alone, x, 2.0, np.zeros(9), strict=False))
