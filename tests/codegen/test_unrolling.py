"""Innermost loops without lanes that a C compiler writes out: which ones, and how many iterations at once."""

from __future__ import annotations

import re

import pytest

from codegen.scheduled import host_text

HEAD = "kernel f(a: int64[1] C, h: int64[1] C, n: int64, b: int64[2] C):\n    var m: int64\n    m = a[0]\n"
TABLE = "h[a[i]] = h[a[i]] + 1"
LONG = f"h[a[i]] = a[i]{' * 3 + a[i]' * 30}"
LONGER = f"h[a[i]] = a[i]{' * 3 + a[i]' * 70}"


@pytest.mark.parametrize(
    ("bounds", "body", "steps", "at_once"),
    [
        ("0 .. size(a, 0)", TABLE, "", ["4"]),
        ("0 .. n", TABLE, "", ["4"]),
        ("0 .. 180", TABLE, "", ["4"]),
        ("0 .. size(a, 0)", f"if a[i] > 3:\n            {TABLE}", "", ["4"]),
        ("0 .. size(a, 0)", LONG, "", ["2"]),
        ("0 .. size(a, 0)", LONGER, "", []),
        ("0 .. 4", TABLE, "", []),
        ("a[0] .. a[1]", TABLE, "", []),
        ("0 .. m", TABLE, "", []),
        ("0 .. size(a, 0)", f"if a[i] > 3:\n            {TABLE}\n        else:\n            h[i] = 0", "", []),
        ("0 .. size(h, 0)", "h[i] = i", "vectorize i", []),
        ("1 .. size(b, 0)", "b[i, n] = b[i - 1, n] + 1", "", []),
        ("1 .. size(b, 0)", "b[i, n] = b[i - 1, n] + a[i]", "", ["4"]),
        ("1 .. size(b, 0)", "b[i, 1] = b[i - 1, 1] + 1", "", ["4"]),
    ],
)
def test_which_loops(bounds: str, body: str, steps: str, at_once: list[str]) -> None:
    text = host_text(f"{HEAD}    for i in {bounds}:\n        {body}\n", steps)
    assert re.findall(r"#pragma GCC unroll (\d+)", text) == at_once


def test_loops_that_threads_share() -> None:
    text = host_text("kernel f(a: int64[1] C, h: int64[1] C):\n    for i in 0 .. size(a, 0):\n        " + TABLE + "\n",
                     "parallelize i")  # fmt: skip
    assert re.findall(r"#pragma GCC unroll (\d+) for", text) == ["4"]


CONVERTED = """
kernel f(x: float64[1] C, w: float64[1] C, h: float64[1] C):
    var m: int64
    for i in 0 .. size(x, 0):
        m = checked(int64(x[i]), x[i] >= -9223372036854775808.0 and x[i] < 9223372036854775808.0, not_finite)
        if m >= 0 and m < size(h, 0):
            h[m] = h[m] + w[i]
"""


def test_loops_that_an_inspector_is_of_no_use_to() -> None:
    """Iterations meet in elements that data tell: there are no lanes for which it would make the checks before."""
    text = host_text(CONVERTED, "parallelize i")
    assert "lw_fails" not in text and re.findall(r"#pragma GCC unroll (\d+) for", text) == ["4"]


WALK = "while m >= 0 and m < n and a[m] == 2 named w:\n{0}    m = m + {1}\n{0}h[m] = 1\n"


@pytest.mark.parametrize(
    ("bounds", "inner", "at_once"),
    [("-1 .. 2", "-1 .. 2", ["3", "3"]), ("-1 .. 2", "", ["3"]), ("0 .. 5", "0 .. 5", ["5"]), ("0 .. n", "", [])],
)
def test_walks_in_a_few_directions(bounds: str, inner: str, at_once: list[str]) -> None:
    loop = f"        for j in {inner}:\n            " if inner else "        "
    walk = WALK.format(" " * (12 if inner else 8), "j" if inner else "i")
    text = host_text(f"{HEAD}    for i in {bounds}:\n{loop}{walk}")
    assert re.findall(r"#pragma GCC unroll (\d+)", text) == at_once
