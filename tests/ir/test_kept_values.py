from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.errors import BoundsError
from loopwright.ir import kept_values
from loopwright.ir.kept_values import values_of_places
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify

FRAME = "kernel f(a: float64[1] C, b: float64[2] C, n: int64, m: int64) -> python int64:\n    var k: int64\n"


def parsed(body: str) -> Kernel:
    return parse_kernel(FRAME + "    k = 0\n" + body + "    return k\n")


def test_the_picture() -> None:
    assert "if a[i] > a[k]:" in (inspect.getdoc(kept_values) or "")
    kernel = values_of_places(parsed("    for i in 1 .. n:\n        if a[i] > a[k]:\n            k = i\n"))
    verify(kernel)
    text = print_kernel(kernel)
    assert (
        "    k.v = 0.0\n    if 1 < n:\n        k.v = a[k]\n    for i in 1 .. n:\n        if a[i] > k.v:\n"
        "            k.v = a[i]\n            k = i\n" in text
    )


@pytest.mark.parametrize(
    "body",
    [
        "if a[i] > a[k]:\n            k = i\n            a[i] = 0.0",
        "if a[i] > a[k]:\n            k = i + 1",
        "if a[i] > a[k] + 1.0:\n            k = i",
        "if a[i] == a[k]:\n            k = i",
        "if a[i] > a[k]:\n            k = i\n        else:\n            k = 0",
        "if a[i] > a[k]:\n            k = i\n        a[0] = 1.0",
        "b[0, 0] = 1.0\n        if a[i] > a[k]:\n            k = i",
        "if a[i] > a[k]:\n            k = i\n        b[0, i] = float64(k)",
        "if b[i, i] > b[i, k]:\n            k = i",
        "if a[i] > 2.0:\n            k = i",
        # What is asked for before may be why there is an element to compare with.
        "if b[i, 0] > 0.0 and a[i] > a[k]:\n            k = i",
        "if k < 0 or a[i] > a[k]:\n            k = i",
        "if m < 0 or a[i] > a[k]:\n            k = i",
        "if b[i, 0] > 0.0:\n            if a[i] > a[k]:\n                k = i",
    ],
)
def test_what_stays_as_it_is(body: str) -> None:
    kernel = parsed(f"    for i in 1 .. n:\n        {body}\n")
    assert values_of_places(kernel) is kernel


@pytest.mark.parametrize(
    "test",
    [
        "if k < 0 or a[i] > a[k]:\n            k = i",
        "if b[i, 0] > 0.0 and (k == -1 or a[i] > a[k]):\n            k = i",
        "if b[i, 0] > 0.0:\n            if 0 > k or a[i] > a[k]:\n                k = i",
    ],
)
def test_a_loop_that_begins_without_a_place_reads_none(test: str) -> None:
    kernel = values_of_places(parsed(f"    k = -1\n    for i in 1 .. size(a, 0):\n        {test}\n"))
    verify(kernel)
    text = print_kernel(kernel)
    assert "a[i] > k.v" in text and "a[k]" not in text and "    k.v = 0.0\n    for i in" in text
    shorter = parsed(f"    k = -1\n    for i in 1 .. n:\n        {test}\n")
    assert values_of_places(shorter) is shorter, "an element that may not be there is not read first"


def first_least(a: Any, done: Any, n: int) -> int:
    k = -1
    for i in range(n):
        if not done[i] and (k < 0 or a[i] < a[k]):
            k = i
    return k


def test_an_element_that_python_does_not_read_is_no_error() -> None:
    for a, done in (([1.0], [True, False]), ([], [False]), ([2.0, 1.0], [False, False])):
        given = np.array(a), np.array(done), len(done)
        assert lw.kernel(first_least)(*given) == first_least(*given)


def test_only_the_loop_in_question_is_looked_at() -> None:
    body = (
        "    for j in 0 .. m:\n        a[j] = 1.0\n        for i in j .. n:\n            if {0}a[i]{1} > {0}a[k]{1}:\n"
        "                k = i\n"
    )
    for signs in (("", ""), ("abs(", ")")):
        assert "if j < n:" in print_kernel(values_of_places(parsed(body.format(*signs))))


def least(a: Any, k: int) -> int:
    for i in range(len(a)):
        if a[i] < a[k]:
            k = i
    return k


def both(a: Any) -> tuple[int, int]:
    low = high = 0
    for i in range(1, len(a)):
        if a[i] <= a[low]:
            low = i
        if a[high] < a[i]:
            high = i
    return low, high


def pivots(b: Any, rows: Any) -> None:
    for j in range(b.shape[1]):
        p = j
        for i in range(j, b.shape[0]):
            if abs(b[i, j]) > abs(b[p, j]):
                p = i
        rows[j] = p


def in_a_matrix(b: Any) -> tuple[int, int]:
    p = q = 0
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            if b[i, j] > b[p, q]:
                p = i
                q = j
    return p, q


def nearest(a: Any, done: Any, first: int) -> tuple[int, int]:
    k = -1
    for i in range(first, len(a)):
        if done[i] == 0 and (k < 0 or a[i] < a[k]):
            k = i
    far = -1
    for i in range(first, len(a)):
        if done[i]:
            continue
        if far == -1 or a[far] <= a[i]:
            far = i
    return k, far


@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_places_behind_a_guard(size: int) -> None:
    chosen = np.random.default_rng(size)
    kernel: Callable[..., Any] = lw.kernel(nearest)
    for a in (chosen.random(size), chosen.integers(0, 9, size), np.arange(size) * -1.0, np.full(size, np.nan)):
        for part in (0.0, 0.5, 1.0):
            done = chosen.random(size) < part
            assert kernel(a, done, size // 5) == nearest(a, done, size // 5)


@pytest.mark.parametrize("size", [1, 2, 17, 300])
@pytest.mark.parametrize("kind", [np.float64, np.int32, np.uint8, "NaN", "equal"])
def test_the_places_are_those_of_the_loop(size: int, kind: Any) -> None:
    a = np.random.default_rng(size).integers(0, 50, size).astype(kind if isinstance(kind, type) else np.float64)
    if kind == "NaN":
        a[:: max(1, size // 3)] = np.nan
    elif kind == "equal":
        a[:] = 3.0
    for k in (0, size - 1, -1):
        assert lw.kernel(least)(a, k) == least(a, k)
    assert lw.kernel(both)(a) == both(a)
    b = np.resize(a, (size, max(1, size // 3)))
    rows, wanted = np.zeros(b.shape[1], np.int64), np.zeros(b.shape[1], np.int64)
    signed = b.astype(np.float64) - 25
    lw.kernel(pivots)(signed, rows)
    pivots(signed, wanted)
    assert (rows == wanted).all()
    assert lw.kernel(in_a_matrix)(b) == in_a_matrix(b)


def test_a_place_that_is_not_there_fails_only_where_it_is_asked_for() -> None:
    kernel: Callable[..., int] = lw.kernel(least)
    assert kernel(np.zeros(0), 7) == 7
    with pytest.raises(BoundsError, match="7"):
        kernel(np.zeros(5), 7)
