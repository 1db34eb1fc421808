"""Conditions that count in a row have no jump: which ones, and that the counts are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

IN_A_ROW = """
kernel f(w: uint8[2] C, out: int64[1] C):
    var n: int64
    for i in 1 .. size(w, 0) - 1:
        for j in 0 .. {trip}:
            n = 0
            {lines}
            if n >= 2:
                out[i + n] = j
"""
ABOVE, BELOW = "if w[i - 1, j] == uint8(1):|    n = n + 1", "if w[i + 1, j] == uint8(1):|    n = n + 3"


@pytest.mark.parametrize(
    ("lines", "trip", "sums"),
    [
        ((ABOVE, BELOW), "size(w, 1)", ["n_ = (int64_t)((w_", "n_ = n_ + 3L * (int64_t)((w_"]),
        ((ABOVE,), "size(w, 1)", []),
        ((ABOVE,), "4", []),
        ((ABOVE, "if j > 3:|    n = n + 1"), "size(w, 1)", []),
        ((ABOVE, BELOW.replace("n + 3", "n * 3")), "size(w, 1)", []),
        ((ABOVE, f"{BELOW}|else:|    n = n - 1"), "size(w, 1)", []),
    ],
)
def test_what_is_counted_in_a_row(lines: tuple[str, ...], trip: str, sums: list[str]) -> None:
    inside = "\n            ".join(part for one in lines for part in one.split("|"))
    text = host_text(IN_A_ROW.format(lines=inside, trip=trip))
    found = {one for one in ("n_ = n_ + (int64_t)((w_", "n_ = n_ + 3L * (int64_t)((w_") if one in text}
    assert found == {one.replace("n_ = (int64_t)", "n_ = n_ + (int64_t)") for one in sums}


def dead_ends(w: Any) -> Any:
    filled = 0
    for i in range(1, w.shape[0] - 1):
        for j in range(1, w.shape[1] - 1):
            c = 0
            if w[i - 1, j] == 1:
                c += 1
            if w[i + 1, j] >= 1:
                c += 2
            if w[i, j - 1] != 0:
                c -= 1
            if c >= 2:
                w[i, j] = 1
                filled += c
    return filled


def test_counts_in_a_row_are_the_same() -> None:
    mine = np.random.default_rng(3).integers(0, 3, (30, 40)).astype(np.uint8)
    right = mine.copy()
    assert lw.kernel(dead_ends)(mine) == dead_ends(right)
    assert (mine == right).all()
