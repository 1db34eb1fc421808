"""Kernels of every form that is easily forgotten: loops that data ends, no loops at all, arguments of every kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from loopwright.frontend.markers import prange

Arguments = tuple[Any, ...]
FORMS: list[tuple[Callable[..., object], Callable[[], Arguments]]] = []


def given(arguments: Callable[[], Arguments]) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """A form, with what makes its arguments."""

    def kept(function: Callable[..., object]) -> Callable[..., object]:
        FORMS.append((function, arguments))
        return function

    return kept


def counted(n: int = 40) -> np.ndarray:
    return np.arange(n, dtype=np.int64)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(float(math.prod(shape))).reshape(shape)


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


# ---- loops that data ends -------------------------------------------------------------------------------------------


@given(lambda: (np.zeros(40, np.int64), counted()))
def halved_in_a_while_loop(a, p):
    for i in range(len(a)):
        k = p[i]
        while k > 0:
            k = k // 2
        a[i] = k


@given(lambda: (np.zeros(1), 9))
def only_a_while_loop(a, n):
    while n > 0:
        a[0] += n
        n -= 1


@given(lambda: (numbers(12, 7), 5))
def loops_in_a_while_loop(a, rounds):
    done = 0
    while done < rounds:
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.5 * (a[i, j] + a[i, j - 1])
        done += 1
    return done


@given(lambda: (numbers(9, 9), np.zeros(9, np.int32)))
def while_loops_side_by_side_and_within(a, out):
    for i in range(a.shape[0]):
        j = 0
        while j < a.shape[1]:
            k = 0
            while k < j:
                out[i] += 1
                k += 1
            j += 2
        while j > 3:
            j -= 1
        out[i] += j


@given(lambda: (numbers(30), 11.5))
def ended_by_break(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            break
        a[i] = -a[i]


@given(lambda: (numbers(6, 20), 7.0))
def found_and_returned(a, wanted):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == wanted:
                return i, j
    return -1, -1


@given(lambda: (np.array([3, 0, 7, 2]), numbers(8), np.zeros(4)))
def bounds_of_data(count, x, out):
    for i in range(len(count)):
        for k in range(count[i]):
            out[i] += x[k]


@given(lambda: (np.array([0, 2, 2, 5]), np.array([4, 1, 0, 3, 2]), numbers(5), np.zeros(3)))
def rows_of_a_sparse_matrix(start, column, x, y):
    for i in range(len(y)):
        for k in range(start[i], start[i + 1]):
            y[i] += x[column[k]]


@given(lambda: (np.zeros(50), 30, -3))
def steps_of_the_caller(a, n, step):
    for i in range(n, 0, step):
        a[i] = i


@given(lambda: (np.zeros((7, 5)), 40))
def mandelbrot(out, limit):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            re, im, count = 0.0, 0.0, 0
            while re * re + im * im <= 4.0 and count < limit:
                re, im = re * re - im * im + (j * 0.5 - 2.0), 2.0 * re * im + (i * 0.25 - 1.0)
                count += 1
            out[i, j] = count


# ---- no loops -------------------------------------------------------------------------------------------------------


@given(lambda: (3, 4.5))
def scalars_only(n, x):
    return n * x


@given(lambda: ())
def nothing_at_all():
    return 7


@given(lambda: (numbers(4),))
def no_loops(a):
    a[0], a[-1] = a[-1], a[0]


@given(lambda: (6,))
def a_sum_of_numbers_of_the_caller(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@given(lambda: (numbers(5),))
def nothing_is_written(a):
    for _ in range(len(a)):
        pass


@given(lambda: (None, "twice", (2, 3), numbers(6)))
def constants(nothing, word, pair, a):
    for i in range(len(a)):
        if nothing is None and word == "twice":
            a[i] = a[i] * pair[0] + pair[1]


# ---- arguments ------------------------------------------------------------------------------------------------------


def halve(x):
    return x * 0.5


def put(a, i, value):
    a[i] = halve(value)


@given(lambda: (numbers(20),))
def helpers(a):
    for i in range(len(a)):
        put(a, i, a[i] + 1)


def add_up(x, y):
    total = 0.0
    for i in range(len(y)):
        y[i] += x[i]
        total += y[i]
    return total


@given(lambda: (np.zeros(0), np.zeros(0)))
def nothing_in_the_arrays(x, y):
    return add_up(x, y)


@given(lambda: (np.zeros((3, 0)), np.zeros(3)))
def rows_of_no_length(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
        out[i] += 1


@given(lambda: (np.zeros(3), -4, 10**18))
def no_iterations_of_large_numbers(a, n, m):
    for _ in range(n):
        for _j in range(m):
            a[0] += 1


@given(lambda: (np.ones((3, 4)),) * 2)
def the_same_array_twice(a, b):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] += b[i, j - 1]


def overlapping() -> Arguments:
    buffer = numbers(30)
    return buffer[:-1], buffer[1:]


@given(overlapping)
def arrays_that_overlap(a, b):
    for i in range(len(a)):
        b[i] = a[i] + 1


@given(lambda: (read_only(numbers(12)), np.zeros(12)))
def one_may_not_be_written(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 3


@given(lambda: (np.broadcast_to(numbers(5), (4, 5)), np.zeros((4, 5))))
def one_row_for_all(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


@given(lambda: (numbers(11, 7)[::-1, ::2], numbers(7, 11).T[:, :4], np.array(3.5)))
def views_and_no_axes(a, b, zero):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += b[i, j] * zero[()]


@given(lambda: (np.array([True, False] * 9), np.zeros(18, np.uint8), np.int16(3), np.bool_(True)))
def booleans_and_narrow_numbers(flags, out, by, both):
    for i in range(len(flags)):
        out[i] = by if flags[i] and both else 1
        flags[i] = not flags[i]


@given(lambda: (np.ones(9, np.dtype([("x", "f4"), ("n", "i8"), ("v", "f8", (2,))])),))
def records(p):
    for i in range(len(p)):
        p[i]["x"] += p[i]["v"][1]
        p["n"][i] = i


@given(lambda: (np.ones(9, np.dtype([("x", "f4"), ("n", "i8")])).view(np.recarray), 2.0))
def a_record_array(p, by):
    for i in range(len(p)):
        p.x[i] *= by


@given(lambda: (numbers(8), 2**62))
def a_large_number(a, n):
    for i in range(min(n, len(a))):
        a[i] += n


# ---- arrays of their own --------------------------------------------------------------------------------------------


@given(lambda: (numbers(6, 5),))
def an_array_as_a_result(a):
    out = np.zeros((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j, i] = a[i, j]
    return out


@given(lambda: (numbers(9), 4))
def several_results(a, n):
    squares, best = np.empty(n), -1
    for i in range(n):
        squares[i] = a[i] * a[i]
        if squares[i] > 3:
            best = i
    return squares, best, a


@given(lambda: (numbers(9, 6),))
def a_local_array(a):
    for i in range(a.shape[0]):
        row = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            row[j] = a[i, a.shape[1] - 1 - j]
        for j in range(a.shape[1]):
            a[i, j] = row[j]


# ---- those that raise -----------------------------------------------------------------------------------------------


@given(lambda: (numbers(5), np.array([0, 1, 9])))
def beyond_the_end(a, at):
    for i in range(len(at)):
        a[at[i]] += 1


@given(lambda: (np.array([4, 2, 0, 1]), np.zeros(4, np.int64)))
def divided_by_zero(a, out):
    for i in range(len(a)):
        out[i] = 10 // a[i]


@given(lambda: (np.zeros(3), -1))
def no_such_array(a, n):
    room = np.zeros(n)
    for i in range(len(a)):
        a[i] = len(room)
