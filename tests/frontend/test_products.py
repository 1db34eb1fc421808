"""Products of vectors and matrices, and norms."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, refusal, same
from loopwright.ir.nodes import Allocate
from loopwright.ir.walk import statements

PRODUCTS = [
    "v @ v", "m @ v", "v @ n", "m @ n", "m @ n @ v", "np.dot(m, n)", "np.dot(v, v)", "np.dot(2.0, v)",
    "np.matmul(m, n)", "m.dot(v)", "np.outer(v, v)", "np.add.outer(v, v)",
    "np.minimum.outer(v, v)", "m.reshape(2, 1, -1) @ n", "np.inner(v, v)", "np.vdot(v, v)", "m.T @ m", "n @ m",
    "(m + 1) @ (v * 2)", "m[:, 1:] @ n[1:]", "np.linalg.norm(v) * 0 + v @ v", "m @ n[:, 0]", "np.dot(m[0], n[:, 1])",
    "s @ s", "s @ m",
]  # fmt: skip


@pytest.mark.parametrize("text", PRODUCTS)
def test_products(text):
    function = define(f"def f(m, n, v, s):\n    return {text}\n")
    for kind in (np.float64, np.int64):
        m = np.arange(6, dtype=kind).reshape(2, 3)
        n = np.arange(6, 0, -1).astype(kind).reshape(3, 2)
        if text in ("v @ n", "m @ n @ v", "n @ m"):
            m, n = m.T, n.T
        v = np.arange(3, dtype=kind)
        if text == "v @ n":
            n = np.arange(6, dtype=kind).reshape(3, 2)
        if kind == np.int64 and ("norm" in text or "2.0" in text):
            continue
        same(function, m, n, v, np.arange(8, dtype=kind).reshape(2, 2, 2))


def test_sizes():
    function = define("def f(m, v):\n    return m @ v\n")
    for rows, columns, size in ((0, 3, 3), (2, 0, 0), (1, 1, 1), (2, 3, 4)):
        same(function, np.ones((rows, columns)), np.ones(size))


def into_itself(m):
    m[:] = m @ m
    return m[0] @ m[:, 0]


def test_a_product_into_its_operand():
    same(into_itself, np.arange(9.0).reshape(3, 3))


def test_norms():
    function = define("def f(m):\n    return np.linalg.norm(m), np.linalg.norm(m[0])\n")
    same(function, np.array([[3.0, 4.0], [0.0, 12.0]]))


def test_refused():
    assert "needs an array" in refusal(define("def f(m):\n    return m @ 2\n"), np.ones((2, 2)))


MORE_AXES = [
    "np.dot(s, t)", "np.dot(m, t)", "np.dot(s, v)", "np.dot(v, t)", "s.dot(t)", "np.inner(s, v)", "np.inner(m, m)",
    "np.inner(s, s)", "s @ v", "v @ t", "np.matmul(s, v)", "m[0] @ t[0]", "np.inner(m, v)",
]  # fmt: skip


@pytest.mark.parametrize("text", MORE_AXES)
def test_more_axes(text):
    m, s, t = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(4, 2, 3), np.arange(30.0).reshape(5, 3, 2)
    same(define(f"def f(m, s, t, v):\n    return {text}\n"), m, s, t, np.arange(3.0))
    sizes = (0, 1)
    for size in sizes:
        same(define(f"def f(m, s, t, v):\n    return {text}\n"), m[:size], s[:size], t[:size], np.arange(3.0))


def scaled(alpha, m, v, w):
    return alpha * m @ v + w @ (m + 1.0) + (v * v) @ (v - 1.0)


def test_an_operand_whose_elements_are_read_once_is_not_stored():
    m, v = np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 0.5])
    same(scaled, 1.5, m, v, v[::-1])
    made = statements(kernel_of(scaled, 1.5, m, v, v).body, Allocate)
    assert all(len(one.shape) == 1 for one in made)
    same(define("def f(m, v):\n    return (m * 2) @ (v + 1)\n"), m, v)
    same(define("def f(m, v):\n    m[0] = (m * 2) @ (v + m[0])\n    return m\n"), m, v)
