"""Products of float64 by matrix units: which loops they take, and that lanes give them the right numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.gpu_target import CUDA
from loopwright.recipe import grid_tiles

RANDOM = np.random.default_rng(5)


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def less_twice(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] -= 2.0 * a[i, k] * b[k, j]


def two_terms(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j] + b[k, j] * a[i, k] * 3.0


def least_sum(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] = min(c[i, j], a[i, k] + b[k, j])


def of_bytes(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0
            for k in range(a.shape[1]):
                s += int(a[i, k]) * int(b[k, j])
            c[i, j] = s


def in_32_bits(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += np.int32(a[i, k]) * np.int32(b[k, j])


def less_each(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] -= int(a[i, k]) * int(b[k, j])


def whole(*shape: int, dtype: str = "f8") -> Any:
    return RANDOM.integers(-9, 10, shape).astype(dtype)


def text_and_result(function: Any, *args: Any, **options: Any) -> str:
    """The CUDA text, after a call whose results are those of CPython to the last bit."""
    kernel, own, right = lw.kernel(function), [one.copy() for one in args], [one.copy() for one in args]
    function(*right)
    with lw.options(device="emulated", **options):
        kernel(*own)
        text = kernel.specialise(*args).c_text
    for mine, theirs in zip(own, right, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert text is not None
    return text[text.index("CUDA") :]


@pytest.mark.parametrize("shape", [(64, 64, 64), (70, 33, 90), (5, 300, 7), (17, 16, 16), (1, 1, 1), (3, 0, 4)])
def test_lanes_give_the_right_numbers(shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    n, depth, m = shape
    text = text_and_result(product, whole(n, depth), whole(depth, m), np.full((n, m), np.nan))
    assert "lw_multiply(" in text


@pytest.mark.parametrize("function", [less_twice, two_terms])
def test_sums_of_several_products(function: Any) -> None:
    assert "lw_multiply(" in text_and_result(function, whole(66, 40), whole(40, 65), whole(66, 65))


def test_what_is_not_finite_stays_in_its_row_and_column() -> None:
    a, b = whole(66, 32), whole(32, 65)
    a[3, 7], a[65, 0], b[31, 64], b[2, 2] = np.nan, np.inf, -np.inf, 0.0
    with np.errstate(invalid="ignore"):
        text_and_result(product, a, b, np.zeros((66, 65)))


def test_other_sums_and_types_are_as_before() -> None:
    for function, dtype in ((least_sum, "f8"), (product, "f4"), (product, "i8")):
        args = whole(20, 20, dtype=dtype), whole(20, 20, dtype=dtype), whole(20, 20, dtype=dtype)
        assert "lw_multiply(" not in text_and_result(function, *args), (function, dtype)


def test_strict_adds_in_order() -> None:
    a, b = RANDOM.random((20, 40)), RANDOM.random((40, 30))
    assert "lw_multiply(" not in text_and_result(less_twice, a, b, np.zeros((20, 30)), strict=True)


def test_a_gpu_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CUDA.matrix_units
    monkeypatch.setattr(grid_tiles, "BY_MATRIX_UNITS", {})  # threads are laid out in another way then
    assert "lw_multiply(" not in text_and_result(two_terms, whole(20, 20), whole(20, 20), whole(20, 20))


def extremes(dtype: str, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return RANDOM.choice(np.array([limits.min, limits.max, limits.max - 1, 1]), shape).astype(dtype)


@pytest.mark.parametrize("shape", [(70, 40, 66), (1, 1, 1), (3, 0, 4), (64, 64, 64)])
@pytest.mark.parametrize(("left", "right"), [("i1", "i1"), ("u1", "i1"), ("i1", "u1"), ("u1", "u1")])
def test_products_of_bytes(left: str, right: str, shape: tuple[int, int, int]) -> None:
    n, depth, m = shape
    a, b = extremes(left, n, depth), extremes(right, depth, m)
    names = {"i1": "int8_t", "u1": "uint8_t"}
    called = f"LW_MULTIPLY_BYTES({names[left]}, {names[right]}, "
    assert called in text_and_result(of_bytes, a, b, np.ones((n, m), np.int64), strict=True)
    assert called in text_and_result(in_32_bits, a, b, np.ones((n, m), np.int32))


def test_other_products_of_integers_are_as_before() -> None:
    args = extremes("i1", 40, 40), extremes("i1", 40, 40), np.ones((40, 40), np.int64)
    wide = extremes("i2", 40, 40)
    for function, a in ((less_each, args[0]), (of_bytes, wide)):
        assert "LW_MULTIPLY_BYTES(int" not in text_and_result(function, a, *args[1:])
