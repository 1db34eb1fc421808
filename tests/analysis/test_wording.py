"""Verdicts in words."""

from __future__ import annotations

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import LoopFacts
from loopwright.analysis.wording import trip_count
from loopwright.ir.walk import loops

HEAD = 'def f(a: "float64[1]", b: "float64[2]", x: "int64[1]", n: "int64"):\n'


def loop(text: str) -> LoopFacts:
    return analyse(kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n")))).loops["i"]


REASONS = {
    "for i in range(1, n):\n    a[i] = a[i - 1]": "iteration i writes a[i], which iteration i+1 reads as a[i - 1]",
    "for i in range(n - 1):\n    a[i] = a[i + 1]": "iteration i reads a[i + 1], which iteration i+1 writes as a[i]",
    "for i in range(n, -1, -1):\n    a[i] = a[i + 1]": "iteration i writes a[i], which iteration i-1 reads as a[i + 1]",
    "for i in range(0, n, 2):\n    a[i + 2] = a[i]": "iteration i writes a[i + 2], which iteration i+2 reads as a[i]",
    "for i in range(n):\n    a[i] = 1.0\n    a[i + 3] = 2.0": "iterations i and i+3 write the same element of a",
    "for i in range(n):\n    a[i % 4] = b[i, 0]": "iterations i and i+4 touch the same element: both write it",
    "for i in range(n):\n    a[x[i]] = b[i, 0]": "two iterations of 'i' may touch the same element: a[x[i]]",
    "for i in range(n):\n    a[0] = b[i, 0]": "different iterations of 'i' touch the same element: both write it",
    "for i in range(n):\n    if a[i] > 0.0:\n        break": "'break' can end the loop before its last iteration",
    "for i in range(n):\n    if a[i] > 0.0:\n        return": "'return' can end the loop before its last iteration",
    "for i in range(n):\n    a[x[i]] = 1.0": (
        "iterations meet only in 'a', whose elements they all set to the same value"
    ),
    "for i in range(n):\n    a[i] = 1.0": "no iteration touches what another one writes",
    "for i in range(n):\n    a[0] += b[i, 0]": "iterations meet only in 'a', where the order does not matter",
}


@pytest.mark.parametrize("text", REASONS)
def test_reasons(text: str) -> None:
    assert loop(text).reason == REASONS[text]


def test_a_conflict_says_where() -> None:
    conflict = loop("for i in range(1, n):\n    a[i] = a[i - 1]").conflict
    assert conflict is not None
    assert (conflict.target, conflict.kind, conflict.distance) == ("a", "RAW", "1")
    assert (conflict.first, conflict.second) == ("a[i]", "a[i - 1]")
    assert conflict.first_at is not None and conflict.first_at.line == 3
    assert conflict.second_at is not None and conflict.second_at.column == 15


TRIPS = {
    "range(n)": "n",
    "range(1, len(a) - 1)": "a.shape[0] - 2",
    "range(n, 0, -1)": "n",
    "range(n - 1, -1, -1)": "n",
    "range(x[0], x[1])": "x[1] - (x[0])",
    "range(0, n, 4)": "ceil((n) / 4)",
    "range(2, 12, 3)": "4",
    "range(5, 2)": "0",
    "range(0, n, x[0])": None,
}


@pytest.mark.parametrize("bounds", TRIPS)
def test_trip_counts(bounds: str) -> None:
    found = kernel(HEAD + f"    for i in {bounds}:\n        a[0] = 1.0\n")
    assert trip_count(loops(found)["i"]) == TRIPS[bounds]


def test_a_while_loop_has_no_trip_count() -> None:
    found = kernel(HEAD + "    while a[0] > 0.0:\n        a[0] = 0.0\n")
    assert trip_count(loops(found)["while1"]) is None
