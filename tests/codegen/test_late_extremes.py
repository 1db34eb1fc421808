"""Extremes with a constant that the next iteration waits for: which ones, and that they are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: float64[1] C, k: int64[1] C, out: float64[1] C):
    var s: float64
    var t: float64
    var n: int64
    s = 5.0
    t = 7.0
    n = 0
    for i in 0 .. size(a, 0):
"""


@pytest.mark.parametrize(
    ("body", "late"),
    [
        ("s = max(0.0, s + a[i])\n        out[i] = s", 1),
        ("s = min(s + a[i], 2.0)\n        out[i] = s", 1),
        ("s = s * 0.5 + max(t, 0.0)\n        t = s - a[i]\n        out[i] = t", 1),
        ("s = max(s, a[i])\n        out[i] = s", 0),  # no constant
        ("out[i] = max(0.0, a[i])", 0),  # nothing waits
        ("n = max(0, n + k[i])\n        out[i] = float64(n)", 0),  # whole numbers are chosen by moves
    ],
)
def test_which(body: str, late: int) -> None:
    text = host_text(f"{HEAD}        {body}\n", "").split(" lw_kernel(", 1)[1]
    assert text.count("lw_late_m") // (2 if "else" in text else 1) == late


def breaks(a: Any, begin: Any, out: Any) -> int:
    high = begin
    low = begin
    found = 0
    for i in range(len(a)):
        high = max(a[0] * 0, high + a[i])
        low = min(low + a[i], a[0] * 0)
        high = max(high, -1.0)
        low = min(2.5, low)
        out[i, 0] = high
        out[i, 1] = low
        if high > 2.0 or low < -2.0:
            found += 1
            high = begin
            low = -begin
    return found


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("begin", [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5])
@pytest.mark.parametrize("length", [0, 1, 500])
def test_as_python(kind: type[Any], begin: float, length: int) -> None:
    a = np.random.default_rng(6).choice([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, np.nan], max(1, length)).astype(kind)
    a[0] = 0.0
    a = a[:length]
    mine, pythons = np.zeros((2, len(a), 2), kind)
    with np.errstate(invalid="ignore"):
        expected = breaks(a, kind(begin), pythons)
    for strict in (True, False):
        assert lw.kernel(breaks, strict=strict)(a, kind(begin), mine) == expected
        np.testing.assert_array_equal(mine.view(f"u{mine.itemsize}"), pythons.view(f"u{mine.itemsize}"))
