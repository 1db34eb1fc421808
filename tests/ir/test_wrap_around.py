"""What an iteration keeps for the next one, computed again: of which scalars, and that every value is the same."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir import wrap_around
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import statements
from loopwright.ir.wrap_around import computed_again

HEAD = """kernel f(a: float64[1] C, b: float64[1] C, n: int64, m: int64) -> tuple(python float64, python float64):
    var x: float64
    var y: float64
    var s: float64
    var u: float64
    var k: int64
    var on: bool
    on = False
    x = 3.0
    y = 5.0
    s = 0.0
    u = 0.0
    k = 1
"""


def parsed(body: str, head: str = "for i in 0 .. n:") -> Kernel:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return parse_kernel(HEAD + f"    {head}\n{lines}    return x + s + float64(k), y + u + float64(on)\n")


def test_the_picture() -> None:
    assert "a[i] = b[i] + b[i - 1]" in (inspect.getdoc(wrap_around) or "")
    kernel = computed_again(parsed("a[i] = b[i] + x\nx = b[i]"))
    verify(kernel)
    text = """    if 0 < n:
        a[0] = b[0] + x
        x = b[0]
    for i in 1 .. n:
        a[i] = b[i] + b[i - 1]
        x = b[i]
"""
    assert text in print_kernel(kernel)


KEPT = {
    "an element": "a[i] = b[i] + x\nx = b[i]",
    "its number": "a[i] = b[k] * float64(k)\nk = i",
    "from two before": "a[i] = b[i] + x * y\ny = x\nx = b[i]",
    "by way of a scalar": "u = b[i] * 2.0\na[i] = x + u\nx = u",
    "of a scalar that changes": "u = b[i]\ns = u\nu = 4.0\na[i] = x\nx = s",
    "two of them": "a[i] = x - y\nx = b[i]\ny = b[i] - 1.0",
    "and a sum": "s = s + x * b[i]\nx = b[i]",
    "and a switch": "if b[i] > x and m > 1:\n    on = not on\nx = b[i]",
    "in a test": "if b[i] > x:\n    a[i] = x\nelse:\n    a[i] = float64(k)\nk = i\nx = b[i]",
    "read behind it too": "a[i] = x\nx = b[i]\na[i] = a[i] * x",
    "a few operations": "a[i] = x\nx = b[i] * 2.0 - abs(b[i])",
}
RANGES = ("0 .. n", "2 .. n", "m .. n", "n .. m step -1", "0 .. n step 3", "size(a, 0) - 1 .. n step -2")


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("head", RANGES)
def test_every_value_is_the_same(name: str, head: str) -> None:
    before = parsed(KEPT[name], f"for i in {head}:")
    after = computed_again(before)
    verify(after)
    every = [id(stmt) for stmt in statements(after.body)]
    assert after is not before and len(set(every)) == len(every)
    assert parse_kernel(print_kernel(after)) == after
    for n, m in ((0, 0), (0, 2), (1, 0), (2, 1), (7, 3), (-3, 1), (2**63 - 1, 2**63 - 1), (-(2**63), 5)):
        found = []
        for kernel in (before, after):
            if n == 2**63 - 1 and head != "m .. n":
                continue  # such a loop would not end
            if n == -(2**63) and "step -" in head:
                continue
            arrays = np.zeros(8), np.random.default_rng(n % 99).random(8)
            try:
                result: Any = interpret(kernel, (*arrays, n, m))
            except lw.BoundsError as error:
                result = type(error)
            found.append((result, *arrays))
        assert len({repr(one) for one in found}) <= 1


@pytest.mark.parametrize(
    "body",
    [
        "a[i] = x\nif b[i] > 0.5:\n    x = b[i]",
        "u = b[i]\nif b[i] > 0.5:\n    u = 7.0\na[i] = x\nx = u",
        "a[i] = x\nx = a[i] + 1.0",
        "b[i] = x\nx = b[i]",
        "a[i] = x\nx = x * 0.5 + b[i]",
        "a[i] = x + y\nx = b[i]\ny = y * 0.5 + b[i]",
        "a[i] = x\nx = sqrt(b[i])",
        "a[i] = x\nx = b[i] / 3.0",
        "a[i] = x\nx = b[i]\nif b[i] > 0.5:\n    break i",
        "a[i] = s\ns = s + x\nx = b[i]",
        "x = b[i]\na[i] = x",
        "if b[i] > x:\n    on = not on\na[i] = float64(on)\nx = b[i]",
        "a[i] = x + y + u\nu = y\ny = x\nx = b[i]",
        "for j in 0 .. 2:\n    a[i] = x\nx = b[i]",
    ],
)
def test_what_stays_as_it_is(body: str) -> None:
    kernel = parsed(body)
    assert computed_again(kernel) is kernel


def differences(a: Any, b: Any, start: float) -> float:
    before = start
    for i in range(len(a)):
        b[i] = a[i] - before
        before = a[i]
    return before


def crossings(a: Any) -> int:
    found = 0
    last = a[0]
    for i in range(1, len(a)):
        if last < 0.5 <= a[i]:
            found += 1
        last = a[i]
    return found


def trapezoids(x: Any, y: Any, low: int, high: int) -> float:
    total = 0.0
    x0, y0 = x[low], y[low]
    for i in range(low + 1, high):
        total += 0.5 * (x[i] - x0) * (y[i] + y0)
        x0 = x[i]
        y0 = y[i]
    return total


@pytest.mark.parametrize("size", [1, 2, 3, 300])
@pytest.mark.parametrize("strict", [False, True])
def test_what_users_keep(size: int, strict: bool) -> None:
    a, b = np.random.default_rng(size).random((2, size))
    found, wanted = np.zeros((2, size))
    with lw.options(strict=strict):
        assert lw.kernel(differences)(a, found, 0.25) == differences(a, wanted, 0.25)
        np.testing.assert_array_equal(found, wanted)
        assert lw.kernel(crossings)(a) == crossings(a)
        total = lw.kernel(trapezoids)(a, b, 0, size)
    np.testing.assert_allclose(total, trapezoids(a, b, 0, size), rtol=0 if strict else 1e-12)


def test_they_no_longer_tie_iterations() -> None:
    a = np.random.default_rng(1).random(50)
    for function, given in ((differences, (a, a.copy(), 0.0)), (crossings, (a,)), (trapezoids, (a, a, 0, 50))):
        assert "parallelize i" in str(lw.kernel(function).explain(*given))


def test_arrays_that_share_memory() -> None:
    found = np.random.default_rng(2).random(20)
    wanted = found.copy()
    lw.kernel(differences)(found[:-1], found[1:], 0.0)
    differences(wanted[:-1], wanted[1:], 0.0)
    np.testing.assert_array_equal(found, wanted)


def test_loops_that_list_what_differs_from_before_are_peeled_for_a_gpu() -> None:
    """The place in the list ties their iterations all the same, but a prefix sum finds it."""
    kernel = parsed("if b[i] > x:\n    a[k] = b[i]\n    k = k + 1\nx = b[i]")
    assert computed_again(kernel) is kernel
    after = computed_again(kernel, places=True)
    verify(after)
    assert "if b[i] > b[i - 1]:" in print_kernel(after)
    random = np.random.default_rng(4)
    for n in (0, 1, 2, 9):
        given = [random.integers(-9, 9, 20).astype(float) for _ in range(2)]
        other = [one.copy() for one in given]
        assert interpret(kernel, [*given, n, 5]) == interpret(after, [*other, n, 5])
        np.testing.assert_array_equal(given, other)


@pytest.mark.parametrize(
    "text",
    [
        "if b[i] > x:\n    a[k] = b[i]\n    k = 2 * k\nx = b[i]",
        "if b[i] > x:\n    a[k] = float64(k)\n    k = k + 1\nx = b[i]",
        "if b[i] > x + float64(k):\n    k = k + 1\nx = b[i]",
        "if b[i] > x:\n    a[k] = b[i]\n    k = k + 1\nx = b[k]",
    ],
)
def test_what_else_asks_for_a_place_leaves_the_loop_as_it_is(text: str) -> None:
    kernel = parsed(text)
    assert computed_again(kernel, places=True) is kernel


def test_scalars_that_begin_with_no_number_are_none_that_tell_places() -> None:
    """On a GPU, a loop that sets a scalar to -inf was a mistake of the compiler."""

    def rows(x, out):
        for i in range(x.size):
            most = -np.inf
            if x[i] > 0.5:
                most = x[i]
            out[i] = most

    x, mine, wanted = np.random.default_rng(2).random(7), np.zeros(7), np.zeros(7)
    with lw.options(device="emulated"):
        lw.kernel(rows)(x, mine)
    rows(x, wanted)
    np.testing.assert_array_equal(mine, wanted)
