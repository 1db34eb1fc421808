"""Local arrays against CPython, and which of them can be returned."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, kernel_of, same

KINDS = [
    "np.zeros(3)", "np.ones((2, n), np.int8)", "np.zeros(n, dtype=bool)", "np.zeros((n, n), 'f4')",
    "np.full(n, 2.5)", "np.full((n, 2), 3, dtype=np.uint8)", "np.full(n, a[1])", "np.full(n, n)", "np.full(2, True)",
    "np.zeros_like(a)", "np.ones_like(a, dtype=np.int16)", "np.full_like(a, 3)", "np.full_like(a, a[0], np.int32)",
    "np.zeros(a.shape)", "np.zeros(len(a) + 1, dtype=a.dtype)", "np.zeros(shape=(n,), dtype=int)", "np.ones(n, float)",
    "np.full(n, np.float32(0.1))", "np.full(shape=n, fill_value=-1)", "np.zeros((n, 2, 3), np.uint64, 'C')",
]  # fmt: skip


@pytest.mark.parametrize("expression", KINDS)
def test_every_way_to_make_an_array(expression):
    function = define(f"def f(a, n):\n    x = {expression}\n    return x\n")
    same(function, np.array([1.5, 2.5]), 4)
    same(function, np.array([1, 2], np.int8), 4)


def scratch(a, out):
    n = len(a)
    for i in range(n):
        window = np.empty(3)
        for k in range(3):
            window[k] = a[(i + k) % n]
        counts = np.zeros(i + 1, np.int32)
        counts[i] += 2
        out[i] = window[0] + window[1] * window[2] + counts[-1] + len(counts)


def test_scratch_arrays_in_loops():
    same(scratch, np.arange(5.0), np.zeros(5))


def sizes(a, k):
    m = k * 2
    out = np.zeros(m)
    m = 1
    for i in range(out.shape[0]):
        out[i] = m
    return out, out.size


def test_sizes_are_fixed_when_the_array_is_made():
    same(sizes, np.zeros(2), 3)
    assert same(sizes, np.zeros(2), -1) is ValueError


def several(a):
    n = a.shape[0]
    low, high = np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        low[i] = min(a[i], 0)
        high[i] = i
    return low, a, high, n


def test_several_arrays_are_returned():
    value = same(several, np.array([-1.0, 2.0]))
    assert isinstance(value, tuple)
    kernel = kernel_of(several, np.zeros(2))
    assert [result.name for result in kernel.results] == ["low", "high"]


def one_of_a_tuple(a):
    return (a,)


def test_the_argument_itself_is_returned():
    from loopwright.ir.interp import interpret

    a = np.zeros(3)
    (result,) = interpret(kernel_of(one_of_a_tuple, a), (a,))
    assert result is a


def counted(a):
    count = 0
    for i in range(len(a)):
        if a[i] > 0:
            count += 1
    return np.zeros((count, count))


def in_branch(a):
    if a[0] > 0:
        return np.zeros(3)
    return a


def test_arrays_of_two_kinds_are_returned():
    for first in (1.0, -1.0):
        same(in_branch, np.array([first, 0.0]))


def test_arrays_of_two_computed_sizes():
    for count in (0, 1, 3):
        same(counted, np.arange(4.0) - (3 - count))


def helper_array(a):
    def ramp(n):
        out = np.empty(n)
        for i in range(n):
            out[i] = i
        return out

    x = ramp(len(a))
    y = ramp(3)
    x[0] = y[2]
    return x


def test_arrays_made_by_helpers():
    same(helper_array, np.zeros(4))
