"""Sums of narrow integers in narrow lanes: which loops, and that nothing overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text


def total(a: Any) -> Any:
    s = 0
    for i in range(a.size):
        s += np.int64(a[i])
    return s


def counted(a: Any) -> Any:
    n, m = 5, 0
    for i in range(a.size):
        if a[i] > 100:
            n += 127
        m += a[i] != 3
    return n, m


def in_rows(a: Any) -> Any:
    out = np.zeros(3, np.int64)
    for r in range(3):
        out[r] = np.sum(a[r:]) + np.count_nonzero(a[r:])
    return out


@pytest.mark.parametrize("function", [total, counted, in_rows])
@pytest.mark.parametrize("element", [np.int8, np.uint8, np.int16, np.uint16, np.bool_])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_in_python(function: Callable[..., Any], element: Any, threads: int) -> None:
    kernel, rng = lw.kernel(function, threads=threads), np.random.default_rng(4)
    info = None if element is np.bool_ else np.iinfo(element)
    for size in (3, 15, 16, 127, 128, 129, 4096, 70000):
        for value in (0, 1) if info is None else (info.min, info.max, None):
            drawn = rng.integers(0 if info is None else info.min, 1 if info is None else info.max, size)
            a = (drawn if value is None else np.full(size, value)).astype(element)
            for given in (a, a[::-1]):
                np.testing.assert_array_equal(kernel(given), function(given.astype(np.int64)))


HEAD = "kernel f(a: {}[1] C, x: float64[1] C) -> python int64:\n    var s: int64\n    s = 0\n"
LOOP = "    for i in 0 .. size(a, 0):\n        {}\n    return s\n"


@pytest.mark.parametrize(
    ("element", "statement", "width"),
    [
        ("int8", "s = s + int64(a[i])", "int16_t"),
        ("uint16", "s = s + int64(a[i])", "int32_t"),
        ("bool", "s = s + int64(a[i])", "int16_t"),
        ("int8", "s = s + int64(a[i] > int8(3))", "int16_t"),
        ("int32", "s = s + int64(a[i])", ""),
        ("int8", "s = s + int64(a[i]) * 1000", ""),
        ("int8", "s = max(s, int64(a[i]))", ""),
        ("int8", "s = s + int64(x[i] > 0.5)", ""),
        ("int8", "s = s + int64(a[i]) + i", ""),
    ],
)
def test_which_loops(element: str, statement: str, width: str) -> None:
    text = host_text(HEAD.format(element) + LOOP.format(statement), "vectorize i")
    assert (f"{width} s_part = 0;" in text) if width else "s_part = 0;" not in text
