"""How far accesses move with loops, and what indices that are quotients, remainders or clamped count as."""

from __future__ import annotations

import pytest

from loopwright.analysis.strides import FAR, walks
from loopwright.ir.text import parse_kernel

KERNEL = """
kernel some(a: float64[1] C, b: float64[2] C, p: int64[1] C, o: float64[2] C, n: int64):
    for i in 0 .. n:
        for j in 0 .. n:
            o[i, j] = {}
"""


def strides(value: str, array: str) -> tuple[int | None, int | None]:
    found = [walk for walk in walks(parse_kernel(KERNEL.format(value))) if walk.array == array]
    return found[-1].strides.get("i"), found[-1].strides.get("j")


@pytest.mark.parametrize(
    ("value", "array", "expected"),
    [
        ("b[i, j]", "b", (FAR, 1)),
        ("b[j, i]", "b", (1, FAR)),
        ("a[2 * j + 3]", "a", (0, 2)),
        ("a[i * 2 // 3]", "a", (1, 0)),
        ("a[-i // 4 + 4 * j]", "a", (-1, 4)),
        ("a[j * 10 // 3 + i % 7]", "a", (1, 4)),
        ("a[i * 2 % 3]", "a", (2, 0)),
        ("a[min(i + 1, n - 1)]", "a", (1, 0)),
        ("b[max(i - 1, 0), min(j + 1, n - 1)]", "b", (FAR, 1)),
        ("a[(i + j) % n]", "a", (1, 1)),
        ("a[p[j]]", "a", (None, None)),
        ("a[p[i] // 2]", "a", (None, 0)),
        ("a[min(p[i], j)]", "a", (None, 1)),
    ],
)
def test_what_an_access_moves_by(value: str, array: str, expected: tuple[int | None, int | None]) -> None:
    assert strides(value, array) == expected
