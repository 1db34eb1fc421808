"""Loops that count down: which are reversed, and that they do the same."""

from __future__ import annotations

import pytest

from loopwright.recipe.loop_reversal import upwards
from recipe.planning import check_same, planned, reasons, steps

HEAD = "kernel k(a: float64[1] C, b: float64[1] C) -> python float64:\n    var s: float64\n    s = 0.0\n"
DOWN = "    for i in size(a, 0) - 1 .. -1 step -1:\n        "
DOWN_INSIDE = "for j in size(a, 0) - 1 .. -1 step -1:\n            "
END = "    return s\n"
UP = "    for i in 0 .. size(a, 0):\n        "
SHAPES = {"a": "n", "b": "n"}

REVERSED = {
    "elements": (DOWN + "a[i] = b[i] + 1.0\n", "reverse i"),
    "every other one": (DOWN.replace("-1:", "-2:") + "a[i] = b[i] + 1.0\n", "reverse i"),
    "a sum": (DOWN + "s = s + a[i] * b[i]\n", "reverse i"),
    "the inner one": (UP + DOWN_INSIDE + "a[i] = a[i] + b[j]\n", "reverse j"),
    "two of them": (DOWN + "a[i] = 1.0\n" + DOWN.replace(" i ", " j ") + "b[j] = 2.0\n", "reverse i; reverse j"),
}
STAYS = {
    "upwards": UP + "a[i] = b[i] + 1.0\n",
    "it needs its order": DOWN + "if i > 0:\n            a[i] = a[i - 1] + b[i]\n",
    "a recurrence": DOWN + "if i > 0:\n            a[i - 1] = a[i] * b[i]\n",
}


@pytest.mark.parametrize("name", REVERSED)
def test_what_needs_no_order_goes_upwards(name: str) -> None:
    text, wanted = REVERSED[name]
    partial = planned(upwards, HEAD + text + END, False)
    assert steps(partial) == wanted
    assert reasons(partial)[0].endswith("has independent iterations, and vectors go upwards")
    check_same(partial.written, partial.kernel, SHAPES)


@pytest.mark.parametrize("name", STAYS)
def test_what_stays(name: str) -> None:
    assert steps(planned(upwards, HEAD + STAYS[name] + END, False)) == ""


def test_a_strict_sum_keeps_its_order() -> None:
    assert steps(planned(upwards, HEAD + REVERSED["a sum"][0] + END, True)) == ""
