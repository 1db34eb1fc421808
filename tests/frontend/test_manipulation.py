"""Other axes, other shapes, several arrays in one."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import define, refusal, same

AXES = [
    "m.T.copy()", "m.transpose().copy()", "m.transpose(1, 0) + 0", "np.transpose(m) * 2", "np.swapaxes(m, 0, 1) + 1",
    "np.expand_dims(m, 1) + 0", "m.reshape(-1) + 0", "m.reshape(4, 3) + 0", "m.reshape((2, -1)) + 0", "m.ravel() + 0",
    "m.flatten()", "m.T.reshape(-1) + 0", "m[::-1].reshape(-1) + 0", "np.reshape(m, (6, 2)) + 0",
    "np.ravel(m)[3:] + 0", "(m + 1).reshape(-1)", "m.reshape(2, 2, 3).sum(axis=1)", "m.T @ m",
    "m.T.ravel()", "m[::2, 1:].reshape(-1)", "m.T.flatten()",
]  # fmt: skip


@pytest.mark.parametrize("text", AXES)
def test_other_axes_and_shapes(text):
    function = define(f"def f(m):\n    return {text}\n")
    matrix = np.arange(12.0).reshape(3, 4)
    for one in (matrix, matrix.astype(np.int32), np.asfortranarray(matrix), np.arange(24.0).reshape(3, 8)[:, ::2]):
        same(function, one)


@pytest.mark.parametrize(("n", "m"), [(3, 4), (4, 3), (5, 2), (0, 12), (-3, -4)])
def test_sizes_of_the_run(n, m):
    same(define("def f(a, n, m):\n    return a.reshape(n, m) + 0\n"), np.arange(12.0), n, m)


JOINED = [
    "np.concatenate((a, b))", "np.concatenate([a, b[:1], a])", "np.stack((a, a))", "np.stack((a, a), axis=1)",
    "np.vstack((a, a))", "np.hstack((a, b))", "np.column_stack((a, a))", "np.concatenate((m, m))",
    "np.concatenate((m, m[:, :1]), axis=1)", "np.vstack((m, m))", "np.hstack((m, m))", "np.concatenate((a, k))",
    "np.concatenate((a[::-1], b + 1))",
]  # fmt: skip


@pytest.mark.parametrize("text", JOINED)
def test_several_in_one(text):
    function = define(f"def f(a, b, m, k):\n    return {text}\n")
    for size in (0, 1, 3):
        same(
            function, np.arange(float(size)), np.arange(2.0), np.arange(6.0).reshape(2, 3), np.arange(2, dtype=np.int32)
        )


def test_sizes_that_differ():
    function = define("def f(m, n):\n    return np.concatenate((m, n))\n")
    same(function, np.zeros((2, 3)), np.zeros((2, 3)))
    same(function, np.zeros((2, 3)), np.zeros((2, 4)))


def test_transposed_views_are_written_through():
    function = define("def f(m):\n    m.T[0] = 7.0\n    t = np.swapaxes(m, 0, 1)\n    t[:, 1] += 1.0\n")
    same(function, np.arange(6.0).reshape(2, 3))
    same(function, np.arange(6.0).reshape(3, 2).T)


@pytest.mark.parametrize(("text", "message"), [
    ("m.transpose(0, 0)", "axes don't match array"), ("m.reshape(-1, -1)", "can only specify one unknown dimension"),
    ("np.concatenate(m)", "takes a tuple of arrays"),
])  # fmt: skip
def test_refused(text, message):
    assert message in refusal(define(f"def f(m):\n    return {text} + 0\n"), np.zeros((2, 3)))


@lw.kernel
def in_pairs(a):
    b = a.reshape(-1, 2)
    out = np.zeros(len(b))
    for i in range(len(b)):
        out[i] = b[i, 0] * b[i, 1]
    return out


@lw.kernel
def in_rows_of_five(a, start):
    rows = a[start:].reshape(-1, 5)
    return np.max(rows, axis=1), rows.sum(axis=0)


@lw.kernel
def seen_through(a):
    b = a.reshape(-1, 3)
    total = 0.0
    for i in range(len(b)):
        a[3 * i + 1] = 7.0
        total += b[i, 1] + b[i, 2]
    return total


def test_rows_of_a_known_length_are_not_copied() -> None:
    """A condition on the number of elements is asked once, and is none for arrays without any."""
    a = np.arange(12.0)
    np.testing.assert_array_equal(in_pairs(a), in_pairs.py_func(a))
    told = str(in_pairs.explain(a))
    assert "len(a) % 2 == 0" in told and "fail the condition" not in told
    assert "malloc" not in in_pairs.specialise(a).c_text.split("lw_kernel")[-1] and "copy" not in told
    for size in (0, 1, 7):
        given = np.arange(float(size))
        if size % 2:
            with pytest.raises(ValueError, match="cannot get this shape"):
                in_pairs(given)
        else:
            np.testing.assert_array_equal(in_pairs(given), in_pairs.py_func(given))


@pytest.mark.parametrize("size", [5, 20, 2000])
@pytest.mark.parametrize("start", [0, 5])
def test_rows_of_a_part(size: int, start: int) -> None:
    a = np.random.default_rng(size).random(size + start)
    for given in (a, np.repeat(a, 2)[::2], a[::-1]):
        for mine, right in zip(in_rows_of_five(given, start), in_rows_of_five.py_func(given, start), strict=True):
            np.testing.assert_allclose(mine, right)


def test_what_is_written_is_seen_through_another_shape() -> None:
    mine, right = np.arange(300.0), np.arange(300.0)
    assert seen_through(mine) == seen_through.py_func(right)
    np.testing.assert_array_equal(mine, right)


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 2, 4), (2, 1, 12), (24, 1, 1), (0, 3, 4), (2, 0, 4)])
@pytest.mark.parametrize("source", ["a", "a[::-1]", "(a + 1)", "a.copy()"])
def test_axes_of_size_1_come_and_go(shape, source):
    text = f"def f(a, n, m, k):\n    return np.reshape({source}, (n, 1, m, k, 1)) * 2\n"
    function = define(text)
    a = np.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape)
    same(function, a, *shape)
    same(function, a, *shape[::-1])  # the same number of elements, and other axes
    same(function, a, shape[0], shape[1], shape[2] + 1)  # an error


@pytest.mark.parametrize(
    "shape",
    [
        "(a.shape[0] * a.shape[1], a.shape[2])", "(a.shape[0], a.shape[1] * a.shape[2])", "(a.shape[0], -1)",
        "(-1, a.shape[2])", "(a.shape[2], -1)", "(a.shape[0], a.shape[1], 2, a.shape[2] // 2)", "(1, -1, 1)", "(-1, 2)",
        "(a.shape[0], 1, a.shape[1], a.shape[2])", "(a.shape[0], 2, a.shape[1] // 2, a.shape[2])", "(1, 1, 1, 1, -1)",
    ],
)  # fmt: skip
def test_axes_that_come_together_and_go_apart(shape):
    function = define(f"def f(a):\n    b = (a * 2).reshape({shape})\n    return b.copy(), b.ravel() + 1\n")
    for size in ((3, 4, 6), (1, 2, 2), (5, 2, 4), (0, 2, 4), (3, 4, 0)):
        same(function, np.arange(np.prod(size, dtype=int) * 1.0).reshape(size))


@pytest.mark.parametrize("shape", ["(n, n)", "(n, -1)", "n + 1"])
@pytest.mark.parametrize("n", [0, 5])
def test_an_impossible_shape_is_named_so(shape, n):
    kernel = lw.kernel(define(f"def f(a, n):\n    return a.reshape({shape}) + 0\n"))
    with pytest.raises(ValueError, match="an array cannot get this shape"):
        kernel(np.arange(12.0), n)


def test_no_number_of_an_element_is_divided_where_axes_stay():
    kernel = lw.kernel(define("def f(a):\n    return np.reshape(a, (a.shape[0], 1, a.shape[1])) * 2.0\n"))
    text = kernel.specialise(np.zeros((3, 4))).c_text.split("lw_kernel")[-1]
    assert "%" not in text and "lw_" + "mod" not in text and "/" not in text.replace("/*", "").replace("*/", "")


def test_a_stack_of_single_rows_is_multiplied_in_blocks_of_rows():
    kernel = lw.kernel(define("def f(a, b):\n    return np.reshape(a, (a.shape[0], a.shape[1], 1, a.shape[2])) @ b\n"))
    arrays = np.random.default_rng(0).random((6, 7, 40)), np.random.default_rng(1).random((40, 24))
    np.testing.assert_allclose(kernel(*arrays)[:, :, 0], arrays[0] @ arrays[1])
    assert re.search(r"tile \S+ 384 \S+ [2-9] \S+ \d+;", str(kernel.explain(*arrays).schedule))
