"""Scalars of loops in lanes with as few bits as they need: which ones, and that nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def sharpened(a: Any, out: Any) -> None:
    for i in range(1, a.size - 1):
        v = 5 * int(a[i]) - int(a[i - 1]) - int(a[i + 1]) * 3
        if v < 0:
            v = 0
        elif v > 255:
            v = 255
        out[i] = v


def multiplied(a: Any, out: Any) -> None:
    for i in range(1, a.size - 1):
        v = int(a[i]) * int(a[i - 1])  # 16 bits, and its square has 32
        w = v * v - v * 65026
        out[i] = (w >> 8) & 255


def negative(a: Any, out: Any) -> None:
    for i in range(1, a.size - 1):
        v = -int(a[i])
        w = ~v - 256
        out[i] = (v if a[i] > 7 else w) % 256


def with_floats(a: Any, out: Any) -> None:
    for i in range(1, a.size - 1):
        v = int(a[i]) + 1
        out[i] = int((v * 0.5) // 1.0)


CASES = {sharpened: ["int16_t"], multiplied: ["uint16_t", "uint8_t"], negative: ["int16_t", "uint8_t"], with_floats: []}


@pytest.mark.parametrize("function", CASES)
def test_as_in_python(function: Callable[..., Any]) -> None:
    kernel, rng = lw.kernel(function), np.random.default_rng(4)
    for size in (0, 1, 3, 65, 1000):
        a = rng.choice(np.array([0, 1, 7, 8, 128, 254, 255], np.uint8), size)
        expected, actual = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        function(a, expected)
        kernel(a, actual)
        np.testing.assert_array_equal(actual, expected)
        kernel(a[::-1], actual)
        function(a[::-1], expected)
        np.testing.assert_array_equal(actual, expected)
    generated = kernel.explain(a, actual).generated
    assert generated is not None
    declared = set(re.findall(r"(\w+) (lw_narrow_\w+);", Path(generated.source_path).read_text()))
    assert sorted(kind for kind, _ in declared) == CASES[function]


def summed(a: Any) -> int:
    s = 0
    for i in range(a.size):
        v = int(a[i]) * 2
        if v > 100:
            v = 100 - v
        s += v * v
    return s


def test_what_openmp_has_for_each_lane_stays_as_it_is() -> None:
    a = np.arange(256).astype(np.uint8)
    assert lw.kernel(summed)(a) == summed(a)
