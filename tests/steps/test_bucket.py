from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright.ir.interp import interpret
from loopwright.steps.bucket import Bucket
from loopwright.steps.schedule import apply_schedule
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

STATES = """
kernel states(k: int64[1] C, x: float64[1] C, best: float64[2] C, last: int64[1] C, out: float64[1] C, first: int64):
    var j: int64
    var s: float64
    var h: int64
    var t: int64
    t = 0
    for i in {range}:
        {body}
    last[0] = last[0] + t
"""
UPWARDS, DOWNWARDS = "first .. size(k, 0)", "size(k, 0) - 1 .. first - 1 step -1"


def test_the_picture() -> None:
    check_picture(Bucket)


def calls(negative: bool = True, beyond: int = 0) -> list[list[Any]]:
    random = np.random.default_rng(4)
    found: list[list[Any]] = []
    for n in (0, 1, 2, 40, 300):
        for size in (1, 7, 300):
            for least in {0, -size if negative else 0}:
                k = random.integers(least, size + beyond, n)
                state = [random.integers(0, 9, (size, 3)).astype(float), np.zeros(size + 2, np.int64)]
                found += [[k, random.integers(0, 9, n).astype(float), *state, np.zeros(n), first] for first in (0, 1)]
    return found


@pytest.mark.parametrize("range_", [UPWARDS, DOWNWARDS])
@pytest.mark.parametrize(
    "body",
    [
        "if x[i] > best[k[i], 0]:\n            best[k[i], 1] = best[k[i], 0]\n            best[k[i], 0] = x[i]",
        "j = k[i]\n        s = 0.5 * best[j, 2] + x[i]\n        best[j, 2] = s\n        out[i] = s",
        "j = k[i]\n        for h in 0 .. 3:\n            best[j, h] = best[j, 2 - h] * 0.5 + x[i]",
        "if x[i] > 3.0:\n            j = k[i]\n            best[j, 0] = x[i] - best[j, 0]",
        "j = k[i]\n        t = t + j\n        best[j, 0] = x[i] - best[j, 0]",
        "j = k[i]\n        while best[j, 0] > 0.5 named w:\n            best[j, 0] = best[j, 0] * 0.5\n"
        "        best[j, 0] = best[j, 0] + x[i]",
        "if x[i] < 2.0:\n            continue i\n        best[k[i], 1] = best[k[i], 1] * 0.5 + x[i]",
        "j = 0\n        if x[i] > 4.0:\n            j = k[i]\n        best[j, 0] = x[i] - best[j, 0]",
        # The index is what `h` was.
        "h = k[i]\n        j = h\n        if x[i] > 4.0:\n            h = 0\n        best[j, 0] = x[i] - best[j, 0]\n"
        "        out[i] = float64(h)",
    ],
)
def test_each_element_sees_its_iterations_in_their_order(body: str, range_: str, tmp_path: Path) -> None:
    check_same(STATES.format(range=range_, body=body), "bucket i", calls(), tmp_path)


TWO = "j = k[i]\n        best[j, 0] = x[i] - best[j, 0]\n        last[j] = 3 * last[j] + i"


def test_indices_from_the_end_of_arrays_of_other_lengths_are_other_elements(tmp_path: Path) -> None:
    """`last` has two elements more than `best`: -1 and size - 1 are one element of `best` and two of `last`."""
    check_same(STATES.format(range=UPWARDS, body=TWO), "bucket i", calls(), tmp_path)


def test_an_index_that_is_outside_raises() -> None:
    kernel, facts = known(STATES.format(range=UPWARDS, body="best[k[i], 0] = x[i] - best[k[i], 0]"))
    changed, _ = apply_schedule(kernel, facts, (Bucket("i"),), strict=False)
    for index in (7, -8):
        given = next(call for call in calls() if len(call[0]) == 40 and len(call[2]) == 7)
        given[0][9] = index
        for one in (kernel, changed):
            with pytest.raises(IndexError):
                interpret(one, copy.deepcopy(given))


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("best[k[i], 0] = x[i]\n        out[i] = best[0, 0]", "one index"),
        ("best[k[i], 0] = x[i] - best[k[i], 0]\n        out[k[i] + 1] = out[0]", "may touch the same element"),
        ("j = k[i]\n        best[j, 0] = x[i]\n        j = j + 1\n        best[j, 0] = best[j, 1]", "one index"),
        ("for h in 0 .. 2:\n            best[k[i] - h, 0] = best[k[i] - h, 0] * 2.0 + x[i]", "one index"),
        ("s = s * 0.5 + x[i]\n        best[k[i], 0] = s - best[k[i], 0]", "'s'"),
        ("j = last[i]\n        best[j, 0] = x[i] - best[j, 0]\n        last[j] = i", "may touch the same element"),
        ("out[i] = 2.0 * x[i]", "do not wait"),
        (
            "best[k[i], 0] = x[i] - best[k[i], 0]\n        if x[i] > s:\n            s = x[i]\n            t = i",
            "which of equal values",
        ),
        ("if x[i] < 0.0:\n            break i\n        best[k[i], 0] = x[i] - best[k[i], 0]", "left in the middle"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    rejection = Bucket("i").illegal(*known(STATES.format(range=UPWARDS, body=body)), strict=False)
    assert rejection is not None and word in rejection.reason, rejection


def test_strict_keeps_sums_of_scalars_in_order() -> None:
    body = "s = s + x[i]\n        best[k[i], 0] = x[i] - best[k[i], 0] * 2.0"
    text = STATES.format(range=UPWARDS, body=body).replace("    t = 0\n", "    t = 0\n    s = 0.0\n")
    text += "    best[0, 0] = s\n"
    given = known(text)
    assert Bucket("i").illegal(*given, strict=False) is None
    rejection = Bucket("i").illegal(*given, strict=True)
    assert rejection is not None and "strict" in rejection.reason


@pytest.mark.parametrize(("condition", "is_legal"), [("last[0] == 0", False), ("first == 0", True)])
def test_a_condition_around_it_is_read_before_it(condition: str, is_legal: bool) -> None:
    """A call that begins anew, on a CPU, would find what it has written itself."""
    text = STATES.format(range=UPWARDS, body="    best[k[i], 0] = x[i] - best[k[i], 0]")
    text = text.replace("    for i", f"    if {condition}:\n        last[0] = 1\n        for i")
    rejection = Bucket("i").illegal(*known(text), strict=False)
    assert is_legal is (rejection is None)
