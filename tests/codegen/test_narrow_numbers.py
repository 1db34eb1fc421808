"""Whole numbers that lanes compute from elements of few bits in 32 bits: where nothing is lost, and that nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

TEXT = """
kernel f(a: {}[1] C, b: {}[1] C, o: uint8[1] C, t: int64, x: float64[1] C):
    for i in 0 .. size(o, 0):
        {}
"""
SET = "if {}:\n            o[i] = uint8(1)"


@pytest.mark.parametrize(
    ("element", "condition", "is_narrow"),
    [
        ("uint8", "abs(int64(a[i]) - int64(b[i])) > 20", True),
        ("int16", "int64(a[i]) * 2 > int64(b[i])", True),
        ("uint8", "abs(int64(a[i]) - int64(b[i])) > t", True),
        ("uint8", "t > abs(int64(a[i]) - int64(b[i]))", True),
        ("int16", "int64(a[i]) * 5 > t", False),  # as many as lw_within_int32 cuts off
        ("int16", "int64(a[i]) * int64(b[i]) * 4 > 20", False),
        ("int32", "int64(a[i]) - int64(b[i]) > 20", False),
        ("uint8", "int64(a[i]) - int64(b[i]) > 3000000000", True),  # cut off likewise
        ("uint8", "int64(a[i]) - i > 20", False),
        ("uint8", "int64(a[i]) // int64(b[i]) > 20", False),
    ],
)
def test_which_comparisons(element: str, condition: str, is_narrow: bool) -> None:
    text = host_text(TEXT.format(element, element, SET.format(condition)), "vectorize i")
    assert ("(int32_t)a_[" in text) == is_narrow
    assert ("lw_within_int32(t_)" in text) == (is_narrow and "t" in condition.split())
    assert "(int32_t)a_[" not in host_text(TEXT.format(element, element, SET.format(condition)))


def test_what_becomes_a_float() -> None:
    text = host_text(TEXT.format("uint8", "uint8", "x[i] = float64(int64(a[i]) - int64(b[i]))"), "vectorize i")
    assert "= ((double)(((int32_t)a_[i_]) - ((int32_t)b_[i_])));" in text


def compared(a: Any, b: Any, t: int, o: Any, x: Any) -> None:
    for i in range(a.size):
        if abs(int(a[i]) - int(b[i])) > t:
            o[i] = 1
        if (int(a[i]) * int(b[i]) - 300 * int(a[i])) // 7 < -2000:
            o[i] += 2
        if -int(a[i]) % 5 >= min(int(a[i]) >> 2, int(b[i])):
            o[i] += 4
        x[i] = (int(a[i]) - int(b[i])) / 255.0


@pytest.mark.parametrize("element", [np.int8, np.uint8, np.int16, np.uint16])
def test_as_in_python(element: Any) -> None:
    kernel, info, rng = lw.kernel(compared), np.iinfo(element), np.random.default_rng(4)
    for size in (1, 100):
        a, b = rng.integers(info.min, info.max, (2, size), endpoint=True, dtype=element)
        a[0], b[0] = info.min, info.max
        for t in (20, 0, -1, 255, 65535, 65536, 1 << 40, -(1 << 63)):
            expected, actual = ((np.zeros(size, np.uint8), np.zeros(size)) for _ in range(2))
            compared(a, b, t, *expected)
            kernel(a, b, t, *actual)
            for one, other in zip(actual, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    generated = kernel.explain(a, b, 20, *actual).generated
    assert generated is not None
    assert "lw_within_int32(t_)" in Path(generated.source_path).read_text()
