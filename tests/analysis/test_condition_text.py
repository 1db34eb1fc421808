"""Conditions in C and in words mean what the set means."""

from __future__ import annotations

import islpy as isl
import pytest

from analysis.judge import C, c_as_python
from loopwright.analysis.affine import SymbolTable, combine, constant, of_symbol, scale
from loopwright.analysis.condition_text import as_c, as_text, form_text
from loopwright.ir.types import INT64

CONDITIONS = [
    "n >= 3 and m <= n",
    "n >= 3 or m <= 2*n - 1",
    "n mod 3 = 1",
    "n <= 2*floor(m/3) + 1",
    "m >= floor((n - 1)/2) and n mod 2 = 0",
    "(n >= m and m >= 0) or n = -4",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_value(condition: str) -> None:
    points = isl.Set(f"[n, m] -> {{ : {condition} }}")
    c, words = as_c(points).c_text, as_text(points, {"n": "size", "m": "len(a)"})
    for n in range(-7, 8):
        for m in range(-7, 8):
            value = isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")
            expected = not points.intersect(value).is_empty()
            assert bool(eval(words, {"size": n, "a": range(m + 7), "len": lambda a: len(a) - 7})) == expected
            assert bool(eval(c_as_python(c), {"n": C(n), "m": C(m)})) == expected, (c, n, m)


def test_always_is_empty() -> None:
    assert as_c(isl.Set("[n] -> { : }")).c_text == as_text(isl.Set("[n] -> { : }"), {}) == ""


def test_words() -> None:
    points = isl.Set("[s0_0, v1] -> { : s0_0 >= v1 + 1 or v1 < 0 }")
    assert as_text(points, {"s0_0": "len(a)", "v1": "n"}) == "n <= -1 or len(a) >= n + 1"


def test_forms() -> None:
    n, m = (of_symbol(SymbolTable().argument("scalar", k, 0, INT64)) for k in range(2))
    assert form_text(combine(scale(n, -1), constant(2)), {"v0": "n"}) == "-n + 2"
    assert form_text(combine(scale(m, 3), constant(-1)), {}) == "3 * v1 - 1"
    assert form_text(constant(-4), {}) == "-4"
