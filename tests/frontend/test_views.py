"""Slices, new axes and axes in another order are views: nothing is copied, writes show, indices are Python's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from frontend.judge import define, refusal, same, same_made, text_of

SLICES = [
    "1:", ":-1", "::2", "1:3", "-2:", ":-7", "5:2", "::-1", "3:0:-1", "-1:-9:-2", "n:", ":n", "n:m", "n:m:2", "-n:",
    "m:n:-1", ":0", "n:n", "1:n:3",
]  # fmt: skip
SIZES = [0, 1, 2, 5]


@pytest.mark.parametrize("text", SLICES)
def test_a_slice_has_the_elements_that_python_counts(text):
    function = define(f"""
        def f(a, n, m):
            b = a[{text}]
            return b.copy(), len(b), b.shape[0]
        """)
    for size in SIZES:
        for n, m in ((0, 2), (1, -1), (-2, 3), (7, -7)):
            same(function, np.arange(float(size)), n, m)


PARTS = [
    "[1:, 0]", "[:, 1]", "[-1]", "[0, ::-1]", "[1:, :2]", "[:, None, 1]", "[..., 0]", "[None]", "[0:1]", "[1][1:]",
    "[:, 1:][0]", "[1:][:, ::2][-1]", ".T[1]", ".T[:, 1:]",
]  # fmt: skip


@pytest.mark.parametrize("text", PARTS)
def test_parts_of_a_matrix(text):
    function = define(f"def f(m):\n    return m{text}.copy(), m{text}.shape\n")
    same(function, np.arange(12.0).reshape(3, 4))
    same(function, np.arange(24.0).reshape(4, 6)[::-1, ::2])


def bounds_of(a, i):
    return a[1:][i]


def bounds_of_rows(m, i):
    return m[:, 1:][i, 0]


@pytest.mark.parametrize("i", [-4, -3, -1, 0, 2, 3])
def test_an_index_of_a_view_is_tested_against_the_view(i):
    same(bounds_of, np.arange(4.0), i)
    same(bounds_of_rows, np.arange(6.0).reshape(3, 2), i)


def through_views(a, m):
    b = a[1:]
    b[0] = 7.0
    b[:] *= 2.0
    c = b[::-1]
    c[0] = -1.0
    row = m[1]
    row[:] = 5.0
    t = m.T
    t[0, 2] = 9.0
    m[:, -1] += 1.0


def test_what_is_written_to_a_view_is_in_the_array():
    for size in (2, 5):
        same(through_views, np.arange(float(size)), np.arange(12.0).reshape(3, 4))
    same(through_views, np.arange(1.0), np.zeros((3, 4)))  # an IndexError of an empty view


def unpacked(a, m):
    x, y, z = a
    p, q = m[1:]
    return x + y * z, p.copy(), q[0]


def test_arrays_are_unpacked():
    same(unpacked, np.arange(3.0), np.arange(6.0).reshape(3, 2))
    same(unpacked, np.arange(4.0), np.arange(6.0).reshape(3, 2))
    same(unpacked, np.arange(2.0), np.arange(6.0).reshape(3, 2))
    same(unpacked, np.arange(3.0), np.arange(2.0).reshape(1, 2))
    same(unpacked, np.arange(1.0), np.arange(6.0).reshape(3, 2))
    same(unpacked, np.arange(3.0), np.arange(3.0).reshape(3, 1))
    assert "0 values cannot be unpacked into 3" in refusal(define("def f():\n    x, y, z = np.zeros(0)\n"))


def shifted(a, b):
    b[1:] = a[:-1] + 1.0
    a[:-1] = a[1:]
    a[::-1] = a
    return a.sum()


def test_negative_strides_and_arguments_that_share_memory():
    same(shifted, np.arange(6.0), np.zeros(6))
    same_made(shifted, lambda: (np.arange(6.0)[::-1], np.zeros(12)[::2]))

    def both():
        base = np.arange(8.0)
        return base[:-2], base[2:]

    def one():
        base = np.arange(8.0)
        return base, base[::-1]

    def itself():
        base = np.arange(8.0)
        return base, base

    for make in (both, one, itself):
        same_made(shifted, make)


def of_nothing(a):
    total = 0.0
    for i in range(3):
        total += a[i:i].sum() + len(a[i + 9 :])
    return total


def test_slices_without_elements():
    same(of_nothing, np.arange(3.0))
    same(of_nothing, np.zeros(0))


def test_a_slice_copies_nothing():
    function = define("def f(a, b):\n    b[1:-1] = 0.5 * (a[2:] + a[:-2])\n")
    assert "allocate" not in text_of(function, np.zeros(5), np.zeros(5))
    function = define("def f(a):\n    a[1:-1] = 0.5 * (a[2:] + a[:-2])\n")
    assert text_of(function, np.zeros(5)).count("allocate") == 1  # it overlaps what is read


def every_part(a, low, high, k):
    return a[low:high:k].copy(), a[::k].sum(), len(a[:high:k]), a[low::k] * 2


def written_by_steps(a, k):
    a[::k] = 5
    b = a[1::k]
    k = 3
    b += k
    return b


def sieve(n):
    is_prime = np.ones(n + 1, np.bool_)
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return is_prime


def test_computed_steps():
    a = np.arange(12.0)
    for low, high, k in itertools.product((0, 3, -2, 20, -20), (0, 5, -3, 20, -20), (1, 2, -1, -3, 7)):
        same(every_part, a, low, high, k)
    for k in (2, -2, 5, 0):
        same(written_by_steps, a, k)
    same(sieve, 50)


def test_a_row_that_data_choose_is_updated_in_place():
    function = define("""
        def f(out, rows, where):
            for i in range(rows.shape[0]):
                out[where[i], :] += rows[i, :]
        """)
    rng = np.random.default_rng(1)
    rows, where = rng.integers(0, 9, (40, 3)).astype(float), rng.integers(-4, 4, 40)
    same(function, np.zeros((4, 3)), rows, where)
    assert "allocate" not in text_of(function, np.zeros((4, 3)), rows, where)


def test_an_index_that_changes_in_between_is_another_one():
    function = define("""
        def f(a, k):
            a[k, :] += 1.0
            k -= 1
            a[k, :] += 2.0
            a[k, 1:] = a[k, :-1]
            k += 5
            a[k, :] += 3.0
        """)
    same(function, np.arange(12.0).reshape(4, 3), 2)
    same(function, np.arange(12.0).reshape(4, 3), -2)
