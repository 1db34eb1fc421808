"""Arrays laid out by hand are read by their digits, where the digits are within their radices."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse

HEAD = 'def f(a: "float64[1]", b: "float64[1]", n: "int64", m: "int64", l: "int64", w: "int64", x: "int64[1]"):\n'


def verdicts(text: str) -> dict[str, str]:
    facts = analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.strip().split("\n"))))
    return {name: loop.verdict for name, loop in facts.loops.items()}


ALL_PARALLEL = [
    "for i in range(n):\n    for j in range(m):\n        a[i * m + j] = b[i * m + j]",
    "for i in range(n):\n    for j in range(m):\n        a[j + m * i] = b[j * n + i]",
    "for i in range(n):\n    for j in range(m):\n        a[i * w + j] = b[i]",
    "for i in range(1, n):\n    for j in range(1, m):\n        a[i * m + j] = b[(i - 1) * m + j - 1]",
    "for i in range(n):\n    for j in range(m):\n        a[i * m + m - 1 - j] = 1.0",
    "for i in range(n):\n    for j in range(m):\n        for k in range(l):\n            a[(i * m + j) * l + k] = 1.0",
    "for i in range(n):\n  for j in range(m):\n    for k in range(l):\n      a[i * m * l + j * l + k] = 1.0",
    "for i in range(n):\n    a[i * w] = b[i]",
    "for i in range(n):\n    a[i * n + i] = 1.0",
    "for i in range(n):\n    for j in range(n + 1):\n        a[i * (n + 1) + j] = 1.0",
    "for i in range(n):\n    for j in range(2 * m):\n        a[i * (2 * m) + j] = 1.0",
    "for i in range(n):\n    for j in range(len(b)):\n        a[i * len(b) + j] = b[j]",
]


@pytest.mark.parametrize("text", ALL_PARALLEL)
def test_parallel(text: str) -> None:
    assert set(verdicts(text).values()) == {"parallel"}


TRIANGLES = [
    "for i in range(n):\n    for j in range(i + 1):\n        a[i * (i + 1) // 2 + j] = b[i]",
    "for i in range(n):\n    for j in range(i):\n        a[j + i * (i - 1) // 2] = b[j]",
    "for i in range(n):\n    for j in range(i + 1, n):\n        a[n * i - i * (i + 1) // 2 + j - i - 1] = b[j]",
    "for i in range(n):\n  for j in range(i + 1, n):\n"
    "    a[n * (n - 1) // 2 - (n - i) * (n - i - 1) // 2 + j - i - 1] = 1.0",
    "for i in range(n):\n    for j in range(i, n):\n        a[(2 * n - i + 1) * i // 2 + j - i] = b[j]",
    "for i in range(n):\n    for j in range(i):\n        a[i * (i - 1) + 2 * j] = a[i * (i - 1) + 2 * j + 1]",
    "for i in range(n):\n    a[i * i] = b[i]",
    "for i in range(n):\n    for j in range(2 * i + 1):\n        a[i * i + j] = b[j]",
    "for i in range(n):\n    for j in range(i):\n        a[i * (i + 1) // 2 + j] = a[i * (i + 1) // 2 + i]",
]


@pytest.mark.parametrize("text", TRIANGLES)
def test_rows_of_triangles(text: str) -> None:
    assert set(verdicts(text).values()) == {"parallel"}


NOT_TRIANGLES = {
    "a row goes on into the next": "for i in range(n):\n for j in range(i + 2):\n  a[i * (i + 1) // 2 + j] = b[j]",
    "rows begin before the last ends": "for i in range(n):\n for j in range(i + 1):\n  a[i * (i - 1) // 2 + j] = b[j]",
    "a product that is odd at times": "for i in range(n):\n for j in range(i):\n  a[i * i // 2 + j] = b[j]",
    "two lengths": "for i in range(n):\n for j in range(i):\n  a[i * (i + 1) // 2 + j] = a[i * (i - 1) // 2 + j]",
    "before the first row": "for i in range(-3, n):\n for j in range(n):\n  a[i * (i - 1) // 2 + j] = b[j]",
    "one too many in rows that get shorter": "for i in range(n):\n for j in range(i, n):\n"
    "  a[n * i - i * (i + 1) // 2 + j - i] = b[j]",
    "rows that stay as long as the first": "for i in range(n):\n for j in range(n - 1):\n"
    "  a[n * i - i * (i + 1) // 2 + j] = b[j]",
    "rows get shorter too far": "for i in range(n):\n for j in range(w):\n  a[n * i - i * (i + 1) // 2 + j] = b[j]",
}


@pytest.mark.parametrize("why", NOT_TRIANGLES)
def test_what_only_looks_like_a_triangle(why: str) -> None:
    assert verdicts(NOT_TRIANGLES[why])["i"] != "parallel"


def test_what_a_triangle_takes() -> None:
    """Of the lengths that all accesses may have, the guard asks for the shortest."""
    text = "for i in range(n):\n    for j in range(i):\n        a[i * (i + 1) // 2 + j] = a[i * (i + 1) // 2 + i]"
    facts = analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n"))))
    assert "n + (n * (n - 1) / 2) <= len(a)" in facts.guard.text and "2 * n" not in facts.guard.text


NOT_OUTER = {
    "the rows overlap": "for i in range(n):\n    for j in range(m + 1):\n        a[i * m + j] = b[j]",
    "a row reads the next": "for i in range(n - 1):\n    for j in range(m):\n        a[i * m + j] = a[(i + 1) * m + j]",
    "a row reads another": "for i in range(n):\n    for j in range(1, m):\n        a[i * m + j] = a[i * m + j - m]",
    "two widths": "for i in range(n):\n    for j in range(m):\n        a[i * m + j] = a[i * w + j]",
    "the digit is data": "for i in range(n):\n    for j in range(m):\n        a[i * m + x[j]] = b[j]",
    "a product of variables": "for i in range(n):\n    for j in range(m):\n        a[i * j] = b[j]",
}


@pytest.mark.parametrize("why", NOT_OUTER)
def test_not_parallel(why: str) -> None:
    assert verdicts(NOT_OUTER[why])["i"] in ("sequential", "undecided")


def test_a_flat_loop_beside_it_does_not_matter() -> None:
    text = (
        "for k in range(n * m):\n    a[k] = 0.0\nfor i in range(n):\n    for j in range(m):\n        a[i * m + j] = 1.0"
    )
    assert set(verdicts(text).values()) == {"parallel"}


def test_distances_are_along_the_digits() -> None:
    text = "for i in range(n):\n    for j in range(1, m):\n        a[i * m + j] = a[i * m + j - 1]"
    assert verdicts(text) == {"i": "parallel", "j": "sequential"}
