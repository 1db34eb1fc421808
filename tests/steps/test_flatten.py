from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from loopwright.ir.walk import loops
from loopwright.steps.flatten import Flatten
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture
from steps.same import refusal

HEAD = """
kernel ranges(n: int64, e: int64[1] C, b: float64[1] C, a: float64[1] C, c: float64[2] C):
    var s: float64
    var low: int64
"""
RANGES = f"""{HEAD}
    for i in 1 .. n:
        for k in e[i - 1] .. e[i]:
            if b[k] > 6.0:
                continue k
            a[k] = a[k] + b[i] * float64(i)
"""
BOXES = f"""{HEAD}
    for i in 0 .. n - 1:
        low = e[i] - 1
        s = b[i]
        for k in low .. e[i + 1]:
            for j in 0 .. size(c, 1):
                c[max(k, 0), j] = 2.0 * c[max(k, 0), j] + s
    a[0] = s
"""


def test_the_picture() -> None:
    check_picture(Flatten)


def calls() -> list[list[object]]:
    random = np.random.default_rng(5)
    ends = [[0, 3, 3, 9, 4, 12], [5, 2, 1, 0, 0, 0], [0, 12, 12, 12, 12, 12], [3, 3, 3, 3, 3, 3]]
    return [
        [n, np.array(one), random.integers(-9, 9, 13).astype(float), random.random(13).round(1),
         random.integers(0, 3, (13, 3)).astype(float)]
        for n in (-1, 0, 1, 2, 6) for one in ends
    ]  # fmt: skip


def test_iterations_keep_their_order_whatever_the_ranges_are(tmp_path: Path) -> None:
    """Also where ranges are empty, go backwards or overlap, and there are none."""
    check_same(RANGES, "flatten i k", calls(), tmp_path)


@pytest.mark.parametrize("ends", [[0, 3, -(2**63), 3, 4, 5], [0, 1 << 62, 0, 1 << 62, 0, 1 << 62]])
def test_ranges_longer_than_numbers_are_no_empty_ones(ends: list[int], tmp_path: Path) -> None:
    """Their lengths, or the sum of these, wrap around; each has elements that are not there."""
    far = [[6, np.array(ends), *one[2:]] for one in calls()[:2]]
    check_same(RANGES, "flatten i k", far, tmp_path)


def test_what_stands_before_the_inner_loop_is_found_again(tmp_path: Path) -> None:
    check_same(BOXES.replace("    a[0] = s\n", ""), "flatten i k", calls(), tmp_path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (BOXES, "'s' is needed after 'i'"),
        (BOXES.replace("s = b[i]", "s = s + b[i]"), "'s' depends on iterations of 'i' before"),
        (
            RANGES.replace("a[k] = a[k]", "e[k] = 1\n            a[k] = a[k]"),
            "'e' is read before 'k' and changes in it",
        ),
        (RANGES.replace("continue k", "continue i"), "'i' holds a continue"),
        (RANGES.replace("continue k", "break k"), "'k' holds a break"),
        (RANGES.replace("e[i - 1] .. e[i]", "e[i - 1] .. e[i] step 2"), "'k' does not count by ones"),
        (RANGES.replace("1 .. n", "1 .. e[0]"), "an array tells how often 'i' runs"),
        (RANGES.replace("1 .. n", "0 .. n"), "is read from elements that may not be there"),
        (BOXES.replace("    a[0] = s\n", "").replace("s = b[i]", "s = b[e[i]]"), "from elements that may not be there"),
    ],
)
def test_refusals(text: str, word: str) -> None:
    assert word in refusal(text, "flatten i k")


def test_too_many_iterations_stay_in_two_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.steps.flatten.MOST", 5)
    check_same(BOXES.replace("    a[0] = s\n", ""), "flatten i k", calls(), tmp_path)


@pytest.mark.parametrize(("place", "asserted"), [("k", True), ("int64(b[k])", False)])
def test_what_iterations_set_alike_is_not_their_own(place: str, asserted: bool) -> None:
    text = RANGES.replace("e[i - 1] .. e[i]", "4 * i .. 4 * i + e[0]") if asserted else RANGES
    body = text[text.index("            if b[k]") :]
    text = text.replace(body, f"            a[{place}] = 1.0\n")
    kernel, facts = known(text.replace("e[0]", "min(e[0], 4)"))
    after, _ = apply_schedule(kernel, facts, parse_schedule("flatten i k"), strict=True)
    assert bool(loops(after)["i.k"].asserted) == asserted


def test_candidates_are_ragged_nests() -> None:
    kernel, _ = known(BOXES)
    assert list(Flatten.candidates(kernel)) == [Flatten("i", "k")]
