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


def until_small(u, v, n):
    done = 0
    for _ in range(n):
        for i in range(len(u)):
            if u[i] > 50.0:
                break  # of the loop inside
            v[i] = 0.5 * u[i] + 1.0
        change = abs(v[0] - u[0])
        u, v = v, u
        if change < 0.5:
            break
        if done % 2:
            continue
        u[1] += 1.0
        done += 1
    return u, v[0], done


def while_it_grows(u, n):
    v, k = np.zeros_like(u), 0
    while k < n and u.max() < 30.0:
        v[:] = u * 2.0
        aside = u
        u = v
        v = aside
        k += 1
    return u, k


def two_fields(u, v, n):
    u2, v2 = u.copy(), v.copy()
    while True:
        if n <= 0:
            break
        u2[1:] = u[1:] + 0.5 * v[:-1]
        v2[1:] = v[1:] - 0.5 * u[:-1]
        u, u2 = u2, u
        v, v2 = v2, v
        n -= 1
    return u, v


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_loops_that_may_end_at_any_iteration(n):
    same(until_small, np.array([9.0, 2.0, 60.0]), np.zeros(3), n)
    same(while_it_grows, np.arange(4.0), n)
    same(two_fields, np.arange(4.0), np.ones(4), n)


def advanced(u, m):
    v = np.zeros_like(u)
    for t in range(m):
        v[:] = u + t
        u, v = v, u
        if u[0] > 3.0:
            break
    return u


def exchanged(u, v, m):
    for t in range(m):
        v[:] = u + t
        u, v = v, u


def helpers(u, w, n):
    exchanged(u, w, n)
    exchanged(w, u, n + 1)
    return advanced(u, n) + advanced(u * 2.0, n), u, w


def alias_of_the_caller(u, v, n):
    w = given_back(u, v, n)
    v[0] += 5.0
    return w, v


def given_back(u, v, n):
    for t in range(n):
        v[:] = u + t
        u, v = v, u
    return u


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_arrays_of_a_caller(n):
    same(helpers, np.arange(3.0), np.ones(3), n)


def test_a_copy_that_the_caller_would_notice():
    assert "'u' is the caller's array" in refusal(alias_of_the_caller, np.ones(3), np.ones(3), 1)


def made_in_each_iteration(u, n):
    for _ in range(n):
        v = np.empty_like(u)
        v[:] = u + 1.0
        u, v = v, u
    return u


def another_one_of_a_name(n):
    u, v, w = np.zeros(3), np.ones(3), np.ones(3)
    for _ in range(n):
        w = u + v
        u, v, w = v, w, u
    return u, v, w


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_names_that_also_get_other_arrays(n):
    same(made_in_each_iteration, np.zeros(2), n)
    same(another_one_of_a_name, n)


def over_items(u, v, steps):
    for step in steps:
        v[:] = u + step
        u, v = v, u
    return u


def caught(u, v, n):
    try:
        exchanged_at(u, v, n)
    except IndexError:
        return 1.0
    return u[0]


def exchanged_at(u, v, n):
    for t in range(n):
        u, v = v, u
        u[t] += 1


def test_loops_that_are_not_written_out():
    assert "'u' is an argument that is written in place" in refusal(over_items, np.ones(2), np.ones(2), np.ones(2))
    assert "'u' is swapped in a loop" in refusal(caught, np.ones(2), np.ones(2), 3)


AFTERWARDS = {
    "a.fill(3.0)": "which argument is written",
    "a.sort()": "which argument is written",
    "np.add(b, 1.0, out=a)": "which argument is written",
    "w = a[1:]\n    w[0] = 5.0": "which argument is written",
    "bumped(x=a)": "which argument is written",
    "for x in (a, b):\n        x[0] = 4.0": "which argument is written",
    "s = a[0] - b[1] + np.abs(a).max() + len(b) + a.sum()\n    c = a * 2.0\n    c[0] = s\n    return c": "",
}


def bumped(x):
    x[0] += 1.0


@pytest.mark.parametrize("statements", AFTERWARDS)
def test_what_is_done_with_swapped_arguments(statements):
    loop = "    for t in range(n):\n        b[1] += t\n        a, b = b, a\n"
    function = define(f"def f(a, b, n):\n{loop}    {statements}\n", bumped=bumped)
    arguments = np.arange(4.0), np.ones(4)
    if said := AFTERWARDS[statements]:
        assert said in refusal(function, *arguments, 1)
    else:
        for n in (0, 1, 2):
            same(function, *arguments, n)


def rows_of_a_matrix(n):
    m = np.zeros((2, 3))
    a, b = m[0], m[1]
    for k in range(n):
        b[0] = a[0] + k
        a[1] += 1.0
        a, b = b, a
    return m, a[0]


def with_another_name(u, v, n):
    w, x = u.copy(), v.copy()
    a, b = w, x
    pair = {"a": a}
    for k in range(n):
        b[0] += k + a[1]
        a, b = b, a
    return w, a[0], b[0], pair["a"][0]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_arrays_that_others_know_stay_where_they_are(n):
    same(rows_of_a_matrix, n)
    same(with_another_name, np.arange(3.0), np.ones(3), n)


def in_a_function_inside(u, v, n):
    a, b = u.copy(), v.copy()

    def first():
        return a[0]

    for k in range(n):
        b[0] += k
        a, b = b, a
    return first()


def of_two_types(n):
    a, b = np.zeros(3), np.ones(3, np.float32)
    for _ in range(n):
        a, b = b, a
    return a[0]


def test_names_that_stay_what_they_are():
    assert "'a' is another name for 'b'" in refusal(in_a_function_inside, np.ones(2), np.zeros(2), 1)
    assert "their elements have different types" in refusal(of_two_types, 1)
