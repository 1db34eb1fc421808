"""Decompositions of matrices, against NumPy's: singular values, eigenvalues, least squares, QR."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal

SHAPES = [(3, 3), (5, 3), (3, 5), (4, 1), (1, 4), (1, 1)]
TEXTS = [
    "np.linalg.pinv(a)", "np.linalg.pinv(a, 0.3)", "np.linalg.svdvals(a)", "np.linalg.svd(a, compute_uv=False)",
    "np.linalg.matrix_rank(a)", "np.linalg.matrix_rank(a, tol=1.5)", "np.linalg.cond(a)", "np.linalg.norm(a, 2)",
    "np.linalg.norm(a, ord=-2)", "np.linalg.norm(a, 'nuc')", "np.linalg.eigvalsh(a @ a.T)", "np.linalg.lstsq(a, b)",
    "np.linalg.lstsq(a, b[:, 0], rcond=-1)", "np.linalg.lstsq(a, b, 0.4)", "np.linalg.qr(a)",
    "np.linalg.qr(a, 'complete')",
]  # fmt: skip

IN_EVERY_LAYOUT = ("np.linalg.pinv(a)", "np.linalg.svdvals(a)", "np.linalg.eigvalsh(a @ a.T)", "np.linalg.lstsq(a, b)",
                   "np.linalg.qr(a)", "np.linalg.matrix_rank(a)")  # fmt: skip
"""One of each algorithm, and what asks for the precision: others do the same with the results, and take seconds for
each layout and type to compile."""


def agree(expected, found, tolerance):
    assert type(expected) is type(found)
    if isinstance(expected, tuple):
        for one, other in zip(expected, found, strict=True):
            agree(one, other, tolerance)
        return
    assert np.shape(expected) == np.shape(found) and expected.dtype == found.dtype
    scale = max(1.0, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("text", TEXTS)
def test_as_numpy(text):
    function = define(f"def f(a, b):\n    return {text}\n")
    kernel = lw.kernel(function)
    rng = np.random.default_rng(3)
    for m, n in SHAPES:
        a, b = rng.standard_normal((m, n)) * 9, rng.standard_normal((m, 2))
        for view in (a, a * 1e150, a * 1e-150, *((a[::-1], np.asfortranarray(a)) if text in IN_EVERY_LAYOUT else ())):
            if ("@" in text and abs(view).max() > 1e100) or ("1.5" in text and abs(view).max() < 1e-100):
                continue
            agree(function(view, b), kernel(view, b), 1e-10)
    if text not in IN_EVERY_LAYOUT:
        return
    a, b = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    agree(
        function(a.astype(np.float32), b.astype(np.float32)), kernel(a.astype(np.float32), b.astype(np.float32)), 2e-4
    )
    whole = rng.integers(-9, 9, (4, 3))
    agree(function(whole, whole[:, :2]), kernel(whole, whole[:, :2]), 1e-10)


@pytest.mark.parametrize("text", [text for text in TEXTS if "qr" not in text and "cond" not in text])
def test_of_too_small_a_rank(text):
    """Nothing that depends on rounding: the vectors of QR and a condition do."""
    function = define(f"def f(a, b):\n    return {text}\n")
    a = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    kernel = lw.kernel(function)
    for view in (a, a.T, np.zeros((3, 2)), np.diag([3.0, 0.0, 2.0])):
        b = np.arange(2.0 * view.shape[0]).reshape(-1, 2)
        agree(function(view, b), kernel(view, b), 1e-9)


@pytest.mark.parametrize("name", ["pinv", "svdvals", "eigvalsh"])
def test_what_is_no_number(name):
    kernel = lw.kernel(define(f"def f(a):\n    return np.linalg.{name}(a)\n"))
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        kernel(np.array([[np.nan, 1.0], [1.0, 2.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        kernel(np.array([[1.0, np.inf], [np.inf, 2.0]]))


def test_a_matrix_is_read_only():
    a = np.arange(6.0).reshape(3, 2)
    a.flags.writeable = False
    agree(np.linalg.pinv(a), lw.kernel(define("def f(a):\n    return np.linalg.pinv(a)\n"))(a), 1e-12)


def test_on_a_gpu():
    a = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, 5.0], [1.0, 1.0, 1.0]])
    with lw.options(device="emulated"):
        agree(np.linalg.pinv(a), lw.kernel(define("def f(a):\n    return np.linalg.pinv(a)\n"))(a), 1e-12)


def test_matrices_that_need_not_be_symmetric_are_refused():
    for text in ("np.linalg.eig(a)", "np.linalg.eigvals(a)"):
        assert "call it before, and pass its result" in refusal(define(f"def f(a):\n    return {text}\n"), np.eye(2))
    complex_text = refusal(define("def f(a):\n    return np.linalg.pinv(a)\n"), np.eye(2) * 1j)
    assert "of these arguments is outside the language" in complex_text
