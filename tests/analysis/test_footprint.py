"""How many elements of each array a call touches."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.footprint import footprint

HEAD = 'def f(a: "float64[2]", b: "float64[1]", x: "int64[1]", n: "int64", m: "int64"):\n'

CASES = {
    "for i in range(1, n - 1):\n    for j in range(1, m - 1):\n        a[i, j] = a[i - 1, j] + a[i, j + 1]": {
        "a": "n * m - n - m",
    },
    "for i in range(n):\n    for j in range(m):\n        b[i] += a[i, j]": {"a": "n * m", "b": "n"},
    "for i in range(n):\n    b[i % 4] = 1.0": {"b": "4"},
    "for i in range(n):\n    for j in range(m):\n        b[i * m + j] = 1.0": {"b": "n * m"},
    "for i in range(n):\n    b[x[i]] = 1.0": {"b": "None", "x": "n"},
    "for i in range(n):\n    if b[i] > 0.0:\n        a[i, 0] = 1.0": {"a": "None", "b": "n"},
    "b[-1] = 1.0": {"b": "1"},
}


@pytest.mark.parametrize("text", CASES)
def test_footprint(text: str) -> None:
    found = footprint(kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n"))))
    assert {array: str(polynomial) for array, polynomial in found.items()} == CASES[text]
