"""Singular values and vectors, against NumPy's, with LAPACK's signs."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal
from loopwright.frontend.singular_vectors import svd


def are_vectors_of(a, u, s, vt):
    count = min(a.shape)
    np.testing.assert_allclose((u[:, :count] * s) @ vt[:count], a, atol=1e-10 * max(1.0, abs(a).max()))
    np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), atol=1e-10)
    np.testing.assert_allclose(vt @ vt.T, np.eye(vt.shape[0]), atol=1e-10)


@pytest.mark.parametrize("full", [True, False])
def test_signs_are_those_of_lapack(full):
    rng = np.random.default_rng(0)
    for m in range(1, 9):
        for n in range(1, 16):
            a = rng.standard_normal((m, n))
            for one in (a, a.T):
                found, expected = svd(one, full), np.linalg.svd(one, full_matrices=full)
                are_vectors_of(one, *found)
                for mine, pythons in zip(found, expected, strict=True):
                    np.testing.assert_allclose(mine, pythons, atol=1e-8)


@pytest.mark.parametrize(
    "a",
    [
        np.zeros((3, 2)), np.eye(3), np.ones((4, 4)), np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([1.0, 0.0, -3.0]),
        np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]]), np.diag([1e-9, 1.0, 1e-3]) + np.diag([1.0, 1e-12], 1),
        np.array([[-2.0]]), np.array([[0.0, -3.0, 0.0]]), np.arange(12.0).reshape(3, 4) * 1e155,
    ],
)  # fmt: skip
def test_of_too_small_a_rank_and_far_apart(a):
    u, s, vt = svd(a)
    np.testing.assert_allclose(s, np.linalg.svd(a)[1], atol=1e-13 * max(1.0, abs(a).max()))
    are_vectors_of(a, u, s, vt)


def rebuilt(a):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    return u, s, vt, (u * s) @ vt


def test_kernels():
    kernel, rng = lw.kernel(rebuilt), np.random.default_rng(4)
    for shape in ((3, 3), (6, 3), (3, 4), (2, 7)):
        a = rng.standard_normal(shape)
        for one, other in zip(kernel(a), rebuilt(a), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8)
    with lw.options(device="emulated"):
        for one, other in zip(kernel(a), rebuilt(a), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8)


def test_all_vectors_and_smaller_types():
    kernel = lw.kernel(define("def f(a):\n    return np.linalg.svd(a)\n"))
    a = np.random.default_rng(5).standard_normal((4, 2)).astype(np.float32)
    found, expected = kernel(a), np.linalg.svd(a)
    assert type(found) is type(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32 and one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=1e-4)
    for bad in (np.nan, np.inf):
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            kernel(np.full((2, 2), bad, np.float32))


def test_complex_matrices_are_refused():
    text = refusal(define("def f(a):\n    return np.linalg.svd(a)\n"), np.eye(2) * 1j)
    assert "'np.linalg.svd' of these arguments is outside the language" in text and "example.py:2" in text
