"""How accesses move through their arrays."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse

HEAD = 'def f(a: "float64[2]", b: "float64[1]", x: "int64[1]", n: "int64"):\n'

CASES = {
    "for i in range(n):\n    for j in range(n):\n        a[i, j] = 1.0": (("affine", "affine"), "1"),
    "for i in range(n):\n    for j in range(n):\n        a[j, i] = 1.0": (("affine", "affine"), "row"),
    "for i in range(n):\n    for j in range(0, n, 2):\n        a[2 * j, 0] = 1.0": (("affine", "affine"), "4 * row"),
    "for i in range(n):\n    a[i, i] = 1.0": (("affine", "affine"), "row + 1"),
    "for i in range(n):\n    b[n - i] = 1.0": (("affine",), "-1"),
    "for i in range(n):\n    b[3] = 1.0": (("affine",), "0"),
    "for i in range(n):\n    b[x[i]] = 1.0": (("indirect",), ""),
    "for i in range(n):\n    b[i // 2] = 1.0": (("affine",), ""),
    "for i in range(n):\n    k = 0\n    while b[k] > 0.0:\n        k += 1\n        b[k] = 1.0": (
        ("data-dependent",),
        "",
    ),
    "b[0] = 1.0": (("affine",), ""),
}


@pytest.mark.parametrize("text", CASES)
def test_pattern_and_stride(text: str) -> None:
    facts = analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n"))))
    write = facts.accesses[-1]
    assert write.is_write
    assert (write.pattern, write.stride) == CASES[text]


def test_texts_and_places() -> None:
    facts = analyse(kernel(HEAD + "    for i in range(n):\n        b[i] = a[x[i], i % 4]\n"))
    assert [access.text for access in facts.accesses] == ["x[i]", "a[x[i], i % 4]", "b[i]"]
    assert [access.at and access.at.line for access in facts.accesses] == [3, 3, 3]
