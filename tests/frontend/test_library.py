"""NumPy's functions that are written out as loops: as Python, and compiled, they give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, same
from loopwright.frontend import library, numerics, sets, sorting

VECTORS = [
    "np.cumsum(a)", "np.cumprod(a)", "np.diff(a)", "a.cumsum()", "np.searchsorted(s, a)", "np.searchsorted(s, 2.0)",
    "np.searchsorted(s, a, side='right')", "np.digitize(a, s)", "np.sort(a)", "np.argsort(a)", "np.median(a)",
    "np.unique(a)", "np.percentile(a, 30)", "np.quantile(a, 0.5)", "np.interp(a, s, s * 2)", "np.interp(1.5, s, s)",
    "np.roll(a, 1)", "np.roll(a, -2)", "np.flip(a) + 0", "np.repeat(a, 2)", "np.tile(a, 2)", "np.append(a, 5.0)",
    "np.append(a, s)", "np.isclose(a, s)", "np.allclose(a, a)", "np.array_equal(a, s)", "np.convolve(a, s)",
    "np.bincount(k)[1:3].sum()", "len(np.bincount(k, minlength=7))", "np.bincount(k, weights=a).sum()", "np.diag(a)",
    "np.sort(k)", "np.argsort(k)", "np.cumsum(k)", "np.diff(k)", "np.cross(a[:3], s[:3])",
    "np.percentile(a, (10, 90))", "np.percentile(a, [25, 50.0])", "np.quantile(a, np.array([0.2, 0.7]))",
    "np.nanpercentile(np.where(a > 2, np.nan, a), (5, 95))", "np.nanpercentile(a, 30)", "np.nanquantile(a, 0.3)",
]  # fmt: skip


@pytest.mark.parametrize("text", VECTORS)
def test_of_vectors(text):
    function = define(f"def f(a, s, k):\n    return {text}\n")
    for a in (np.array([3.0, -1.0, 2.0, 0.5]), np.arange(8.0)[::-2]):
        same(function, a, np.array([0.0, 1.0, 2.0, 4.0]), np.array([2, 0, 4, 1]))


MATRICES = [
    "np.trace(m)", "m.trace()", "np.diag(m)", "m.diagonal() + 0", "np.linalg.inv(np.eye(3) * 2)",
    "np.linalg.solve(np.eye(3) * 4, v)", "np.linalg.solve(np.eye(3) * 4, m)", "np.cov(m)",
    "np.histogram(m, 4, weights=m)", "np.histogram(v, 3)",
]  # fmt: skip


@pytest.mark.parametrize("text", MATRICES)
def test_of_matrices(text):
    function = define(f"def f(m, v):\n    return {text}\n")
    same(function, np.arange(9.0).reshape(3, 3), np.array([4.0, 8.0, 12.0]))


def of_tuples(v):
    axis = np.cross((0, 0, 1.0), v[:3])
    return (
        axis, np.cross([1, 2, 3], (3, 2, 1)), np.interp(0.5, (0, 1), (2.0, 4.0)), np.diff((1, 4, 9)),
        np.median((3, 1, 2)), np.convolve((1, 2), v), np.sort([3, 1, 2]),
        np.allclose((1.0, 2.0), (1.0, 2.0)), np.roll((1, 2, 3), 1),
        np.trace(v[:0].reshape(0, 0)),
    )  # fmt: skip


def test_tuples_and_lists_are_arrays():
    same(of_tuples, np.arange(3.0) + 1)


def test_systems_of_equations():
    function = define("def f(a, b):\n    return np.linalg.solve(a, b), np.linalg.inv(a)\n")
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    a[0, 0] = 0.0  # a pivot is needed
    assert np.allclose(library._solve_vector(a, b), np.linalg.solve(a, b))
    assert np.allclose(library._inverse(a), np.linalg.inv(a))
    assert np.isclose(library._determinant(a), np.linalg.det(a))
    assert np.allclose(library._cholesky(a @ a.T), np.linalg.cholesky(a @ a.T))
    same(function, np.array([[0.0, 2.0], [4.0, 0.0]]), np.array([2.0, 8.0]))


@pytest.mark.parametrize("text", ["np.linalg.inv(a * 0)", "np.linalg.cholesky(-a)", "np.linalg.solve(a * 0, a)"])
def test_matrices_that_have_no_answer(text):
    function = define(f"def f(a):\n    return {text}\n")
    with pytest.raises(ValueError, match=r"Singular|positive definite"):
        lw.kernel(function)(np.eye(3))


OBLONG = ["np.linalg.inv(a)", "np.linalg.det(a)", "np.linalg.cholesky(a)", "np.linalg.solve(a, a)"]


@pytest.mark.parametrize("text", OBLONG)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_a_matrix_that_is_not_square(text, shape):
    function = define(f"def f(a):\n    return {text}\n")
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        lw.kernel(function)(np.ones(shape))


@pytest.mark.parametrize("shape", [(4,), (2,), (4, 2), (2, 2)])
def test_as_many_equations_as_right_sides(shape):
    function = define("def f(a, b):\n    return np.linalg.solve(a, b)\n")
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        lw.kernel(function)(np.eye(3), np.ones(shape))


def test_no_equations():
    function = define("def f(a, b):\n    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.cholesky(a)\n")
    same(function, np.zeros((0, 0)), np.zeros(0))
    same(function, np.zeros((0, 0)), np.zeros((0, 2)))
    same(define("def f(a):\n    return np.linalg.cholesky(a)\n"), np.eye(2, dtype=np.float32) * 4)


SIZES = [
    "np.cumsum(a)", "np.diff(a)", "np.sort(a)", "np.argsort(a)", "np.unique(a)", "np.searchsorted(a, 1.0)",
    "np.roll(a, 3)", "np.repeat(a, 3)", "np.flip(a) + 0", "np.array_equal(a, a)", "np.append(a, 1.0)",
]  # fmt: skip


@pytest.mark.parametrize("text", SIZES)
@pytest.mark.parametrize("size", [0, 1, 2, 33])
def test_of_any_size(text, size):
    values = np.random.default_rng(size).permutation(size).astype(float)
    same(define(f"def f(a):\n    return {text}\n"), values)


@pytest.mark.parametrize("name", ["sort", "argsort", "unique", "median", "cumsum"])
def test_of_nan_and_of_equal_elements(name):
    own, theirs = f"_{name}", getattr(np, name)
    ours = next(getattr(module, own) for module in (library, sorting, numerics, sets) if hasattr(module, own))
    for values in ([2.0, np.nan, 1.0], [np.nan, np.nan, 3.0], [-0.0, 0.0, -1.0], [1.0, 1.0, 1.0]):
        array = np.array(values)
        expected = theirs(array, kind="stable") if name == "argsort" else theirs(array)
        assert np.array_equal(expected, ours(array), equal_nan=name != "argsort"), values


def test_an_order_of_equal_elements_is_stable():
    array = np.array([2, 1, 2, 1, 2, 0] * 9)
    assert (sorting._argsort(array) == np.argsort(array, kind="stable")).all()


def in_place(a, k):
    a.sort()
    k[1:].sort()
    return a[0], k[-1]


def test_sorting_in_place():
    same(in_place, np.array([3.0, 1.0, 2.0]), np.array([5, 4, 3, 2]))
    same(in_place, np.arange(6.0)[::-2], np.array([5, 4, 3, 2], np.int8))
