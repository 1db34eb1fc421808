"""Axes of one element that only a call knows: which parameters may be stretched, and what stretching gives."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.frontend.whole import fewest_indices
from loopwright.ir.signature import BY_ELEMENT


def fewest(text: str) -> int:
    (tree,) = ast.parse(f"def f(a, i, j, s):\n    {text}\n").body
    assert isinstance(tree, ast.FunctionDef)
    return fewest_indices(tree)["a"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("return a + 1", 0), ("return a[i] + 1", 1), ("a[i][j] = 1", 2), ("a[i, j] = a[i]", 1), ("return a[i:]", 0),
        ("return a[i, :]", 0), ("return a[i, ...]", 0), ("return a[None, i]", 0), ("return a[i][:]", 1),
        ("return len(a) + a.shape[0] + a.ndim", BY_ELEMENT), ("return a.sum()", 0), ("return s(a)", 0),
        ("return len(a[i])", 1), ("for x in a: s += x", 1), ("for x in range(a[i]): s += x", 1), ("pass", BY_ELEMENT),
        ("b = a", 0), ("return a[i, j, s].shape", BY_ELEMENT), ("return a[*s]", 0), ("return [x for x in a]", 1),
        ("a[i, j] += a[j, i]", 2), ("return (lambda k: a[k])(i)", 1),
    ],
)  # fmt: skip
def test_the_fewest_indices_with_which_a_parameter_is_used(text: str, wanted: int) -> None:
    assert fewest(text) == wanted


@lw.kernel
def weighted(a: Any, w: Any) -> Any:
    d = a * w
    return d, (a - w).sum(axis=0), d.shape


@lw.kernel
def added(a: Any, w: Any) -> None:
    a += 2 * w
    a[:, :] = a - w[0]


@lw.kernel
def apart(a: Any, w: Any) -> Any:
    return a[:, None] - w, np.where(a > w, a, w)


def axes(*sizes: int) -> list[tuple[int, ...]]:
    """These sizes with each of them 1 or not."""
    return list(itertools.product(*({size, 1} for size in sizes)))


def made(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("kernel", [weighted, added, apart], ids=["weighted", "added", "apart"])
def test_an_axis_of_one_element_is_stretched_as_numpy_does(kernel: Any, device: Any) -> None:
    shapes = axes(5, 3) if device == "cpu" else [(5, 1), (1, 1)]
    for one, other in itertools.product(shapes, shapes):
        given, expected = made(*one), made(*one)
        try:
            wanted = kernel.__wrapped__(expected, made(*other))
        except ValueError:  # a target is not stretched
            with lw.options(device=device), pytest.raises(ValueError, match="do not go together"):
                kernel(given, made(*other))
            continue
        with lw.options(device=device):
            found = kernel(given, made(*other))
        np.testing.assert_allclose(given, expected)
        for mine, numpys in zip(found or (), wanted or (), strict=True):
            np.testing.assert_allclose(mine, numpys)
            assert np.shape(mine) == np.shape(numpys)


@pytest.mark.parametrize("sizes", [(4, 3), (4, 2), (0, 2)])
def test_other_sizes_that_differ_do_not_go_together(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="do not go together"):
        weighted(made(sizes[0], 3), made(sizes[1], 3))


def test_no_elements_and_one_go_together() -> None:
    d, total, shape = weighted(made(0, 3), made(1, 3))
    assert d.shape == shape == (0, 3) and total.tolist() == [0, 0, 0]


def test_what_is_used_by_element_is_one_kind_of_call() -> None:
    @lw.kernel
    def total(a: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += a[i, j]
        return s

    for shape in ((3, 4), (3, 1), (1, 1)):
        assert total(made(*shape)) == pytest.approx(made(*shape).sum())
    assert len(total.specialisations()) == 1
