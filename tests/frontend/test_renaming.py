"""Loops whose arrays change names: `u, v = v, u`."""

from __future__ import annotations

import numpy as np
import pytest

from frontend.judge import define, refusal, same, text_of


def swapped(u, steps):
    v = np.zeros_like(u)
    u = u.copy()
    for _ in range(steps):
        v[1:-1] = u[2:] + u[:-2]
        u, v = v, u
    return u, v


def rotated(u, steps):
    a, b, c = u.copy(), u * 2, u * 3
    for t in range(steps):
        c[:] = a + b * t
        a, b, c = b, c, a
    return a, b, c


def of_arguments(u, v, steps):
    for t in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i - 1] + u[i + 1] + t
        u, v = v, u
    return u.sum()


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 7, -1])
def test_names_change_places(steps):
    for size in (2, 5):
        same(swapped, np.arange(float(size)), steps)
        same(rotated, np.arange(float(size)), steps)
        same(of_arguments, np.arange(float(size)), np.ones(size), steps)


def test_arrays_of_different_sizes():
    same(of_arguments, np.arange(4.0), np.ones(4), 3)
    function = define(
        "def f(u, v, n):\n    for t in range(n):\n        v[0] = u[0] + 1\n        u, v = v, u\n    return u.sum()\n"
    )
    same(function, np.arange(4.0), np.ones(4), 3)


def test_nothing_is_copied_in_the_loop():
    text = text_of(swapped, np.zeros(5), 4)
    loop = text[text.index("for ") :]
    assert loop.count("allocate") == 0


def test_written_after_the_loop():
    function = define("def f(a, b):\n    for t in range(3):\n        b[0] = a[0]\n        a, b = b, a\n    a[0] = 1\n")
    said = refusal(function, np.zeros(2), np.zeros(2))
    assert "which argument is written depends on the number of iterations" in said


def rows_in_turn(t, w, n):
    out = np.zeros(len(t))
    for r in range(len(t)):
        src, dst = t[r], w[r]
        for k in range(n):
            for i in range(1, len(src) - 1):
                dst[i] = (src[i - 1] + src[i + 1]) / 2 + k
            src, dst = dst, src
        out[r] = src[2] - dst[1]
    return out


def made_in_a_loop(u, v, n):
    total = 0.0
    for r in range(3):
        a, b = u * r, v + r
        for _ in range(n):
            b[1:] += a[:-1]
            a, b = b, a
        total += a[0] - b[1]
    return total


def of_arguments_in_a_loop(u, v, n):
    for _ in range(3):
        a, b = u, v
        for _ in range(n):
            b[1:] += a[:-1]
            a, b = b, a
    return u, v


def two_rows(m, w, n):
    k = 1
    a, b = m[k], m[k + 1]
    k = 0
    for _ in range(n):
        b[1:] = a[:-1] + b[:-1]
        a, b = b, a
    return m, k


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_names_that_each_iteration_of_a_loop_around_gives_anew(n):
    t, w = np.arange(21.0).reshape(3, 7) ** 2 % 11, np.arange(21.0).reshape(3, 7) % 5
    same(rows_in_turn, t, w, n)
    same(made_in_a_loop, t[0], w[0], n)
    same(of_arguments_in_a_loop, t[0], w[0], n)
    same(two_rows, t, w, n)


def goes_on(u, v, n):
    a, b = u, v
    for _ in range(3):
        for _ in range(n):
            b[1:] += a[:-1]
            a, b = b, a
    return u, v


def test_names_that_a_loop_around_does_not_give_anew():
    assert "swapped, and written afterwards" in refusal(goes_on, np.ones(3), np.ones(3), 1)
