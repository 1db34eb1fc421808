"""Numba's stencils: functions of neighbours, against loops of CPython."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.errors import KernelError
from loopwright.numba import njit, stencil


def clipped(x, limit):
    return min(max(x, -limit), limit)


@stencil
def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(cval=7)
def bordered(a, b, c):
    if b[0, -2] > a[1, 0]:
        return clipped(a[0, 0], c)
    return b[-1, 0] * c


@stencil(neighborhood=((-2, 1),), cval=-1.0, standard_indexing="w")
def weighted(a, w):
    total = 0.0
    for k in range(-2, 2):
        total += a[k] * w[k + 2]
    return total + a[-1:2].sum()


@stencil("constant")
def ahead(a):
    return a[1] - a[3]


def places(shape, below, above):
    return np.ndindex(*(max(0, n - x - y) for n, x, y in zip(shape, below, above, strict=True)))


def of_cross(a):
    out = np.zeros(a.shape)
    for i, j in places(a.shape, (1, 1), (1, 1)):
        out[i + 1, j + 1] = 0.25 * (a[i + 1, j + 2] + a[i + 2, j + 1] + a[i + 1, j] + a[i, j + 1])
    return out


def of_bordered(a, b, c):
    out = np.full(a.shape, 7.0)
    for i, j in places(a.shape, (1, 2), (1, 0)):
        i, j = i + 1, j + 2
        out[i, j] = clipped(a[i, j], c) if b[i, j - 2] > a[i + 1, j] else b[i - 1, j] * c
    return out


def of_weighted(a, w):
    out = np.full(a.shape, -1.0)
    for i in range(2, len(a) - 1):
        out[i] = sum(a[i + k] * w[k + 2] for k in range(-2, 2)) + a[i - 1 : i + 2].sum()
    return out


def of_ahead(a):
    return np.array([*(a[1:-2] - a[3:]), 0, 0, 0], a.dtype)[-len(a) :] if len(a) > 3 else np.zeros_like(a)


A = np.arange(30.0).reshape(5, 6) ** 2 % 17
V = np.arange(9.0) ** 2 % 7
CASES = [
    (cross, of_cross, (A,)), (cross, of_cross, (A.T,)), (cross, of_cross, (A[:1],)), (cross, of_cross, (A[:0],)),
    (cross, of_cross, (A[::2, ::-1],)), (cross, of_cross, (A.astype(np.int32),)),
    (bordered, of_bordered, (A, A + 1, 3.0)), (bordered, of_bordered, (A[:4], A * 2, 2)),
    (weighted, of_weighted, (V, V[:4])), (weighted, of_weighted, (V[:2], V)),
    (ahead, of_ahead, (V,)), (ahead, of_ahead, (V.astype(np.int16)[:3],)),
]  # fmt: skip


ON_DEVICES = [*(("cpu", case) for case in CASES), *(("emulated", case) for case in CASES[6::3])]


@pytest.mark.parametrize(("device", "case"), ON_DEVICES)
def test_as_loops_do_it(device, case):
    function, plain, arguments = case
    expected = plain(*arguments)
    with lw.options(device=device):
        found = function(*arguments)
        assert np.array_equal(found, expected) and found.dtype == expected.dtype
        out = np.full(arguments[0].shape, 5.0)
        assert function(*arguments, out=out) is out
    if function in (bordered, weighted):  # the border is written
        assert np.array_equal(out, expected)
    elif function is cross and min(A.shape) > 2:
        assert np.array_equal(out[1:-1, 1:-1], expected[1:-1, 1:-1]) and (out[:1] == 5.0).all()


@njit
def in_a_kernel(f, a, rows):
    out = np.zeros((rows, a.shape[0]))
    for k in range(rows):
        ahead(a * k, out=out[k])
    u = cross(cross(out))
    return out, u, ahead(a[1:])[:-3].sum(), f(a)


def test_calls_from_kernels():
    out, u, total, other = in_a_kernel(ahead, V, 3)
    rows = np.array([of_ahead(V * k) for k in range(3)])
    assert np.array_equal(out, rows) and np.array_equal(u, of_cross(of_cross(rows)))
    assert total == of_ahead(V[1:])[:-3].sum() and np.array_equal(other, of_ahead(V))


def test_a_border_of_another_value_is_another_stencil():
    one, two = (stencil(cval=value)(ahead.py_func) for value in (1, 2))
    assert (one(V)[-1], two(V)[-1], ahead(V)[-1]) == (1, 2, 0)
    two.cval = 3
    assert two(V)[-1] == 3
    with pytest.raises(KernelError, match="cval"):
        stencil(cval=0.5)(ahead.py_func)(V.astype(np.int64))


def test_refusals():
    def wrong(a):
        return a[0, 1]

    def unknown(a):
        k = 1
        return a[k]

    def assigned(a):
        a[0] = 1.0
        return a[1]

    for function, message in ((wrong, "has no 1 indices"), (unknown, "how far"), (assigned, "assigns elements")):
        with pytest.raises(KernelError, match=message):
            stencil(function)(V)
    with pytest.raises(KernelError, match="first argument"):
        ahead(1.0)
    with pytest.raises(ValueError, match="sizes"):
        bordered(A, A[:4], 1.0)
    for bad in ({"standard_indexing": ("a",)}, {"cval": "x"}, {"mode": 1}):
        with pytest.raises((TypeError, ValueError)):
            stencil(**bad)(ahead.py_func)
    with pytest.raises(ValueError, match="constant"):
        stencil("wrap")
