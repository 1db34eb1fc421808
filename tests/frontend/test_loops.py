"""Loops against CPython: ranges of every direction, the loop variable, while, break, continue."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from frontend.judge import define, kernel_of, same, text_of
from loopwright.frontend import loops
from loopwright.ir.nodes import Assign, For
from loopwright.ir.walk import statements


def visited(out, start, stop, step):
    count = 0
    for i in range(start, stop, step):
        out[count] = i
        count += 1
    return count


@pytest.mark.parametrize(
    "bounds", [(0, 5, 1), (5, 0, -1), (0, 5, 2), (5, -3, -3), (3, 3, 1), (5, 0, 1), (0, 0, -2), (-2, 3, 4)]
)
def test_ranges_of_every_direction(bounds):
    same(visited, np.zeros(10, np.int64), *bounds)
    same(visited, np.zeros(10, np.int64), *map(np.int16, bounds))
    function = define(f"def f(out):\n    for i in range{bounds}:\n        out[i] += i + 1\n")
    same(function, np.zeros(10, np.int64))


def test_a_step_of_zero_at_run_time():
    assert same(visited, np.zeros(10, np.int64), 0, 5, 0) is ValueError


def test_unsigned_bounds():
    same(visited, np.zeros(10, np.int64), np.uint8(1), np.uint64(5), np.int8(2))


def bounds_once(a):
    n = 3
    for i in range(n):
        n = 10
        a[i] = n
    for i in range(a[0]):
        a[0] = 1
        a[i] += 1
    return n


def test_bounds_are_evaluated_once():
    same(bounds_once, np.zeros(12, np.int64))


def assigned_inside(a):
    for i in range(5):
        a[i] += 1
        i *= 2
        a[i] += 1
    return i


def after_loop(a, n):
    i = -1
    for i in range(n):
        a[i] = i
    return i


def after_break(a):
    for i in range(len(a)):
        if a[i] > 2:
            break
    a[i] = 9
    return i


def same_name_twice(a):
    for i in range(2):
        for i in range(3):
            a[i] += 1
        a[i] += 10
    return i


def test_the_loop_variable_as_a_variable():
    same(assigned_inside, np.zeros(10))
    same(after_loop, np.zeros(4), 4)
    same(after_loop, np.zeros(4), 0)
    same(after_break, np.array([0, 1, 5, 2]))
    same(after_break, np.array([0, 1]))
    assert same(after_break, np.zeros(0)) is UnboundLocalError
    same(same_name_twice, np.zeros(5))


def test_reads_inside_the_loop_see_the_loops_own_variable():
    assert "a[i] = float64(i)" in text_of(after_loop, np.zeros(4), 4)


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def nested_exits(a):
    total = 0
    for i in range(len(a)):
        if a[i] == 0:
            continue
        j = 0
        while True:
            j += 1
            if j > a[i]:
                break
            if j == 2:
                continue
            total += j * i
        if total > 100:
            break
    return total


def while_condition_with_a_call(a):
    def positive(x):
        if x > 4:
            return True
        return x > 2

    i = 0
    while positive(a[i]) and i < 3:
        i += 1
        if a[i] == 4:
            continue
        a[i] += 1
    return i


def never(a):
    while False:
        a[0] = 1
    while a[0] > 100:
        a[0] = 2
    return a[0]


def test_while():
    same(collatz, 27)
    same(collatz, np.int64(27))
    same(nested_exits, np.array([3, 0, 5, 2, 7, 1]))
    same(while_condition_with_a_call, np.array([3, 4, 5, 2, 7, 1]))
    same(never, np.zeros(2))


def parallel(a):
    for i in loopwright.prange(len(a)):
        a[i] += 1


def test_prange_is_noted():
    same(parallel, np.zeros(3))
    (loop,) = (stmt for stmt in statements(kernel_of(parallel, np.zeros(3)).body) if isinstance(stmt, For))
    assert loop.asserted


def test_numbas_prange_is_understood():
    numba = pytest.importorskip("numba")
    function = define("def f(a):\n    for i in nb.prange(len(a)):\n        a[i] += 1\n", nb=numba)
    assert "prange" in text_of(function, np.zeros(3)) or kernel_of(function, np.zeros(3)).body[0].asserted


def same_names(a, b):
    for i in range(len(a)):
        a[i] += 1
    for i in range(len(b)):
        b[i] += 1


def test_loops_of_one_name_are_told_apart():
    names = [stmt.name for stmt in kernel_of(same_names, np.zeros(3), np.ones(3)).body if isinstance(stmt, For)]
    assert names == ["i", "i.2"]


def around(a):
    total, steps = 0.0, ((-1, 0), (0, 1), (1, 0), (0, -1))
    for y in range(1, a.shape[0] - 1):
        for x in range(1, a.shape[1] - 1):
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    for weight, (ey, ex) in enumerate(steps, 1):
                        if a[y + dy, x + dx] > a[y + ey, x + ex]:
                            total += weight * dy + dx
    return total


def each_axis(a):
    total = 0.0
    for axis in (0, 1):
        total += (a.sum(axis=axis) ** 2).sum() + np.sort(a, axis=axis)[0, 1]
    return total


def test_a_long_body_over_constants_is_written_once(monkeypatch):
    a = np.arange(20.0).reshape(4, 5) % 7
    monkeypatch.setattr(loops, "_MOST_NODES", 60)
    same(around, a)
    same(each_axis, a)  # it needs to know the axis
    assert len(list(statements(kernel_of(around, a).body, Assign))) < 9  # 36 of `total`, if it is written out
