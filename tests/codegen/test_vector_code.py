"""Loops as code for whole vector registers: which ones, and that they compute the same whatever the registers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.codegen.openmp import HEADER
from loopwright.codegen.vector_code import LEAST, MOST

TARGETS = (("-march=x86-64-v3",), ("-march=x86-64",), ())


def scaled(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = f * a[i, j] + b[j] / c[i, j] - (-a[i, j])


def constant(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = -0.0 * f


def product(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += f * a[i, k] * b[k, j]


def from_zero(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0 - a[i, j]


def backwards(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = a[i, c.shape[1] - 1 - j]


def column(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = a[j, i]


def root(c: Any, a: Any, b: Any, f: float) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = np.sqrt(abs(a[i, j]))


TILED = "tile i 2 j {}; specialize i j full; vectorize j; vectorize j.1"


def text_of(kernel: Any, arguments: tuple[Any, ...]) -> str:
    return str(kernel.specialise(*arguments).program.text).removeprefix(HEADER)


def arguments_of(dtype: type, rows: int, columns: int, square: bool = False) -> tuple[Any, ...]:
    rng = np.random.default_rng(rows * 100 + columns)
    c, a = (rng.standard_normal((rows, columns)).astype(dtype) for _ in range(2))
    if square:
        a = rng.standard_normal((columns, columns)).astype(dtype)
    return c, a, rng.standard_normal(columns).astype(dtype), dtype(1.5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("trip", [2, 4, 6, 8, 12, 16, 20, 64, 128])
@pytest.mark.parametrize("function", [scaled, constant])
def test_the_same_to_the_last_bit_where_nothing_may_be_fused(function: Any, trip: int, dtype: type) -> None:
    kernel = lw.kernel(function)
    for flags in TARGETS:
        for rows, columns in ((4, trip * 2), (5, trip * 2 + 1), (3, trip - 1)):
            given = arguments_of(dtype, rows, columns)
            wanted = given[0].copy()
            function(wanted, *given[1:])
            with lw.options(schedule=TILED.format(trip), strict=True, compiler_flags=flags):
                kernel(*given)
                fills = trip * np.dtype(dtype).itemsize
                assert ("LW_ROW(" in text_of(kernel, given)) == (fills % LEAST == 0 and fills <= MOST)
            np.testing.assert_array_equal(given[0], wanted)
            np.testing.assert_array_equal(np.signbit(given[0]), np.signbit(wanted))


@pytest.mark.parametrize("function", [from_zero, backwards, column, root])
def test_what_is_left_to_the_compiler(function: Any) -> None:
    kernel = lw.kernel(function)
    given = arguments_of(np.float64, 9, 17, square=function is column)
    wanted = given[0].copy()
    function(wanted, *given[1:])
    with lw.options(schedule=TILED.format(8)):
        kernel(*given)
        assert "LW_ROW(" not in text_of(kernel, given)
    np.testing.assert_array_equal(given[0], wanted)


@pytest.mark.parametrize("flags", TARGETS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_keeps_its_sums_in_registers(flags: tuple[str, ...], dtype: type) -> None:
    kernel = lw.kernel(product)
    rng = np.random.default_rng(1)
    for n, m, k in ((37, 70, 41), (6, 96, 300), (1, 33, 1), (0, 5, 5), (5, 5, 0)):
        a, b = rng.standard_normal((n, k)).astype(dtype), rng.standard_normal((k, m)).astype(dtype)
        c = rng.standard_normal((n, m)).astype(dtype)
        with lw.options(compiler_flags=flags):
            kernel(c, a, b, dtype(0.5))
            assert "LW_ROW(" in text_of(kernel, (c, a, b, dtype(0.5)))
        np.testing.assert_allclose(c, 0.5 * (a @ b), rtol=1e-4 if dtype is np.float32 else 1e-11, atol=1e-4)
