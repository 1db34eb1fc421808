"""Counters as functions of the loops' variables: which are, and that every place and last value is the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir import induction
from loopwright.ir.induction import counters_as_functions
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

HEAD = """kernel f(a: float64[1] C, b: float64[1] C, n: int64, m: int64) -> tuple(python int64, python int64):
    var k: int64
    var t: int64
    k = 1
    t = 0
"""


def parsed(body: str, head: str = "for i in 0 .. n:") -> Kernel:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return parse_kernel(HEAD + f"    {head}\n{lines}    return k, t\n")


def test_the_picture() -> None:
    assert "a[k + 2 * i + 1] = b[i]" in (inspect.getdoc(induction) or "")
    kernel = counters_as_functions(parsed("k = k + 1\na[k] = b[i]\nk = k + 1\na[k] = b[i]"))
    verify(kernel)
    text = print_kernel(kernel)
    assert "        a[k + i * 2 + 1] = b[i]\n        a[k + i * 2 + 2] = b[i]\n    k = k + max(n, 0) * 2\n" in text


COUNTED = {
    "behind its use": "a[k % 8] = 1.0\nk = k + 1",
    "twice": "k = k + 1\na[k % 8] = b[i % 8]\nk = k + 2\na[k % 8] = a[(k - 1) % 8] + 1.0",
    "down": "k = k - 3\na[k % 8] = float64(k)",
    "by an argument": "k = k + m\na[k % 8] = float64(k)",
    "in both branches": "if b[i % 8] > 0.5:\n    k = k + 1\n    a[k % 8] = 2.0\nelse:\n    k = k + 1",
    "by way of another": "t = k + 1\na[t % 8] = 1.0\nk = t + 1\na[k % 8] = 3.0",
    "to and fro": "k = k + 4\na[k % 8] = float64(k)\nk = k - 4",
    "two of them": "k = k + 1\nt = t - 2\na[(k + t) % 8] = float64(k * t)",
    "in a loop inside": "for j in i .. m:\n    k = k + 1\n    a[k % 8] = float64(k)\nk = k + 1",
    "in a nest": "for j in 0 .. m:\n    a[k % 8] = float64(k + j)\n    k = k + 3\nt = t + k",
    "read in a loop inside": "k = k + 1\nfor j in 0 .. m:\n    a[(k + j) % 8] = float64(k)",
    "only added up": "k = k + 1",
}
RANGES = (
    "0 .. n", "1 .. n", "0 .. n step 3", "m .. n step 2", "n .. 0 step -1", "n .. m step -4",
    "0 .. size(a, 0)", "0 .. size(a, 0) // 2",
)  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("head", RANGES)
def test_every_value_is_the_same(name: str, head: str) -> None:
    before = parsed(COUNTED[name], f"for i in {head}:")
    after = counters_as_functions(before)
    verify(after)
    assert after is not before
    assert parse_kernel(print_kernel(after)) == after
    for n, m in ((0, 2), (1, 0), (7, 3), (5, -2), (-3, 1)):
        found = []
        for kernel in (before, after):
            arrays = np.zeros(8), np.random.default_rng(n + 9).random(8)
            found.append((interpret(kernel, (*arrays, n, m)), *arrays))
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize(
    "body",
    [
        "if b[i] > 0.5:\n    k = k + 1",
        "if b[i] > 0.5:\n    k = k + 1\nelse:\n    k = k + 2",
        "k = k + i * i",
        "k = k + int64(b[i])",
        "k = k * 2",
        "k = k + 1\nif b[i] > 0.5:\n    break i",
        "if b[i] > 0.5:\n    continue i\nk = k + 1",
        "k = k + 1\nif b[i] > 0.5:\n    return k, t",
        "t = k\nk = int64(b[i])\na[k] = 1.0\nk = t + 1",
        "t = t + k\nk = t",
        "for j in 0 .. i:\n    if b[j] > 0.5:\n        k = k + 1",
        "while k < n named w:\n    k = k + 1",
        "a[i] = float64(k)",
    ],
)
def test_what_stays_as_it_is(body: str) -> None:
    kernel = parsed(body)
    assert counters_as_functions(kernel) is kernel


@pytest.mark.parametrize("head", ["for i in k .. n:", "for i in 0 .. n step m:", "for i in 0 .. int64(b[0]):"])
def test_ranges_that_could_not_be_asked_again_stay(head: str) -> None:
    kernel = parsed("k = k + 1", head)
    assert counters_as_functions(kernel) is kernel


def packed_rows(flat: Any, m: Any) -> int:
    k = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            flat[k] = m[i, j]
            k += 1
    return k


def pairs(a: Any, b: Any) -> int:
    k = 0
    for i in range(len(a)):
        b[k] = a[i]
        k += 1
        b[k] = -a[i]
        k += 1
    return k


def triangle(flat: Any, m: Any) -> int:
    k = -1
    for i in range(m.shape[0]):
        for j in range(i, m.shape[0]):
            k += 1
            flat[k] = m[i, j]
    return k


@pytest.mark.parametrize("size", [0, 1, 2, 37])
def test_users_counters(size: int) -> None:
    m = np.random.default_rng(size).random((size, size))
    functions: tuple[tuple[Callable[..., int], Any], ...] = ((packed_rows, m), (pairs, m.ravel()), (triangle, m))
    for function, given in functions:
        found, wanted = np.zeros((2, 2 * size * size))
        arguments = ((given, found), (given, wanted)) if function is pairs else ((found, given), (wanted, given))
        assert lw.kernel(function)(*arguments[0]) == function(*arguments[1])
        np.testing.assert_array_equal(found, wanted)


def test_a_counter_leaves_nothing_to_check() -> None:
    text = str(lw.kernel(pairs).explain(np.zeros(5), np.zeros(10)))
    assert "checked" not in text
    assert "parallelize i" in text


def test_a_place_outside_is_an_error_before_the_first_write() -> None:
    with pytest.raises(lw.BoundsError):
        lw.kernel(pairs)(np.ones(5), found := np.zeros(9))
    np.testing.assert_array_equal(found, np.zeros(9))


def restarted(a: Any, m: Any) -> int:
    for i in range(a.shape[0]):
        k = 0
        for j in range(a.shape[1]):
            a[i, j] += m[k % 7]
            k += 3
    return 0


def restarted_and_read(a: Any, m: Any) -> int:
    for i in range(a.shape[0]):
        k = 1
        for j in range(a.shape[1]):
            a[i, j] += m[k % 7]
            k += 3
        a[i, 0] += k
    return 0


def restarted_and_returned(a: Any, m: Any) -> int:
    k = 9
    for i in range(a.shape[0]):
        k = 2
        for j in range(a.shape[1]):
            a[i, j] += m[k % 7]
            k += 1
    return k


def restarted_too_late(a: Any, m: Any) -> int:
    k = 4
    for i in range(a.shape[0]):
        if k < 20:
            a[i, 0] += k
        k = 0
        for j in range(a.shape[1]):
            a[i, j] += m[k % 7]
            k += 5
    return 0


def restarted_at_times(a: Any, m: Any) -> int:
    k = 0
    for i in range(a.shape[0]):
        if m[i % 7] > 0.5:
            k = 0
        for j in range(a.shape[1]):
            a[i, j] += m[k % 7]
            k += 1
    return 0


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 6), (2, 9)])
@pytest.mark.parametrize(
    ("function", "gone"),
    [
        (restarted, True),
        (restarted_and_read, False),
        (restarted_and_returned, False),
        (restarted_too_late, False),
        (restarted_at_times, False),
    ],
)
def test_counters_that_each_iteration_begins_anew(
    function: Callable[..., int], gone: bool, shape: tuple[int, int]
) -> None:
    m = np.random.default_rng(3).random(7)
    found, wanted = np.zeros((2, *shape))
    made = lw.kernel(function)
    assert made(found, m) == function(wanted, m)
    np.testing.assert_array_equal(found, wanted)
    assert (" k = " not in print_kernel(made.specialise(found, m).written)) == gone


def all_pairs(a: Any, m: Any) -> int:
    k = 0
    for i in range(a.shape[0]):
        for j in range(i + 1, a.shape[0]):
            a.ravel()[k % a.size] += m[(i + j) % 7]
            k += 1
    return k


def rows_that_grow(a: Any, m: Any) -> int:
    k = 3
    for i in range(2, a.shape[0]):
        for j in range(2 * i - 1):
            a[i, k % a.shape[1]] += m[j % 7]
            k += 2
        k += 1
    return k


def downwards(a: Any, m: Any) -> int:
    k = 0
    for i in range(a.shape[0] - 1, 0, -1):
        a[i, k % a.shape[1]] += m[0]
        for j in range(i):
            a[i, k % a.shape[1]] += m[j % 7]
            k += 1
    return k


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (2, 2), (5, 6), (9, 4)])
@pytest.mark.parametrize("function", [all_pairs, rows_that_grow, downwards])
def test_steps_that_grow_or_shrink(function: Callable[..., int], shape: tuple[int, int]) -> None:
    """The counter of a loop over pairs is a function of the outer variable's square."""
    m = np.random.default_rng(4).random(7)
    found, wanted = np.zeros((2, *shape))
    made = lw.kernel(function)
    assert made(found, m) == function(wanted, m)
    np.testing.assert_allclose(found, wanted)
    written = print_kernel(made.specialise(found, m).written)
    assert written.count(" k = ") == 2 and "// 2" in written  # where it begins, and what it is in the end


def cubes(a: Any, m: Any) -> int:
    k = 0
    for i in range(a.shape[0]):
        for j in range(i):
            for h in range(j):
                a[i, k % a.shape[1]] += m[h % 7]
                k += 1
    return k


def test_steps_that_grow_by_what_grows_stay() -> None:
    m = np.random.default_rng(4).random(7)
    found, wanted = np.zeros((2, 6, 5))
    assert lw.kernel(cubes)(found, m) == cubes(wanted, m)
    np.testing.assert_allclose(found, wanted)
