"""Eigenvalues and eigenvectors of symmetric matrices, against NumPy's, with LAPACK's signs."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal
from loopwright.frontend.eigenvectors import FUNCTIONS

in_python = FUNCTIONS[np.linalg.eigh]


def of_both_triangles(n: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.standard_normal((n, n))
    return a @ a.T if n % 3 == 0 else a + a.T


def test_signs_are_those_of_lapack():
    rng = np.random.default_rng(0)
    for n in range(1, 26):
        for scale in (1.0, 1e-160, 1e150):
            a = of_both_triangles(n, rng) * scale
            values, vectors = in_python(a)
            expected = np.linalg.eigh(a)
            np.testing.assert_allclose(values, expected.eigenvalues, atol=1e-12 * abs(a).max(), rtol=1e-12)
            np.testing.assert_allclose(vectors, expected.eigenvectors, atol=1e-7)


@pytest.mark.parametrize(
    "a",
    [
        np.eye(3), np.zeros((3, 3)), np.diag([3.0, 1.0, 2.0]), np.array([[2.0, 1.0], [1.0, 2.0]]),
        np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 0, 0], [0, 2, 1], [0, 1, 2]]),
        np.array([[-2.0, 1, 0], [1, -2, 1], [0, 1, -2]]), np.array([[5.0, 9.0], [0.5, 1.0]]),
    ],
)  # fmt: skip
def test_matrices_with_zeros(a):
    for one, other in zip(in_python(a), np.linalg.eigh(a), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_equal_eigenvalues_have_some_vectors():
    a = np.ones((4, 4)) + np.diag([1.0, 1.0, 1.0, 1.0])
    values, vectors = in_python(a)
    np.testing.assert_allclose(vectors * values @ vectors.T, a, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)


def parts(a):
    w, v = np.linalg.eigh(a)
    return w, v, v[:, -1] @ a @ v[:, -1]


def test_kernels():
    kernel = lw.kernel(parts)
    a = of_both_triangles(5, np.random.default_rng(2))
    for given, tolerance in ((a, 1e-9), (np.asfortranarray(a)[::-1, ::-1], 1e-9), (a.astype(np.float32), 1e-4)):
        for one, other in zip(kernel(given), parts(given), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, atol=tolerance)
    found = lw.kernel(define("def f(a):\n    return np.linalg.eigh(a)\n"))(np.array([[2, 1], [1, 3]]))
    assert type(found) is type(np.linalg.eigh(np.eye(2))) and found.eigenvectors.dtype == np.float64
    with lw.options(device="emulated"):
        for one, other in zip(kernel(a), parts(a), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)


def test_bad_matrices():
    kernel = lw.kernel(define("def f(a):\n    return np.linalg.eigh(a)[0]\n"))
    for a in (np.array([[np.nan, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [np.inf, 1.0]])):
        with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
            kernel(a)
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        kernel(np.ones((2, 3)))
    text = refusal(define("def f(a):\n    return np.linalg.eigh(a)\n"), np.eye(2) * 1j)
    assert "cannot be converted to float64" in text and "example.py:2" in text
