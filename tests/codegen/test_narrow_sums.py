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


def in_floats(a: Any) -> Any:
    s, n = 0.5, -0.0
    for i in range(a.size):
        s += np.float64(a[i])
        if a[i] > 100:
            n += 1.0
    return s, n


@pytest.mark.parametrize("function", [total, counted, in_rows, in_floats])
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


def correlated(a: Any) -> Any:
    found = 0.0
    for k in range(a.shape[1]):
        found += a[0, k] * a[1, k]
    return found


@pytest.mark.parametrize("element", [np.int8, np.uint8, np.int16, np.uint16])
def test_products_wrap_as_their_type_says(element: Any) -> None:
    kernel, info = lw.kernel(correlated), np.iinfo(element)
    for size in (15, 16, 40, 129, 5000):
        a = np.random.default_rng(size).integers(info.min, info.max, (2, size), dtype=element)
        with np.errstate(over="ignore"):
            assert kernel(a) == correlated(a)
            with lw.options(strict=True):
                assert kernel(a) == correlated(a)


def differences(a: Any, b: Any) -> Any:
    s, squares, far = 0, 0, 0
    for i in range(a.size):
        d = int(a[i]) - int(b[i])
        s += abs(d)
        squares += d * d
        if abs(d) > 20:
            far += d * 3
    return s, squares, far


@pytest.mark.parametrize("element", [np.int8, np.uint8, np.int16])
def test_what_is_computed_from_narrow_elements(element: Any) -> None:
    kernel, info, rng = lw.kernel(differences), np.iinfo(element), np.random.default_rng(4)
    for size in (0, 15, 65, 4097, 70000):
        drawn = rng.integers(info.min, info.max, (2, size), endpoint=True, dtype=element)
        for a, b in (drawn, (np.full(size, info.min, element), np.full(size, info.max, element))):
            wide = a.astype(np.int64) - b
            expected = abs(wide).sum(), (wide * wide).sum(), (3 * wide[abs(wide) > 20]).sum()
            assert kernel(a, b) == expected


def moments(a: Any, b: Any) -> Any:
    n, s, squares, products = 0, 0, 0, 0
    for i in range(a.size):
        x = int(a[i])
        y = int(b[i])
        if x < 0 or y < 3:
            continue
        n += 1
        s += x
        squares += x * x
        products += x * y
    return n, s, squares, products


@pytest.mark.parametrize("element", [np.int8, np.uint8, np.int16])
def test_elements_with_names(element: Any) -> None:
    kernel, info, rng = lw.kernel(moments), np.iinfo(element), np.random.default_rng(4)
    for size in (0, 15, 65, 200, 4097, 70000):
        drawn = rng.integers(info.min, info.max, (2, size), endpoint=True, dtype=element)
        for a, b in (drawn, np.full((2, size), info.max, element)):
            x, y = a.astype(np.int64), b.astype(np.int64)
            here = (x >= 0) & (y >= 3)
            expected = here.sum(), x[here].sum(), (x * x)[here].sum(), (x * y)[here].sum()
            assert kernel(a, b) == expected


def above(x: Any, t: Any) -> Any:
    if x > t:
        return 3
    return -1


def passing(a: Any, t: Any) -> Any:
    n, share, last = 0, 0.5, 0
    for i in range(a.size):
        share += above(a[i], t)
        if a[i] != t and a[i] < 100:
            n += 1
    for i in range(a.size):
        if a[i] > t:
            last = 1
        else:
            last = 0
        n += last
    return n, share, last


@pytest.mark.parametrize("element", [np.float32, np.float64, np.int32, np.int64, np.uint32, np.int8])
def test_elements_that_pass_a_test(element: Any) -> None:
    kernel, rng = lw.kernel(passing), np.random.default_rng(4)
    for size in (0, 1, 15, 17, 150, 4097, 9000):
        a = rng.integers(0, 120, size).astype(element)
        if element in (np.float32, np.float64):
            a[::7] = np.nan
        for given in (a, a[::-1], np.full(size, 50, element)):
            assert kernel(given, element(50)) == passing(given, element(50))


