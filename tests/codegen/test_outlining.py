"""Nests with a function of their own: values come back, memory is kept, failures leave the caller, and what other
code leaves stays where it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.execution import both
from codegen.scheduled import check, host_text
from loopwright.codegen import outlining
from loopwright.ir.text import parse_kernel

CARRIED = """
kernel carried(x: float64[2] C) -> tuple(float64, python int64, float64):
    var s: float64
    var n: int64
    var t: float64
    var only_inside: int64
    var only_outside: float64
    s = 0.0
    n = 0
    only_inside = 0
    only_outside = 0.0
    for i in 0 .. size(x, 0):
        for j in 1 .. size(x, 1):
            t = s
            for k in 0 .. j:
                if x[i, k] > t:
                    n = n + k + only_inside
                    only_inside = only_inside + 1
                t = t * 0.5 - x[i, k]
            only_outside = t
            s = t - s * 0.25
        if s > 0.0:
            s = s - 1.0
    return s, n, only_outside
"""
MADE = """
kernel made(x: float64[2] C, y: float64[2] C):
    for i in 1 .. size(x, 0):
        for j in 0 .. size(x, 1):
            allocate room: float64[i + j]
            for k in 0 .. i + j:
                room[k] = x[i, j] - y[i - 1, j] * float64(k)
            for k.2 in 1 .. i + j:
                room[k.2] = room[k.2] + room[k.2 - 1]
            y[i, j] = room[i + j - 1] - y[i - 1, j]
"""
FAILING = """
kernel failing(x: float64[1] C, p: int64[1] C) -> float64:
    var s: float64
    s = 0.0
    for i in 0 .. 3:
        for j in 1 .. 4:
            allocate room: float64[j]
            for k in 0 .. j:
                room[k] = s
                s = s * 0.5 + x[p[k + i]] - room[k // 2]
    return s
"""
LEFT = """
kernel left(x: float64[1] C) -> python int64:
    for i in 0 .. size(x, 0):
        for j in 0 .. size(x, 0):
            for k in 0 .. j:
                if x[k] * x[i] > 7.0:
                    return i * 100 + k
    return -1
"""
BRANCH = """
kernel branch(x: float64[1] C) -> float64:
    var s: float64
    var t: float64
    s = 1.0
    if x[0] > 0.0:
        allocate room: float64[size(x, 0)]
        for i in 1 .. size(x, 0):
            s = x[i] - s * 0.5
            room[i] = s
        t = room[1]
        s = s + t
    return s
"""


@pytest.fixture(autouse=True)
def anything_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlining, "LARGE", 1)
    monkeypatch.setattr(outlining, "LEAST", 12)


def test_values_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(-8.0, 12.0).reshape(4, 5) % 5.0 - 1.0
    for most, count in ((400, 1), (25, 1), (1, 0)):  # the outermost loop, the one in it, none
        monkeypatch.setattr(outlining, "MOST", most)
        assert host_text(CARRIED, strict=True).count("LW_PART int lw_nest_") == count
        check(CARRIED, [x], tmp_path, "", strict=True)
    monkeypatch.setattr(outlining, "MOST", 400)
    assert "&lw_at_lw_due" in host_text(CARRIED)  # the caller goes on counting where the nest ends
    assert "lw_nest_" in host_text(BRANCH)
    for first in (1.0, -1.0):
        check(BRANCH, [np.array([first, 4.0, 2.0])], tmp_path, "")


def test_memory_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlining, "MOST", 40)
    text = host_text(MADE, check_all=True)
    assert "lw_nest_" in text and text.count("lw_give_back(room_)") == 1
    assert text.index("lw_give_back(room_)") > text.index("LW_PART int lw_kernel(")
    arguments = [np.arange(20.0).reshape(4, 5) % 7.0, np.ones((4, 5))]
    expected, found = both(parse_kernel(MADE), arguments, tmp_path)
    np.testing.assert_array_equal(found[1], expected[1])


def test_failures_leave_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlining, "MOST", 25)
    assert "lw_nest_" in host_text(FAILING, check_all=True)
    x, good, bad = np.arange(8.0), np.arange(8) % 5, np.array([0, 1, 2, 3, 9, 0, 0, 0])
    for places in (good, bad):
        expected, found = both(parse_kernel(FAILING), [x, places], tmp_path)
        assert found[-1] == expected[-1]


def test_what_is_left_early_stays() -> None:
    assert "lw_nest_" not in host_text(LEFT)
