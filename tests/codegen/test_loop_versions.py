"""Nests of short loops whose indices are tested once: which are, and that results and errors are the interpreter's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.scheduled import host_text
from codegen.test_versions import agree

HEAD = """
kernel f(a: float64[2] C, w: float64[2] C, at: int64[1] C, n: int64):
    var u: int64
    var v: int64
    for k in 0 .. size(at, 0):
        u = at[k]
        v = at[k] - n
"""
WINDOW = (
    "for i in 0 .. 5:",
    "    for j in 0 .. 5:",
    "        a[u + i - 2, v - j + 2] = a[u + i - 2, v - j + 2] + w[i, j]",
)


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


def ranges_in(text: str) -> int:
    """How many indices a C text tests at once for ranges of them."""
    return host_text(text, "").split("lw_kernel(", 1)[1].count("lw_climbs(")


def places(*numbers: int) -> list[Any]:
    room = np.zeros((12, 12))
    return [room, np.arange(25.0).reshape(5, 5), np.array(numbers, np.int64), 1]


def test_a_window_where_data_say(tmp_path: Path) -> None:
    text = agree(text_of(*WINDOW), [places(5, 6, 4), places(), places(-4, 5)], tmp_path)
    assert text.count("lw_climbs(") >= 2 and text.count("LW_INDEX") >= 2


@pytest.mark.parametrize("numbers", [(5, 12), (5, 1), (0,), (-1, 3), (11,), (2**63 - 2,), (-(2**63),)])
def test_indices_that_wrap_or_fail(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    agree(text_of(*WINDOW), [places(*numbers)], tmp_path)


def test_a_branch_that_keeps_indices_inside(tmp_path: Path) -> None:
    inside = "u + i - 2 >= 0 and u + i - 2 < 12 and v - j + 2 >= 0 and v - j + 2 < 12"
    lines = (*WINDOW[:2], f"        if {inside}:", "    " + WINDOW[2])
    agree(text_of(*lines), [places(0, 5, 11, 20, -9)], tmp_path)


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (WINDOW, 2),
        (("for i in 0 .. 5:", "    for j in 0 .. 5:", "        a[u + 3 * i, j] = w[i, j]"), 1),
        (("for i in 0 .. 2:", "    for j in 0 .. 3:", "        a[u + i, v + j] = w[i, j]"), 0),  # too few
        (("for i in 0 .. 5:", "    for j in 0 .. n:", "        a[u + i, 1] = w[i, 0]"), 0),  # of any length
        (("for i in 0 .. 5:", "    for j in 0 .. 5:", "        a[u + i * i, v + j * j] = w[i, j]"), 0),
        (("for i in 0 .. 5:", "    for j in 0 .. 5:", "        a[u + i, 0] = w[i, j]", "        u = u + 1"), 0),
        (("for i in 0 .. 5:", "    for j in 0 .. 5:", "        a[at[i] + j, 0] = w[i, j]"), 0),  # `at` by i
    ],
)
def test_which_are_tested_at_once(lines: tuple[str, ...], count: int) -> None:
    assert ranges_in(text_of(*lines)) == count