def square_of_last(a: Any) -> Any:
    s, d = 0, 7
    for i in range(a.size):
        d = int(a[i])
        s += d * d
    return s, d


def test_what_is_read_behind_the_loop() -> None:
    kernel = lw.kernel(square_of_last)
    for size in (0, 1, 100, 5000):
        a = np.arange(size).astype(np.int8)
        assert kernel(a) == square_of_last(a)


HEAD = "kernel f(a: {}[1] C, x: float64[1] C) -> python int64:\n    var s: int64\n    var d: int64\n    s = 0\n"
LOOP = "    for i in 0 .. size(a, 0):\n        {}\n    return s\n"


@pytest.mark.parametrize(
    ("element", "statement", "width"),
    [
        ("int8", "s = s + int64(a[i])", "int16_t"),
        ("uint16", "s = s + int64(a[i])", "int32_t"),
        ("bool", "s = s + int64(a[i])", "int16_t"),
        ("int8", "s = s + int64(a[i] > int8(3))", "int16_t"),
        ("int32", "s = s + int64(a[i])", ""),
        ("int8", "s = s + int64(a[i]) * 1000", "int32_t"),
        ("int8", "s = s + int64(a[i]) * 1000000", ""),
        ("int16", "s = s + int64(a[i]) * int64(a[i])", ""),
        ("uint8", "d = 1 - int64(a[i]); s = s + d * d", "int32_t"),
        ("uint8", "d = 1 - int64(a[i]); s = s + d * d; d = 3", ""),
        ("uint8", "d = int64(a[i]); s = s + d * d", "int32_t"),
        ("int8", "s = max(s, int64(a[i]))", ""),
        ("int8", "s = s + int64(x[i] > 0.5)", "int64_t"),
        ("float32", "s = s + int64(a[i] > a[0])", "int32_t"),
        ("float32", "s = s + int64(a[i] * a[i] > a[0])", ""),
        ("float32", "s = s + int64(float64(a[i]) > 0.5)", ""),
        ("int8", "s = s + int64(a[i]) + i", ""),
        ("int8", "s = s + int64(a[i] * a[i])", "int16_t"),
    ],
)
def test_which_loops(element: str, statement: str, width: str) -> None:
    lines = statement.replace("; ", "\n        ")
    text = host_text(HEAD.format(element) + LOOP.format(lines), "vectorize i")
    assert (f"{width} s_part = 0;" in text) if width else "s_part = 0;" not in text
    assert ("reduction(" in text) == (not width)  # gcc keeps sums of whole numbers better where it is told nothing


@pytest.mark.parametrize(
    ("statement", "is_narrow"),
    [
        ("s = s + float64(a[i])", True),
        ("s = s + float64(a[i] * a[i])", True),
        ("s = s + float64(a[i]) * 0.5", False),
        ("s = s + x[i]", False),
        ("s = s + float64(a[i]); s = s + 1.0", False),
        ("if a[i] > int8(2): s = s + 1.0", True),
        ("if a[i] > int8(2): s = s + 0.5", False),
        ("if a[i] > int8(2): s = s + -0.0", False),
        ("if a[i] > int8(2): s = s + float64('nan')", False),
        ("if a[i] > int8(2): s = s + float64('inf')", False),
    ],
)
def test_which_loops_with_sums_of_floats(statement: str, is_narrow: bool) -> None:
    head = (
        HEAD.format("int8")
        .replace("python int64", "float64")
        .replace("s: int64", "s: float64")
        .replace("s = 0", "s = 0.0")
    )
    lines = statement.replace(": s", ":\n            s").replace("; ", "\n        ")
    assert ("int16_t s_part = 0;" in host_text(head + LOOP.format(lines), "vectorize i")) == is_narrow
