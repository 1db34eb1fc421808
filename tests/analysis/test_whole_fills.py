"""Arrays that are filled as a whole through one index for all rows."""

from __future__ import annotations

import pytest

from analysis.test_local_arrays import loop

UPPER = "(w - 1) * p - p * (p - 1) // 2 + q - p - 1"
LOWER = "p * (p + 1) // 2 + q"


def rows(size: str, places: str, index: str, use: str = "t[u]", count: str = "w") -> str:
    """A loop that fills an array row by row, and reads it."""
    return (
        f"w = a.shape[1]\nt = zeros({size})\nfor i in range(n):\n    for p in range({count}):\n"
        f"        for q in range({places}):\n            t[{index}] = a[i, p] - a[i, q]\n"
        f"    for u in range({size}):\n        a[i, 0] += {use}"
    )


FILLED = {
    "a rectangle": rows("w * w", "w", "p * w + q"),
    "rows of another length": rows("w * (w + 3)", "w + 3", "p * (w + 3) + q"),
    "all pairs": rows("w * (w - 1) // 2", "p + 1, w", UPPER),
    "all pairs, without the row that has none": rows("w * (w - 1) // 2", "p + 1, w", UPPER, count="w - 1"),
    "a triangle": rows("w * (w + 1) // 2", "p + 1", LOWER),
    "read where data say": rows("w * (w + 1) // 2", "p + 1", LOWER, "t[x[u]]"),
}


@pytest.mark.parametrize("why", FILLED)
def test_filled(why: str) -> None:
    found = loop(FILLED[why])
    assert (found.verdict, found.private) == ("parallel", ("t",))


NOT_FILLED = {
    "a column is missing": rows("w * w", "w - 1", "p * w + q"),
    "a row is missing": rows("w * (w + 1)", "w", "p * w + q"),
    "an element more": rows("w * w + 1", "w", "p * w + q"),
    "the diagonal is missing": rows("w * (w + 1) // 2", "p", LOWER),
    "a row of pairs is missing": rows("w * (w - 1) // 2", "p + 1, w", UPPER, count="w - 2"),
    "the product of two negative numbers": rows("m * m", "m", "p * m + q", count="m"),
    "at times": rows("w * w", "w", "p * w + q").replace("    t[p", "    if a[p, q] > 0.0:\n                t[p"),
}


@pytest.mark.parametrize("why", NOT_FILLED)
def test_not_filled(why: str) -> None:
    found = loop(NOT_FILLED[why])
    assert found.verdict != "parallel" and found.private == ()
