from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.nodes import For, If
from loopwright.ir.walk import loops, statements
from loopwright.steps.inspect import Inspect
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

ROWS = """
kernel rows(out: float64[1] C, p: int64[1] C, x: float64[1] C):
    var s: float64
    var t: int64
    for i in 0 .. size(p, 0) - 1:
        {body}
"""
TWO_PASSES = """s = 0.0
        for k in p[i] .. p[i + 1]:
            s = s + x[k]
        for k.2 in p[i] .. p[i + 1]:
            out[k.2] = x[k.2] + s"""
IN_PLACE = "for k in p[i] .. p[i + 1]:\n            out[k] = out[k] * 2.0 + float64(i)"
NAMED = "t = p[i]\n        for k in t .. p[i + 1]:\n            out[k] = out[k] + float64(k - t)"
PARTS = "for k in p[i] .. p[i] + 2:\n            out[k] = out[k] + float64(i)"
ORDERED, MEETING = [0, 0, 3, 3, 7, 12], [0, 5, 3, 6, 2, 12]
NEGATIVE, APART, BESIDE = [-3, -1, 2, 5], [1, 3, 5, 9, 11], [1, 2, 5, 9, 11]


def test_the_picture() -> None:
    check_picture(Inspect)


@pytest.mark.parametrize("body", [TWO_PASSES, IN_PLACE, NAMED, PARTS])
def test_all_calls_give_what_they_gave(body: str, tmp_path: Path) -> None:
    x = np.random.default_rng(2).integers(0, 9, 14).astype(float)
    calls = [[np.arange(14.0), np.array(p, np.int64), x]
             for p in (ORDERED, MEETING, NEGATIVE, APART, BESIDE, [4], [2, 9])]  # fmt: skip
    changed = check_same(ROWS.format(body=body), "inspect i; parallelize i", calls, tmp_path)
    fast = loops(changed)["i"]
    assert isinstance(fast, For) and fast.asserted == "independent"
    assert sum(isinstance(stmt, If) for stmt in statements(changed.body)) == 1


def test_an_index_outside_ends_the_call_as_before() -> None:
    calls = [[np.arange(9.0), np.array(p), np.arange(9.0)] for p in ([0, 4, 12], [0, 12, 4])]
    check_same(ROWS.format(body=IN_PLACE), "inspect i", calls)


def test_loops_that_have_no_ends_in_common_are_tested_twice() -> None:
    names = loops(check_same(ROWS.format(body=PARTS), "inspect i", [])).keys()
    assert {"i.q", "i.q.1"} <= names and "i.q.1" not in loops(check_same(ROWS.format(body=IN_PLACE), "inspect i", []))


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("out[i] = 1.0", "it is known"),
        ("for k in p[i] .. p[i + 1]:\n            out[k - 1] = x[k]", "go through a range"),
        ("for k in p[i] .. p[i + 1]:\n            out[k] = out[i]", "go through a range"),
        ("for k in p[i] .. p[i + 1]:\n            out[k] = x[k]\n            p[k] = 0", "go through a range"),
        (
            "for k in p[i] .. p[i + 1]:\n            out[k] = x[k]\n            s = s + x[k]\n        x[i] = s",
            "it is known",
        ),
        ("for k in p[p[i]] .. p[p[i] + 1]:\n            out[k] = x[k]", "that may not be there"),
        ("for k in p[i] .. p[i + 1] step 2:\n            out[k] = x[k]", "go through a range"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    rejection = Inspect("i").illegal(*known(ROWS.format(body=body)), strict=False)
    assert rejection is not None and word in rejection.reason, rejection
