"""Remainders that the next iteration waits for: which ones, and that they are Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: int64[1] C, out: int64[1] C, m: int64):
    var s: int64
    var t: int64
    s = 5
    t = 7
    for i in 0 .. size(a, 0):
"""


@pytest.mark.parametrize(
    ("body", "late"),
    [
        ("s = (s * 3 + 1) % 1000\n        out[i] = s", 1),
        ("t = (s * 3) % 1000\n        s = (t * 5) % 999\n        out[i] = s + t", 2),
        ("s = (s * 3 + 1) % 1024\n        out[i] = s", 0),  # a mask
        ("s = (s * 3 + 1) % m\n        out[i] = s", 0),
        ("out[i] = (a[i] * 3 + 1) % 1000", 0),  # nothing waits
        ("s = s + (a[i] % 1000)\n        out[i] = s", 0),
        ("t = (s * 3) // 1000\n        s = (s * 3) % 1000 + t\n        out[i] = s", 0),  # the quotient is needed, too
    ],
)
def test_which(body: str, late: int) -> None:
    text = host_text(f"{HEAD}        {body}\n", "").split(" lw_kernel(", 1)[1]
    assert text.count("lw_late_mod_int64(") // (2 if "else" in text else 1) == late


def walked(count: int, seed: int, factor: int, out: Any) -> int:
    s = seed
    for i in range(count):
        s = (s * factor - 3) % 1000003
        out[i] = s
    total = 0
    while s > 7 and total < 5000:
        s = (s - factor) % 99991
        total += s % 10
    return total


@pytest.mark.parametrize("seed", [1, 0, -1, -(2**62), 2**62, 12345])
@pytest.mark.parametrize("factor", [16807, -16807])
def test_as_python(seed: int, factor: int) -> None:
    mine, pythons = np.zeros((2, 300), np.int64)
    seed = seed if abs(seed) < 2**40 else seed // 2**20
    assert lw.kernel(walked)(300, seed, factor, mine) == walked(300, seed, factor, pythons)
    np.testing.assert_array_equal(mine, pythons)
