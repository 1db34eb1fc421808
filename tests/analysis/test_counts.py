"""How often loops run, as polynomials that agree with running them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from analysis.small import kernel
from loopwright.analysis.counts import Polynomial, trip_counts

HEAD = 'def f(a: "float64[2]", x: "int64[1]", n: "int64", m: "int64"):\n'


def counts(text: str) -> dict[str, str]:
    found = trip_counts(kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n"))))
    return {name: str(polynomial) for name, polynomial in found.items()}


CASES = {
    "for i in range(n):\n    a[i, 0] = 1.0": {"i": "n"},
    "for i in range(1, n - 1):\n    for j in range(2, m):\n        a[i, j] = 1.0": {
        "i": "n - 2", "j": "(n - 2) * (m - 2)",
    },
    "for i in range(n):\n    for j in range(i):\n        a[i, j] = 1.0": {"i": "n", "j": "1/2 * n * (n - 1)"},
    "for i in range(n):\n    for j in range(i + 1, n):\n        for k in range(m):\n            a[i, j] = 1.0": {
        "i": "n", "j": "1/2 * n * (n - 1)", "k": "1/2 * n * (n - 1) * m",
    },
    "for i in range(n):\n    for j in range(i, n + m):\n        a[i, j] = 1.0": {
        "i": "n", "j": "(1/2 * n + m + 1/2) * n",
    },
    "for i in range(n):\n    for j in range(m):\n        for k in range(a.shape[0]):\n            for q in range(n):\n"
    "                a[k, j] += 1.0\n        for p in range(1, m):\n            a[i, p] = 1.0": {
        "i": "n", "j": "n * m", "k": "n * m * a.shape[0]", "q": "n * n * m * a.shape[0]", "p": "n * m * (m - 1)",
    },
    "for i in range(7):\n    a[i, 0] = 1.0": {"i": "7"},
    "for i in range(a.shape[1]):\n    a[0, i] = 1.0": {"i": "a.shape[1]"},
    "for i in range(0, n, 2):\n    a[i, 0] = 1.0": {"i": "None"},
    "for i in range(min(n, m)):\n    a[i, 0] = 1.0": {"i": "None"},
    "for i in range(n):\n    for j in range(x[i]):\n        a[i, j] = 1.0": {"i": "n", "j": "None"},
    "for i in range(n):\n    if a[i, 0] > 0.0:\n        break": {"i": "None"},
    "for i in range(n):\n    if i > 0:\n        for j in range(m):\n            a[i, j] = 1.0": {
        "i": "n", "j": "(n - 1) * m",
    },
}  # fmt: skip


@pytest.mark.parametrize("text", CASES)
def test_counts(text: str) -> None:
    assert counts(text) == CASES[text]


def test_values() -> None:
    polynomial = Polynomial(("n", "m"), {(2, 0): Fraction(1, 2), (1, 1): Fraction(3), (0, 0): Fraction(-1)})
    assert polynomial.value((4, 5)) == 8 + 60 - 1
    assert str(polynomial) == "1/2 * n**2 + 3 * n * m - 1"
    assert str(Polynomial(("n",), {})) == "0"
