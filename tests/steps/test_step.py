from __future__ import annotations

import pytest

from loopwright.analysis.facts import LoopFacts, Reduction, Verdict
from loopwright.steps.step import order_needed


@pytest.mark.parametrize(
    ("verdict", "asserted", "strict", "free"),
    [
        ("parallel", False, True, True),
        ("sequential", False, False, False),
        ("sequential", True, False, False),
        ("undecided", False, False, False),
        ("undecided", True, True, True),
        ("reduction", False, False, True),
        ("reduction", False, True, False),
    ],
)
def test_who_needs_an_order(verdict: Verdict, asserted: bool, strict: bool, free: bool) -> None:
    reductions = (Reduction("s", "add", "scalar", exact=False),) if verdict == "reduction" else ()
    loop = LoopFacts("i", verdict, "because", reductions=reductions)
    assert (order_needed(loop, asserted, strict) is None) == free


def test_exact_reductions_are_free_under_strict() -> None:
    loop = LoopFacts("i", "reduction", "", reductions=(Reduction("s", "add", "scalar", exact=True),))
    assert order_needed(loop, asserted=False, strict=True) is None
