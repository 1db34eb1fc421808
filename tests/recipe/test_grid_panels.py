from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.recipe.grid_panels import in_panels
from recipe.planning import plan_of


def without_pivots(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def forward(low, b):
    for i in range(b.shape[0]):
        for j in range(i):
            b[i] -= low[i, j] * b[j]
        b[i] /= low[i, i]


def forward_in_a_scalar(low, b):
    for i in range(b.shape[0]):
        s = b[i]
        for j in range(i):
            s -= low[i, j] * b[j]
        b[i] = s / low[i, i]


def forward_for_many(low, b):
    for i in range(low.shape[0]):
        for j in range(i):
            for c in range(b.shape[1]):
                b[i, c] -= low[i, j] * b[j, c]
        for c in range(b.shape[1]):
            b[i, c] /= low[i, i]


def inverse_of_a_triangle(low, x):
    """Column by column of what is below, each iteration eliminates one more row of all that follow."""
    n = low.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            x[i] -= low[i, k] * x[k] * 0.5


def elimination_with_a_right_side(a, b):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            b[i] -= a[i, k] * b[k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def cholesky(a):
    """Column by column: what the recipe makes of it updates all that is behind, a triangle, and its diagonal alone."""
    n = a.shape[0]
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        a[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= a[i, k] * a[j, k]
            a[i, j] = t / a[j, j]


def _square(n: int) -> np.ndarray:
    return np.random.default_rng(n).random((n, n)) + n * np.eye(n)


def _triangle(n: int) -> list[np.ndarray]:
    return [np.tril(_square(n)), np.random.default_rng(1).random(n)]


PROGRAMS: list[tuple[Callable[..., object], Callable[[int], list[np.ndarray]]]] = [
    (without_pivots, lambda n: [_square(n)]),
    (forward, _triangle),
    (forward_in_a_scalar, _triangle),
    (inverse_of_a_triangle, lambda n: [_square(n) / n, np.ones(n)]),
    (elimination_with_a_right_side, lambda n: [_square(n), np.ones(n)]),
    (cholesky, lambda n: [_square(n) + _square(n).T]),
]


def _on_gpu(function: Callable[..., object], arrays: list[np.ndarray]) -> str:
    """Run it beside CPython; the schedule."""
    wanted = [one.copy() for one in arrays]
    function(*wanted)
    kernel: Any = lw.kernel(function)
    with lw.options(device="emulated"):
        kernel(*arrays)
        schedule = str(kernel.explain(*arrays).schedule)
    for got, expected in zip(arrays, wanted, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    assert not kernel.specialisations()[0].why_not_gpu
    return schedule


@pytest.mark.parametrize(("function", "arrays"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_an_elimination_is_blocked(function: Callable[..., object], arrays: Callable[[int], list[np.ndarray]]) -> None:
    """One block does what 32 iterations do to one another, whatever is left over at the end."""
    for n in (70, 0, 1, 2, 31, 32, 33, 64):
        schedule = _on_gpu(function, arrays(n))
        assert " 32; cut " in schedule and ".o.1 block.x" in schedule
    if function in (without_pivots, cholesky):  # what is left is a product, and below a block a warp has a row
        assert "stage a i" in schedule and "hold a i.1 pad 1" in schedule


def test_right_sides_have_a_warp_each() -> None:
    for n, m in ((70, 40), (0, 3), (1, 1), (33, 0), (64, 300)):
        schedule = _on_gpu(forward_for_many, [np.tril(_square(n)), np.random.default_rng(m).random((n, m))])
        assert "fuse c.2 c; reorder c.2 j" in schedule and "hold b c.2 pad 1; hold l" in schedule
        assert "stage b i.1" in schedule


GROWING = """
kernel growing(a: float64[2] C):
    for k in 0 .. size(a, 0):
        for i in 0 .. size(a, 0):
            a[i, k] = a[i, k] * 0.5
        for i.2 in k + 1 .. size(a, 0):
            a[i.2, k] = a[i.2, k] + a[k, k]
"""
SWEEPS = """
kernel sweeps(a: float64[1] C, n: int64):
    for t in 0 .. n:
        for i in 1 .. size(a, 0) - 1:
            a[i] = a[i - 1] + a[i + 1]
"""
FREE = """
kernel free(a: float64[2] C):
    for k in 0 .. size(a, 0):
        for i in k + 1 .. size(a, 0):
            a[i, k] = a[i, k] * 0.5
"""


@pytest.mark.parametrize("text", [GROWING, SWEEPS, FREE])
def test_what_is_no_elimination_stays(text: str) -> None:
    """Loops that have nothing to do with where the outer one is would be all one block's work."""
    partial = plan_of(text)
    assert in_panels(partial, lambda *_: []) == [] and partial.decisions == []


LDL = """
kernel ldl(a: float64[2] C, d: float64[1] C):
    for k in 0 .. size(a, 0) - 1:
        for j in k + 1 .. size(a, 0):
            a[j, k] = a[j, k] / d[k]
            d[j] = d[j] - a[j, k] * a[j, k] * d[k]
        for j.2 in k + 1 .. size(a, 0) - 1:
            for i in j.2 + 1 .. size(a, 0):
                a[i, j.2] = a[i, j.2] - a[i, k] * a[j.2, k] * d[k]
"""


def test_what_is_left_without_tiles_is_in_a_good_order() -> None:
    """A triangle, which `tile` does not take: the iterations of a block are innermost for whoever binds its loops."""
    partial = plan_of(LDL)
    grids = [[str(step) for step, _ in bound] for bound in in_panels(partial, lambda *_: [])]
    assert [bound[0] for bound in grids] == ["bind k.o.1 block.x", "bind j.1.o block.x"]
    assert "hold a j.1 pad 1" in [str(one.step) for one in partial.decisions]
    around = partial.around(partial.chains()[-1][-1].name)
    assert [loop.name.partition(".")[0] for loop in around] == ["k", "j", "i", "k"]
